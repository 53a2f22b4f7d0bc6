"""The 15-puzzle: its states are too many for a table, so its tables are those of patterns of tiles.

All tables are optional. A search that they lead answers queries.
"""

from __future__ import annotations

from tablebase.puzzle import Puzzle
from tablebase.puzzles.fifteen.tables import (
    DEFAULT_PARTITION,
    PARTITIONS,
    find_partition,
    name_partition,
)
from tablebase.schema import Table

EXAMPLE = "123456789abc0def"
"""A state in the example of a query."""


class Fifteen(Puzzle):
    """The 4x4 board; all tables are optional."""

    name = "fifteen"
    title = "15-puzzle"
    tables = ()

    def find_tables(self, name: str, *, with_rows: bool | None = None) -> tuple[Table, ...]:
        if name == self.name:
            name = name_partition(DEFAULT_PARTITION)
        tables = [
            (name_partition(partition), table)
            for partition in PARTITIONS
            for table in PARTITIONS[partition].make_tables(with_rows=bool(with_rows))
        ]
        return tuple(table for group, table in tables if name in (group, table.name))

    def list_requests(self) -> dict[str, list[str]]:
        return {"Partitions of the tiles": [*map(name_partition, PARTITIONS)]}

    def format_example(self, table: str) -> str:
        """Format a query that the tables of a pattern's partition answer."""
        return f"{self.name} {EXAMPLE} --patterns {find_partition(table)}"


PUZZLE = Fifteen()
