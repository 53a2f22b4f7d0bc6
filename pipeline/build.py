"""Puzzle → search → table: the stages of `pipeline precompute`."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from pipeline.search.breadth_first import breadth_first
from pipeline.search.pairs import paths_between
from pipeline.search.tours import count_from, neighbour_sets, paths_from
from tablebase import __version__
from tablebase.errors import SearchError, TableError
from tablebase.graph import Graph
from tablebase.puzzle import (
    AllTours,
    BreadthFirst,
    Puzzle,
    StateSpace,
    Table,
    TourCounts,
    TourPerPair,
)
from tablebase.puzzles.knight import Board
from tablebase.tables.index import write_index
from tablebase.tables.kept import Arrays, Kept, kept_parts
from tablebase.tables.manifest import (
    Entry,
    facts,
    files_of,
    holds_rows,
    read_manifest,
    unlike,
    write_manifest,
)
from tablebase.tables.mending import ABSENT
from tablebase.tables.parquet import TableWriter, description
from tablebase.tables.store import Store

if TYPE_CHECKING:
    from tablebase.puzzle import Columns

Item = TypeVar("Item")
Result = TypeVar("Result")


class Report(Protocol):
    """Who is told how a build goes."""

    def table(self, table: Table, reason: str) -> None:
        """A table is looked at: why it is built, or that it is up to date."""

    def step(self, doing: str, done: int, total: int | None) -> None:
        """Work on the present table has come so far; `total` where it is known."""

    def built(self, table: Table, entry: Entry, seconds: float) -> None:
        """A table is published."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to build, where and how."""

    store: Store
    tables: Sequence[tuple[Puzzle, tuple[Table, ...]]]
    force: bool = False
    jobs: int = 1
    without: frozenset[str] = frozenset()
    """Names of tables that are to be published no longer."""


UP_TO_DATE = "up to date"
FORCED = "forced"


def build(request: Request, report: Report) -> dict[str, Entry]:
    """Make what is missing or out of date; returns what is published afterwards.

    Where there is nothing to do, nothing is written: the store may be read-only.
    """
    idle = _nothing_to_do(request)
    if idle is not None:
        for _, tables in request.tables:
            for table in tables:
                report.table(table, UP_TO_DATE)
        return idle
    with request.store.lock():
        for left in request.store.unfinished():
            request.store.remove(left)
        try:
            published = read_manifest(request.store)
        except TableError:
            if not request.force:
                raise
            published = {}
        gone = [published.pop(name) for name in sorted(request.without) if name in published]
        for puzzle, tables in request.tables:
            graph: Graph | None = None
            for table in (puzzle.grown(asked, published) for asked in tables):
                reason = why(request.store, published.get(table.name), table, request.force)
                report.table(table, reason)
                kept = Kept(request.store, table)
                kept.clear(but_these=reason not in (UP_TO_DATE, FORCED))
                if reason == UP_TO_DATE:
                    _clear(request.store, table.name, published[table.name])
                    continue
                started = time.perf_counter()
                if isinstance(table.recipe, BreadthFirst) and isinstance(puzzle, StateSpace):
                    graph = graph or puzzle.graph()
                    entry = _breadth_first(request.store, puzzle, table, graph, report)
                else:
                    entry = _tours(request, table, kept, report)
                published[table.name] = entry
                write_manifest(request.store, published)
                _clear(request.store, table.name, entry)
                report.built(table, entry, time.perf_counter() - started)
        if gone:
            write_manifest(request.store, published)
        for name in request.without:
            _clear(request.store, name, None)
    return published


def unlisted(store: Store, name: str, entry: Entry | None) -> list[str]:
    """A table's files that the manifest does not list, and what is kept of an unfinished build."""
    listed = [file["file"] for file in files_of(entry)] if entry else []
    own = (f for f in store.names(f"{name}.") if holds_rows(f, name) or f == f"{name}.idx")
    return [*(file for file in own if file not in listed), *kept_parts(store, name)]


def _clear(store: Store, name: str, entry: Entry | None) -> None:
    for file in unlisted(store, name, entry):
        store.remove(file)


