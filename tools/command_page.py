"""The page `docs/cli.md`: every command, and every option once, with the commands that take it."""

from __future__ import annotations

from typing import Any

from typer.main import get_command

from puzzle_tablebase.pipeline.commands.app import load_app
from puzzle_tablebase.queries.dispatch import get_reader_class
from puzzle_tablebase.queries.options import BATCH

BEGIN = """# Commands

`pipeline COMMAND --help` prints the same for one command, and `pipeline precompute PUZZLE --help`
the names of the tables that can be built. `make docs` writes this page from the program's help.

| command | what it does |
| --- | --- |
"""
OF_SEVERAL = """
## Options of several commands

| option | what it does | commands |
| --- | --- | --- |
| `-h`, `--help` | Show a command's help. | all |
| `-V`, `--version` | Print the version (`pipeline --version`). | |
| `--install-completion`, `--show-completion` | Complete words in the current shell. | |
"""
OF_ONE = """
## Options of one command

| command | argument or option | what it does |
| --- | --- | --- |
"""
OF_PUZZLES = """
## Options of single puzzles

A batch takes all of them but those for one key.

| option | what it does | command: puzzle |
| --- | --- | --- |
"""

END = """
## Exit codes

| code | when |
| ---: | --- |
| 0 | all went well |
| 1 | the answer is no: an unreachable goal, a tour that does not exist, tables that differ |
| 2 | the request is invalid, or the output cannot be written |
| 3 | tables are missing or damaged, or memory, disk or a cluster failed |
| 4 | a time limit ended a search |
| 129, 130, 143 | a signal ended the program: a lost terminal, an interrupt, a request to stop |
| 141 | the reader of its output is gone |

## Environment

| variable | what it does |
| --- | --- |
| `PIPELINE_OUTPUTS` | the place of the tables, instead of `outputs` |
| `PIPELINE_NETWORK_SECONDS` | seconds for each request to a host, by default 15 |
| `PIPELINE_TRACEBACK` | if set, an internal error shows where it happened |
| `NO_COLOR` | if set, no text is bold |

[Object stores](elsewhere.md) have variables of their own.
"""


def format_command_page() -> str:
    """Return the page, as the command line describes itself."""
    commands = list_subcommands(get_command(load_app()))
    tables = {name: list_shared_rows(command) for name, command in commands}
    users: dict[str, list[str]] = {}
    for name, rows in tables.items():
        for row in rows:
            users.setdefault(row, []).append(name)
    summaries = [format_summary(name, command) for name, command in commands]
    common = [
        f"{row[:-1]} {', '.join(names)} |\n" for row, names in users.items() if len(names) > 1
    ]
    own = [f"| {names[0]} {row}" for row, names in users.items() if len(names) == 1]
    of_puzzles = format_puzzle_rows(commands, tables)
    return "".join(
        [BEGIN, *summaries, OF_SEVERAL, *common, OF_ONE, *own, OF_PUZZLES, *of_puzzles, END]
    )


def format_summary(name: str, command: Any) -> str:
    """Format a row with a command, its arguments and its help."""
    words = " PUZZLE" if list_subcommands(command) else format_arguments(command)
    shown = f"pipeline {name}{words}".replace("|", "\\|")
    return f"| `{shown}` | {' '.join(command.help.split())} |\n"


def format_puzzle_rows(commands: list[tuple[str, Any]], tables: dict[str, list[str]]) -> list[str]:
    """Format the options of single puzzles, each with the commands and puzzles that have it."""
    users: dict[str, dict[str, list[str]]] = {}
    for name, command in commands:
        for puzzle, child in list_subcommands(command):
            options = get_reader_class(puzzle).options
            single = {each.flag for each in options if BATCH not in each.verbs}
            for row in list_rows(child):
                if row not in tables[name] and row.startswith("| `--"):
                    is_single = name == "query" and row[3:].split()[0].strip("`") in single
                    title = f"{name} (one key)" if is_single else name
                    users.setdefault(row, {}).setdefault(title, []).append(puzzle)
    rows = []
    for row in sorted(users, key=lambda row: row.split("`")[1].split()[0]):
        names = [f"{name}: {', '.join(puzzles)}" for name, puzzles in users[row].items()]
        rows.append(f"{row[:-1]} {'; '.join(names)} |\n")
    return rows


def list_shared_rows(command: Any) -> list[str]:
    """List the rows of a command; of one for each puzzle, those that hold for all of them."""
    first, *others = (list_rows(child) for _, child in list_subcommands(command) or [("", command)])
    return [row for row in first if all(row in rows for rows in others)]


def list_subcommands(command: Any) -> list[tuple[str, Any]]:
    """List the commands of a group with their names; none for a single command."""
    names = command.list_commands(None) if hasattr(command, "list_commands") else []
    return [(name, command.get_command(None, name)) for name in names]


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
