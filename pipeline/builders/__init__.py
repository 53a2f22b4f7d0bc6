"""The builders: one for each kind of recipe, producing a table's rows and records.

A builder makes them from a recipe, a puzzle, a table and its tasks. A new kind of recipe needs one
new function, and one new entry in `BUILDERS`, which also names the code that makes the tables.
"""

from __future__ import annotations

from puzzle_tablebase.code_digest import digest_code
from puzzle_tablebase.pipeline.tasks import TableData, Tasks
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.puzzles import find_owner, import_object
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores.checkpoints import Checkpoints
from puzzle_tablebase.stores.folder import Store

FRONTIER = ("frontier.compiled", "frontier.layers", "puzzles.knight.board")
LISTING = ("pipeline.builders.tour_lists", "pipeline.search.tour_listing", *FRONTIER)
SWEEPS = (
    "pipeline.builders.tour_sweeps",
    *("pipeline.search.tour_edge_sets", "pipeline.search.tour_meet", "pipeline.search.tour_sweep"),
    "puzzles.knight.tour_ranker",
    *FRONTIER,
)
BUILDERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "breadth first": (
        "make",
        ("pipeline.builders.graph_table", "pipeline.search.breadth_first", "graph"),
    ),
    "breadth first in blocks": (
        "make",
        (
            "pipeline.builders.sliding_table",
            *("frontier.word_bfs", "frontier.word_kernels", "word_space", "graph"),
        ),
    ),
    "every tour": ("make_every_tour", LISTING),
    "ranked closed tours": ("make_ranking", SWEEPS),
    "ranked tours": ("make_ranking", SWEEPS),
    "one tour a pair": ("make_tour_per_pair", LISTING),
    "placements of a pattern": (
        "make",
        (
            *("pipeline.builders.pattern_table", "pipeline.search.pattern_search"),
            *("frontier.compiled", "frontier.layers", "graph", "puzzles.sliding"),
        ),
    ),
    "tour counts": ("make_counts", SWEEPS),
}
"""By the name of a recipe's search: the builder, a function of the first module, and the modules
with all code that makes the tables, besides that of the puzzle and of the recipe."""
ENCODERS = ("schema", "formats.index", "formats.parquet")
"""The modules that write rows and records."""


def build_table_data(puzzle: Puzzle, table: Table, tasks: Tasks) -> TableData:
    """Return a table's rows and its index's records; each chunk is made when it is consumed."""
    function, modules = BUILDERS[table.recipe.search]
    build = import_object(f"puzzle_tablebase.{modules[0]}:{function}")
    data: TableData = build(table.recipe, puzzle, table, tasks)
    return data


def list_modules(table: Table, puzzle: Puzzle | None = None) -> list[str]:
    """List the modules whose code makes a table, of its puzzle (by default that of its name)."""
    recipe = table.recipe
    slots = {name for kind in type(recipe).__mro__ for name in getattr(kind, "__slots__", ())}
    values = [recipe, puzzle or find_owner(table.name)]
    values += [getattr(recipe, name) for name in slots if hasattr(recipe, name)]
    classes = {kind for value in values for kind in type(value).__mro__}
    rules = {kind.__module__ for kind in classes} - {"builtins", "typing", "abc"}
    code = (*BUILDERS[recipe.search][1], *ENCODERS)
    return sorted(rules.union(f"puzzle_tablebase.{name}" for name in code))


def digest_table(table: Table, puzzle: Puzzle | None = None) -> str:
    """Return the digest of the code that makes a table."""
    return digest_code(list_modules(table, puzzle))


def checkpoints(store: Store, table: Table, puzzle: Puzzle | None = None) -> Checkpoints:
    """Return the checkpoints of a table that belong to the present code."""
    return Checkpoints(store, table, list_modules(table, puzzle))
