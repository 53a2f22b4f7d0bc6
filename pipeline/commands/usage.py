"""Invalid command lines in this program's words: Typer's errors become BadRequest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from pipeline.commands.completion import find_subcommand
from tablebase.errors import BadRequest, quote
from tablebase.puzzles import list_names

MAX_MESSAGE = 300
"""Maximum number of characters of a problem."""
NO_SUCH_COMMAND = re.compile(r"No such command '(.*?)'\.(?: Did you mean (.*)\?)?", re.DOTALL)
SURPLUS = re.compile(r"Got unexpected extra argument(?:s|\(s\))? \((.*)\)", re.DOTALL)


def make_usage_error(error: Any, arguments: Sequence[str], commands: Any) -> BadRequest:
    """Make the error for arguments that Typer rejects; `commands` is Typer's group of them all.

    Typer does not export the types of its errors and commands.
    """
    problem, suggestion = _describe(error)
    context = getattr(error, "ctx", None)
    if not suggestion and (match := NO_SUCH_COMMAND.fullmatch(str(getattr(error, "message", "")))):
        suggestion = _find_similar(match[1], context)
    path = context.command_path if context is not None else _find_command_path(arguments, commands)
    hint = f"See: {path} --help"
    return BadRequest(
        problem[:MAX_MESSAGE], f"Did you mean {suggestion}? {hint}" if suggestion else hint
    )


def _describe(error: Any) -> tuple[str, str]:
    """Return the problem, and what was perhaps meant."""
    message = str(getattr(error, "message", ""))
    flag = getattr(error, "option_name", None)
    if flag is not None and hasattr(error, "possibilities"):
        return f"There is no option {flag}", " or ".join(sorted(error.possibilities or ()))
    if flag is not None:
        has_value = message.endswith("does not take a value.")
        return f"{flag} {'takes no value' if has_value else 'needs a value'}", ""
    param = getattr(error, "param", None)
    if param is not None:
        is_option = param.param_type_name == "option"
        name = param.opts[0] if is_option else param.metavar or str(param.name).upper()
        if "|" in name:
            name = f"One of {', '.join(name.split('|'))}"
        return f"{name} is {'not valid' if message else 'missing'}", ""
    if match := NO_SUCH_COMMAND.fullmatch(message):
        return f"There is no command {quote(match[1])}", (match[2] or "").replace("'", "")
    if match := SURPLUS.fullmatch(message.rstrip(".")):
        return f"Too many arguments: {quote(match[1])}", ""
    return "The arguments are not valid", ""


def _find_similar(word: str, context: Any) -> str:
    """Return the command that a word perhaps means: of the same group, or a query of a puzzle."""
    group: Any = getattr(context, "command", None)
    known: list[str] = group.list_commands(context) if hasattr(group, "list_commands") else []
    near = get_close_matches(word.lower(), known, 1)
    if not near and "query" in known:
        near = [
            f"pipeline query {name}" for name in get_close_matches(word.lower(), list_names(), 1)
        ]
    return near[0] if near else ""


def _find_command_path(arguments: Sequence[str], commands: Any) -> str:
    """Find the command that a command line names, as far as it names one."""
    path = ["pipeline"]
    for argument in arguments:
        commands = find_subcommand(commands, argument)
        if commands is None:
            break
        path.append(argument)
    return " ".join(path)
