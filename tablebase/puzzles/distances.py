"""The stage that counts the states at each distance, in the tables of all puzzles that have any."""

from __future__ import annotations

from tablebase.catalogue import Catalogue
from tablebase.puzzle import Puzzle, Stage
from tablebase.schema import Column, Recipe, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any


NAME = "distances"
"""The name of the stage, and of its table."""


class CountedTable:
    """A table whose states are counted, with its puzzle."""

    __slots__ = ("puzzle", "table")

    def __init__(self, puzzle: Puzzle, table: Table) -> None:
        self.puzzle = puzzle
        self.table = table

    @property
    def board(self) -> str | None:
        """The board of the table; None for a puzzle without boards."""
        return self.puzzle.name_board(self.table.name)

    @property
    def goals(self) -> tuple[str, ...]:
        """The goals that the rows may have, in their order; empty if they are no fixed set."""
        return next((column.values for column in self.table.columns if column.name == "goal"), ())


class StatesByDistance(Recipe):
    """Recipe of the number of states at each distance, counted in tables that are built before."""

    __slots__ = ("sources",)
    search = "states by distance"

    def __init__(self, sources: Iterable[CountedTable]) -> None:
        self.sources = tuple(sources)

    def list_sources(self) -> tuple[str, ...]:
        return tuple(source.table.name for source in self.sources)

    def list_parameters(self) -> dict[str, object]:
        return {"search": self.search, "tables": [*self.list_sources()]}


def make_distance_table(sources: Iterable[CountedTable]) -> Table:
    """Make the table of the states at each distance in these tables."""
    return Table(
        NAME,
        "The number of states at each distance, in every table that has distances",
        "rows by table, then by goal in the table's order, then by distance; null comes last",
        (
            Column("puzzle", "string", "name of the puzzle, as in the commands"),
            Column(
                "board", "string", "board, rows x columns; null for a puzzle without", nullable=True
            ),
            Column("goal", "string", "goal of the distances; null for Senet", nullable=True),
            Column(
                "distance",
                "int8",
                "fewest moves to the goal; in Senet plies from the opening; null: never reached",
                nullable=True,
            ),
            Column("states", "int64", "number of states at that distance"),
        ),
        StatesByDistance(sources),
    )


class DistanceCatalogue(Catalogue):
    """The table of distances, which grows with the tables that are published."""

    def __init__(self, puzzles: Sequence[Puzzle]) -> None:
        self._puzzles = [puzzle for puzzle in puzzles if puzzle.depth]
        defaults = (CountedTable(each, table) for each in self._puzzles for table in each.tables)
        super().__init__(NAME, (make_distance_table(defaults),))

    def list_published_tables(
        self, published: Mapping[str, Mapping[str, Any]]
    ) -> tuple[Table, ...]:
        counted = published.get(NAME, {}).get("tables")
        if not isinstance(counted, list):
            return self.tables
        return (make_distance_table(self._find_sources(published, {*map(str, counted)})),)

    def adapt_to_manifest(self, table: Table, published: Mapping[str, Mapping[str, Any]]) -> Table:
        """Return the table for all tables that are published or requested."""
        return make_distance_table(self._find_sources(published, {*published}))

    def _find_sources(
        self, published: Mapping[str, Mapping[str, Any]], names: set[str]
    ) -> list[CountedTable]:
        return [
            CountedTable(puzzle, table)
            for puzzle in self._puzzles
            for table in sorted(
                puzzle.catalogue.list_published_tables(published), key=lambda table: table.name
            )
            if table.name in names
        ]


class DistanceStage(Stage):
    """The stage `distances`: it comes after the puzzles, whose tables it counts."""

    name = NAME
    title = "States by distance"

    def __init__(self, puzzles: Sequence[Puzzle]) -> None:
        self._catalogue = DistanceCatalogue(puzzles)
        self.tables = self._catalogue.tables

    @property
    def catalogue(self) -> Catalogue:
        return self._catalogue
