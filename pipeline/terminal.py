"""Printing: answers to standard output, all other messages to standard error; tables as text."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_MESSAGE = 2_000
"""Maximum number of characters of a message; longer ones are cut."""

NUMBERS = {"bytes", "CPU time", "memory", "per second", "rows", "seconds", "size"}
"""Columns whose cells end at the right."""
UNLIMITED = 1 << 20
"""Characters of a line, so that no name or number is ever broken."""


def print_answer(text: str) -> None:
    """Print an answer to standard output and flush it."""
    sys.stdout.write(text)
    sys.stdout.flush()


def print_line(text: str) -> None:
    """Print a line of an answer."""
    print_answer(f"{text}\n")


def print_error(text: object, mark: str = "pipeline: ") -> None:
    """Print a message to standard error, cut to `MAX_MESSAGE` characters."""
    message = str(text)
    if len(message) > MAX_MESSAGE:
        message = f"{message[:MAX_MESSAGE]}... ({len(message):,} characters)"
    sys.stderr.write(f"{mark}{escape_control(message)}\n")


def escape_control(text: str) -> str:
    """Return the text with the characters that would control a terminal escaped.

    >>> print(escape_control("12\\x1b[31m"))
    12\\x1b[31m
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


# ---- tables and numbers -----------------------------------------------------------------------


def format_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format the columns that have a value in some row."""
    # an error message needs none of these
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    shown = [at for at in range(len(names)) if not rows or any(row[at] for row in rows)]
    for at in shown:
        table.add_column(names[at], justify="right" if names[at] in NUMBERS else "left")
    for row in rows:
        table.add_row(*(Text(escape_control(row[at])) for at in shown))
    console = Console(width=UNLIMITED, color_system=None)
    with console.capture() as captured:
        console.print(table)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def format_amount(amounts: Mapping[str, int | None]) -> str:
    """Format the last known amount of a table, with its unit unless that is rows."""
    known = [(unit, count) for unit, count in amounts.items() if count is not None]
    if not known:
        return ""
    unit, count = known[-1]
    return f"{count:,}" if unit == "rows" else f"{count:,} {unit}"


def format_size(count: float) -> str:
    """Format a number of bytes with its unit.

    >>> format_size(999), format_size(12_345_678), format_size(2_070_000_000)
    ('999 B', '12 MB', '2.1 GB')
    """
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:,.{int(size > 1e6)}f} {unit}"
    return f"{count:,.0f} B"


def format_duration(seconds: float) -> str:
    """Format a time with its unit.

    >>> format_duration(1.23), format_duration(300), format_duration(36000)
    ('1.2 s', '5.0 min', '10.0 h')
    """
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.1f} s"


def explain_missing_package(error: ModuleNotFoundError) -> str | None:
    """Say which package is missing, and the line that installs all; None for a module of ours."""
    import re
    from importlib.metadata import PackageNotFoundError, requires

    package = __name__.partition(".")[0]
    missing = (error.name or package).partition(".")[0]
    if missing == package:
        return None
    try:
        needed = [each for each in requires(package) or () if "extra ==" not in each]
    except PackageNotFoundError:  # a folder of source code, which nothing has installed
        needed = []
    names = sorted(re.split("[^A-Za-z0-9_-]", each)[0] for each in needed) or [missing]
    return f"{missing} is not installed. Run: pip install {' '.join(names)}"
