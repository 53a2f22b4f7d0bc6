"""Tours and counts that are found in the rows of tables."""

from __future__ import annotations

from queries.answer import format_count
from queries.knight.count_answer import CountAnswer
from queries.reader import Reader
from tablebase.answer_errors import NoSuchTour, NotCounted
from tablebase.errors import BadRequest
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.knight.definition import PUZZLE
from tablebase.puzzles.knight.memory import estimate_count_cost
from tablebase.puzzles.knight.tables import (
    MAX_LISTED_SQUARES,
    TOURS_PREFIX,
    explain_no_tour,
    get_sides,
    make_tour_table,
)
from tablebase.table_errors import TableError, TableMissing
from tablebase.tables.repair import format_rebuild_command
from tablebase.tables.store import Store


def find_listed_tour(
    reader: Reader,
    board: KnightBoard,
    start: int,
    end: int | None,
    number: int | None,
    closed: bool,
) -> tuple[int, list[int]]:
    """Find the first tour with these properties among all tours of a listed board.

    If that fails, look once more: the list may have been published anew since it was opened.
    """
    try:
        return _search_list(reader, board, start, end, number, closed)
    except TableError:
        if not reader.refresh_lists():
            raise
    return _search_list(reader, board, start, end, number, closed)


def _search_list(
    reader: Reader,
    board: KnightBoard,
    start: int,
    end: int | None,
    number: int | None,
    closed: bool,
) -> tuple[int, list[int]]:
    table, name = make_tour_table(board), board.name_square(start)
    values: dict[str, object] = {"start": name}
    if number is not None:
        values["number"] = number
    if end is not None:
        values["finish"] = board.name_square(end)
    if closed:
        values["closed"] = True
    groups = reader.open_row_groups(table)
    for row in groups.iter_rows(values, ("number", "path")):
        path: str = row["path"]
        squares = [board.parse_square(path[at : at + 2]) for at in range(0, len(path), 2)]
        is_found = (
            squares[0] == start
            and end in (None, squares[-1])
            and (not closed or squares[-1] in board.list_neighbours(start))
        )
        if not is_found or not board.is_tour(squares):
            problem = f"tour {row['number']} from {name} is none"
            raise reader.make_damage_error(table.name, problem, "parquet")
        return row["number"], squares
    count = groups.count_rows({"start": name})
    if not count:
        raise NoSuchTour(str(board), explain_no_tour(board, start))
    if number is not None:
        counted = format_count(count, "tour")
        reason = f"{board} has {counted} from {name}, numbered 0 to {count - 1:,}."
    elif end is not None:
        kind = "closed tour" if closed else "tour"
        reason = f"No {kind} of {board} leads from {name} to {board.name_square(end)}."
    else:
        reason = f"None of the {format_count(count, 'tour')} of {board} from {name} is closed."
    raise NoSuchTour(str(board), reason)


def read_tour_counts(
    reader: Reader, board: KnightBoard, start: int | None, *, is_closed: bool = False
) -> CountAnswer:
    """Return the number of tours from the table of counts; `start` None: from all squares.

    `is_closed`: only of closed tours.
    """
    import polars as pl

    table = PUZZLE.tables[-1]
    rows = reader.scan_table(table).filter(pl.col("board") == str(board))
    if start is not None:
        rows = rows.filter(pl.col("start") == board.name_square(start))
    rows_found = rows.select("tours", "closed").collect().rows()
    if not rows_found:
        row_of = f"{reader.store.locate(table.file)}: the row of {board}"
        commands = _list_count_commands(reader.store, board)
        if is_closed:  # the last one counts closed tours alone, which is far quicker
            commands = commands[-1:]
        raise TableMissing(row_of, " or ".join(commands))
    tours, closed = zip(*rows_found, strict=True)
    total = None if None in tours else sum(tours)
    return CountAnswer(
        _board=board,
        _is_closed=is_closed,
        board=str(board),
        start=None if start is None else board.name_square(start),
        tours=None if is_closed else total,
        closed=sum(closed),
    )


def _list_count_commands(store: Store, board: KnightBoard) -> list[str]:
    """Return the commands that count a board's tours, or only its closed ones.

    NotCounted if no command can count them.
    """
    stages = (
        []
        if board.squares > MAX_LISTED_SQUARES
        else [PUZZLE.catalogue.format_build_arguments(f"{TOURS_PREFIX}{board}")]
    )
    for closed in (False, True) if not stages else ():
        if not closed or board.has_closed_tours():
            try:
                estimate_count_cost(get_sides(board), closed=closed)
            except BadRequest:
                continue
            stages.append(f"knight --count {board}{' --closed' * closed}")
    if not stages:
        raise NotCounted(str(board))
    return [*filter(None, (format_rebuild_command(stage, store) for stage in stages))]
