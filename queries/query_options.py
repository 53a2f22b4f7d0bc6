"""The options of `pipeline query`, declared once for the fast path and for Typer.

A command line that has only these options is answered on the fast path, without loading Typer; the
full command line declares its options from the same list.
"""

from __future__ import annotations


class Option:
    """An option of a query; without a metavar it is a flag.

    A batch refuses an option that is `is_single`, and adds the `columns` of each that it is given.
    """

    __slots__ = ("columns", "help", "is_single", "metavar", "name")

    def __init__(
        self,
        name: str,
        help: str,
        metavar: str = "",
        *,
        is_single: bool = False,
        columns: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.help = help
        self.metavar = metavar
        self.is_single = is_single
        self.columns = columns

    @property
    def flag(self) -> str:
        return f"--{self.name.replace('_', '-')}"


JSON = Option("json", "Print the answer as one JSON object.", is_single=True)
OUTPUTS = Option(
    "outputs", "Folder with the tables (default: $PIPELINE_OUTPUTS, or outputs).", "DIR"
)
SVG = Option("svg", "Also draw the answer as an SVG picture.", "FILE", is_single=True)

HARDEST = Option("hardest", "Print all states that are farthest from the goal.", is_single=True)
DISTANCE = Option("distance", "Draw states at this distance from the goal.", "N")
"""An option of samples, not of queries."""

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

BATCH = (
    Option("input", "Answer every key in this file (- for standard input).", "FILE"),
    Option(
        "input_format",
        "Format of the input: text, csv, tsv, jsonl or parquet (default: by the file's name; "
        "text for standard input).",
        "NAME",
    ),
    Option("column", "Column of the input with the keys.", "NAME"),
    Option("prefix", "Prefix for the names of the added columns.", "TEXT"),
    Option("output", "File for a batch's answers (default: standard output).", "FILE"),
    Option(
        "format",
        "Format of a batch's answers: csv, jsonl or parquet (default: by the name of --output, or "
        "csv).",
        "NAME",
    ),
    Option("strict", "Stop a batch at the first invalid key."),
)
"""The options of batches; the fast path does not answer them."""

OptionValues = dict[str, str | bool]
"""The options given, by name."""


def parse_simple_query(
    arguments: list[str], options: tuple[Option, ...]
) -> tuple[str | None, OptionValues] | None:
    """Parse arguments to a key, if there is one, and options; None if they are not that simple.

    >>> parse_simple_query(["b1", "--to", "c3"], (Option("to", "Where the tour ends.", "SQUARE"),))
    ('b1', {'to': 'c3'})
    >>> parse_simple_query(["b1", "--help"], ()) is None
    True
    """
    options_by_flag = {option.flag: option for option in options}
    keys = []
    values: OptionValues = {}
    rest = iter(arguments)
    for argument in rest:
        if not argument.startswith("-"):
            keys.append(argument)
            continue
        option = options_by_flag.get(argument)
        if option is None:
            return None
        if not option.metavar:
            values[option.name] = True
            continue
        value = next(rest, None)
        if value is None or value.startswith("-"):
            return None
        values[option.name] = value
    return " ".join(keys) if keys else None, values
