"""What an answer to a key is worth, as plain values."""

from __future__ import annotations

from typing import Any

from queries.answer import Answer

GOOD = ("shortest", "right", "tour", "closed tour")
"""The results of answers that could not be better."""


class Judgement(Answer):
    """The worth of an answer to a key; a fact that does not apply is None.

    `first_loss` is the first move after which the goal was farther than it needed to be, `step` the
    move that `problem` is about. `score` is 1 for the best answers, 0 for those that do not reach
    the goal, and None if the shortest length is not known.
    """

    result: str
    length: int | None = None
    shortest: int | None = None
    excess: int | None = None
    first_loss: int | None = None
    step: int | None = None
    problem: str | None = None
    score: float | None
    rank: int | None = None


def judge_moves(
    length: int, shortest: int | None, first_loss: int | None, step: int = 0, problem: str = "",
    *, is_home: bool = False,
) -> Judgement:  # fmt: skip
    """Judge moves that could be read; `problem` says why that of `step` is illegal, if one is."""
    facts: dict[str, Any] = {"length": length, "shortest": shortest, "first_loss": first_loss}
    if problem:
        facts |= {"step": step, "problem": f"move {step}, {problem}"}
        return Judgement(result="illegal", score=0.0, **facts)
    if not is_home:
        return Judgement(result="incomplete", score=0.0, **facts)
    if shortest is None:
        return Judgement(result="solved", score=None, **facts)
    if excess := length - shortest:
        return Judgement(result="longer", excess=excess, score=shortest / length, **facts)
    return Judgement(result="shortest", excess=0, score=1.0, **facts)