def _nothing_to_do(request: Request) -> dict[str, Entry] | None:
    """What is published, if that is all that is asked for and no killed build left anything."""
    if request.force or request.without or request.store.unfinished():
        return None
    published = read_manifest(request.store)
    for puzzle, tables in request.tables:
        for table in (puzzle.grown(asked, published) for asked in tables):
            entry = published.get(table.name)
            left = unlisted(request.store, table.name, entry)
            if left or why(request.store, entry, table, force=False) != UP_TO_DATE:
                return None
    return published


def why(store: Store, entry: Entry | None, table: Table, force: bool) -> str:
    """Why a table is built, or `UP_TO_DATE`."""
    if force:
        return FORCED
    if entry is None:
        return "missing"
    if entry["parameters"] != table.recipe.parameters():
        return "parameters changed"
    if entry.get("description") != description(table):
        return "description changed"
    for file in files_of(entry):
        try:
            if unlike(store, file):
                return f"{file['file']} damaged"
        except ABSENT:
            return f"{file['file']} missing"
        except OSError:
            return f"{file['file']} cannot be read"
    return UP_TO_DATE


def _publish(
    store: Store,
    table: Table,
    batches: Iterator[Columns],
    records: Callable[[], Columns] | None = None,
) -> Entry:
    """Write a table and its index; returns what the manifest says of them."""
    with store.appearing(table.file) as file:
        with TableWriter(file, table) as writer:
            for columns in batches:
                writer.write(columns)
        if table.rows not in (None, writer.rows):
            raise SearchError(f"{table.name} has {writer.rows:,} rows, expected {table.rows:,}.")
        entry: Entry = {
            "files": [{"file": table.file, "rows": writer.rows, "first": 0}],
            "rows": writer.rows,
            "content": writer.content,
            "made_by": f"puzzle-tablebase {__version__}",
            "parameters": table.recipe.parameters(),
            "description": description(table),
            "index": None,
        }
        if records is not None:
            with store.appearing(table.index_file) as index:
                count = write_index(index, table, records(), writer.content)
            said = facts(store, table.index_file)
            entry["index"] = {"file": table.index_file, "records": count, **said}
    entry["files"][0] |= facts(store, table.file)
    return entry


def _breadth_first(
    store: Store, puzzle: StateSpace, table: Table, graph: Graph, report: Report
) -> Entry:
    assert isinstance(table.recipe, BreadthFirst)
    walks = {}
    for name, root in table.recipe.roots.items():
        nodes = 0

        def layer_done(depth: int, reached: int, name: str = name) -> None:
            nonlocal nodes
            nodes += reached
            report.step(f"{name}: layer {depth}, states", nodes, None)

        walks[name] = breadth_first(graph, puzzle.node(root), layer_done)
    report.step("columns", 0, None)
    columns = puzzle.fill(table, graph, walks)
    return _publish(store, table, iter([columns]), lambda: puzzle.records(table, walks))


def _tours(request: Request, table: Table, kept: Kept, report: Report) -> Entry:
    with ThreadPoolExecutor(request.jobs) as pool:
        match table.recipe:
            case AllTours(files=files, ranks=ranks):
                board = Board(files, ranks)
                tours = _all_tours(board, pool, request.jobs, kept, report)
                entry = _publish(request.store, table, tours)
                kept.clear()
                return entry
            case TourPerPair(files=files, ranks=ranks):
                columns = _tour_per_pair(Board(files, ranks), report)
                squares = columns.pop("squares")
                return _publish(request.store, table, iter([columns]), lambda: {"squares": squares})
            case TourCounts(boards=boards):
                columns = _tour_counts(
                    [Board(*board) for board in boards], pool, request.jobs, report
                )
                return _publish(request.store, table, iter([columns]))
            case _:
                raise TypeError(table.recipe)


