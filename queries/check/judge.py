"""The base of judges, and the summary of many judgements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from queries.answer import Answer, format_count
from queries.answer_frames import look_up_keys, merge_answers
from queries.judgement import Judgement
from queries.key_columns import read_key_column
from queries.reader import Query

if TYPE_CHECKING:
    from queries.answer_frames import Answers

COLUMN_TYPES = {
    "result": pl.String(),
    "length": pl.Int64(),
    "shortest": pl.Int16(),
    "excess": pl.Int64(),
    "first_loss": pl.Int64(),
    "step": pl.Int64(),
    "problem": pl.String(),
    "score": pl.Float64(),
    "rank": pl.Int64(),
}


class Judge(Query):
    """A query for the worth of answers to keys; `lookup` is the query for the keys alone."""

    columns: tuple[str, ...] = Judgement.facts[:-1]
    """The columns that a batch adds."""

    def __init__(self, lookup: Any, answer_column: str = "answer") -> None:
        super().__init__(lookup.reader, **lookup.given)
        self.lookup = lookup
        self.second_column = answer_column
        self.summary = Summary()
        """The summary of all rows of a batch so far."""

    def look_up(self, key: str) -> Answer:
        found: Answer = self.lookup.look_up(key)
        return found

    def list_added_columns(self) -> tuple[str, ...]:
        return self.columns

    def make_schema(self) -> pl.Schema:
        return pl.Schema({name: COLUMN_TYPES[name] for name in self.columns})

    def prepare(self, keys: pl.Series, answers: pl.Series) -> None:
        """Find out together what these answers are compared with, if that is faster."""

    def judge_columns(self, keys: pl.Series, answers: pl.Series) -> pl.DataFrame | None:
        """Judge answers by array code, with nulls for those that are to be judged alone.

        None if all are.
        """
        return None

    def judge(self, keys: pl.Series, answers: pl.Series) -> Answers:
        numbers = pl.Series(range(len(keys)), dtype=pl.Int64)
        if keys.null_count():
            numbers = numbers.set(keys.is_null(), None)
        columns = self.judge_columns(keys, answers)
        judge_alone = partial(self._judge_alone, keys, answers)
        if columns is None:
            return judge_alone(numbers)
        return merge_answers(numbers, columns, judge_alone)

    def _judge_alone(self, keys: pl.Series, answers: pl.Series, numbers: pl.Series) -> Answers:
        """Judge the rows of these numbers one at a time."""
        rows = numbers.drop_nulls()
        self.prepare(keys.gather(rows), answers.gather(rows))

        def check_row(number: str) -> Judgement:
            return self.check(keys[int(number)], answers[int(number)])

        return look_up_keys(numbers, check_row, self.make_schema(), self.on_progress)

    def iter_rows(self, keys: pl.Series, rows: pl.DataFrame) -> Iterator[Answers]:
        assert self.second_column
        judged = self.judge(keys, read_key_column(rows[self.second_column]))
        self.summary.add(judged[0])
        yield judged


def write_text(answer: object) -> str:
    """Return an answer as text; a missing one has no moves.

    >>> write_text(None), write_text(27)
    ('', '27')
    """
    return answer if isinstance(answer, str) else "" if answer is None else str(answer)


class Summary:
    """Sums of the judgements of a batch."""

    def __init__(self) -> None:
        self.answers = 0
        self.results: Counter[str] = Counter()
        self.excess = 0
        self.score = 0.0
        self.first_losses: Counter[int] = Counter()

    def add(self, rows: pl.DataFrame) -> None:
        """Add the rows of judgements."""
        self.answers += len(rows)
        self.results.update(rows["result"].drop_nulls().to_list())
        self.score += float(rows["score"].sum())
        if "excess" in rows.columns:
            self.excess += int(rows["excess"].sum())
            losses = rows.select(pl.col("shortest") - pl.col("first_loss") + 1).to_series()
            self.first_losses.update(losses.drop_nulls().to_list())

    def count(self, *results: str) -> int:
        """Count the judgements with one of these results."""
        return sum(self.results[result] for result in results)

    def to_dict(self) -> dict[str, object]:
        """Return the numbers by name; first losses by the distance at which they were made."""
        solved = self.count("shortest", "longer")
        return {
            "answers": self.answers,
            "results": dict(sorted(self.results.items())),
            "mean_excess": self.excess / solved if solved else None,
            "mean_score": self.score / self.answers if self.answers else None,
            "first_losses": dict(sorted(self.first_losses.items())),
        }

    def to_text(self) -> str:
        """Format the numbers as a sentence."""
        claims, solved = self.count("right", "wrong"), self.count("shortest", "longer")
        moves, tours = self.answers - claims, self.count("tour", "closed tour")
        parts = [
            f"{solved + self.results['solved']} of {moves:,} solved",
            f"{self.results['shortest']:,} shortest",
        ]
        if solved:
            parts.append(f"mean excess {self.excess / solved:.1f}")
        if tours:
            parts = [f"{tours:,} of {moves:,} are tours", f"{self.results['closed tour']:,} closed"]
        if claims:
            claimed = f"{self.results['right']:,} of {format_count(claims, 'claim')} right"
            parts = [*parts, claimed] if moves else [claimed]
        losses = ", ".join(f"{at}: {times:,}" for at, times in sorted(self.first_losses.items()))
        return ", ".join(parts) + (f"; first losses by distance: {losses}" if losses else "")
