"""The states that are farthest from the goal, or the positions farthest from the opening."""

from __future__ import annotations

from typing import NoReturn

from queries.answer import Answer, align_rows
from tablebase.errors import BadRequest


class HardestAnswer(Answer):
    """All keys at the largest depth, in notation order.

    `depth` is the name of its column with its value, and `named_keys` what a key is, with an s,
    with the keys.
    """

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
        return "\n".join([align_rows(rows), *self.keys, ""])

    def to_svg(self) -> NoReturn:
        raise BadRequest("--hardest cannot be combined with --svg", "Leave out one of them")
