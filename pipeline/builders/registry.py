"""One maker a recipe: from recipe, puzzle, table and work to a table's rows and records.

A new recipe is one new module and one new line here.
"""

from __future__ import annotations

from typing import Any

from pipeline.tasks import CostSample, TableData, TaskList, TaskRunner
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles import import_object, load_part
from tablebase.tables.checkpoints import Checkpoints
from tablebase.tables.store import Store

BUILDERS = {
    "breadth first": "pipeline.builders.graph_table",
    "breadth first in blocks": "pipeline.builders.block_table",
    "every tour": "pipeline.builders.tour_list",
    "numbered cycles": "pipeline.builders.ranking_table",
    "numbered tours": "pipeline.builders.ranking_table",
    "one tour a pair": "pipeline.builders.tour_per_pair",
    "tour counts": "pipeline.builders.count_table",
}
"""For each recipe's search the module whose `build` is the maker; other packages' name their
own."""


def build_table_data(puzzle: Puzzle, table: Table, runner: TaskRunner) -> TableData:
    """A table's rows and its index's records, each stretch made when it is asked for."""
    recipe = table.recipe
    plugin_builder = recipe.builder
    build = (
        load_part(puzzle, plugin_builder)
        if plugin_builder
        else import_object(f"{BUILDERS[recipe.search]}:make")
    )
    data: TableData = build(recipe, puzzle, table, runner)
    return data


def parts(table: Table) -> TaskList:
    """What a list is made of."""
    tasks: TaskList = _import_function(table, "parts")(table.recipe)
    return tasks


def estimate(
    table: Table, runner: TaskRunner, items: list[tuple[Any, ...]] | None = None
) -> CostSample:
    """What a table will take, or these parts of a list."""
    sample: CostSample = _import_function(table, "estimate")(table, runner, items)
    return sample


def checkpoints(store: Store, table: Table) -> Checkpoints:
    """Give the finished parts of a table, as its maker's code is now."""
    recipe = table.recipe
    return Checkpoints(store, table, recipe.builder.partition(":")[0] or BUILDERS[recipe.search])


def _import_function(table: Table, name: str) -> Any:
    return import_object(f"{BUILDERS[table.recipe.search]}:{name}")
