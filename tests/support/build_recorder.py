"""A build observer that records its calls, and short functions for building."""

from collections.abc import Sequence
from pathlib import Path
from typing import IO

from puzzle_tablebase.pipeline.build import build
from puzzle_tablebase.pipeline.plan import Request
from puzzle_tablebase.pipeline.progress import BuildProgress, BuiltTable
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import make_count_table, make_tour_table
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import PART_SUFFIX
from puzzle_tablebase.stores.folder import Folder

TOURS = make_tour_table(KnightBoard(3, 4))
COUNTS = make_count_table(((3, 4), (2, 2)))
SMALL = (TOURS, COUNTS)


class Recorder(BuildProgress):
    """Build observer that keeps everything that a build reports, and prints nothing."""

    def __init__(self) -> None:
        super().__init__(quiet=True)
        self.reasons: dict[str, str] = {}
        self.steps: list[tuple[str, int, int | None]] = []
        self.finished: list[str] = []
        self.notes: list[str] = []

    def on_plan(self, tables: Sequence[Table]) -> None:
        """Show no bar, so that nothing is known to be on the screen."""

    def on_table(self, table: Table, reason: str) -> None:
        self.reasons[table.name] = reason

    def on_step(self, table: str, doing: str, done: int, total: int | None) -> None:
        self.steps.append((doing, done, total))

    def on_note(self, note: str) -> None:
        self.notes.append(note)

    def on_end(self, built: BuiltTable) -> None:
        self.finished.append(built.table)


class Withheld(Folder):
    """A folder of which the system or the network withholds a file."""

    def __init__(self, folder: Path, name: str, error: OSError) -> None:
        super().__init__(folder)
        self.name, self.error = name, error

    def open(self, name: str) -> IO[bytes]:
        if name == self.name:
            raise self.error
        return super().open(name)


def build_tables(
    folder: Path | Folder, puzzle: Puzzle, *tables: Table, force: bool = False, jobs: int = 1
) -> Recorder:
    """Build a puzzle's tables, or only those named."""
    report, store = Recorder(), folder if isinstance(folder, Folder) else Folder(folder)
    build(Request(store, [(puzzle, tables or puzzle.tables)], force, jobs), report)
    return report


def contents(folder: Path) -> dict[str, bytes]:
    """Return the content of every published file of a folder, by name."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if not path.name.startswith(".")
    }


def litter(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.suffix == PART_SUFFIX]


def describe_anew(table: Table, meaning: str) -> Table:
    """Return a copy of a table with another description."""
    return Table(
        table.name, meaning, table.rank, table.columns, table.recipe, table.index, table.rows
    )
