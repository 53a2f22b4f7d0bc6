"""The kinds of searches: each one's recipe, the code that makes its tables, and what they cost.

A new search needs one module in `puzzle_tablebase.pipeline.recipes`, one line here, and a proof in
`puzzle_tablebase.pipeline.proofs`. Times are within a factor of about four: they are meant to tell
seconds from hours.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from operator import attrgetter
from struct import calcsize
from typing import TYPE_CHECKING, NamedTuple

from puzzle_tablebase.code_digest import digest_code
from puzzle_tablebase.pipeline.costs import (
    PROCESS_BYTES,
    Cost,
    count_ranked_states,
    count_swept_states,
    estimate_counts,
    estimate_list,
    estimate_ranking,
    estimate_words,
)
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.puzzles import find_owner, import_object
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores.folder import Store

if TYPE_CHECKING:
    from puzzle_tablebase.pipeline.tasks import TableData, Tasks
    from puzzle_tablebase.stores.checkpoints import Checkpoints

RECIPES = "pipeline.recipes"
ENCODERS = ("schema", "formats.index", "formats.parquet")
"""The modules that write rows and records."""
SWEEPS = (
    *("pipeline.recipes.tour_sweep", "pipeline.recipes.tour_meet"),
    *("pipeline.recipes.tour_edge_sets", "pipeline.recipes.tour_keys"),
    *("frontier.compiled", "frontier.layers", "puzzles.knight.board", "puzzles.knight.tour_ranker"),
)
BYTES_PER_TEXT, BYTES_PER_NUMBER = 3, 0.4
"""Compressed bytes of Parquet for each value of a column of texts, or of another column."""


class Search(NamedTuple):
    """A kind of search; what it costs was measured on one core."""

    recipe: str
    """The recipe's module, in the package of recipes."""
    modules: tuple[str, ...]
    """The other modules whose code makes the tables, besides that of the puzzle."""
    seconds: float
    """Processor seconds for each state."""
    memory: Callable[[Table], float]
    """The function that estimates the bytes of the process."""
    states: Callable[[Table], float] = attrgetter("states")
    """The function that estimates the states that the search visits."""
    row_seconds: float = 0
    """Processor seconds for each row, where rows take longer than the search."""
    bytes: float = 0
    """Bytes of the files for each state, where the number of rows is not known beforehand."""
    is_cut: bool = False
    """Whether it is cut into as many shards as a cluster has workers, and saves nothing in one
    process."""


SEARCHES = {
    "breadth first": Search(
        "graph",
        ("graph", "puzzles.board_arrays"),
        3e-6,
        lambda table: PROCESS_BYTES + 390 * table.states,
    ),
    "breadth first in blocks": Search(
        "boards",
        (
            *("pipeline.recipes.board_shards", "frontier.word_bfs", "frontier.word_kernels"),
            *("frontier.word_space", "puzzles.board_arrays", "puzzles.sliding"),
        ),
        1e-8,
        estimate_words,
        row_seconds=1.5e-6,
        is_cut=True,
    ),
    "every tour": Search(
        "tour_lists", ("frontier.compiled", "puzzles.knight.board"), 7e-7, estimate_list
    ),
    "one tour a pair": Search(
        "tour_pairs",
        ("pipeline.recipes.tour_lists", "frontier.compiled", "puzzles.knight.board"),
        2e-4,
        lambda table: PROCESS_BYTES,
    ),
    "placements of a pattern": Search(
        "patterns",
        ("frontier.compiled", "puzzles.sliding"),
        4e-8,
        lambda table: PROCESS_BYTES + 2 * table.states,
    ),
    "ranked closed tours": Search(
        "tour_rankings", SWEEPS, 1e-6, estimate_ranking, count_ranked_states, bytes=2.55
    ),
    "ranked tours": Search(
        "tour_rankings", SWEEPS, 1e-6, estimate_ranking, count_ranked_states, bytes=2.44
    ),
    "tour counts": Search("tour_counts", SWEEPS, 1e-6, estimate_counts, count_swept_states),
}
"""The searches by the names that recipes give them."""


def make(table: Table, puzzle: Puzzle, tasks: Tasks) -> TableData:
    """Search for a table; return its rows and records, each chunk made when it is consumed."""
    recipe = SEARCHES[table.recipe.search].recipe
    data: TableData = import_object(f"puzzle_tablebase.{RECIPES}.{recipe}:make")(
        table, puzzle, tasks
    )
    return data


def estimate_cost(table: Table) -> Cost:
    """Estimate the cost of a table; nothing counts for rows whose number is unknown."""
    search = SEARCHES[table.recipe.search]
    states, rows = search.states(table), table.rows or 0
    texts = sum(column.kind == "string" for column in table.columns)
    row_bytes = BYTES_PER_TEXT * texts + BYTES_PER_NUMBER * (len(table.columns) - texts)
    row_bytes += calcsize(table.record_format)
    return Cost(
        search.seconds * states + search.row_seconds * rows * bool(table.columns),
        ceil(row_bytes * rows + search.bytes * states),
        ceil(search.memory(table)),
    )


def list_modules(table: Table, puzzle: Puzzle | None = None) -> list[str]:
    """List the modules whose code makes a table, of its puzzle (by default that of its name).

    They name its checkpoints: no other module changes a row or a record.
    """
    search = SEARCHES[table.recipe.search]
    classes = type(puzzle or find_owner(table.name)).__mro__
    rules = {kind.__module__ for kind in classes} - {"builtins", "typing", "abc"}
    code = (f"{RECIPES}.{search.recipe}", *search.modules, *ENCODERS)
    return sorted(rules.union(f"puzzle_tablebase.{name}" for name in code))


def digest_table(table: Table, puzzle: Puzzle | None = None) -> str:
    """Return the digest of the code that makes a table."""
    return digest_code(list_modules(table, puzzle))


def checkpoints(
    store: Store, table: Table, puzzle: Puzzle | None = None, cut: str = ""
) -> Checkpoints:
    """Return the checkpoints of a table that belong to the present code; `cut` is theirs."""
    from puzzle_tablebase.stores.checkpoints import Checkpoints  # completions need no arrays

    return Checkpoints(store, table, list_modules(table, puzzle), cut)
