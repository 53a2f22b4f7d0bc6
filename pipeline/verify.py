"""Verification: finds the proof of each table, and runs the cheapest first.

This module chooses proofs, so it uses the definitions of tables and the rules of plugins.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from puzzle_tablebase.errors import (
    MachineLimit,
    MemoryShort,
    StoreEmpty,
    TablebaseError,
    TableUnreadable,
)
from puzzle_tablebase.formats.manifest import find_current, read_manifest, read_versions
from puzzle_tablebase.pipeline.kinds import find_prover
from puzzle_tablebase.pipeline.proofs.claims import (
    Claims,
    ListedTable,
    Observer,
    Prover,
    Silence,
    TableResult,
    VerifyFailed,
    is_trouble,
    run_claims,
)
from puzzle_tablebase.pipeline.proofs.files import check_contents, check_counts, check_files
from puzzle_tablebase.pipeline.proofs.scratch import Scratch, find_scratch_folder, open_scratch
from puzzle_tablebase.pipeline.proofs.verdicts import Proved, TableVerdict, Verdict
from puzzle_tablebase.puzzles import GoalPuzzle
from puzzle_tablebase.registry import list_puzzles
from puzzle_tablebase.resources import PROCESS_BYTES, get_free_memory
from puzzle_tablebase.stores import MANIFEST, Store, make_open_error

__all__ = ["TableResult", "TableVerdict", "Verdict", "Verified", "VerifyFailed", "verify"]
ONLY_FILES = "only the bytes of the files were compared with the manifest"
UNKNOWN_TABLE = "the files match the manifest; no puzzle here has a table of that name"
UNKNOWN_RULES = Proved(
    Verdict.INTACT,
    "the files match the manifest and the table's definition; its rules are written only once",
)
MIN_HELD_BYTES = 128 << 20
"""The least bytes that a proof with its arrays in a file keeps of them in memory."""


@dataclass(frozen=True, slots=True)
class Room:
    """The resources of a proof."""

    memory: int | None = None
    """Bytes of memory; None: the free memory."""
    scratch: str | None = None
    """The folder for files that are removed at the end; None: the hidden folder of the store."""


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of a verification that found no difference."""

    results: list[TableResult]
    """The result for each table, in the order of the manifest."""
    unpublished: list[str]
    """The default or named tables that the manifest does not list."""

    @property
    def claims(self) -> list[dict[str, Any]]:
        """Every claim that holds, as plain values."""
        return [claim for result in self.results for claim in result.claims]

    @property
    def verdicts(self) -> list[TableVerdict]:
        return [verdict for result in self.results for verdict in result.verdicts]

    @property
    def troubles(self) -> list[TablebaseError]:
        """The reasons why tables have no verdict, though no claim is false."""
        return [result.trouble for result in self.results if result.trouble]

    def require_no_trouble(self) -> None:
        """Raise the first reason why a table has no verdict, if there is one."""
        for trouble in self.troubles:
            raise trouble


def verify(
    store: Store,
    names: Collection[str] = (),
    *,
    quick: bool = False,
    observer: Observer | None = None,
    room: Room | None = None,
) -> Verified:
    """Verify every table in a store, the cheapest first; raise VerifyFailed at a false claim.

    `names`: of published tables; with them, these alone are verified. With `quick` only the files'
    sizes and hashes, and the form of the indexes, are checked. A table that cannot be read,
    or whose proof needs more than its room, has no verdict, and the others have theirs.
    """
    observer, room = observer or Silence(), room or Room()
    chosen = [table for table in list_tables(store) if not names or table.name in names]
    results, proved = dict[str, TableResult](), dict[str, ListedTable]()
    for table in sorted(chosen, key=_order_by_cost):
        result = results[table.name] = TableResult(table.name)
        try:
            claims = prove(table, proved, quick, room)
            result.verdicts = run_claims(table, claims, result, observer)
        except MachineLimit as shortage:
            result.trouble = shortage
        except OSError as error:
            if not is_trouble(error):
                raise
            result.trouble = make_open_error(store, result.file or table.file, error, table.name)
        except VerifyFailed:
            if not is_replaced(table):
                raise
            reason = "it was built anew meanwhile"
            result.trouble = TableUnreadable(store, table.file, reason, "Verify it again")
        if [each.verdict for each in result.verdicts] == [Verdict.PROVED]:
            proved[table.name] = table
        observer.on_result(result)
    defaults = [table.name for puzzle in list_puzzles() for table in puzzle.tables if not names]
    in_order = [results[table.name] for table in chosen]
    return Verified(in_order, [name for name in defaults if name not in results])


