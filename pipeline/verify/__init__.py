"""Proves the published files from the rules alone, never by the search that made them.

Read in this order: `claims` (what is told), `footer` and `published` (the files against the
manifest), `spaces` and `goals` (8-puzzle and its like), `positions`, `lines` and `senet`, `boards`,
`references`, `recount`, `tours` and `counts` (knight).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import singledispatch

from pipeline.verify.claims import Claim, Report, VerifyFailed, unheard
from pipeline.verify.goals import prove_goals
from pipeline.verify.knight.counts import prove_counts
from pipeline.verify.knight.tours import prove_tours
from pipeline.verify.published import (
    Published,
    check_files,
    check_pages,
    published_in,
    read_rows,
)
from pipeline.verify.senet.proof import prove_senet
from pipeline.verify.spaces import space_of
from tablebase.puzzle import AllTours, GoalPuzzle, Puzzle, TourCounts, TourPerPair
from tablebase.puzzles import puzzles
from tablebase.puzzles.knight import Knight
from tablebase.puzzles.senet import Senet
from tablebase.tables.store import Store

__all__ = ["Claim", "Report", "VerifyFailed", "prove", "verify"]


def verify(
    store: Store,
    *,
    quick: bool = False,
    report: Report = unheard,
    whole: Callable[[str], None] = lambda table: None,
) -> list[Claim]:
    """Prove everything that is published in a store; VerifyFailed at the first untruth.

    With `quick` only the files' sizes and hashes, and the indexes' headers and blocks, are checked.
    `whole` is told each table whose every row is proved, in the order of the manifest's claims.
    """
    proved: list[Claim] = []
    try:
        listed = published_in(store, report, proved)
        for table in listed:
            check_files(table)
        check_pages(store, report, proved)
        for puzzle in [] if quick else puzzles():
            of_it = [table for table in listed if table.puzzle is puzzle]
            known = prove.dispatch(type(puzzle)) is not prove.dispatch(object)
            prove(puzzle, _each(of_it, whole if known else lambda table: None))
    except VerifyFailed as failure:
        report(failure.claim, 0)
        raise
    return proved


def _each(tables: list[Published], whole: Callable[[str], None]) -> Iterator[Published]:
    """The tables in turn: who takes them has proved one when it asks for the next."""
    for listed in tables:
        yield listed
        whole(listed.name)


@singledispatch
def prove(puzzle: Puzzle, tables: Iterable[Published]) -> None:
    """Prove a puzzle's tables from its rules. Where no proof is known, the rows are only read."""
    for listed in tables:
        read_rows(listed)


@prove.register
def _(puzzle: GoalPuzzle, tables: Iterable[Published]) -> None:
    space = space_of(puzzle)
    for listed in tables:
        prove_goals(listed, puzzle, space)


@prove.register
def _(puzzle: Senet, tables: Iterable[Published]) -> None:
    for listed in tables:
        prove_senet(listed)


@prove.register
def _(puzzle: Knight, tables: Iterable[Published]) -> None:
    listing = {}
    for listed in tables:
        match listed.known.recipe:
            case AllTours(files=files, ranks=ranks):
                listing[f"{files}x{ranks}"] = prove_tours(listed)
            case TourPerPair():
                prove_tours(listed)
            case TourCounts():
                prove_counts(listed, listing)
