"""What an answer to a key is worth, as plain values."""

from __future__ import annotations

from queries.answer import Answer, align_rows

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

    def to_text(self) -> str:
        facts = self.to_dict().items()
        rows = [(name.replace("_", " "), str(fact)) for name, fact in facts if fact is not None]
        return align_rows(rows)


def make_unreadable(step: int, problem: str, shortest: int | None = None) -> Judgement:
    """Make the judgement of an answer that reading stopped in, at a move."""
    return Judgement(result="unreadable", shortest=shortest, step=step, problem=problem, score=0.0)


def make_illegal(
    length: int,
    step: int,
    problem: str,
    shortest: int | None = None,
    first_loss: int | None = None,
) -> Judgement:
    """Make the judgement of moves of which one is illegal; `problem` begins with its name."""
    return Judgement(
        result="illegal",
        length=length,
        shortest=shortest,
        first_loss=first_loss,
        step=step,
        problem=f"move {step}, {problem}" if step else problem,
        score=0.0,
    )


def judge_claim(claim: str, shortest: int | None, truth: str) -> Judgement:
    """Judge a claim; `truth` says what is true, and `shortest` is None for an unreachable goal."""
    is_right = claim == ("unreachable" if shortest is None else str(shortest))
    return Judgement(
        result="right" if is_right else "wrong",
        shortest=shortest,
        problem=None if is_right else truth,
        score=float(is_right),
    )


def judge_end(
    length: int, shortest: int | None, first_loss: int | None, *, is_home: bool
) -> Judgement:
    """Judge legal moves by where they end; at the goal, `shortest` may not be known."""
    if is_home and shortest is None:
        return Judgement(result="solved", length=length, score=None)
    excess, score, result = None, 0.0, "incomplete"
    if is_home and shortest is not None:
        excess = length - shortest
        score = shortest / length if excess else 1.0
        result = "longer" if excess else "shortest"
    return Judgement(
        result=result,
        length=length,
        shortest=shortest,
        excess=excess,
        first_loss=first_loss,
        score=score,
    )
