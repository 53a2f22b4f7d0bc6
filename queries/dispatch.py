"""The registry of readers by puzzle, and the answer to a single query of the command line."""

from __future__ import annotations

from queries.facts import Facts, format_json
from queries.query_options import JSON, OUTPUTS, Option, OptionValues, parse_simple_query
from tablebase.errors import NotationError
from tablebase.puzzle import GoalPuzzle
from tablebase.puzzles import get_puzzle, import_object, is_registered, load_part
from tablebase.signals import watch_signals
from tablebase.tables.store import Store
from tablebase.tables.store_factory import open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from queries.reader import Reader

READERS = {
    "eight": "queries.eight.reader:EightReader",
    "sliding": "queries.sliding.reader:SlidingReader",
    "fifteen": "queries.fifteen.reader:FifteenReader",
    "senet": "queries.senet.reader:SenetReader",
    "knight": "queries.knight.reader:KnightReader",
}
"""The readers of the built-in puzzles; a plugin's puzzle may name a reader, and needs none."""


def get_reader_class(name: str) -> type[Reader]:
    """Return the reader class of a puzzle."""
    reader_class: type[Reader]
    if name in READERS:
        reader_class = import_object(READERS[name])
    elif (puzzle := get_puzzle(name)).reader:
        reader_class = load_part(puzzle, puzzle.reader)
    else:
        has_goals = isinstance(puzzle, GoalPuzzle)
        reader_class = import_object(
            "queries.goal_reader:GoalReader"
            if has_goals
            else "queries.default_reader:DefaultReader"
        )
    return reader_class


def open_reader(name: str, store: Store) -> Reader:
    """Return a reader of a puzzle's tables in a store."""
    return get_reader_class(name)(get_puzzle(name), store)


def list_options(name: str) -> tuple[Option, ...]:
    """Return all options of a puzzle's query."""
    return (*get_reader_class(name).options, JSON, OUTPUTS)


def answer_query(name: str, key: str | None, options: OptionValues) -> str:
    """Answer one query as text to print; without a key, by an option that needs none."""
    if "svg" in options:  # a file that a signal must not leave behind
        watch_signals()
    require_one_printed(options.get("svg"), as_json=bool(options.get("json")))
    reader = open_reader(name, open_store(options.get("outputs"))).select_reader(options)
    options = reader.normalize_options(options)
    facts = reader.answer_without_key(options) if key is None else _probe(reader, key, options)
    text = format_json(facts.to_dict()) + "\n" if options.get("json") else facts.to_text(options)
    if "svg" in options:
        from tablebase.output import STANDARD, write_output

        # after the text: options that `to_text` rejects must leave no picture behind
        write_output(str(options["svg"]), facts.to_svg().encode())
        if options["svg"] == STANDARD:
            return ""
    return text


def _probe(reader: Reader, key: str, options: OptionValues) -> Facts:
    """Look up a key; if it is none, say so of a file's name or of several keys, too."""
    try:
        return reader.probe(key, options)
    except NotationError as error:
        from queries.key_hints import find_key_hint

        raise find_key_hint(reader, key, options) or error from None


def require_one_printed(svg: object, *, as_json: bool) -> None:
    """Raise BadRequest if a picture and JSON would both go to standard output, or if the picture's
    file name has the suffix of another format."""
    if svg:
        from tablebase.output import require_svg_name

        require_svg_name(str(svg))
    if svg == "-" and as_json:
        from tablebase.errors import BadRequest

        problem = "--json cannot be combined with --svg -: only one can be printed"
        raise BadRequest(problem, "Write the picture to a file with --svg FILE")


def answer_fast(arguments: list[str]) -> str | None:
    """Answer `pipeline query` with these arguments if they are simple enough for the fast path.

    None for other arguments: they need Typer.
    """
    if not arguments or arguments[0].startswith("-") or not is_registered(arguments[0]):
        return None
    parsed = parse_simple_query(arguments[1:], list_options(arguments[0]))
    if parsed is None or (
        parsed[0] is None and not {*get_reader_class(arguments[0]).keyless} & {*parsed[1]}
    ):
        return None
    return answer_query(arguments[0], *parsed)
