"""Answers: facts as attributes, as text and as JSON."""

from __future__ import annotations

from puzzle_tablebase.errors import BadRequest, make_printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import ClassVar, NoReturn, dataclass_transform
else:  # a single lookup must not import `typing`

    def dataclass_transform(**_):
        """Return a decorator that changes nothing."""
        return lambda kind: kind


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
COMPRESSED_SUFFIXES = (".gz", ".zst", ".zstd")
"""Suffixes of compressed files, which follow that of a format."""


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Answer:
    """An answer. A subclass declares each fact once, as an attribute with its type.

    The constructor, equality, JSON and the cells of a batch follow from the declaration, in its
    order: that of base classes first, but a fact that is declared anew has its new place. A fact
    that is None by default is left out of JSON while it is None; the items of one that is a dict
    take its place, and are attributes too. An attribute that begins with _ is not a fact.
    """

    facts: ClassVar[tuple[str, ...]] = ()
    """The names of the facts."""

    def __init_subclass__(cls) -> None:
        bases = [kind for kind in reversed(cls.__mro__) if kind not in Answer.__mro__]
        names = dict[str, None]()
        for name in (name for kind in bases for name in kind.__annotations__):
            names.pop(name, None)
            names[name] = None
        cls.facts = tuple(name for name in names if name[0] != "_")

    def __init__(self, **values: object) -> None:
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(
            getattr(self, name) == getattr(other, name) for name in self.facts
        )

    def __hash__(self) -> int:
        # lists and dicts have no hash; without them, too, equal answers have equal hashes
        facts = (getattr(self, name) for name in self.facts)
        return hash(tuple(fact for fact in facts if not isinstance(fact, list | dict)))

    def __repr__(self) -> str:
        facts = ", ".join(f"{name}={fact!r}" for name, fact in self._iter_facts())
        return f"{type(self).__name__}({facts})"

    def _iter_facts(self) -> Iterator[tuple[str, object]]:
        """Yield the facts by name, without those that are None by default and None here."""
        for name in self.facts:
            fact = getattr(self, name)
            if fact is not None or not hasattr(type(self), name):
                yield name, fact

    def to_dict(self) -> dict[str, object]:
        """Return the facts by name, as in JSON."""
        values: dict[str, object] = {}
        for name, fact in self._iter_facts():
            values.update(fact if isinstance(fact, dict) else {name: fact})
        return values

    if not TYPE_CHECKING:  # a checker would take every name for a fact

        def __getattr__(self, name):
            """Return an item of a fact that is a dict, such as `manhattan` of the features."""
            for fact in self.facts:
                items = self.__dict__.get(fact)
                if isinstance(items, dict) and name in items:
                    return items[name]
            raise AttributeError(f"{type(self).__name__} has no {name}")

    def to_json(self) -> str:
        """Format the facts as `pipeline query --json` prints them."""
        return format_json(self.to_dict())

    def to_text(self) -> str:
        """Format the answer as text for people, here its facts, one a line."""
        return align_rows(
            [
                (name.replace("_", " "), str(round(fact, 3) if isinstance(fact, float) else fact))
                for name, fact in self.to_dict().items()
                if fact is not None
            ]
        )

    def to_svg(self) -> str:
        """Draw the answer as an SVG picture, for puzzles whose readers have pictures."""
        raise NotImplementedError

    def _repr_svg_(self) -> str | None:
        """Draw the answer for a notebook; None if it has no picture."""
        try:
            return self.to_svg()
        except (NotImplementedError, BadRequest):
            return None


def format_json(value: object) -> str:
    """Format facts as `json.dumps` does, whose import takes longer than an answer.

    >>> format_json({"state": "123456780", "path": [1, None, True]})
    '{"state": "123456780", "path": [1, null, true]}'
    """
    if isinstance(value, dict):
        items = (f"{format_json(str(key))}: {format_json(item)}" for key, item in value.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(format_json, value))}]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if hasattr(value, "__index__"):  # as NumPy's integers have it too
        return str(value.__index__())
    if isinstance(value, float):
        # JSON has no infinities and no NaN; `repr` of NumPy's floats would add their type
        return float.__repr__(value) if value - value == 0 else "null"
    from _json import encode_basestring_ascii  # what `json` escapes texts with

    return encode_basestring_ascii(str(value))


def align_rows(rows: list[tuple[str, str]]) -> str:
    """Format labelled lines, with the values aligned."""
    width = max(len(label) for label, _ in rows)
    lines = (f"{label:{width}}  {make_printable(value)}" for label, value in rows)
    return "".join(f"{line.rstrip()}\n" for line in lines)


def format_count(count: int, noun: str) -> str:
    """Format a number with its noun, in the plural where needed.

    >>> format_count(1, "move"), format_count(27, "move")
    ('1 move', '27 moves')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


class HardestAnswer(Answer):
    """All keys at the largest depth, in notation order; depth and keys by their names."""

    goal: str | None = None
    depth: dict[str, int]
    named_keys: dict[str, list[str]]

    @property
    def keys(self) -> list[str]:
        """The states or positions, in notation order."""
        (keys,) = self.named_keys.values()
        return keys

    def to_text(self) -> str:
        rows = [("goal", self.goal)] if self.goal else []
        rows += [(name, str(value)) for name, value in self.depth.items()]
        rows += [(name, f"{len(keys):,}") for name, keys in self.named_keys.items()]
        return "\n".join([align_rows(rows), *map(make_printable, self.keys), ""])

    def to_svg(self) -> NoReturn:
        raise BadRequest("--hardest cannot be combined with --svg", "Leave out one of them")


class Judgement(Answer):
    """The worth of an answer to a key, as `docs/query.md` explains; what does not apply is None."""

    result: str
    length: int | None = None
    shortest: int | None = None
    excess: int | None = None
    first_loss: int | None = None
    step: int | None = None
    problem: str | None = None
    score: float | None
