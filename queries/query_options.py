"""The declarations of queries' options, and the names of the formats of batches."""

from __future__ import annotations

from tablebase.errors import BadRequest, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Option:
    """An option of a query; without a metavar it is a flag. Batches refuse it if `is_single`."""

    __slots__ = ("help", "is_single", "metavar", "name")

    def __init__(self, name: str, help: str, metavar: str = "", *, is_single: bool = False) -> None:
        self.name = name
        self.help = help
        self.metavar = metavar
        self.is_single = is_single

    @property
    def flag(self) -> str:
        return f"--{self.name.replace('_', '-')}"


HARDEST = Option("hardest", "Print all states that are farthest from the goal.", is_single=True)
DISTANCE = Option("distance", "Draw states at this distance from the goal.", "N")
"""An option of samples, not of queries."""


def refuse_together(flag: str, options: Mapping[str, object]) -> None:
    """Raise BadRequest if any of these options is given beside a flag."""
    for name, value in options.items():
        if value:
            problem = f"{flag} cannot be combined with --{name}"
            raise BadRequest(problem, "Leave out one of them")


def parse_positive_number(given: float | str, flag: str, unit: str, example: int) -> float:
    """Return the number above 0 that an option's value names; `unit` is what it counts."""
    try:
        number = float(given)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        problem = f"{flag} needs a number of {unit} above 0, not {quote(str(given))}"
        raise BadRequest(problem, f"Example: {flag} {example}")
    return number


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
