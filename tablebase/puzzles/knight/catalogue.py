"""The catalogue of the knight's tables: lists, rankings and counts of further boards."""

from __future__ import annotations

from tablebase.catalogue import BuildOption, Catalogue
from tablebase.errors import BadRequest, NotationError
from tablebase.puzzles.knight.board import MAX_FILES, MAX_RANKS, parse_board
from tablebase.puzzles.knight.count_recipe import TourCounts
from tablebase.puzzles.knight.memory import estimate_count_cost
from tablebase.puzzles.knight.tables import (
    COUNTS_TABLE,
    MAX_LISTED_SQUARES,
    RANKING_TABLES,
    TOURS_PREFIX,
    find_listed_boards,
    find_ranking_table,
    get_sides,
    make_count_table,
    make_tour_table,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from tablebase.catalogue import BuildValues
    from tablebase.puzzles.knight.count_recipe import Sides
    from tablebase.schema import Table


class KnightCatalogue(Catalogue):
    """The tables of all boards."""

    options = (
        BuildOption("board", "List every tour of this board.", "CxR", example="5x6"),
        BuildOption("count", "Count the tours of this board, too.", "CxR", example="6x7"),
        BuildOption("closed", "Count closed tours only (allows larger boards)."),
        BuildOption("rank_closed", "Rank the closed tours of this board.", "CxR", example="6x6"),
        BuildOption("rank_tours", "Rank the open tours of this board.", "CxR", example="5x6"),
    )

    def list_boards(self) -> list[str]:
        """List the boards whose tours can be listed, without those too narrow to have any."""
        sides = ((f, r) for f in range(3, MAX_FILES + 1) for r in range(3, MAX_RANKS + 1))
        return [f"{files}x{ranks}" for files, ranks in sides if files * ranks <= MAX_LISTED_SQUARES]

    def request_tables(self, values: BuildValues) -> tuple[Table, ...]:
        """Return the lists and rankings of these boards, and the counts if any are requested."""
        makers = {"board": make_tour_table}
        makers |= {name: make_table for name, (_, make_table) in RANKING_TABLES.items()}
        tables = [
            make_table(parse_board(text))
            for name, make_table in makers.items()
            for text in values.get(name, ())
        ]
        closed, boards = "closed" in values, [parse_board(text) for text in values.get("count", ())]
        if closed and not boards:
            raise BadRequest("--closed needs --count", "Example: --count 8x8 --closed")
        requested = [get_sides(board) for board in boards]
        for sides in requested:
            estimate_count_cost(sides, closed=closed)
        if requested:
            counts = TourCounts((), requested) if closed else TourCounts(requested)
            tables.append(_add_boards(self.tables[-1], counts))
        return tuple({table.name: table for table in tables}.values())

    def list_published_tables(
        self, published: Mapping[str, Mapping[str, Any]]
    ) -> tuple[Table, ...]:
        default_names = {table.name for table in self.tables}
        boards = find_listed_boards(published)
        tour_tables = [
            table for table in map(make_tour_table, boards) if table.name not in default_names
        ]
        counted_names = published.get(COUNTS_TABLE, {}).get("boards")
        # a board that was listed after the counts were built is not counted yet
        counted = [
            get_sides(board)
            for board in boards
            if isinstance(counted_names, list) and str(board) in counted_names
        ]
        counts = _add_boards(
            self.tables[-1], TourCounts(counted).merge(find_requested_counts(published))
        )
        return (
            *self.tables[:-1],
            *tour_tables,
            counts,
            *filter(None, map(find_ranking_table, published)),
        )

    def owns_table(self, table: str) -> bool:
        return super().owns_table(table) or bool(
            find_listed_boards([table]) or find_ranking_table(table)
        )

    def format_build_arguments(self, table: str) -> str:
        if any(table == known.name for known in self.tables):
            return self.stage
        for option in self.options:
            prefix, _ = RANKING_TABLES.get(option.name, ("", None))
            if prefix and table.startswith(prefix):
                return f"{self.stage} {option.flag} {table.removeprefix(prefix)}"
        return f"{self.stage} --board {table.removeprefix(TOURS_PREFIX)}"

    def adapt_to_manifest(self, table: Table, published: Mapping[str, Mapping[str, Any]]) -> Table:
        listed = TourCounts(map(get_sides, find_listed_boards(published)))
        return _add_boards(table, listed.merge(find_requested_counts(published)))


def _add_boards(table: Table, counts: TourCounts) -> Table:
    """Return a table, with more boards if it is the table of counts."""
    if not isinstance(table.recipe, TourCounts):
        return table
    merged = table.recipe.merge(counts)
    return make_count_table({*merged.boards} - merged.closed, merged.closed)


def find_requested_counts(published: Mapping[str, Mapping[str, Any]]) -> TourCounts:
    """Return the boards over 40 squares in the published counts, which a user may have requested.

    Smaller ones are left out: they are counted by default, or because their tours are listed.
    """
    parameters = published.get(COUNTS_TABLE, {})
    boards_by_kind: dict[str, set[Sides]] = {"boards": set(), "closed": set()}
    for name, boards in boards_by_kind.items():
        texts = parameters.get(name)
        for text in texts if isinstance(texts, list) else ():
            try:
                board = parse_board(str(text))
                estimate_count_cost(get_sides(board), closed=name == "closed")
            except (NotationError, BadRequest):
                continue
            if board.squares > MAX_LISTED_SQUARES and str(board) == text:
                boards.add(get_sides(board))
    return TourCounts(boards_by_kind["boards"] - boards_by_kind["closed"], boards_by_kind["closed"])
