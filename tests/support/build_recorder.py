"""A reporter that records a build, and short functions for building."""

import json
from collections.abc import Iterable
from concurrent.futures import Executor
from pathlib import Path
from typing import IO, Any

from puzzle_tablebase.pipeline.build import Built, build
from puzzle_tablebase.pipeline.log import RUNS
from puzzle_tablebase.pipeline.reporter import Reporter
from puzzle_tablebase.pipeline.workers import Workers, open_workers
from puzzle_tablebase.puzzles import Puzzle
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import make_count_table, make_tour_table
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import TEMPORARY_SUFFIX, Folder

TOURS = make_tour_table(KnightBoard(3, 4))
COUNTS = make_count_table(((3, 4), (2, 2)))
SMALL = (TOURS, COUNTS)


class Recorder(Reporter):
    """Reporter that keeps the lines and steps of a build, and prints nothing."""

    def __init__(self) -> None:
        super().__init__(quiet=True)
        self.lines = list[str]()
        self.built = list[Built]()

    def say(self, line: str) -> None:
        self.lines.append(line)

    def update(self, doing: str, done: int = 0, total: int | None = None, *, of: str = "") -> None:
        pass

    @property
    def notes(self) -> list[str]:
        return [line[6:] for line in self.lines if line.startswith("note: ")]

    @property
    def reasons(self) -> dict[str, str]:
        """The reason of each table that was begun; up-to-date tables are missing."""
        begun = [line.split(maxsplit=2) for line in self.lines if line.startswith("building ")]
        return {name: reason.strip("()") for _, name, reason in begun}

    @property
    def finished(self) -> list[str]:
        return [run.table for run, _ in self.built]


class Withheld(Folder):
    """A folder of which the system or the network withholds a file."""

    def __init__(self, folder: Path, name: str, error: OSError) -> None:
        super().__init__(folder)
        self.name, self.error = name, error

    def open(self, name: str) -> IO[bytes]:
        if name == self.name:
            raise self.error
        return super().open(name)


def read_log(folder: Path) -> list[dict[str, Any]]:
    """Read a folder's log of builds: a line of JSON for each table."""
    return [json.loads(line) for line in (folder / RUNS).read_text().splitlines()]


def build_all(
    store: Folder,
    tables: Iterable[tuple[Puzzle, Iterable[Table]]],
    recorder: Recorder | None = None,
    executor: Executor | None = None,
    *,
    jobs: int = 1,
    force: bool = False,
) -> Recorder:
    """Build tables by puzzle; an executor runs their tasks as those of another machine."""
    recorder = recorder or Recorder()
    pairs = [(puzzle, table) for puzzle, of_puzzle in tables for table in of_puzzle]
    with open_workers(jobs=jobs) as workers:
        used = Workers(executor, jobs, is_remote=True) if executor else workers
        recorder.built = build(store, pairs, used, recorder, force=force)
    return recorder


def build_tables(
    folder: Path | Folder, puzzle: Puzzle, *tables: Table, force: bool = False, jobs: int = 1
) -> Recorder:
    """Build a puzzle's tables, or only those named."""
    store = folder if isinstance(folder, Folder) else Folder(folder)
    return build_all(store, [(puzzle, tables or puzzle.tables)], force=force, jobs=jobs)


def contents(folder: Path) -> dict[str, bytes]:
    """Return the content of every published file of a folder, by name."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if not path.name.startswith(".")
    }


def litter(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.suffix == TEMPORARY_SUFFIX]


def describe_anew(table: Table, meaning: str) -> Table:
    """Return a copy of a table with another description."""
    return Table(
        table.name, meaning, table.rank, table.columns, table.recipe, table.index, table.rows
    )
