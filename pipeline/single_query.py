"""A single query of the command line: its arguments, its answer as text, and its picture.

A command line with simple arguments is answered on the fast path, without loading Typer; the full
command line declares its options from the same list and calls the same function.
"""

from __future__ import annotations

from puzzle_tablebase.errors import BadRequest, TablebaseError
from puzzle_tablebase.process import watch_signals
from puzzle_tablebase.puzzles import is_registered
from puzzle_tablebase.queries import get_reader_class, open_reader, pose
from puzzle_tablebase.queries.answer import format_json
from puzzle_tablebase.queries.options import ALL, QUERY, Option, is_keyless
from puzzle_tablebase.stores.access import open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from puzzle_tablebase.queries.reader import Reader


SVG = Option("svg", "Also draw the answer as an SVG picture.", "FILE")
JSON = Option("json", "Print the answer as one JSON object.")
OUTPUTS = Option(
    "outputs", "Folder with the tables (default: $PIPELINE_OUTPUTS, or outputs).", "DIR"
)

OptionTexts = dict[str, str | bool]
"""The options given on a command line, by name: a text, or True for a flag."""


def list_options(kind: type[Reader]) -> tuple[Option, ...]:
    """Return all options of the queries of a reader's puzzle."""
    own = [option for option in kind.options if {QUERY, ALL} & {*option.verbs}]
    return (*own, *((SVG,) if kind.has_pictures else ()), JSON, OUTPUTS)


def answer_fast(arguments: list[str]) -> str | None:
    """Answer `pipeline query` with these arguments if they are simple enough for the fast path.

    None for other arguments: they need Typer.
    """
    if not arguments or arguments[0].startswith("-") or not is_registered(arguments[0]):
        return None
    kind = get_reader_class(arguments[0])
    parsed = parse_simple_query(arguments[1:], list_options(kind))
    if parsed is None or (parsed[0] is None and not is_keyless(kind, parsed[1])):
        return None
    return answer_as_text(arguments[0], *parsed)


def answer_as_text(name: str, key: str | None, texts: OptionTexts) -> str:
    """Answer one query as text to print, and write its picture if the options name a file."""
    if key is None or texts:
        # the answer may go to a file, which must be whole or not there; or it may need polars,
        # which takes over the interrupt and waits for its own work
        watch_signals()
    options = {**texts}
    svg, is_json, outputs = (options.pop(own.name, None) for own in (SVG, JSON, OUTPUTS))
    if svg == "-" and is_json:
        problem = "--json cannot be combined with --svg -: only one can be printed"
        raise BadRequest(problem, "Write the picture to a file with --svg FILE")
    opened = open_reader(name, open_store(outputs))
    reader, parsed = pose(opened, ALL if key is None else QUERY, options)
    try:
        answer = reader.answer(key, parsed)
    except TablebaseError as error:
        if is_json and error.known:
            from puzzle_tablebase.pipeline.terminal import print_answer

            print_answer(format_json(error.known) + "\n")
        raise
    text = f"{answer.to_json()}\n" if is_json else answer.to_text()
    if svg is not None:
        from puzzle_tablebase.output import write_output

        # after the text: options that `to_text` rejects must leave no picture behind
        write_output(str(svg), answer.to_svg().encode())
        if svg == "-":
            return ""
    return text


def parse_simple_query(
    arguments: list[str], options: tuple[Option, ...]
) -> tuple[str | None, OptionTexts] | None:
    """Parse arguments to a key, if there is one, and options; None if they are not that simple.

    >>> parse_simple_query(["b1", "--to", "c3"], (Option("to", "Where the tour ends.", "SQUARE"),))
    ('b1', {'to': 'c3'})
    >>> parse_simple_query(["b1", "--help"], ()) is None
    True
    """
    options_by_flag = {option.flag: option for option in options}
    keys = []
    values: OptionTexts = {}
    rest = iter(arguments)
    for argument in rest:
        option = options_by_flag.get(argument)
        if option is None:
            if argument.startswith("-"):
                return None
            keys.append(argument)
        elif option.metavar:
            values[option.name] = value = next(rest, "-")
            if value.startswith("-"):
                return None
        else:
            values[option.name] = True
    return " ".join(keys) if keys else None, values
