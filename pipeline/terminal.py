"""Printing: answers to standard output, all other messages to standard error; tables as text."""

from __future__ import annotations

import sys
from _thread import allocate_lock, start_new_thread  # `threading` takes longer to import
from contextlib import contextmanager

from puzzle_tablebase.errors import (
    NotAFolder,
    StoreEmpty,
    StoreError,
    TablebaseError,
    TableError,
    TableMissing,
    TableUnreadable,
    make_printable,
)
from puzzle_tablebase.registry import MODULES, get_puzzle, list_puzzles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from puzzle_tablebase.puzzles import Puzzle
    from puzzle_tablebase.stores import Store

AMOUNTS: dict[str, int | None] = {"rows": None, "records": None, "states": None}
"""What a table may have, in the order of the columns; None: it has none of them."""
PATIENCE = 1.0
"""Seconds after which a command prints its activity."""
READ_ONLY = "The store is read-only: choose another one with --outputs."
"""Hint for tables that can only be read."""
UNLIMITED = 1 << 20
"""Characters of a line, so that no name or number is ever broken."""


def print_answer(text: str) -> None:
    """Print an answer to standard output and flush it."""
    sys.stdout.write(text)
    sys.stdout.flush()


def print_line(text: str) -> None:
    """Print a line of an answer."""
    print_answer(f"{make_printable(text)}\n")


def print_json(value: object) -> None:
    """Print an answer as a line of JSON, which escapes control characters itself."""
    import json

    print_answer(f"{json.dumps(value)}\n")


def print_error(text: object, mark: str = "pipeline: ") -> None:
    """Print a message to standard error."""
    sys.stderr.write(f"{mark}{make_printable(str(text))}\n")


@contextmanager
def announcing(work: str) -> Iterator[None]:
    """Print an activity on a terminal if it takes longer than a second."""
    done = allocate_lock()
    done.acquire()

    def wait() -> None:
        if not done.acquire(timeout=PATIENCE):
            print_error(f"{work} …")

    if sys.stderr.isatty():
        start_new_thread(wait, ())
    try:
        yield
    finally:
        done.release()


# ---- commands to type -------------------------------------------------------------------------


def format_error(error: Exception) -> str:
    """Return an error's message, with commands that help instead of calls of Python."""
    if isinstance(error, NotAFolder):
        return f"{error.problem}. Build in a folder, then run: pipeline copy FOLDER {error.store}."
    if isinstance(error, StoreError) and error.is_claimed:
        return f"{error.args[0]} If that copy was killed, add --take-over."
    if not isinstance(error, TableError):
        return str(error)
    problem, command = error.args[0], format_repair(error)
    if command:
        return f"{problem} Run: {command}"
    if error.table is None or isinstance(error, TableUnreadable):
        return str(problem)
    return f"{problem} {READ_ONLY}"


def format_repair(error: TableError) -> str:
    """Return the command that helps after an error; "" if none does."""
    if error.table is None or error.outputs is None:
        return ""
    if isinstance(error, TableMissing) and error.solver:
        puzzle, state, goal = error.solver
        goal = goal and f" --goal {goal}"
        words = f"query {puzzle} {state}" if state else f"sample {puzzle}"
        return f"pipeline {words}{goal}{format_outputs(error.outputs)}"
    if error.named[1:]:  # `precompute` refuses names that no puzzle here has
        names = " ".join(filter(_can_be_built, error.named))
        force = " --force" * error.needs_force
        return f"pipeline precompute {names}".rstrip() + force + format_outputs(error.outputs)
    command = format_rebuild("".join(error.named), error.outputs, force=error.needs_force)
    copied = f", or: pipeline copy ADDRESS {quote_word(error.store)}"
    return command + copied * isinstance(error, StoreEmpty)


def format_rebuild(table: str, outputs: str | None, *, force: bool = False) -> str:
    """Return the command that builds a table, or removes one that no puzzle here has.

    No name: all default tables. "" if nothing can be built in the store.

    >>> format_rebuild("eight", "my tables", force=True)
    "pipeline precompute eight --force --outputs 'my tables'"
    """
    if outputs is None:
        return ""
    words = f"remove {table}"
    if not table or _can_be_built(table):
        words = f"precompute {table}".rstrip() + " --force" * force
    return f"pipeline {words}{format_outputs(outputs)}"


def _can_be_built(name: str) -> bool:
    """Return whether a known puzzle has a table or group of that name."""
    builtin = map(get_puzzle, MODULES)
    return any(_has_tables(puzzle, name) for puzzle in builtin) or any(
        _has_tables(puzzle, name)
        for puzzle in list_puzzles()  # plugins too
    )


def _has_tables(puzzle: Puzzle, name: str) -> bool:
    try:
        return bool(puzzle.find_tables(name))
    except TablebaseError:  # too large
        return False


def format_copies_note(names: Sequence[str], store: Store) -> str:
    """Return a note that other code made some copied tables, and what you can do."""
    option = f" --outputs {quote_word(str(store))}" if store.outputs != "" else ""
    is_built_in = store.outputs is not None
    rebuild = f" pipeline precompute NAME --force{option} rebuilds one." if is_built_in else ""
    return (
        f"note: made by other code than this program's: {', '.join(names)}. "
        f"pipeline verify{option} proves them.{rebuild}"
    )


def format_outputs(outputs: str | None) -> str:
    """Return the option that names a store, after a space; "" for the default one."""
    return f" --outputs {quote_word(outputs)}" if outputs else ""


def quote_word(word: str) -> str:
    """Quote a word for a shell."""
    from shlex import quote  # importing it takes longer than an answer

    return quote(word)


# ---- tables and numbers -----------------------------------------------------------------------


def print_rows(rows: Sequence[Mapping[str, Any]], *, as_json: bool = False) -> None:
    """Print rows as JSON, or as a table of the columns that have a value in some row."""
    if as_json:
        print_json(rows)
    elif rows:
        print_answer(format_rows(rows))


def format_rows(rows: Sequence[Mapping[str, Any]]) -> str:
    """Format the columns that have a value in some row."""
    # an error message needs none of these
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    named = dict.fromkeys(name for row in rows for name in row)
    names = [name for name in named if any(row.get(name) not in (None, "") for row in rows)]
    for name in names:
        has_numbers = any(isinstance(row.get(name), int | float) for row in rows)
        table.add_column(name, justify="right" if has_numbers else "left")
    for row in rows:
        table.add_row(*(Text(_format_cell(name, row.get(name))) for name in names))
    console = Console(width=UNLIMITED, color_system=None)
    with console.capture() as captured:
        console.print(table)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def _format_cell(name: str, value: Any) -> str:
    from rich.filesize import decimal

    if value is None:
        return ""
    if name in ("bytes", "memory", "peak_memory", "disk"):
        return decimal(value)
    if name == "seconds":
        return format_duration(value)
    return f"{value:,}" if isinstance(value, int) else make_printable(value)


def format_duration(seconds: float) -> str:
    """Format a time with its unit.

    >>> format_duration(1.23), format_duration(300), format_duration(36000)
    ('1.2 s', '5.0 min', '10.0 h')
    """
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.1f} s"
