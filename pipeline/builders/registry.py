"""One maker a recipe: from recipe, puzzle, table and work to a table's rows and records.

A new recipe is one new module and one new line here.
"""

from __future__ import annotations

from typing import Any

from pipeline.tasks import Made, Parts, Probe, Work
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles import imported, part_of
from tablebase.tables.checkpoints import Kept
from tablebase.tables.store import Store

MAKERS = {
    "breadth first": "pipeline.builders.graph_table",
    "breadth first in blocks": "pipeline.builders.block_table",
    "every tour": "pipeline.builders.tour_list",
    "numbered cycles": "pipeline.builders.ranking_table",
    "numbered tours": "pipeline.builders.ranking_table",
    "one tour a pair": "pipeline.builders.tour_per_pair",
    "tour counts": "pipeline.builders.count_table",
}
"""For each recipe's search the module whose `make` is the maker; other packages' name their own."""


def made(puzzle: Puzzle, table: Table, work: Work) -> Made:
    """A table's rows and its index's records, each stretch made when it is asked for."""
    recipe = table.recipe
    own = recipe.maker
    make = part_of(puzzle, own) if own else imported(f"{MAKERS[recipe.search]}:make")
    found: Made = make(recipe, puzzle, table, work)
    return found


def parts(table: Table) -> Parts:
    """What a list is made of."""
    found: Parts = _further(table, "parts")(table.recipe)
    return found


def probe(table: Table, work: Work, items: list[tuple[Any, ...]] | None = None) -> Probe:
    """What a table will take, or these parts of a list."""
    found: Probe = _further(table, "probe")(table, work, items)
    return found


def checkpoints(store: Store, table: Table) -> Kept:
    """Give the finished parts of a table, as its maker's code is now."""
    recipe = table.recipe
    return Kept(store, table, recipe.maker.partition(":")[0] or MAKERS[recipe.search])


def _further(table: Table, name: str) -> Any:
    return imported(f"{MAKERS[table.recipe.search]}:{name}")
