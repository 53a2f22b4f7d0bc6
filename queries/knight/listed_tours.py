"""Tours in the list of a board, each found without reading the rest of the table."""

from __future__ import annotations

from puzzle_tablebase.errors import NoAnswer
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import explain_no_tour, make_tour_table
from puzzle_tablebase.queries.questions import format_count
from puzzle_tablebase.queries.scans import count_rows, find_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WantedTour = tuple[KnightBoard, int, int | None, int | None, bool]
"""A tour's board, start and, if given, end and number in the list; whether it must be closed."""


def find_listed_tour(prober: Any, wanted: WantedTour) -> tuple[int, list[int]]:
    """Find the number and the squares of the first matching tour in a board's list."""
    board, start, end, number, closed = wanted
    table, name = make_tour_table(board), board.name_square(start)
    values: dict[str, object] = {"start": name}
    if end is not None:
        values["finish"] = board.name_square(end)
    if closed:
        values["closed"] = True
    if number is not None or len(values) == 1:
        values["number"] = number or 0
    rows = find_rows(prober.files.store, table, values, ("number", "path"), 1)
    numbers = {name: square for square, name in enumerate(board.name_squares())}
    for found, path in rows:
        squares = [numbers.get(path[at : at + 2], -1) for at in range(0, len(path), 2)]
        problem = f"tour {found} from {name} is invalid"
        prober.walk_tour(board, start, squares, table.name, problem, "parquet")
        is_closed = squares[-1] in board.list_neighbours(start)
        if end not in (None, squares[-1]) or is_closed < closed:
            raise prober.files.make_error(table.name, problem, "parquet")
        return found, squares
    count = count_rows(prober.files.store, table, "start", name)
    if not count:
        raise NoAnswer(explain_no_tour(board, start))
    counted = format_count(count, "tour")
    if number is not None:
        reason = f"{board} has {counted} from {name}, numbered 0 to {count - 1:,}."
    elif end is not None:
        what = "closed tour" if closed else "tour"
        reason = f"No {what} of {board} leads from {name} to {board.name_square(end)}."
    else:
        reason = f"None of the {counted} of {board} from {name} is closed."
    raise NoAnswer(reason)
