"""The page `docs/cli.md`: every command with its options, those of several commands once."""

from __future__ import annotations

from typing import Any

from typer.main import get_command

from pipeline.commands.app import app
from pipeline.commands.options import find_subcommand

BEGIN = """# Commands

`pipeline COMMAND --help` prints the same for one command, and `pipeline precompute PUZZLE --help`
the names of the tables that can be built. `make docs` writes this page from the program's help.

| option | of every command |
| --- | --- |
| `-h`, `--help` | Show a command's help. |
| `-V`, `--version` | Print the version (`pipeline --version`). |
| `--install-completion`, `--show-completion` | Complete words in the current shell (`pipeline`). |
"""
HEADER = "| option | what it does |\n| --- | --- |\n"


def format_command_page() -> str:
    """Return the page, as the command line describes itself."""
    parts = [BEGIN]
    for name, command in list_subcommands(get_command(app)):
        children = list_subcommands(command)
        if not children:
            parts += [f"\n## pipeline {name}{format_arguments(command)}\n\n{command.help}\n"]
            parts += format_table(list_rows(command))
            continue
        first, *others = (list_rows(child) for _, child in children)
        shared = [row for row in first if all(row in rows for rows in others)]
        parts += [f"\n## pipeline {name} PUZZLE\n\n{command.help}\n", *format_table(shared)]
        for puzzle, child in children:
            own = [row for row in list_rows(child) if row not in shared]
            parts += [f"\n### pipeline {name} {puzzle}{format_arguments(child)}\n"]
            parts += format_table(own)
    return "".join(parts)


def list_subcommands(command: Any) -> list[tuple[str, Any]]:
    """List the commands of a group with their names; none for a single command."""
    names = command.list_commands(None) if hasattr(command, "list_commands") else []
    return [(name, find_subcommand(command, name)) for name in names]


def is_argument(parameter: Any) -> bool:
    """Return whether a parameter has no name at the shell."""
    return not parameter.opts[0].startswith("-")


def format_arguments(command: Any) -> str:
    """Format a command's arguments, each after a space; those in brackets may be left out."""
    words = [
        (f"{each.metavar}{'...' * (each.nargs < 0)}", each.required)
        for each in command.params
        if is_argument(each)
    ]
    return "".join(f" {word}" if is_needed else f" [{word}]" for word, is_needed in words)


def list_rows(command: Any) -> list[str]:
    """List the rows of a table with a command's arguments and options."""
    rows = []
    for each in command.params:
        words = [each.metavar] if is_argument(each) else [each.opts[0], each.metavar]
        word = " ".join(filter(None, words)).replace("|", "\\|")  # which would end a cell
        if each.help:
            rows.append(f"| `{word}` | {each.help} |\n")
    return rows


def format_table(rows: list[str]) -> list[str]:
    """Format a table of options, after an empty line; nothing if there are none."""
    return ["\n", HEADER, *rows] if rows else []
