"""The 15-puzzle: its states are too many for a table, so its tables are those of patterns of tiles.

All tables are optional. A search that they lead answers queries.
"""

from __future__ import annotations

from tablebase.errors import require_choice
from tablebase.puzzle import BuildOption, Catalogue, Puzzle, Table
from tablebase.puzzles.fifteen.tables import (
    DEFAULT_PARTITION,
    PARTITIONS,
    find_partition,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from tablebase.puzzle import BuildValues


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

    def request_tables(
        self, values: BuildValues, *, with_unbuildable: bool = False
    ) -> tuple[Table, ...]:
        if not values:
            return ()
        tables = dict[str, Table]()
        for name in values.get("patterns", ()) or (DEFAULT_PARTITION,):
            require_choice(name, "partition", *PARTITIONS)
            for table in PARTITIONS[name].make_tables(with_rows="parquet" in values):
                tables[table.name] = table
        return tuple(tables.values())

    def list_stage_tables(self) -> tuple[Table, ...]:
        return PARTITIONS[DEFAULT_PARTITION].make_tables()

    def list_published_tables(
        self, published: Mapping[str, Mapping[str, Any]]
    ) -> tuple[Table, ...]:
        tables = (
            table
            for with_rows in (False, True)
            for partition in PARTITIONS.values()
            for table in partition.make_tables(with_rows=with_rows)
            if table.name in published and with_rows == bool(published[table.name].get("rows"))
        )
        return tuple(tables)

    def owns_table(self, table: str) -> bool:
        return find_partition(table) is not None

    def format_build_arguments(self, table: str, *, has_shards: bool = True) -> str:
        name = find_partition(table)
        return self.stage if name == DEFAULT_PARTITION else f"{self.stage} --patterns {name}"

    def adapt_to_manifest(self, table: Table, published: Mapping[str, Mapping[str, Any]]) -> Table:
        """Return a table, with rows if they are published, even if only an index is requested."""
        if table.columns or not published.get(table.name, {}).get("rows"):
            return table
        return next(
            each
            for partition in PARTITIONS.values()
            for each in partition.make_tables(with_rows=True)
            if each.name == table.name
        )


class Fifteen(Puzzle):
    """The 4x4 board; all tables are optional."""

    name = "fifteen"
    title = "15-puzzle"
    tables = ()

    @property
    def catalogue(self) -> Catalogue:
        return FifteenCatalogue(self.name, self.tables)


PUZZLE = Fifteen()
