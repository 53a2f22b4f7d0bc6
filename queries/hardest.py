"""The states that are farthest from the goal, or the positions farthest from the opening."""

from __future__ import annotations

from queries.facts import Facts, align_rows
from queries.query_options import Option, OptionValues
from tablebase.errors import BadRequest


class HardestFacts(Facts):
    """All keys at the largest depth, in notation order; `noun` is what a key is."""

    __slots__ = ("_keys", "fields")

    def __init__(self, noun: str, keys: list[str], depth: str, value: int, goal: str = "") -> None:
        self._keys = keys
        self.fields = {**({"goal": goal} if goal else {}), depth: value, f"{noun}s": keys}

    @property
    def keys(self) -> list[str]:
        """The states or positions, in notation order."""
        return self._keys

    def to_text(self, options: OptionValues) -> str:
        values = (
            (name, f"{len(self._keys):,}" if value is self._keys else str(value))
            for name, value in self.fields.items()
        )
        return "\n".join([align_rows([*values]), *self._keys, ""])


def refuse_others(options: OptionValues, known: tuple[Option, ...]) -> None:
    """Raise BadRequest for an option of single keys beside `--hardest`; `known`: all options."""
    for option in known:
        if options.get(option.name) and option.name not in ("hardest", "goal", "board"):
            problem = f"--hardest cannot be combined with {option.flag}"
            raise BadRequest(problem, "Leave out one of them")
