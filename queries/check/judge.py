"""Judges: what an answer to a key is worth, one at a time, and the summary of many."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from queries.answer import format_count
from queries.judgement import Judgement, judge_moves
from queries.reader import Query
from tablebase.errors import quote

if TYPE_CHECKING:
    import polars as pl

    from queries.answer_frames import Answers

SEPARATORS = " \t\n\r\v\f,"
"""The characters that may stand between moves."""
CLAIM = re.compile(f"[{SEPARATORS}]*+([0-9]{{1,3}}|unreachable)[{SEPARATORS}]*+")
"""An answer that is a claim, the fewest moves; more digits are tiles."""


def read(text: str, move: str, what: str, stop: str = f"[^{SEPARATORS}]+") -> tuple[list[str], str]:
    """Read moves that match a pattern, with separators between them or not.

    Return them, and where reading stopped, or "". Of the text there, what matches `stop` is quoted.

    >>> read("5-10,4x", "[0-9]+[-x][0-9]+", "a move")
    (['5-10'], "character 6, '4x': not a move")
    """
    rest = re.sub(rf"\A(?:{move}|[{SEPARATORS}])*+", "", text)
    end = len(text) - len(rest)
    bad = re.match(stop, rest, re.DOTALL)
    problem = f"character {end + 1}, {quote(bad[0])}: not {what}" if bad else ""
    return re.findall(move, text[:end]), problem


class IllegalMove(Exception):  # it is no fault of the program
    """A move that the rules do not allow, and why."""


class Judge(Query):
    """A query for the worth of answers; `lookup` is the query for the keys alone.

    A subclass has the rules of a puzzle.
    """

    reader: Any
    second_column: str
    columns: tuple[str, ...] = Judgement.facts[:-1]
    """The columns that a batch adds."""
    has_claims = True

    def __init__(self, lookup: Any, answer_column: str) -> None:
        super().__init__(lookup.reader, **lookup.given)
        self.lookup, self.second_column, self.summary = lookup, answer_column, Summary()
        self.look_up = lookup.look_up  # type: ignore[method-assign]  # a batch's keys are its keys

    def check(self, key: str, answer: object) -> Judgement:
        """Judge one answer, of any type; an error only for its key, or for a search without end."""
        (start, goal, shortest), text = self.parse(key), "" if answer is None else str(answer)
        if self.has_claims and (claim := CLAIM.fullmatch(text)):
            return self.judge_claim(claim[1], start, shortest)
        moves, problem = self.read_moves(text, start)
        if problem:
            facts: dict[str, Any] = {"shortest": shortest, "step": len(moves) + 1}
            return Judgement(result="unreadable", problem=problem, score=0.0, **facts)
        done, last, first_loss = 0, start, None
        try:
            for done, last in enumerate(self.follow(start, moves), 1):
                if first_loss is None and shortest is not None:
                    first_loss = None if self.is_at(last, goal, shortest - done) else done
        except IllegalMove as error:
            return judge_moves(len(moves), shortest, first_loss, done + 1, str(error))
        is_home = "".join(last) == goal
        judged = judge_moves(len(moves), shortest, first_loss, is_home=is_home)
        return self.complete(judged, start, last)

    def parse(self, key: str) -> tuple[Any, Any, int | None]:
        """Parse a key; return where its answers start, where they should end, and the fewest moves.

        None if no moves lead there, or if only a search finds the fewest.
        """
        raise NotImplementedError

    def read_moves(self, text: str, start: Any) -> tuple[list[str], str]:
        """Read the moves of an answer; return them, and where reading stopped, or ""."""
        raise NotImplementedError

    def follow(self, start: Any, moves: list[str]) -> Iterator[Any]:
        """Yield the parts of where each move leads; raise IllegalMove for one that is illegal."""
        raise NotImplementedError

    def is_at(self, last: Any, goal: Any, distance: int) -> bool:
        """Return whether a distance is that of a place on the way, if it is in a table."""
        return True

    def complete(self, judged: Judgement, start: Any, last: Any) -> Judgement:
        """Complete the judgement of legal moves."""
        return judged

    def judge_claim(self, claim: str, start: Any, shortest: int | None) -> Judgement:
        """Judge a number of moves, or that there are none; `shortest` is None then."""
        truth = "unreachable" if shortest is None else str(shortest)
        if claim.lstrip("0") == truth.lstrip("0"):
            return Judgement(result="right", shortest=shortest, score=1.0)
        problem = "no moves lead there" if shortest is None else f"the fewest moves are {truth}"
        return Judgement(result="wrong", shortest=shortest, problem=problem, score=0.0)

    def list_added_columns(self) -> tuple[str, ...]:
        return self.columns

    def make_schema(self) -> pl.Schema:
        import polars as pl

        types = {"str": pl.String, "int": pl.Int64, "float": pl.Float64}
        kinds = {name: Judgement.__annotations__[name].split()[0] for name in self.columns}
        return pl.Schema({name: types[kind]() for name, kind in kinds.items()})

    def group(self, keys: pl.Series, answers: pl.Series) -> pl.Series:
        """Return a number for each row, the same for rows of one judgement; null without a key.

        One below 0 is that of a single row, counted from the end.
        """
        import polars as pl

        return pl.int_range(-len(keys), 0, eager=True).set(keys.is_null(), None)

    def judge(self, keys: pl.Series, answers: pl.Series) -> Answers:
        """Judge many answers, one row per key, with a column of errors."""
        from queries.answer_frames import look_up_keys

        def judge_group(group: int) -> Judgement:
            alone = group < 0
            return self.check(keys[group], answers[group]) if alone else self.judge_alike(group)

        groups = self.group(keys, answers)
        return look_up_keys(groups, judge_group, self.make_schema(), self.on_progress)

    def judge_alike(self, group: int) -> Judgement:
        """Judge rows that array code has grouped."""
        raise NotImplementedError

    def iter_rows(self, keys: pl.Series, rows: pl.DataFrame) -> Iterator[Answers]:
        from queries.key_columns import read_key_column

        judged = self.judge(keys, read_key_column(rows[self.second_column]))
        self.summary.add(judged[0])
        yield judged


class Summary:
    """Sums of the judgements of a batch."""

    def __init__(self) -> None:
        self.results, self.first_losses = Counter[str](), Counter[int]()
        self.answers, self.excess, self.score = 0, 0, 0.0

    def add(self, rows: pl.DataFrame) -> None:
        """Add the rows of judgements; the first losses by distance."""
        self.answers += len(rows)
        self.results.update(rows["result"].drop_nulls())
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
            "mean_score": self.score / self.answers if self.answers else None,
            "first_losses": dict(sorted(self.first_losses.items())),
        }

    def to_text(self) -> str:
        """Format the numbers as a sentence."""
        facts, claims = self.to_dict(), self.count("right", "wrong")
        solved = self.count("shortest", "longer", "solved", "tour", "closed tour")
        best = "closed tour" if self.count("tour", "closed tour") else "shortest"
        text = f"{solved:,} of {self.answers - claims:,} solved, {self.results[best]:,} {best}"
        if facts["mean_excess"] is not None:
            text += f", mean excess {facts['mean_excess']:.1f}"
        if claims:
            text += f", {self.results['right']:,} of {format_count(claims, 'claim')} right"
        losses = ", ".join(f"{at}: {times:,}" for at, times in facts["first_losses"].items())
        return f"{text}; first losses by distance: {losses}" if losses else text
