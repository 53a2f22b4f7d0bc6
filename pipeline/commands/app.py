"""The Typer application: its commands, and its errors in this program's words.

This module and all others that declare options evaluate annotations when they are defined: Typer
would otherwise evaluate each one, as text, at every start.
"""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from typing import Annotated, Any, cast

import typer
from typer.core import TyperArgument, TyperOption

from puzzle_tablebase import __version__
from puzzle_tablebase.errors import BadRequest, quote
from puzzle_tablebase.pipeline.commands.check import check_app
from puzzle_tablebase.pipeline.commands.options import complete_commands, find_subcommand
from puzzle_tablebase.pipeline.commands.precompute import PrecomputeCommand, precompute
from puzzle_tablebase.pipeline.commands.puzzle_commands import query_app, sample_app
from puzzle_tablebase.pipeline.commands.store_commands import (
    diff,
    explore,
    histogram,
    remove,
    report,
    runs,
    site,
    status,
    verify,
)
from puzzle_tablebase.pipeline.terminal import print_answer, print_error
from puzzle_tablebase.process import explain_os_error
from puzzle_tablebase.puzzles import get_load_errors, list_names


def _show_no_type(parameter: object, ctx: object) -> None:
    """Show no type in the help of an argument, whose name and help say what it is."""


def _show_metavar(parameter: TyperOption, ctx: object) -> str | None:
    """Show what to write after an option in its help, and nothing for a flag."""
    return None if parameter.is_flag else parameter.metavar


# Typer has no setting for it, and would show <bool> and <list[str]>
TyperArgument.display_type_rich = _show_no_type  # type: ignore[assignment, method-assign]  # replaced
TyperOption.display_type_rich = _show_metavar  # type: ignore[assignment, method-assign]  # replaced

UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__bases__[0])
"""The error that Typer raises for invalid arguments; it does not export the class itself."""

app = typer.Typer(
    name="pipeline",
    help="Build, query and verify puzzle tablebases.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(query_app, name="query")
app.add_typer(check_app, name="check")
app.add_typer(sample_app, name="sample")


def _print_version(is_requested: bool) -> None:
    if is_requested:
        print_answer(f"puzzle-tablebase {__version__}\n")
        raise typer.Exit


def run_app(arguments: list[str]) -> int:
    """Run the command with these arguments and return its exit code.

    Invalid arguments raise BadRequest, so that their message has one sentence, too. Puzzles that
    could not be loaded are reported at the end; they do not prevent a command for all puzzles from
    working on the others.
    """
    try:
        code = _run_command(arguments)
    finally:
        for refusal in get_load_errors():
            print_error(refusal)
    return max(code, *(refusal.exit_code for refusal in get_load_errors()), 0)


@cache
def _make_commands() -> Any:
    """Make Typer's group of all commands, once in a process: that takes as long as an answer."""
    return typer.main.get_command(app)


def _run_command(arguments: list[str]) -> int:
    commands = _make_commands()
    try:
        return int(commands(arguments, prog_name="pipeline", standalone_mode=False) or 0)
    except UsageError as error:
        if not error.format_message().strip():  # no command was given: the help is printed already
            return 2
        raise make_usage_error(error, arguments, commands) from error
    except OSError as error:
        if "--install-completion" not in arguments:
            raise
        raise BadRequest(
            f"Completion cannot be installed ({explain_os_error(error)})",
            "Print it with --show-completion, and copy it",
        ) from error


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


app.command(cls=PrecomputeCommand)(precompute)


def print_help(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COMMAND",
            help="Command to explain, such as query eight (default: all).",
            autocompletion=complete_commands,
        ),
    ] = None,
) -> None:
    """Print the help of a command."""
    raise typer.Exit(_run_command([*(words or []), "--help"]))


NEAR = 0.65
"""How similar a word must be to what was perhaps meant: `preco` is to `precompute`."""
MAX_MESSAGE = 300
"""Maximum number of characters of a problem."""
NO_SUCH_COMMAND = re.compile(r"No such command '(.*?)'\.(?: Did you mean .*)?", re.DOTALL)
SURPLUS = re.compile(r"Got unexpected extra argument(?:s|\(s\))? \((.*)\)", re.DOTALL)


def make_usage_error(error: Any, arguments: Sequence[str], commands: Any) -> BadRequest:
    """Make the error for arguments that Typer rejects; `commands` is Typer's group of them all.

    Typer does not export the types of its errors and commands.
    """
    context: Any = getattr(error, "ctx", None)
    path = context.command_path if context is not None else _find_command_path(arguments, commands)
    group: Any = getattr(context, "command", None)
    names: list[str] = group.list_commands(context) if hasattr(group, "list_commands") else []
    has_puzzles = bool(names) and context.parent is not None
    match = NO_SUCH_COMMAND.fullmatch(str(getattr(error, "message", "")))
    if match:
        lack = f"{context.info_name} has no puzzle" if has_puzzles else "There is no command"
        problem, suggestion = f"{lack} {quote(match[1])}", _find_similar(match[1], names)
    else:
        problem, suggestion = _describe(error)
    if suggestion:
        hint = f"Did you mean {suggestion}? See: {path} --help"
    elif has_puzzles:
        hint = f"{'Choose' if match else 'First choose'} one of: {', '.join(names)}"
    else:
        hint = f"See: {path} --help"
    return BadRequest(problem[:MAX_MESSAGE], hint)


def _describe(error: Any) -> tuple[str, str]:
    """Return the problem, and what was perhaps meant."""
    message = str(getattr(error, "message", ""))
    flag = getattr(error, "option_name", None)
    if flag is not None and hasattr(error, "possibilities"):
        # dashes are no likeness
        flags = {known.lstrip("-"): known for known in error.possibilities or ()}
        longer = [name for name in flags if flag.endswith(f"-{name}")]
        near = longer or get_close_matches(flag.lstrip("-"), flags, cutoff=NEAR)
        return f"There is no option {flag}", " or ".join(sorted(flags[one] for one in near))
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
    if match := SURPLUS.fullmatch(message.rstrip(".")):
        return f"Too many arguments: {quote(match[1])}", ""
    return "The arguments are not valid", ""


def _find_similar(word: str, known: Sequence[str]) -> str:
    """Return the command that a word perhaps means: of the same group, or a query of a puzzle."""
    near = get_close_matches(word.lower(), known, 1, cutoff=NEAR)
    if not near and "query" in known:
        puzzles = get_close_matches(word.lower(), list_names(), 1, cutoff=NEAR)
        near = [f"pipeline query {name}" for name in puzzles]
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


for command in (remove, status, histogram, verify, runs, report, explore, site, diff):
    app.command()(command)
app.command(name="help")(print_help)
