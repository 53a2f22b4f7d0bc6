"""The builders: one for each kind of recipe, producing a table's rows and records.

A builder makes them from a recipe, a puzzle, a table and a context. A new kind of recipe needs one
new function, and one new line in `BUILDERS`.
"""

from __future__ import annotations

from puzzle_tablebase.pipeline.tasks import BuildContext, TableData
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.puzzles import import_object
from puzzle_tablebase.schema import Table
from puzzle_tablebase.tables.checkpoints import Checkpoints
from puzzle_tablebase.tables.store import Store

BUILDERS = {
    "breadth first": "puzzle_tablebase.pipeline.builders.graph_table:make",
    "breadth first in blocks": "puzzle_tablebase.pipeline.builders.sliding_table:make",
    "every tour": "puzzle_tablebase.pipeline.builders.tour_lists:make_every_tour",
    "ranked closed tours": "puzzle_tablebase.pipeline.builders.tour_sweeps:make_ranking",
    "ranked tours": "puzzle_tablebase.pipeline.builders.tour_sweeps:make_ranking",
    "one tour a pair": "puzzle_tablebase.pipeline.builders.tour_lists:make_tour_per_pair",
    "placements of a pattern": "puzzle_tablebase.pipeline.builders.pattern_table:make",
    "tour counts": "puzzle_tablebase.pipeline.builders.tour_sweeps:make_counts",
}
"""The builder of each recipe's search (`module:function`)."""


def build_table_data(puzzle: Puzzle, table: Table, context: BuildContext) -> TableData:
    """Return a table's rows and its index's records; each chunk is made when it is consumed."""
    build = import_object(BUILDERS[table.recipe.search])
    data: TableData = build(table.recipe, puzzle, table, context)
    return data


def checkpoints(store: Store, table: Table) -> Checkpoints:
    """Return the checkpoints of a table that belong to its builder's present code."""
    return Checkpoints(store, table, BUILDERS[table.recipe.search].partition(":")[0])
