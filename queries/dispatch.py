"""The read side's registry: which reader answers for a puzzle, and one question at the shell."""

from __future__ import annotations

from queries.facts import format_json
from queries.query_options import JSON, OUTPUTS, Option, OptionValues, parse_simple_query
from tablebase.puzzle import GoalPuzzle
from tablebase.puzzles import get_puzzle, import_object, is_registered, load_part
from tablebase.tables.store import Store
from tablebase.tables.store_factory import open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from queries.reader import Reader

READERS = {
    "eight": "queries.eight.reader:EightReader",
    "sliding": "queries.sliding.reader:SlidingReader",
    "senet": "queries.senet.reader:SenetReader",
    "knight": "queries.knight.reader:KnightReader",
}
"""The read side's registry; another puzzle may name its reader itself, and needs none."""


def get_reader_class(name: str) -> type[Reader]:
    """The class that answers for a puzzle."""
    kind: type[Reader]
    if name in READERS:
        kind = import_object(READERS[name])
    elif (puzzle := get_puzzle(name)).reader:
        kind = load_part(puzzle, puzzle.reader)
    else:
        goals = isinstance(puzzle, GoalPuzzle)
        kind = import_object(
            "queries.goal_reader:GoalReader" if goals else "queries.default_reader:DefaultReader"
        )
    return kind


def open_reader(name: str, store: Store) -> Reader:
    """The reader of a puzzle's tables in a store."""
    return get_reader_class(name)(get_puzzle(name), store)


def list_options(name: str) -> tuple[Option, ...]:
    """All options of a puzzle's query."""
    return (*get_reader_class(name).options, JSON, OUTPUTS)


def answer_query(name: str, key: str | None, options: OptionValues) -> str:
    """The answer to one question as text to print; no key: of the whole puzzle."""
    require_one_printed(options.get("svg"), as_json=bool(options.get("json")))
    reader = open_reader(name, open_store(options.get("outputs"))).select_reader(options)
    options = reader.normalize_options(options)
    facts = reader.answer_without_key(options) if key is None else reader.probe(key, options)
    text = format_json(facts.to_dict()) + "\n" if options.get("json") else facts.to_text(options)
    if "svg" in options:
        from tablebase.output import STANDARD, write_output

        # after the text: options that it refuses leave no picture
        write_output(str(options["svg"]), facts.to_svg().encode())
        if options["svg"] == STANDARD:
            return ""
    return text


def require_one_printed(svg: object, *, as_json: bool) -> None:
    """BadRequest where a picture and JSON would go to the same standard output, or where the
    picture's name is that of another format."""
    if svg:
        from tablebase.output import require_svg_name

        require_svg_name(str(svg))
    if svg == "-" and as_json:
        from tablebase.errors import BadRequest

        problem = "--json cannot be combined with --svg -: only one can be printed"
        raise BadRequest(problem, "Write the picture to a file with --svg FILE")


def answer_fast(arguments: list[str]) -> str | None:
    """The answer to `pipeline query` with these words, if they are a plain form."""
    if not arguments or arguments[0].startswith("-") or not is_registered(arguments[0]):
        return None
    parsed = parse_simple_query(arguments[1:], list_options(arguments[0]))
    if parsed is None or (
        parsed[0] is None and not {*get_reader_class(arguments[0]).keyless} & {*parsed[1]}
    ):
        return None
    return answer_query(arguments[0], *parsed)
