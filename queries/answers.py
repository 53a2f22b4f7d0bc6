"""From a question to its answer: facts, keyed by the tables' column names, then words or JSON."""

from __future__ import annotations

import sys

from queries.forms import JSON, OUTPUTS, Asked, Facts, Option, quick
from queries.index import Index
from tablebase.puzzle import Puzzle
from tablebase.puzzles import MODULES, puzzle
from tablebase.tables.store import Store, tables_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

    from queries.rows import Answers
    from tablebase.puzzle import Column, Table

READERS = {
    "eight": "queries.eight.reader:EightReader",
    "senet": "queries.senet.reader:SenetReader",
    "knight": "queries.knight.reader:KnightReader",
}
"""The read side's registry; a puzzle with goals needs no reader of its own."""


class Reader:
    """Answers for one puzzle from the tables in one store; indexes open when first needed."""

    options: tuple[Option, ...] = ()
    key = "KEY"
    columns: tuple[str, ...]
    """A batch's columns, the key's first; options may add some."""
    keyless = ""
    """The option that is answered for the whole puzzle where no key is given, if there is one."""
    joins_characters = False
    """Whether a key may come as single characters with white space between them."""

    def __init__(self, asked_of: Puzzle, store: Store) -> None:
        self.store = store
        self._of = asked_of
        self._indexes: dict[str, Index] = {}
        self._rows: pl.DataFrame | None = None
        self._closed = False

    def index(self, name: str) -> Index:
        """The index of a table of this puzzle."""
        if self._closed:
            raise ValueError(f"the tables in {self.store} are closed")
        if name not in self._indexes:
            table = next(table for table in self._of.tables if table.name == name)
            self._indexes[name] = Index(self.store, self._of.name, table)
        return self._indexes[name]

    def close(self) -> None:
        """Let go of the indexes' files."""
        self._closed = True
        for index in self._indexes.values():
            index.close()

    def checked(self, asked: Asked) -> Asked:
        """The options in their one notation; a TablebaseError for what no key could be asked."""
        return asked

    def owns(self, table: str) -> bool:
        """Whether a table of that name is this puzzle's."""
        return self._of.owns(table)

    def facts(self, key: str, asked: Asked) -> Facts:
        """The answer as facts; a TablebaseError where there is none."""
        raise NotImplementedError

    def facts_of_all(self, asked: Asked) -> Facts:
        """The answer to the option that needs no key."""
        raise NotImplementedError

    def values(self, option: str) -> tuple[str, ...]:
        """What a shell may offer for an option; nothing where that cannot be listed."""
        return ()

    def words(self, facts: Facts, asked: Asked) -> str:
        """The answer for people."""
        raise NotImplementedError

    def drawn(self, facts: Facts) -> str:
        """The answer as an SVG picture, for puzzles that take --svg."""
        raise NotImplementedError

    @property
    def table(self) -> Table:
        """The table whose columns a batch's have their types from."""
        return self._of.tables[0]

    def declared(self, asked: Asked) -> dict[str, Column]:
        """The table's columns, by name, that can hold what is answered."""
        return {column.name: column for column in self.table.columns}

    def rows(self) -> pl.DataFrame:
        """A batch's columns of the whole table, read once."""
        if self._rows is None:
            from queries.published import scanned

            rows = scanned(self.store, self._of.name, self.table)
            self._rows = rows.select(self.columns).collect()
        return self._rows

    def added(self, asked: Asked) -> tuple[str, ...]:
        """The columns that answers to many keys have."""
        more = (option.columns for option in self.options if asked.get(option.name))
        return (*self.columns[1:], *(name for names in more for name in names))

    def answers(self, keys: pl.Series, asked: Asked) -> Answers:
        """A batch's answers, one row a key."""
        from queries.rows import looked_up

        return looked_up(self, keys, asked)

    def annotations(self, keys: pl.Series, asked: Asked) -> pl.DataFrame:
        """The same for whom a null is reason enough."""
        return self.answers(keys, asked)[0].drop("error")


def reader_class(name: str) -> type[Reader]:
    """The class that answers for a puzzle."""
    module, _, kind = READERS.get(name, "queries.goals:GoalReader").partition(":")
    found: type[Reader] = getattr(__import__(module, fromlist=[kind]), kind)
    return found


def reader(name: str, store: Store) -> Reader:
    """The reader of a puzzle's tables in a store."""
    return reader_class(name)(puzzle(name), store)


def options(name: str) -> tuple[Option, ...]:
    """All options of a puzzle's query."""
    return (*reader_class(name).options, JSON, OUTPUTS)


def respond(name: str, key: str | None, asked: Asked) -> str:
    """The answer to one question as text to print; no key: of the whole puzzle."""
    require_one_printed(asked.get("svg"), as_json=bool(asked.get("json")))
    asks = reader(name, tables_store(asked.get("outputs")))
    asked = asks.checked(asked)
    facts = asks.facts_of_all(asked) if key is None else asks.facts(key, asked)
    if "svg" in asked:
        from tablebase.output import STANDARD, write

        write(str(asked["svg"]), asks.drawn(facts).encode())
        if asked["svg"] == STANDARD:
            return ""
    if asked.get("json"):
        return json_text(facts) + "\n"
    return asks.words(facts, asked)


def require_one_printed(svg: object, *, as_json: bool) -> None:
    """BadRequest where a picture and JSON would go to the same standard output."""
    if svg == "-" and as_json:
        from tablebase.errors import BadRequest

        problem = "--json cannot be combined with --svg -: only one can be printed"
        raise BadRequest(problem, "Write the picture to a file with --svg FILE")


def quick_answer(words: list[str]) -> str | None:
    """The answer to `pipeline query` with these words, if they are a plain form."""
    if not words or words[0] not in MODULES:
        return None
    form = quick(words[1:], options(words[0]))
    if form is None or (form[0] is None and reader_class(words[0]).keyless not in form[1]):
        return None
    return respond(words[0], *form)


def json_text(value: object) -> str:
    """What `json.dumps` makes of facts: importing it would double the price of a lookup.

    >>> json_text({"state": "123456780", "path": [1, None, True]})
    '{"state": "123456780", "path": [1, null, true]}'
    """
    if isinstance(value, dict):
        items = (f"{json_text(key)}: {json_text(item)}" for key, item in value.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(json_text, value))}]"
    if isinstance(value, str) and value.isascii() and value.isprintable() and '"' not in value:
        escaped = value.replace("\\", "\\\\")
        return f'"{escaped}"'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value)
    raise TypeError(f"facts hold no {value!r}")


def heading(text: str) -> str:
    """A label, bold on a terminal."""
    return f"\x1b[1m{text}\x1b[0m" if coloured() else text


def coloured() -> bool:
    import os

    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def aligned(rows: list[tuple[str, str]]) -> str:
    """Labelled lines, the labels in one column."""
    width = max(len(label) for label, _ in rows)
    lines = (f"{heading(label)}{' ' * (width - len(label))}  {value}" for label, value in rows)
    return "".join(f"{line.rstrip()}\n" for line in lines)


def counted(count: int, noun: str) -> str:
    """
    >>> counted(1, "move"), counted(27, "move")
    ('1 move', '27 moves')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"
