"""Options of queries, declared once for the shell, batches and Python, and the names of formats."""

from __future__ import annotations

from tablebase.errors import BadRequest, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

FORMATS = {"csv": "CSV", "jsonl": "JSON", "parquet": "Parquet"}
"""The formats of a batch's answers, with their names in messages."""
INPUT_FORMATS = {
    "text": (".txt",),
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
}
"""The formats of a batch's input, each with its file suffixes."""
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".zst", ".zstd", ".xz")
"""Suffixes of compressed files, which follow that of a format."""


def join_names(names: Iterable[str]) -> str:
    """Join names for a sentence.

    >>> join_names(["csv", "jsonl", "parquet"])
    'csv, jsonl or parquet'
    """
    *others, last = names
    return f"{', '.join(others)} or {last}"


class Option:
    """An option of a query; without a metavar it is a flag.

    `excludes` are the names of options that it cannot be combined with. Batches refuse it if
    `is_single`.
    """

    __slots__ = ("excludes", "help", "is_single", "metavar", "name")

    def __init__(
        self,
        name: str,
        help: str,
        metavar: str = "",
        excludes: tuple[str, ...] = (),
        *,
        is_single: bool = False,
    ) -> None:
        self.name = name
        self.help = help
        self.metavar = metavar
        self.excludes = excludes
        self.is_single = is_single

    @property
    def flag(self) -> str:
        return format_flag(self.name)


HARDEST = Option(
    "hardest",
    "Print all states that are farthest from the goal.",
    "",
    ("path", "boards", "solutions"),
    is_single=True,
)
DISTANCE = Option("distance", "Draw states at this distance from the goal, or in a range.", "N[-M]")
SPREAD = Option("spread", "Draw as many states of each distance in the range.")
SPLIT = Option("split", "Divide the sample at random, symmetric states together.", "NAME=SHARE,...")
"""Options of samples, not of queries."""


def select_given(options: Mapping[str, object]) -> dict[str, Any]:
    """Select the options that are given: 0 and "" are values, None and False are not.

    >>> select_given({"number": 0, "to": "", "board": None, "closed": False})
    {'number': 0, 'to': ''}
    """
    return {
        name: value for name, value in options.items() if value is not None and value is not False
    }


def format_flag(name: str) -> str:
    """Format the name of an option as it is written on a command line."""
    return f"--{name.replace('_', '-')}"


def require_options(title: str, options: tuple[Option, ...], given: Mapping[str, object]) -> None:
    """Raise BadRequest if an option does not exist, or cannot be combined with another one."""
    known = [option.name for option in options]
    for name in given:
        if name not in known:
            hint = f"Choose from: {', '.join(known)}" if known else "It has none"
            raise BadRequest(f"{title} has no option {quote(name)}", hint)
    for option in options:  # in their own order, so that the message does not depend on that given
        others = [other for other in option.excludes if other in given]
        if option.name in given and others:
            problem = f"{option.flag} cannot be combined with {format_flag(others[0])}"
            raise BadRequest(problem, "Leave out one of them")


def parse_positive_number(given: float | str, flag: str, unit: str, example: int) -> float:
    """Return the number above 0 that an option's value names; `unit` is what it counts."""
    text = str(given)
    try:  # `float` accepts the digits of every script, and underscores between them
        number = float(given) if text.isascii() and "_" not in text else 0.0
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        problem = f"{flag} needs a number of {unit} above 0, not {quote(text)}"
        raise BadRequest(problem, f"Example: {flag} {example}")
    return number


def parse_distance(given: int | str | None) -> range | None:
    """Return the distances that an option gives as a number or a text, or None.

    >>> parse_distance(6), parse_distance("5-25")
    (range(6, 7), range(5, 26))
    """
    if given is None:
        return None
    text = str(given).strip()
    first, dash, last = text.partition("-")
    ends = first, last if dash else first
    if all(end.isascii() and end.isdigit() and len(end) < 10 for end in ends):
        wanted = range(int(ends[0]), int(ends[1]) + 1)
        if wanted:
            return wanted
    problem = f"--distance needs a whole number from 0, not {quote(text)}"
    raise BadRequest(problem, "Example: --distance 6, or 5-25")