def _all_tours(
    board: Board, pool: Executor, jobs: int, kept: Kept, report: Report
) -> Iterator[Columns]:
    sets, colours = _graph(board)
    names = np.array([list(name.encode()) for name in board.names()], dtype=np.uint8)
    places = np.array(board.places(), dtype=np.uint8)

    def search(start: int) -> Arrays:
        """All of a start's tours: their texts, ends, and whether they close."""
        name = board.name(start)
        found = kept.load(name)
        if found is None:
            chunks = list(paths_from(sets, colours, names, start))
            found = [np.concatenate(parts) for parts in zip(*chunks, strict=True)]
            kept.store(name, found)
        return found

    tours = 0
    report.step("0 tours found, starts", 0, board.squares)
    for start, found in _in_order(pool, jobs + 1, search, range(board.squares)):
        if found:
            text, finish, closed = found
            tours += len(finish)
            yield {
                "board": np.full(len(finish), str(board).encode()),
                "start": np.full(len(finish), places[start]),
                "finish": places[finish],
                "number": np.arange(len(finish)),
                "closed": closed,
                "path": text.view(f"S{text.shape[1]}").ravel(),
            }
        report.step(f"{tours:,} tours found, starts", start + 1, board.squares)


def _tour_per_pair(board: Board, report: Report) -> dict[str, npt.NDArray[Any]]:
    most = max(len(board.neighbours(square)) for square in range(board.squares))
    neighbours = np.full((board.squares, most), -1, dtype=np.int64)
    for square in range(board.squares):
        near = board.neighbours(square)
        neighbours[square, : len(near)] = near
    ends = [
        (start, end)
        for start in range(board.squares)
        for end in range(board.squares)
        if start != end and board.can_join(start, end)
    ]
    report.step("pairs", 0, len(ends))
    squares = paths_between(neighbours, np.array(ends))
    report.step("pairs", len(ends), len(ends))
    for (start, end), path in zip(ends, squares, strict=True):
        if path[0] != start or path[-1] != end:
            pair = f"{board.name(start)} to {board.name(end)}"
            raise SearchError(f"No tour of {board} from {pair} was found.")
    names = np.array([name.encode() for name in board.names()])
    start, finish = np.array(ends, dtype=np.uint8).T
    places = np.array(board.places(), dtype=np.uint8)
    new_start = np.flatnonzero(np.diff(start, prepend=255))
    return {
        "board": np.full(len(ends), str(board).encode()),
        "start": places[start],
        "finish": places[finish],
        "number": np.arange(len(ends)) - np.repeat(new_start, np.diff(new_start, append=len(ends))),
        "closed": (neighbours[finish] == start[:, None]).any(axis=1),
        "path": names[squares].view(f"S{2 * board.squares}").ravel(),
        "squares": squares.view(f"S{board.squares}").ravel(),
    }


def _tour_counts(
    boards: list[Board], pool: Executor, jobs: int, report: Report
) -> dict[str, npt.NDArray[Any]]:
    """Each square's counts, searched once for all squares that the board's symmetry makes alike."""
    searches = [
        (board, square, _graph(board))
        for board in boards
        for square in range(board.squares)
        if square == min(board.turned(square))
    ]
    found = {}
    results = _in_order(pool, jobs + 1, lambda search: count_from(*search[2], search[1]), searches)
    for done, ((board, square, _), counts) in enumerate(results):
        for alike in board.turned(square):
            found[str(board), alike] = counts
        report.step("squares counted", done + 1, len(searches))
    rows = [(board, square) for board in boards for square in range(board.squares)]
    return {
        "board": np.array([str(board) for board, _ in rows], dtype=np.bytes_),
        "files": np.array([board.files for board, _ in rows]),
        "ranks": np.array([board.ranks for board, _ in rows]),
        "start": np.array([board.places()[square] for board, square in rows]),
        "tours": np.array([found[str(board), square][0] for board, square in rows]),
        "closed": np.array([found[str(board), square][1] for board, square in rows]),
    }


def _graph(board: Board) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    squares = range(board.squares)
    sets = neighbour_sets([board.neighbours(square) for square in squares])
    return sets, np.array([board.light(square) for square in squares], dtype=np.uint8)


def _in_order(
    pool: Executor, ahead: int, work: Callable[[Item], Result], items: Sequence[Item]
) -> Iterator[tuple[Item, Result]]:
    """Results in the order of the items, at most `ahead` of them under way or waiting."""
    waiting: deque[tuple[Item, Future[Result]]] = deque()
    for item in items:
        waiting.append((item, pool.submit(work, item)))
        if len(waiting) >= ahead:
            first, future = waiting.popleft()
            yield first, future.result()
    for first, future in waiting:
        yield first, future.result()
