"""Verdicts: what a proof showed of a table or of one of its boards, in one of five words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


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
    """So many of all rows or numbers were tried."""
    INTACT = "intact"
    """The files are what the manifest lists; nothing about their content was shown."""


ORDER = tuple(Grade)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was shown of a table, or of one of its boards if `board` is given.

    `how` names in a sentence what was done and what is left.
    """

    table: str
    board: str | None
    verdict: Grade
    how: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the proof of a table returns: its verdicts, and `result` for proofs of later tables."""

    verdicts: tuple[Verdict, ...]
    result: Any = None

    def shows(self, board: str | None = None, *, least: Grade) -> bool:
        """Return whether the verdict on the table, or on a board, is at least as strong."""
        return any(
            of.board == board and ORDER.index(of.verdict) <= ORDER.index(least)
            for of in self.verdicts
        )


Seen = Mapping[str, Outcome]
"""The outcomes of the same puzzle's tables before this one, by name."""


def find_weakest(verdicts: Iterable[Verdict]) -> dict[str, Grade]:
    """Return each table's weakest verdict, which is its own where it has boards."""
    weakest: dict[str, Grade] = {}
    for of in verdicts:
        weakest[of.table] = max(weakest.get(of.table, of.verdict), of.verdict, key=ORDER.index)
    return weakest


def count_tables(verdicts: Iterable[Verdict]) -> dict[Grade, int]:
    """Return how many tables have each verdict, the strongest first."""
    found = [*find_weakest(verdicts).values()]
    return {grade: found.count(grade) for grade in ORDER if grade in found}


def group_boards(verdicts: Sequence[Verdict]) -> list[tuple[Grade, str, list[str]]]:
    """Return a table's verdicts, the strongest first: each with how, and the boards that have it.

    There are no boards where the verdict is on the whole table.
    """
    boards: dict[tuple[Grade, str], list[str]] = {}
    for of in sorted(verdicts, key=lambda of: ORDER.index(of.verdict)):
        boards.setdefault((of.verdict, of.how), []).extend([of.board] if of.board else [])
    return [(grade, how, names) for (grade, how), names in boards.items()]
