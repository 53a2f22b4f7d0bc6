"""Generated docs: `make docs` writes them, and a test compares the files with the program.

The tables of `docs/cli.md` come from the commands' help, the list of columns in `docs/tables.md`
from the descriptions that go into the files, the tables of `docs/clusters.md` from measured
figures. In every page, the output in a `console` or `pycon` block is what the command or the Python
statement above it prints, and each line of a `hexdump` block has the bytes of `eight.idx` at its
address. The separators of boards in JavaScript are those of Python.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

from benchmarks import large_boards
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.notation.sliding import SEPARATORS
from puzzle_tablebase.pipeline.commands import load_app
from puzzle_tablebase.queries.tables import open_tables
from puzzle_tablebase.registry import list_puzzles
from puzzle_tablebase.schema import Column, Table
from puzzle_tablebase.stores import Folder
from tools.sessions import ROOT, fill_sessions, list_pages_with

MADE_PART = re.compile("(<!-- made from the program -->\n).*(<!-- end -->)", re.DOTALL)
"""The part of a page that the program writes."""
HEXDUMP = re.compile("(?<=^```hexdump\n).*?(?=^```)", re.DOTALL | re.MULTILINE)
SEPARATORS_LINE = re.compile("(?<=^export const SEPARATORS = ).*(?=;$)", re.MULTILINE)
"""The separators of boards in JavaScript, a regular expression."""
BLOCKS = ("console", "pycon", "hexdump")
"""The blocks of a page that the program fills."""
ROW_BYTES = 16
"""The bytes of a line of a hexdump."""


def make_page(name: str, make: Callable[[], str]) -> str:
    """Return a page with its generated part made anew."""
    page = (ROOT / name).read_text("utf-8")
    return MADE_PART.sub(lambda found: f"{found[1]}\n{make()}\n{found[2]}", page)


def make_head(*names: str) -> str:
    """Return the head of a Markdown table."""
    return f"| {' | '.join(names)} |\n|{' --- |' * len(names)}\n"


def format_tables() -> str:
    """List the default tables, then the columns of each kind of table once."""
    tables = [table for puzzle in list_puzzles() for table in puzzle.tables]
    entries = read_manifest(Folder(ROOT / "outputs"))
    lines = [
        "| file | rows | bytes | index, bytes | what it has |\n| --- | ---: | ---: | ---: | --- |\n"
    ]
    same: dict[str, list[str]] = {}
    for table in tables:
        entry = entries[table.name]
        index = f"{entry.index.bytes:,}" if entry.index else ""
        sizes = f"{entry.rows:,} | {entry.all_files[0].bytes:,} | {index}"
        lines.append(f"| `{table.file}` | {sizes} | {table.meaning}. Order: {table.rank} |\n")
        same.setdefault(format_columns(table), []).append(f"`{table.name}`")
    for columns, names in same.items():
        lines.append(f"\n## Columns of {', '.join(names)}\n\n{columns}")
    return "".join(lines)


def format_columns(table: Table) -> str:
    """List the columns of a table with their types and meanings."""
    rows = [f"| {each.name} | {name_type(each)} | {each.meaning} |\n" for each in table.columns]
    return "".join([make_head("column", "type", "meaning"), *rows])


def name_type(column: Column) -> str:
    """Name a column's type as polars does."""
    return f"{column.type.capitalize()}{', null' if column.nullable else ''}"


def format_commands() -> str:
    """List every command, and every option with the commands that take it."""
    summaries, users = [], dict[str, dict[str, list[str]]]()
    commands = list_subcommands(load_app())
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
    head, options = (
        make_head("command", "what it does"),
        make_head("option", "what it does", "taken by"),
    )
    return "".join([head, *summaries, "\n## Options\n\n", options, *sorted(rows)])


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


def draw(puzzle: str, key: str, **options: object) -> str:
    """Draw an answer as a notebook shows it."""
    with open_tables(str(ROOT / "outputs")) as tables:
        picture = tables.answer(puzzle, key, **options)._repr_svg_()
    assert picture is not None
    return picture


def fill_hexdumps(page: str) -> str:
    """Return a page whose hexdumps have the bytes of `eight.idx` at their addresses."""

    def format_line(line: str) -> str:
        at = int(line.partition(":")[0], 16)
        row = data[at : at + ROW_BYTES]
        text = "".join(
            chr(byte) if chr(byte).isascii() and chr(byte).isprintable() else "." for byte in row
        )
        return f"{at:08x}: {row.hex(' ')}  {text}\n"

    if not HEXDUMP.search(page):
        return page
    data = (ROOT / "outputs" / "eight.idx").read_bytes()
    return HEXDUMP.sub(lambda found: "".join(map(format_line, found[0].splitlines())), page)


def write_separators(name: str) -> str:
    """Return a JavaScript module with the separators of boards that Python has."""
    marks = re.sub(r"[\]\\^-]", r"\\\g<0>", SEPARATORS)
    pattern = rf"/[\s{marks}]+/"
    return SEPARATORS_LINE.sub(lambda _: pattern, (ROOT / name).read_text("utf-8"))


PARTS: dict[str, Callable[[], str]] = {
    "queries/javascript/sliding.js": partial(write_separators, "queries/javascript/sliding.js"),
    "docs/tables.md": partial(make_page, "docs/tables.md", format_tables),
    "docs/cli.md": partial(make_page, "docs/cli.md", format_commands),
    "docs/clusters.md": partial(make_page, "docs/clusters.md", large_boards.format_tables),
    "docs/notebook-solution.svg": partial(draw, "eight", "283104765"),
    "docs/notebook-senet.svg": partial(draw, "senet", "ABAAABBB.B...A."),
    "docs/tour.svg": partial(draw, "knight", "b1", closed=True),
}
"""The functions that write pages, parts of pages, pictures and a line of JavaScript."""


def fill_page(name: str) -> str:
    """Return a page with the current output of every session, and the current bytes."""
    make = PARTS.get(name)
    return fill_hexdumps(fill_sessions(make() if make else (ROOT / name).read_text("utf-8")))


MADE: dict[str, Callable[[], str]] = {
    name: partial(fill_page, name)
    for name in dict.fromkeys([*PARTS, *chain.from_iterable(map(list_pages_with, BLOCKS))])
}
"""The functions that write these pages, and all others that have sessions or hexdumps."""


def main(names: list[str]) -> None:
    """Write all pages; or only compare those that are named, and exit with 1 if one differs."""
    made = {name: MADE[name]() for name in names or MADE}
    if not names:
        for name, text in made.items():
            (ROOT / name).write_text(text)
    elif old := [name for name, text in made.items() if (ROOT / name).read_text() != text]:
        sys.exit(f"run make docs, and read what changed: {', '.join(old)}")


if __name__ == "__main__":
    main(sys.argv[1:])
