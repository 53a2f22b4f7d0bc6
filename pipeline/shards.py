"""Lists in pieces, for batch systems: each process makes one, and one at the end publishes all.

A piece is a share of a list's parts, by turns. What it makes stays in the store, as a killed
build's parts do, so that pieces need no lock, may run at once, twice, and again.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from pipeline.build import UP_TO_DATE, Report, why
from pipeline.builders.registry import checkpoints
from pipeline.part_files import division, mendable, present
from pipeline.tasks import Work
from tablebase.errors import BadRequest, OutputsError, TablePartial, quoted
from tablebase.puzzle import Puzzle, Table
from tablebase.tables.checkpoints import Piece
from tablebase.tables.manifest import read_manifest
from tablebase.tables.repair import mending
from tablebase.tables.store import Store

MOST = 1_000_000
"""Pieces of a list."""


class Listing(NamedTuple):
    """A list of everything on a board, or another table of one."""

    puzzle: Puzzle
    table: Table

    @property
    def stage(self) -> str:
        return f"{self.puzzle.name} --board {self.table.recipe.parameters()['board']}"


class Made(NamedTuple):
    """What is done of a list."""

    parts: int
    rows: int
    seconds: float


def listings(
    option: str, stages: Sequence[Puzzle], boards: list[str], *, planned: bool = False
) -> list[Listing]:
    """The lists of these boards, or all that can be planned; BadRequest where there are none."""
    found = [
        Listing(stage, table)
        for stage in stages
        for table in (stage.planned(boards) if planned else stage.lists(boards))
    ]
    if not found:
        what = "boards" if planned else "lists"
        raise BadRequest(
            f"{option} needs --board and a stage with {what}", "Example: knight --board 7x7"
        )
    return found


def require_divided(tables: Sequence[tuple[Puzzle, Sequence[Table]]]) -> None:
    """BadRequest for lists that one process alone would be days at."""
    for _, wanted in tables:
        for table in wanted:
            if table.recipe.in_files:
                board = table.recipe.parameters()["board"]
                hint = f"Add --piece 1/1000 and so on to --board {board}, or --scheduler"
                raise BadRequest(f"{table.name} is too large for one process", hint)


def parse_piece(text: str) -> Piece:
    """A piece as written.

    >>> parse_piece("3/100")
    Piece(number=3, of=100)
    """
    said = re.fullmatch(r"([0-9]{1,7})/([0-9]{1,7})", text.strip())
    piece = Piece(*map(int, said.groups())) if said else Piece(0, 0)
    if not 1 <= piece.number <= piece.of <= MOST:
        hint = f"Example: 3/100 is the third of 100; there are at most {MOST:,}"
        raise BadRequest(f"{quoted(text)} is no piece", hint)
    return piece


def make_piece(
    store: Store, listing: Listing, piece: Piece, told: Report, executor: Executor | None, jobs: int
) -> Made:
    """Make what is not there of a piece; it can be done again, and by several at once."""
    begun, table = time.monotonic(), listing.table
    store.ready()
    kept = checkpoints(store, table)
    for other in kept.pieces():
        if other.of != piece.of:
            problem = f"{table.name} is made in {other.of:,} pieces here, not in {piece.of:,}"
            raise BadRequest(problem, f"Choose one of 1/{other.of} to {other.of}/{other.of}")
    part, items, rows_of = divided = division(store, table)
    own = range(len(items))[piece.number - 1 :: piece.of]
    for _ in present(store, table, divided, own, anew=True):
        pass
    told.table(table, f"piece {piece}")
    with ThreadPoolExecutor(jobs) as threads:
        tell = partial(told.step, table.name)
        work = Work(executor or threads, jobs, tell, kept, elsewhere=True)
        rows = 0
        try:
            for done, found in enumerate(work.each(part, [items[at] for at in own]), start=1):
                rows += rows_of(found)
                work.told("parts", done, len(own))
        except OutputsError:
            # whoever published the whole table meanwhile has cleared its parts away
            if why(store, read_manifest(store).get(table.name), table, force=False) != UP_TO_DATE:
                raise
    kept.finished(piece)
    return Made(len(own), rows, time.monotonic() - begun)


def require_all(store: Store, listing: Listing) -> None:
    """TablePartial where parts of a list are missing that is not published."""
    table = listing.table
    entry = read_manifest(store).get(table.name)
    if mendable(table, entry) or why(store, entry, table, force=False) == UP_TO_DATE:
        return
    divided = division(store, table)
    every = range(len(divided.items))
    missing = sorted({*every} - {number for number, _ in present(store, table, divided, every)})
    pieces = checkpoints(store, table).pieces()
    if not missing:
        return
    count = pieces[0].of if pieces else MOST
    numbers = sorted({part % count + 1 for part in missing})
    lacks = f"pieces {_ranges(numbers)} of {count:,}" if pieces else "all pieces"
    command = mending(f"{listing.stage} --piece {numbers[0]}/{count if pieces else 100}", store)
    raise TablePartial(table.name, f"{lacks} are missing", command)


def _ranges(numbers: list[int]) -> str:
    """Ascending numbers in words.

    >>> _ranges([3, 5, 6, 7, 9])
    '3, 5-7, 9'
    """

    def runs() -> Iterator[str]:
        first = numbers[0]
        for last, after in zip(numbers, [*numbers[1:], 0], strict=True):
            if after != last + 1:
                yield str(first) if first == last else f"{first}-{last}"
                first = after

    return ", ".join(runs())
