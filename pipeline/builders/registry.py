"""The registry of builders: which module builds the tables of each kind of recipe.

A builder makes a table's rows and records from a recipe, a puzzle, a table and a context. A new
kind of recipe needs one new module, and one new line in `BUILDERS`.
"""

from __future__ import annotations

from pipeline.build_context import BuildContext
from pipeline.tasks import TableData
from tablebase.puzzle import Puzzle
from tablebase.puzzles import import_object, load_part
from tablebase.schema import Table
from tablebase.tables.checkpoints import Checkpoints
from tablebase.tables.store import Store

BUILDERS = {
    "breadth first": "pipeline.builders.graph_table",
    "breadth first in blocks": "pipeline.builders.sliding_table",
    "every tour": "pipeline.builders.tour_list",
    "ranked closed tours": "pipeline.builders.ranking_table",
    "ranked tours": "pipeline.builders.ranking_table",
    "one tour a pair": "pipeline.builders.tour_per_pair",
    "placements of a pattern": "pipeline.builders.pattern_table",
    "tour counts": "pipeline.builders.count_table",
}
"""The module whose `make` is the builder, by the recipe's search; the recipes of plugins name their
builder themselves."""


def build_table_data(puzzle: Puzzle, table: Table, context: BuildContext) -> TableData:
    """Return a table's rows and its index's records; each chunk is made when it is consumed."""
    recipe = table.recipe
    plugin_builder = recipe.builder
    build = (
        load_part(puzzle, plugin_builder)
        if plugin_builder
        else import_object(f"{BUILDERS[recipe.search]}:make")
    )
    return TableData(*build(recipe, puzzle, table, context))


def checkpoints(store: Store, table: Table) -> Checkpoints:
    """Return the checkpoints of a table that belong to its builder's present code."""
    recipe = table.recipe
    return Checkpoints(store, table, recipe.builder.partition(":")[0] or BUILDERS[recipe.search])
