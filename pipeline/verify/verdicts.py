"""Verdicts on tables and boards: five grades, from proved to intact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tablebase.tables.state_counts import Depth


class Grade(StrEnum):
    """The five verdicts, the strongest first."""

    PROVED = "proved"
    """Every row and record follows from the rules, by code that shares only the rules, the file
    formats and the task runner with the rest."""
    RECOUNTED = "recounted"
    """A second computation, by another method that it names, gives the same numbers."""
    PUBLISHED = "published"
    """The numbers agree with a published one that it cites, and nothing more was done."""
    SAMPLED = "sampled"
    """A sample of the rows or numbers was checked."""
    INTACT = "intact"
    """The files are what the manifest lists; nothing about their content was shown."""


ORDER = tuple(Grade)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a table, or on one of its boards if `board` is given.

    `how` states in a sentence what was checked and what was not.
    """

    table: str
    board: str | None
    verdict: Grade
    how: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdicts of a table's proof, and results for the proofs of later tables."""

    verdicts: tuple[Verdict, ...]
    result: Any = None
    """Any value that a later proof of the same puzzle can use, such as counts."""
    depths: Mapping[Depth, int] = field(default_factory=dict)
    """The number of states of each goal at each distance, if the proof counted them."""

    def shows(self, board: str | None = None, *, least: Grade) -> bool:
        """Return whether the verdict on the table, or on a board, is at least as strong."""
        return any(
            verdict.board == board and ORDER.index(verdict.verdict) <= ORDER.index(least)
            for verdict in self.verdicts
        )


Seen = Mapping[str, Outcome]
"""The outcomes of the tables before this one, by name."""


def find_weakest(verdicts: Iterable[Verdict]) -> dict[str, Grade]:
    """Return each table's weakest verdict, which is its own where it has boards."""
    weakest: dict[str, Grade] = {}
    for verdict in verdicts:
        grade = verdict.verdict
        weakest[verdict.table] = max(weakest.get(verdict.table, grade), grade, key=ORDER.index)
    return weakest


def count_tables(verdicts: Iterable[Verdict]) -> dict[Grade, int]:
    """Return how many tables have each verdict, the strongest first."""
    grades = [*find_weakest(verdicts).values()]
    return {grade: grades.count(grade) for grade in ORDER if grade in grades}


def group_boards(verdicts: Sequence[Verdict]) -> list[tuple[Grade, str, list[str]]]:
    """Return a table's verdicts, the strongest first: grade, `how` text and boards.

    The list of boards is empty for a verdict on the whole table.
    """
    boards: dict[tuple[Grade, str], list[str]] = {}
    for verdict in sorted(verdicts, key=lambda verdict: ORDER.index(verdict.verdict)):
        names = boards.setdefault((verdict.verdict, verdict.how), [])
        names.extend([verdict.board] if verdict.board else [])
    return [(grade, how, names) for (grade, how), names in boards.items()]
