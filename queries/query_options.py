"""What can be asked at the shell: one declared list of options, read by both doors.

`pipeline query PUZZLE KEY...` goes through the quick door when it is made of these alone; the
command line proper declares the same options from the same list.
"""

from __future__ import annotations


class Option:
    """An option of a query; without a metavar it is a flag.

    A batch refuses one that is `lone`, and for one with `columns` it adds them.
    """

    __slots__ = ("columns", "help", "lone", "metavar", "name")

    def __init__(
        self,
        name: str,
        help: str,
        metavar: str = "",
        *,
        lone: bool = False,
        columns: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.help = help
        self.metavar = metavar
        self.lone = lone
        self.columns = columns

    @property
    def flag(self) -> str:
        return f"--{self.name.replace('_', '-')}"


JSON = Option("json", "Print the answer as one JSON object.", lone=True)
OUTPUTS = Option(
    "outputs", "Folder with the tables (default: $PIPELINE_OUTPUTS, or outputs).", "DIR"
)
SVG = Option("svg", "Also draw the answer as an SVG picture.", "FILE", lone=True)

FORMATS = {"csv": "CSV", "jsonl": "JSON", "parquet": "Parquet"}
"""What a batch's answers can be written as."""
INPUT_FORMATS = {
    "text": (".txt",),
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
}
"""What a batch can be read from, each with the names that say so."""

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
"""What only batches take; the quick door leaves them to the command line proper."""

Asked = dict[str, str | bool]
"""The options given, by name."""


def quick(words: list[str], options: tuple[Option, ...]) -> tuple[str | None, Asked] | None:
    """The key, if there is one, and the options of a plain form; None for whatever is not one.

    >>> quick(["b1", "--to", "c3"], (Option("to", "Where the tour ends.", "SQUARE"),))
    ('b1', {'to': 'c3'})
    >>> quick(["b1", "--help"], ()) is None
    True
    """
    known = {option.flag: option for option in options}
    keys = []
    asked: Asked = {}
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            keys.append(word)
            continue
        option = known.get(word)
        if option is None:
            return None
        if not option.metavar:
            asked[option.name] = True
            continue
        value = next(rest, None)
        if value is None or value.startswith("-"):
            return None
        asked[option.name] = value
    return " ".join(keys) if keys else None, asked
