"""A build's report kept for a test to read, and short words for a build."""

from pathlib import Path

from pipeline.build import Request, build
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles.knight.board import Board
from tablebase.puzzles.knight.definition import counts_table, listed_table
from tablebase.tables.manifest import Entry
from tablebase.tables.store import PART, Folder

TOURS = listed_table(Board(3, 4))
COUNTS = counts_table(((3, 4), (2, 2)))
SMALL = (TOURS, COUNTS)


class Recorder:
    """Everything that a build was heard to say."""

    def __init__(self) -> None:
        self.reasons: dict[str, str] = {}
        self.steps: list[tuple[str, int, int | None]] = []
        self.finished: list[str] = []
        self.recovery: tuple[str, list[str], dict[str, str]] | None = None

    def table(self, table: Table, reason: str) -> None:
        self.reasons[table.name] = reason

    def step(self, table: str, doing: str, done: int, total: int | None) -> None:
        self.steps.append((doing, done, total))

    def recovered(self, problem: str, tables: list[str], left_out: dict[str, str]) -> None:
        self.recovery = (problem, tables, left_out)

    def built(self, table: Table, entry: Entry, seconds: float) -> None:
        assert seconds >= 0
        self.finished.append(table.name)


def built(
    folder: Path, puzzle: Puzzle, *tables: Table, force: bool = False, jobs: int = 1
) -> Recorder:
    """Build a puzzle's tables, or only those named."""
    report = Recorder()
    build(Request(Folder(folder), [(puzzle, tables or puzzle.tables)], force, jobs), report)
    return report


def contents(folder: Path) -> dict[str, bytes]:
    """Every file that is published there."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if not path.name.startswith(".")
    }


def litter(folder: Path) -> list[str]:
    return [path.name for path in folder.glob(".*") if path.suffix in (PART, ".new")]


def described(table: Table, meaning: str) -> Table:
    """The same table with other words about it."""
    return Table(
        table.name, meaning, table.rank, table.columns, table.recipe, table.index, table.rows
    )
