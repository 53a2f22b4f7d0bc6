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


JSON = Option("json", "Answer with one JSON object.", lone=True)
OUTPUTS = Option("outputs", "Where the tables are (else $PIPELINE_OUTPUTS, else outputs).", "DIR")
SVG = Option("svg", "Draw the answer too, as an SVG picture.", "FILE", lone=True)

FORMATS = {"csv": "CSV", "jsonl": "JSON", "parquet": "Parquet"}
"""What a batch's answers can be written as."""

BATCH = (
    Option("input", "Answer every key in a file (- is standard input).", "FILE"),
    Option(
        "input_format",
        "The input is text, csv, tsv, jsonl or parquet (else as it is named; standard input: "
        "text).",
        "NAME",
    ),
    Option("column", "The input's column of keys.", "NAME"),
    Option("prefix", "What the names of the added columns begin with.", "TEXT"),
    Option("output", "Where a batch's answers go (else standard output).", "FILE"),
    Option(
        "format", "A batch's answers as csv, jsonl or parquet (else as --output is named).", "NAME"
    ),
    Option("strict", "Stop a batch at the first key that is not one."),
)
"""What only batches take; the quick door leaves them to the command line proper."""

Asked = dict[str, str | bool]
"""The options given, by name."""

Facts = dict[str, object]
"""An answer, by the tables' column names and a few more."""


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
