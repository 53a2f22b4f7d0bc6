"""Judging: what an answer to a key is worth by the rules and the tables, and the summary of many.

The moves of an answer are read, and followed from where it starts by the `step` of a reader, which
is any `Reader` here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from puzzle_tablebase.errors import IllegalMove, quote
from puzzle_tablebase.queries.answer import Judgement, format_count
from puzzle_tablebase.queries.options import ANSWER_KINDS

if TYPE_CHECKING:
    import polars as pl

    from puzzle_tablebase.puzzle import GoalPuzzle
    from puzzle_tablebase.queries.options import Options

Moves = tuple[list[str], str]
"""The moves of an answer, and where reading stopped, or ""."""
SEPARATORS = " \t\n\r\v\f,"
"""The characters that may stand between moves."""
STATED = re.compile(f"[{SEPARATORS}]*+([0-9]{{1,3}}|unreachable)[{SEPARATORS}]*+")
"""An answer that states a distance."""
MIN_TOGETHER = 100
"""The fewest answers that array code judges: it takes a while to begin."""
GOOD = ("shortest", "right", "tour", "closed tour")
"""The results of answers that could not be better."""


def has_moves(options: Options) -> bool:
    """Return whether the answers to be judged are moves, not distances."""
    return getattr(options, "answers", None) in (None, ANSWER_KINDS[0])


def judge(reader: Any, key: str, answer: object, options: Options) -> Judgement:
    """Judge one answer, of any type; an error only for its key, or for a search without end."""
    start, goal, shortest = reader.parse_answer(key, options)
    try:
        text = "" if answer is None else str(answer)
    except ValueError:  # a number of more digits than Python writes
        text = str(type(answer))
    if not has_moves(options):
        if stated := STATED.fullmatch(text):
            judged: Judgement = reader.judge_distance(stated[1], start, shortest, options)
            return judged
        problem = f"{quote(text)}: not a number of moves from 0 to 999, or unreachable"
        return Judgement(result="unreadable", problem=problem, score=0.0)
    moves, problem = reader.read_moves(text, start)
    facts: dict[str, Any] = {"shortest": shortest, "step": len(moves) + 1}
    if problem:
        problem = _add_hint(problem, reader, text, start, goal)
        return Judgement(result="unreadable", problem=problem, score=0.0, **facts)
    done, here, first_loss = 0, start, None
    try:
        for done, here in enumerate(follow(reader, start, moves), 1):
            if first_loss is None and shortest is not None:
                first_loss = None if reader.is_at(here, goal, shortest - done) else done
    except IllegalMove as error:
        problem = error.problem
    is_home = here == goal and not problem
    if not is_home:
        problem = _add_hint(problem, reader, text, start, goal)
    step = done + 1 if done < len(moves) else 0
    judged = judge_moves(len(moves), shortest, first_loss, step, problem, is_home=is_home)
    completed: Judgement = reader.complete(judged, start, here, options)
    return completed


def follow(reader: Any, here: Any, moves: list[str]) -> Iterator[Any]:
    """Yield where each move leads; raise IllegalMove for one that is illegal."""
    for number, move in enumerate(moves, 1):
        here, problem = reader.step(here, move, number)
        if problem:
            raise IllegalMove(f"move {number}, {problem}")
        yield here


def judge_moves(
    length: int, shortest: int | None, first_loss: int | None, step: int = 0, problem: str = "",
    *, is_home: bool = False,
) -> Judgement:  # fmt: skip
    """Judge moves that could be read; the one of `step` is illegal, if that is not 0."""
    facts: dict[str, Any] = {"length": length, "shortest": shortest, "first_loss": first_loss}
    if step:
        return Judgement(result="illegal", step=step, problem=problem, score=0.0, **facts)
    if not is_home:
        return Judgement(result="incomplete", problem=problem or None, score=0.0, **facts)
    if shortest is None:
        return Judgement(result="solved", score=None, **facts)
    if excess := length - shortest:
        return Judgement(result="longer", excess=excess, score=shortest / length, **facts)
    return Judgement(result="shortest", excess=0, score=1.0, **facts)


def judge_distance(stated: str, shortest: int | None) -> Judgement:
    """Judge a number of moves, or that there are none; `shortest` is None then."""
    truth = "unreachable" if shortest is None else str(shortest)
    if stated.lstrip("0") == truth.lstrip("0"):
        return Judgement(result="right", shortest=shortest, score=1.0)
    problem = "no moves lead there" if shortest is None else f"the fewest moves are {truth}"
    return Judgement(result="wrong", shortest=shortest, problem=problem, score=0.0)


def _add_hint(problem: str, reader: Any, text: str, start: Any, goal: Any) -> str:
    """Add to a problem how an answer that does not reach the goal must be read to do so."""
    for reading, hint in reader.list_readings(text):
        if reading != text and _is_solution(reader, reading, start, goal):
            return "; ".join(filter(None, (problem, hint)))
    return problem


def _is_solution(reader: Any, text: str, start: Any, goal: Any) -> bool:
    moves, problem = reader.read_moves(text, start)
    try:
        return not problem and [start, *follow(reader, start, moves)][-1] == goal
    except IllegalMove:
        return False


def read_moves(text: str, move: str, what: str, stop: str = f"[^{SEPARATORS}]+") -> Moves:
    """Read moves that match a pattern, with separators between them or not.

    Return them, and where reading stopped, or "". Of the text there, what matches `stop` is quoted.

    >>> read_moves("5-10,4x", "[0-9]+[-x][0-9]+", "a move")
    (['5-10'], "character 6, '4x': not a move")
    """
    rest = re.sub(rf"\A(?:{move}|[{SEPARATORS}])*+", "", text)
    end = len(text) - len(rest)
    bad = re.match(stop, rest, re.DOTALL)
    problem = f"character {end + 1}, {quote(bad[0])}: not {what}" if bad else ""
    return re.findall(move, text[:end]), problem


def read_letters(text: str, letters: str) -> Moves:
    """Read moves that are letters."""
    return read_moves(text, f"[{re.escape(letters)}]", f"one of {', '.join(letters)}", stop=".")


def read_tiles(text: str, tiles: str) -> Moves:
    """Read moves that are tiles, the first of which are digits; numbers of two are words."""
    what = f"one of the tiles 1-{tiles[-1]}"
    words = text.replace(",", " ").split() if len(tiles) > 9 else []
    if len(words) < 2 or max(map(len, words)) > 2:
        return read_moves(text, f"[{tiles}]", what, stop=".")
    names = {str(number): tile for number, tile in enumerate(tiles, 1)}
    pattern = rf"(?:{'|'.join([*names][9:])}|[{tiles}])(?![^{SEPARATORS}])"
    moves, problem = read_moves(text, pattern, what)
    return [names.get(move, move) for move in moves], problem


TURNED = str.maketrans("UDLR", "DURL")
"""The letters of the moves of a tile, by those of the blank."""
EDGES = {"U": "first row", "D": "last row", "L": "first column", "R": "last column"}
"""Where the blank is if its move is illegal, by the move."""


def read_board_moves(text: str, start: str) -> Moves:
    """Read an answer's letters of the blank's moves, or tiles that slide."""
    tiles = "".join(sorted(start.replace("0", "")))
    if text.lstrip(SEPARATORS)[:1] in {*tiles}:
        return read_tiles(text, tiles)
    return read_letters(text, "".join(EDGES))


def step_board(board: GoalPuzzle, state: str, move: str) -> tuple[str, str]:
    """Return the state after a move, a letter or a tile; and the move and why it is illegal."""
    blank = state.index("0")
    for letter, after in board.moves(state):
        if move in (letter, after[blank]):  # the tile that slides is where the blank was
            return after, ""
    return state, explain_illegal(move)


def explain_illegal(move: str) -> str:
    """Name a move of a board, and say why it is illegal."""
    if move in EDGES:
        return f"{move}: the blank is in the {EDGES[move]}"
    return f"tile {move}: it is not next to the blank"


def list_board_readings(text: str) -> list[tuple[str, str]]:
    """List other ways to read the moves of a board, each with what is said of it."""
    upper, exchanged = text.upper(), "with U and D, L and R exchanged"
    return [
        (text.translate(TURNED), f"{exchanged} it reaches the goal: letters move the blank"),
        (upper, "in capital letters it reaches the goal"),
        (upper.translate(TURNED), f"in capital letters, {exchanged}, it reaches the goal"),
    ]


def make_judged_schema(reader: Any) -> pl.Schema:
    """Return the columns that judgements of a batch add, with their types."""
    import polars as pl

    types = {"str": pl.String, "int": pl.Int64, "float": pl.Float64}
    kinds = {name: Judgement.__annotations__[name].split()[0] for name in reader.judged_columns}
    return pl.Schema({name: types[kind]() for name, kind in kinds.items()})


def judge_rows(reader: Any, keys: pl.Series, answers: pl.Series, options: Options) -> pl.DataFrame:
    """Judge many answers, one row per key, with a column of errors.

    Rows that array code has judged alike have one number, and each of the others has its own, below
    0: each number is looked up once.
    """
    import polars as pl

    from puzzle_tablebase.queries.answer_frames import answer_each

    groups, explain = pl.int_range(-len(keys), 0, eager=True).set(keys.is_null(), None), None
    if len(keys) >= MIN_TOGETHER and has_moves(options):
        alike, explain = reader.group_answers(keys, answers, options) or (None, None)
        groups = groups if alike is None else groups.scatter(*alike)

    def judge_group(group: int) -> Judgement:
        judged: Judgement
        if group < 0 or explain is None:
            judged = reader.judge(keys[group], answers[group], options)
        else:
            judged = explain(group)
        return judged

    return answer_each(groups, judge_group, make_judged_schema(reader))


class Summary:
    """Sums of the judgements of a batch."""

    def __init__(self) -> None:
        self.results, self.first_losses = Counter[str](), Counter[int]()
        self.answers, self.excess, self.scored, self.score = 0, 0, 0, 0.0

    def add(self, rows: pl.DataFrame) -> None:
        """Add the rows of judgements; the first losses by distance."""
        self.answers += len(rows)
        self.results.update(rows["result"].drop_nulls())
        self.scored += rows["score"].count()
        self.score += float(rows["score"].sum())
        if "excess" in rows.columns:
            self.excess += int(rows["excess"].sum())
            self.first_losses.update((rows["shortest"] - rows["first_loss"] + 1).drop_nulls())

    def count(self, *results: str) -> int:
        """Count the judgements with one of these results."""
        return sum(self.results[result] for result in results)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        measured = self.count("shortest", "longer")
        return {
            "answers": self.answers,
            "results": dict(sorted(self.results.items())),
            "mean_excess": self.excess / measured if measured else None,
            "mean_score": self.score / self.scored if self.scored else None,
            "first_losses": dict(sorted(self.first_losses.items())),
        }

    def to_text(self) -> str:
        """Format the numbers as a sentence."""
        facts = self.to_dict()
        solved = self.count("shortest", "longer", "solved", "tour", "closed tour")
        best = "closed tour" if self.count("tour", "closed tour") else "shortest"
        if self.count("right", "wrong"):
            return f"{self.results['right']:,} of {format_count(self.answers, 'distance')} right"
        text = f"{solved:,} of {self.answers:,} solved, {self.results[best]:,} {best}"
        if facts["mean_excess"] is not None:
            text += f", mean excess {facts['mean_excess']:.1f}"
        losses = ", ".join(f"{at}: {times:,}" for at, times in facts["first_losses"].items())
        return f"{text}; first losses by distance: {losses}" if losses else text
