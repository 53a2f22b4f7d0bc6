"""The read side's registry: which reader answers for a puzzle, and one question at the shell."""

from __future__ import annotations

from queries.facts import json_text
from queries.query_options import JSON, OUTPUTS, Asked, Option, quick
from tablebase.puzzle import GoalPuzzle
from tablebase.puzzles import imported, part_of, puzzle, registered
from tablebase.tables.store import Store
from tablebase.tables.store_factory import tables_store

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


def reader_class(name: str) -> type[Reader]:
    """The class that answers for a puzzle."""
    kind: type[Reader]
    if name in READERS:
        kind = imported(READERS[name])
    elif (asked := puzzle(name)).reader:
        kind = part_of(asked, asked.reader)
    else:
        goals = isinstance(asked, GoalPuzzle)
        kind = imported(
            "queries.goal_reader:GoalReader" if goals else "queries.default_reader:PlainReader"
        )
    return kind


def reader(name: str, store: Store) -> Reader:
    """The reader of a puzzle's tables in a store."""
    return reader_class(name)(puzzle(name), store)


def options(name: str) -> tuple[Option, ...]:
    """All options of a puzzle's query."""
    return (*reader_class(name).options, JSON, OUTPUTS)


def respond(name: str, key: str | None, asked: Asked) -> str:
    """The answer to one question as text to print; no key: of the whole puzzle."""
    require_one_printed(asked.get("svg"), as_json=bool(asked.get("json")))
    asks = reader(name, tables_store(asked.get("outputs"))).meant(asked)
    asked = asks.checked(asked)
    facts = asks.facts_of_all(asked) if key is None else asks.facts(key, asked)
    text = json_text(facts.named()) + "\n" if asked.get("json") else facts.words(asked)
    if "svg" in asked:
        from tablebase.output import STANDARD, write

        # after the text: options that it refuses leave no picture
        write(str(asked["svg"]), facts.drawn().encode())
        if asked["svg"] == STANDARD:
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


def quick_answer(words: list[str]) -> str | None:
    """The answer to `pipeline query` with these words, if they are a plain form."""
    if not words or words[0].startswith("-") or not registered(words[0]):
        return None
    form = quick(words[1:], options(words[0]))
    if form is None or (form[0] is None and not {*reader_class(words[0]).keyless} & {*form[1]}):
        return None
    return respond(words[0], *form)
