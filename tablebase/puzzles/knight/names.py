"""The names of the knight's tables on request, and the boards that each kind can have."""

from __future__ import annotations

from tablebase.errors import TablebaseError
from tablebase.puzzles.knight.board import MAX_FILES, MAX_RANKS, KnightBoard, parse_board
from tablebase.puzzles.knight.tables import (
    CLOSED_COUNTS_PREFIX,
    CLOSED_RANKS_PREFIX,
    COUNTS_PREFIX,
    RANKS_PREFIX,
    TOURS_PREFIX,
    find_board,
    make_board_counts,
    make_closed_counts,
    make_closed_ranking_table,
    make_open_ranking_table,
    make_tour_table,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tablebase.schema import Table

KINDS = {
    TOURS_PREFIX: ("Every tour of a board", make_tour_table, ""),
    COUNTS_PREFIX: ("The number of tours from each square", make_board_counts, "--count"),
    CLOSED_COUNTS_PREFIX: (
        "The number of closed tours",
        make_closed_counts,
        "--count --closed",
    ),
    RANKS_PREFIX: ("The ranks of open tours", make_open_ranking_table, "--rank 0"),
    CLOSED_RANKS_PREFIX: (
        "The ranks of closed tours",
        make_closed_ranking_table,
        "--closed --rank 0",
    ),
}
"""For each beginning of a name: a title, the function that makes the table of a board, and the
options of a query that it answers."""


def find_tables(name: str) -> tuple[Table, ...]:
    """Find the table that a name stands for; none if it has none of these beginnings and a board.

    Raise TablebaseError for a board that does not exist, is too large, or has no such tour.
    """
    for prefix, (_, make_table, _) in KINDS.items():
        if board := find_board(prefix, name):
            return (make_table(board),)
        if name.startswith(prefix) and name.removeprefix(prefix)[:1].isdigit():
            parse_board(name.removeprefix(prefix))
    return ()


def list_requests() -> dict[str, list[str]]:
    """List the names that can be built, of boards that are wide enough for tours."""
    sides = ((f, r) for f in range(3, MAX_FILES + 1) for r in range(3, MAX_RANKS + 1))
    boards = [board for files, ranks in sides if (board := KnightBoard(files, ranks)).has_tours()]
    return {
        title: [f"{prefix}{board}" for board in boards if is_buildable(f"{prefix}{board}")]
        for prefix, (title, _, _) in KINDS.items()
    }


def is_buildable(name: str) -> bool:
    """Return whether a name stands for a table, and not for an empty one."""
    if name.startswith(CLOSED_COUNTS_PREFIX):
        board = find_board(CLOSED_COUNTS_PREFIX, name)
        if board is None or not board.has_closed_tours():
            return False
    try:
        return bool(find_tables(name))
    except TablebaseError:
        return False


def format_example(table: str) -> str:
    """Format the arguments of a query that a table on request answers."""
    for prefix, (_, _, options) in KINDS.items():
        if board := find_board(prefix, table):
            key = "" if "--count" in options else "a1"
            return " ".join(filter(None, ("knight", key, "--board", str(board), options)))
    return ""
