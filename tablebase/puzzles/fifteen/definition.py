"""The 15-puzzle: its states are too many for a table, so its tables are those of patterns of tiles.

All tables are optional. A search that they lead answers queries.
"""

from __future__ import annotations

from tablebase.catalogue import BuildOption, Catalogue
from tablebase.errors import require_choice
from tablebase.puzzle import Puzzle
from tablebase.puzzles.fifteen.tables import (
    DEFAULT_PARTITION,
    PARTITIONS,
    PatternDistances,
    find_partition,
    make_pattern_table,
)
from tablebase.schema import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from tablebase.catalogue import BuildValues


class FifteenCatalogue(Catalogue):
    """The tables of all partitions."""

    options = (
        BuildOption(
            "patterns",
            f"Partition of the tiles: {', '.join(PARTITIONS)} (default: {DEFAULT_PARTITION}).",
            "NAME",
            example="5-5-5",
            choices=tuple(PARTITIONS),
        ),
        BuildOption("parquet", "Also write Parquet: the cells of the tiles and the distance."),
    )

    def request_tables(self, values: BuildValues) -> tuple[Table, ...]:
        if not values:
            return ()
        tables = dict[str, Table]()
        for name in values.get("patterns") or (DEFAULT_PARTITION,):
            require_choice(name, "partition", *PARTITIONS)
            for table in PARTITIONS[name].make_tables(with_rows="parquet" in values):
                tables[table.name] = table
        return tuple(tables.values())

    def list_stage_tables(self) -> tuple[Table, ...]:
        return PARTITIONS[DEFAULT_PARTITION].make_tables()

    def list_published_tables(
        self, published: Mapping[str, Mapping[str, Any]]
    ) -> tuple[Table, ...]:
        tables = (table for each in PARTITIONS.values() for table in each.make_tables())
        return tuple(
            self.adapt_to_manifest(table, published) for table in tables if table.name in published
        )

    def owns_table(self, table: str) -> bool:
        return find_partition(table) is not None

    def format_build_arguments(self, table: str) -> str:
        name = find_partition(table)
        return self.stage if name == DEFAULT_PARTITION else f"{self.stage} --patterns {name}"

    def adapt_to_manifest(self, table: Table, published: Mapping[str, Mapping[str, Any]]) -> Table:
        """Return a table, with rows if they are published, even if only an index is requested."""
        if table.columns or not published.get(table.name, {}).get("rows"):
            return table
        assert isinstance(table.recipe, PatternDistances)
        return make_pattern_table(table.recipe.pattern, with_rows=True)


class Fifteen(Puzzle):
    """The 4x4 board; all tables are optional."""

    name = "fifteen"
    title = "15-puzzle"
    tables = ()

    @property
    def catalogue(self) -> Catalogue:
        return FifteenCatalogue(self.name, self.tables)


PUZZLE = Fifteen()