def prove(
    listed: ListedTable,
    proved: Mapping[str, ListedTable],
    quick: bool = False,
    room: Room | None = None,
) -> Claims[list[TableVerdict]]:
    """Yield the claims about a table, and return the verdicts on it.

    `proved`: the tables that are proved already; with `quick`, claim only what the files are.
    Raise MachineLimit if the room does not suffice.
    """
    yield from check_files(listed)
    if quick or listed.table is None:
        how = ONLY_FILES if quick else UNKNOWN_TABLE
        return [TableVerdict(listed.name, None, Verdict.INTACT, how)]
    prover = find_prover(listed.table)
    with make_room(listed, prover, room or Room()) as scratch:
        yield from check_contents(listed)
        conclusion = UNKNOWN_RULES
        if prover:
            given: dict[str, Any] = {"proved": proved} if prover.rests_on_proved else {}
            if prover.measure_arrays:
                given["scratch"] = scratch
            conclusion = yield from prover.prove(listed, **given)
    gaps = yield from check_counts(listed, conclusion)
    verdicts = conclusion.boards or {None: (conclusion.verdict, conclusion.how)}
    return [
        # no verdict is above *intact* if a column or field has no proof
        TableVerdict(listed.name, board, Verdict.INTACT, f"{how}; not proved: {', '.join(gaps)}")
        if gaps and verdict is not Verdict.INTACT
        else TableVerdict(listed.name, board, verdict, how, conclusion.by_plugin)
        for board, (verdict, how) in verdicts.items()
    ]


@contextmanager
def make_room(listed: ListedTable, prover: Prover | None, room: Room) -> Iterator[Scratch]:
    """Yield the space for a proof's large arrays: in memory if all fits, else in a file.

    Raise MachineLimit if the rest of the proof does not fit the memory, or the arrays the disk.
    """
    table, work = listed.definition, f"The proof of {listed.name}"
    needed = prover.estimate_memory(table) if prover else PROCESS_BYTES
    free = get_free_memory() if room.memory is None else room.memory
    if free is None or needed <= free:
        yield Scratch()
        return
    has_arrays = prover and prover.measure_arrays
    size, in_memory = has_arrays(table) if has_arrays else (0, 0)
    if size:
        needed = PROCESS_BYTES + in_memory + 2 * MIN_HELD_BYTES
    if free < needed:
        hint = "Verify the other tables by name, or use a larger machine"
        raise MemoryShort(work, needed, free, hint)
    held = (free - PROCESS_BYTES - in_memory) // 2
    with (
        find_scratch_folder(work, listed.store, room.scratch) as folder,
        open_scratch(work, folder, size, held) as scratch,
    ):
        yield scratch


def is_replaced(listed: ListedTable) -> bool:
    """Return whether a build has published another version of a table, or is about to."""
    versions = read_versions(listed.store).get(listed.name, [])
    return versions != [listed.entry] and find_current(listed.store, versions) != listed.entry


def list_tables(store: Store) -> list[ListedTable]:
    """List every published table, those of known puzzles first; raise StoreEmpty if none is."""
    entries = read_manifest(store)
    if not entries:
        raise StoreEmpty(store, MANIFEST)
    known = [
        ListedTable(store, table.name, entries[table.name], table, puzzle.depth, rules)
        for puzzle in list_puzzles()
        for rules in [puzzle if isinstance(puzzle, GoalPuzzle) else None]
        for table in puzzle.list_published([*entries])
    ]
    first = {table.name: table for table in reversed(known)}
    unknown = sorted(entries.keys() - first.keys())
    others = [ListedTable(store, name, entries[name], None, "", None) for name in unknown]
    return [*reversed(first.values()), *others]


def _order_by_cost(listed: ListedTable) -> tuple[bool, int]:
    """Order tables by the bytes to read, after tables on which their proofs may depend."""
    prover = find_prover(listed.table) if listed.table else None
    return bool(prover and prover.rests_on_proved), listed.entry.total_bytes
