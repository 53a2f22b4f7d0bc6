"""The page `docs/cli.md`: every command, and every option with the commands that take it."""

from __future__ import annotations

from typing import Any

from typer.main import get_command

from puzzle_tablebase.pipeline.commands.app import load_app

BEGIN = """# Commands

`pipeline COMMAND --help` prints the same for one command, and `pipeline precompute --list` the
names of the tables that can be built. `make docs` writes this page from the help.

| command | what it does |
| --- | --- |
"""
OPTIONS = """
## Options

| option | what it does | taken by |
| --- | --- | --- |
| `-h`, `--help` | Show the help of a command. | all |
| `-V`, `--version` | Print the version. | `pipeline` |
| `--install-completion`, `--show-completion` | Complete words in the shell. | `pipeline` |
"""
END = """
## Exit codes

| code | when |
| ---: | --- |
| 0 | answered |
| 1 | the answer is no: an unreachable goal, a tour that does not exist, tables that differ |
| 2 | invalid input, or an output that cannot be written |
| 3 | tables are missing or damaged, or memory, disk or a cluster failed |
| 4 | undecided: a time limit ended a search |
| 129, 130, 143 | ended by a signal: a lost terminal, Ctrl-C, a request to stop |
| 141 | the reader of the output has gone |

## Environment

| variable | what it sets |
| --- | --- |
| `PIPELINE_OUTPUTS` | the place of the tables; the default is `outputs` |
| `PIPELINE_NETWORK_SECONDS` | seconds for each request to a host; the default is 15 |
| `PIPELINE_TRACEBACK` | if set, an internal error shows where it happened |
| `NO_COLOR` | if set, no text is bold |
| `NUMBA_CACHE_DIR` | the folder for machine code; the default is `__pycache__` beside the code, \
or `~/.cache/puzzle-tablebase` if that is read-only |

[Buckets](deploy.md#use-a-bucket) have variables of their own.
"""


def format_command_page() -> str:
    """Return the page, as the command line describes itself."""
    summaries, users = [], dict[str, dict[str, list[str]]]()
    commands = list_subcommands(get_command(load_app()))
    for name, command in commands:
        puzzles = list_subcommands(command)
        arguments = [each for each in command.params if not each.opts[0].startswith("-")]
        words = ["PUZZLE"] if puzzles else [name_argument(each) for each in arguments]
        usage = " ".join(["pipeline", name, *words])
        summaries.append(f"| {code(usage)} | {' '.join(command.help.split())} |\n")
        for puzzle, child in puzzles or [("", command)]:
            for row in list_rows(child):
                users.setdefault(row, {}).setdefault(name, []).append(puzzle)
    counts = {name: max(1, len(list_subcommands(command))) for name, command in commands}
    rows = []
    for row, taken in users.items():
        names = [
            name if len(puzzles) == counts[name] else f"{name} {', '.join(puzzles)}"
            for name, puzzles in taken.items()
        ]
        rows.append(f"{row} {'; '.join(names)} |\n")
    return "".join([BEGIN, *summaries, OPTIONS, *sorted(rows), END])


def list_subcommands(command: Any) -> list[tuple[str, Any]]:
    """List the commands of a group with their names; none for a single command."""
    names = command.list_commands(None) if hasattr(command, "list_commands") else []
    return [(name, command.get_command(None, name)) for name in names]


def name_argument(argument: Any) -> str:
    """Name an argument; one in brackets may be left out."""
    name = f"{argument.metavar}{'...' * (argument.nargs < 0)}"
    return str(name if argument.required else f"[{name}]")


def list_rows(command: Any) -> list[str]:
    """List the beginnings of rows, one for each option of a command."""
    options = [each for each in command.params if each.opts[0].startswith("--") and each.help]
    return [
        f"| {code(' '.join(filter(None, [each.opts[0], each.metavar])))} | {each.help} |"
        for each in options
    ]


def code(text: str) -> str:
    """Format code in a cell of a table."""
    return f"`{text}`".replace("|", "\\|")
