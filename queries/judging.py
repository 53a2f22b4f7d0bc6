"""Judging: scores of answers by the rules and the tables.

The moves of an answer are read, and made from its start by the rules of the puzzle. A single
judgement imports nothing heavy.
"""

from __future__ import annotations

from puzzle_tablebase.errors import IllegalMove, quote
from puzzle_tablebase.notation.moves import SEPARATORS
from puzzle_tablebase.queries.questions import Judgement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from puzzle_tablebase.puzzles import Rules
    from puzzle_tablebase.queries.questions import Options

GOOD = ("shortest", "right", "tour", "closed tour")
"""The results of answers that could not be better."""
MAX_DIGITS = 3
"""The most digits of a stated distance."""


def has_moves(options: Options) -> bool:
    """Return whether the answers to be judged are moves, not distances."""
    return options.answers == "moves"


def judge(prober: Any, key: str, answer: object, options: Options) -> Judgement:
    """Judge one answer, of any type; raise only for an invalid key or an endless search."""
    text = "" if answer is None else str(answer)
    judge_text = judge_moves if has_moves(options) else _judge_distance
    return judge_text(prober, text, options, *prober.parse_answer(key, options))


def _judge_distance(
    prober: Any, text: str, options: Options, start: Any, goal: Any, shortest: int | None
) -> Judgement:
    """Judge a stated distance."""
    stated = text.strip(SEPARATORS)
    is_number = stated.isascii() and stated.isdigit() and len(stated) <= MAX_DIGITS
    if is_number or stated == "unreachable":
        judged: Judgement = prober.judge_distance(stated, start, shortest, options)
        return judged
    problem = f"{quote(text)}: not a number of moves from 0 to 999, or unreachable"
    return Judgement(result="unreadable", problem=problem, score=0.0)


def judge_moves(
    prober: Any, text: str, options: Options, start: Any, goal: Any, shortest: int | None
) -> Judgement:
    """Judge moves from a start to a goal; the fewest moves may be unknown.

    If an answer scores 0, its problem may say how else it could be read.
    """
    rules = prober.choose_rules(options)
    moves, problem = rules.read_moves(text, start)
    facts: dict[str, Any] = {"shortest": shortest, "score": 0.0}
    if problem:
        facts |= {"result": "unreadable", "step": len(moves) + 1}
        problem = add_meaning(rules, text, start, goal, shortest, [], problem)
        return Judgement(problem=problem, **facts)
    done, here = 0, start
    passed: list[Any] = []
    try:
        for done, here in enumerate(rules.follow(start, moves), 1):
            if shortest is not None and done <= shortest + 1:
                passed.append(here)
    except IllegalMove as error:
        problem = error.problem
    is_solved = not problem and here == goal
    facts |= {"length": len(moves), "first_loss": None}
    if not is_solved or len(moves) != shortest:
        facts["first_loss"] = _find_first_loss(prober, passed, goal, shortest)
    if is_solved:
        judged = judge_solution(len(moves), shortest, facts["first_loss"])
    else:
        result = {"result": "illegal", "step": done + 1} if problem else {"result": "incomplete"}
        problem = add_meaning(rules, text, start, goal, shortest, moves, problem)
        judged = Judgement(problem=problem or None, **facts, **result)
    if judged.result == "illegal":
        return judged
    completed: Judgement = prober.complete(judged, start, here, options)
    return completed


def _find_first_loss(prober: Any, passed: list[Any], goal: Any, shortest: Any) -> int | None:
    """Return the number of the first move that did not lead nearer to the goal, or None.

    A move leads nearer by at most one, so lost ground is never regained.
    """
    low, high = 0, len(passed)
    while low < high:
        middle = (low + high) // 2
        if prober.is_at(passed[middle], goal, shortest - middle - 1):
            low = middle + 1
        else:
            high = middle
    return low + 1 if low < len(passed) else None


def judge_solution(length: int, shortest: int | None, first_loss: int | None = None) -> Judgement:
    """Judge moves that reach the goal; the fewest moves may be unknown."""
    facts: dict[str, Any] = {"length": length, "shortest": shortest, "first_loss": first_loss}
    if shortest is None:
        return Judgement(result="solved", score=None, **facts)
    if excess := length - shortest:
        return Judgement(result="longer", excess=excess, score=shortest / length, **facts)
    return Judgement(result="shortest", excess=0, score=1.0, **facts)


def add_meaning(
    rules: Rules, text: str, start: Any, goal: Any, shortest: int | None, moves: list[str],
    problem: str,
) -> str:  # fmt: skip
    """Add the likely meaning of an answer to its problem.

    That is another reading, which is legal and reaches the goal. `moves` is the reading that
    failed; [] if the answer is unreadable.
    """
    tried = "".join(moves)
    for letters, how in rules.list_meanings(text):
        if letters == tried:
            continue
        last = start
        try:
            for here in rules.follow(start, letters):
                last = here
        except IllegalMove:
            continue
        if last == goal:
            is_best = len(letters) == shortest
            which = "a shortest" if is_best else f"a {len(letters)}-move"
            return f"{problem or 'the goal is not reached'}; read {how}, it is {which} solution"
    return problem
