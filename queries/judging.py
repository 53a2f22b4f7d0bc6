"""Judging: what an answer to a key is worth by the rules and the tables, and the summary of many.

The moves of an answer are read, and followed from where it starts, by a reader, which is any
`Reader` here.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, Any

import polars as pl

from puzzle_tablebase.errors import IllegalMove, quote
from puzzle_tablebase.notation.sliding import LETTERS
from puzzle_tablebase.queries.answer import Judgement, format_count

if TYPE_CHECKING:
    from puzzle_tablebase.queries.options import Options

Moves = tuple[list[str], str]
"""The moves of an answer, and where reading stopped, or ""."""
SEPARATORS = " \t\n\r\v\f,"
"""The characters that may stand between moves."""
STATED = re.compile(f"[{SEPARATORS}]*+([0-9]{{1,3}}|unreachable)[{SEPARATORS}]*+")
"""An answer that states a distance."""
GOOD = ("shortest", "right", "tour", "closed tour")
"""The results of answers that could not be better."""


def has_moves(options: Options) -> bool:
    """Return whether the answers to be judged are moves, not distances."""
    return getattr(options, "answers", None) in (None, "moves")


def judge(reader: Any, key: str, answer: object, options: Options) -> Judgement:
    """Judge one answer, of any type; an error only for its key, or for a search without end."""
    start, goal, shortest = reader.parse_answer(key, options)
    text = "" if answer is None else str(answer)
    if not has_moves(options):
        if stated := STATED.fullmatch(text):
            judged: Judgement = reader.judge_distance(stated[1], start, shortest, options)
            return judged
        problem = f"{quote(text)}: not a number of moves from 0 to 999, or unreachable"
        return Judgement(result="unreadable", problem=problem, score=0.0)
    moves, problem = reader.read_moves(text, start)
    facts: dict[str, Any] = {"shortest": shortest, "score": 0.0}
    if problem:
        return Judgement(result="unreadable", step=len(moves) + 1, problem=problem, **facts)
    done, here, passed = 0, start, list[Any]()
    try:
        for done, here in enumerate(reader.follow(start, moves), 1):
            if shortest is not None and done <= shortest + 1:
                passed.append(here)
    except IllegalMove as error:
        problem = error.problem

    def has_lost(at: int) -> bool:
        return not reader.is_at(passed[at], goal, shortest - at - 1)

    # a move brings the goal nearer by one at most: what has lost ground does not regain it
    lost = bisect_left(range(len(passed)), True, key=has_lost) + 1
    facts |= {"length": len(moves), "first_loss": lost if lost <= len(passed) else None}
    if problem:
        return Judgement(result="illegal", step=done + 1, problem=problem, **facts)
    if here != goal:
        judged = Judgement(result="incomplete", **facts)
    else:
        judged = judge_solution(len(moves), shortest, facts["first_loss"])
    completed: Judgement = reader.complete(judged, start, here, options)
    return completed


def judge_solution(length: int, shortest: int | None, first_loss: int | None = None) -> Judgement:
    """Judge moves that reach the goal; the fewest may not be known."""
    facts: dict[str, Any] = {"length": length, "shortest": shortest, "first_loss": first_loss}
    if shortest is None:
        return Judgement(result="solved", score=None, **facts)
    if excess := length - shortest:
        return Judgement(result="longer", excess=excess, score=shortest / length, **facts)
    return Judgement(result="shortest", excess=0, score=1.0, **facts)


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
    """Read moves that are tiles: as marks, or as numbers, where words of two digits are tiles.

    >>> read_tiles("15", "123456789abcdef"), read_tiles("1 5", "123456789abcdef")
    ((['f'], ''), (['1', '5'], ''))
    """
    what = f"one of the tiles 1-{tiles[-1]}"
    words = text.replace(",", " ").split() if len(tiles) > 9 else []
    names = {str(number): tile for number, tile in enumerate(tiles, 1)}
    is_number = len(words) == 1 and words[0] in names
    if not is_number and (len(words) < 2 or max(map(len, words)) > 2):
        return read_moves(text, f"[{tiles}]", what, stop=".")
    pattern = rf"(?:{'|'.join([*names][9:])}|[{tiles}])(?![^{SEPARATORS}])"
    moves, problem = read_moves(text, pattern, what)
    return [names.get(move, move) for move in moves], problem


def read_board_moves(text: str, start: str) -> Moves:
    """Read an answer's letters of the blank's moves, or tiles that slide."""
    tiles = "".join(sorted(start.replace("0", "")))
    if text.lstrip(SEPARATORS)[:1] in {*tiles}:
        return read_tiles(text, tiles)
    return read_letters(text, LETTERS)


JUDGED = pl.Schema(
    {
        **dict.fromkeys(Judgement.facts, pl.Int64()),
        **dict.fromkeys(("result", "problem"), pl.String()),
        "score": pl.Float64(),
    }
)
"""The columns of judgements with their types."""


def judge_rows(reader: Any, keys: pl.Series, answers: pl.Series, options: Options) -> pl.DataFrame:
    """Judge many answers, equal ones once: a row for each, with a column of errors."""
    from puzzle_tablebase.queries.answer_frames import answer_each

    rows = pl.DataFrame({"key": keys, "answer": answers}).with_row_index("row")
    first = pl.col("row").first().over("key", "answer")
    numbers = rows.select(pl.when(pl.col("key").is_not_null()).then(first)).to_series()

    def judge_row(row: int) -> Judgement:
        return judge(reader, keys[row], answers[row], options)

    return answer_each(numbers, judge_row, JUDGED)


class Summary:
    """Sums of the judgements of a batch."""

    def __init__(self) -> None:
        self.results = Counter[str]()
        self.answers, self.excess, self.scored, self.score = 0, 0, 0, 0.0

    def add(self, rows: pl.DataFrame) -> None:
        """Add the rows of judgements."""
        self.answers += len(rows)
        self.results.update(rows["result"].drop_nulls())
        self.excess += int(rows["excess"].sum())
        self.scored += rows["score"].count()
        self.score += float(rows["score"].sum())

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
        }

    def to_text(self) -> str:
        """Format the numbers as a sentence."""
        if self.count("right", "wrong"):
            return f"{self.results['right']:,} of {format_count(self.answers, 'distance')} right"
        solved = self.count("shortest", "longer", "solved", "tour", "closed tour")
        text = f"{solved:,} of {self.answers:,} solved"
        excess = self.to_dict()["mean_excess"]
        if excess is None:
            return text
        return f"{text}, {self.results['shortest']:,} shortest, mean excess {excess:.1f}"
