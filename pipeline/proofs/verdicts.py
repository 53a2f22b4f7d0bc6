"""The verdicts on tables and their boards, and how they are summed up."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from puzzle_tablebase.formats.counts import Depth


class Verdict(StrEnum):
    """The four verdicts, the strongest first."""

    PROVED = "proved"
    """Every row and record follows from the rules, by code that shares with the rest only notation
    and constants, the schema, the file formats, the compiler and the task runner."""
    RECOUNTED = "recounted"
    """An independent method, which the verdict names, gives the same numbers."""
    PUBLISHED = "published"
    """The numbers agree with a published one, which the verdict cites; nothing more was shown."""
    INTACT = "intact"
    """The files are those that the manifest lists; nothing was shown of their content."""


ORDER = tuple(Verdict)


@dataclass(frozen=True, slots=True)
class TableVerdict:
    """The verdict on a table, or on one of its boards if `board` is given.

    `how` states in a sentence what was checked and what was not. `by_plugin`: whether the rules are
    those of the plugin that built the table.
    """

    table: str
    board: str | None
    verdict: Verdict
    how: str
    by_plugin: bool = False


@dataclass(frozen=True, slots=True)
class Proved:
    """The conclusion of a proof when all its claims hold.

    `columns`, `fields`: the columns and index fields that it compared; `depths`: the number of
    states of each goal at each distance; `boards`: verdicts on single boards, instead of one on the
    table; `by_plugin`: whether its rules are those of the plugin that built the table.
    """

    verdict: Verdict
    how: str
    columns: Collection[str] = ()
    fields: Collection[str] = ()
    depths: Mapping[Depth, int] = field(default_factory=dict)
    boards: Mapping[str | None, tuple[Verdict, str]] = field(default_factory=dict)
    by_plugin: bool = False


def find_weakest(verdicts: Iterable[TableVerdict]) -> dict[str, Verdict]:
    """Return the weakest verdict of each table; of one with boards, the weakest of theirs."""
    weakest: dict[str, Verdict] = {}
    for each in verdicts:
        name, verdict = each.table, each.verdict
        weakest[name] = max(weakest.get(name, verdict), verdict, key=ORDER.index)
    return weakest


def count_tables(verdicts: Iterable[TableVerdict]) -> dict[Verdict, int]:
    """Return how many tables have each verdict, the strongest first."""
    weakest = [*find_weakest(verdicts).values()]
    return {verdict: weakest.count(verdict) for verdict in ORDER if verdict in weakest}


def group_boards(verdicts: Sequence[TableVerdict]) -> list[tuple[Verdict, str, list[str]]]:
    """Return a table's verdicts, the strongest first: verdict, `how` text and boards.

    The list of boards is empty for a verdict on the whole table.
    """
    boards: dict[tuple[Verdict, str], list[str]] = {}
    for verdict in sorted(verdicts, key=lambda verdict: ORDER.index(verdict.verdict)):
        names = boards.setdefault((verdict.verdict, verdict.how), [])
        names.extend([verdict.board] if verdict.board else [])
    return [(verdict, how, names) for (verdict, how), names in boards.items()]
