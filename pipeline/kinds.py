"""The kinds of tables, each with its recipe, its cost and its proof.

A new kind of table is one line here, a recipe and a proof. The functions are imported when they are
needed: a list of tables loads no recipe, a proof none, and a build no proof.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from puzzle_tablebase.code_digest import Code
from puzzle_tablebase.errors import MemoryShort
from puzzle_tablebase.pipeline.costs import (
    Cost,
    Shards,
    estimate_tour_counts,
    estimate_tour_list,
    estimate_tour_pair_counts,
    estimate_tour_ranking,
    make_estimate,
)
from puzzle_tablebase.puzzles import Puzzle
from puzzle_tablebase.registry import find_owner, import_object
from puzzle_tablebase.resources import PROCESS_BYTES, get_free_memory
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import Folder

if TYPE_CHECKING:
    from puzzle_tablebase.formats.encoder import TableData
    from puzzle_tablebase.pipeline.proofs.claims import Prover
    from puzzle_tablebase.pipeline.tasks import Tasks
    from puzzle_tablebase.pipeline.workers import Workers
    from puzzle_tablebase.stores.checkpoints import Checkpoints

RECIPES, PROOFS = (f"puzzle_tablebase.pipeline.{room}" for room in ("recipes", "proofs"))
NOT_READ = ("builtins", "typing", "abc")
"""The modules of Python's own classes."""
ENCODER = "puzzle_tablebase.formats.encoder:encode_table"
MAX_TASK_BYTES = 1 << 30
"""Most bytes of memory for a task of a worker, if no limit is given."""
FREE_SHARE = 0.9
"""The share of the free memory that a search uses, if no limit is given."""
SHARDED_TIMES = 2.5
"""How many times more seconds a search in shards takes than one in memory."""


class Kind(NamedTuple):
    """A kind of table: what it costs, and where its other functions are, as `module:name`."""

    make: str
    """The recipe: a function that takes a table, its puzzle if `needs_puzzle`, and tasks."""
    cost: Callable[[Table], Cost]
    """The estimate of a table's cost."""
    prove: str = ""
    """The `Prover`; without one, nothing is shown but that the files are intact."""
    plan: str = ""
    """The function that plans a search that may have shards."""
    needs_puzzle: bool = False
    """Whether the recipe searches the state space of the table's puzzle, whatever that is."""


GRAPH_COST = make_estimate(3e-6, 400)


def _make_graph_kind(prove: str = "", cost: Callable[[Table], Cost] = GRAPH_COST) -> Kind:
    return Kind(f"{RECIPES}.graph:make", cost, prove, needs_puzzle=True)


KINDS = {
    "graph": _make_graph_kind(),
    "goals": _make_graph_kind(f"{PROOFS}.goals:GOALS"),
    "eight": _make_graph_kind(f"{PROOFS}.goals:EIGHT"),
    "senet": _make_graph_kind(f"{PROOFS}.senet:SENET"),
    "sliding_rows": _make_graph_kind(f"{PROOFS}.goals:SLIDING_ROWS", make_estimate(2.3e-6, 208)),
    "sliding_bits": Kind(
        f"{RECIPES}.boards:make",
        make_estimate(1e-8, 0.27),
        f"{PROOFS}.board_layers:SLIDING_BITS",
        plan=f"{RECIPES}.board_shards:plan_shards",
    ),
    "pattern": Kind(
        f"{RECIPES}.patterns:make", make_estimate(4e-8, 2), f"{PROOFS}.patterns:PATTERN"
    ),
    "tour_list": Kind(
        f"{RECIPES}.tour_lists:make",
        estimate_tour_list,
        f"{PROOFS}.knight_tours:TOUR_LIST",
    ),
    "tour_pairs": Kind(
        f"{RECIPES}.tour_pairs:make",
        make_estimate(2e-4),
        f"{PROOFS}.knight_tours:TOUR_PAIRS",
    ),
    "tour_ranking": Kind(
        f"{RECIPES}.tour_rankings:make",
        estimate_tour_ranking,
        f"{PROOFS}.knight_tours:TOUR_RANKING",
    ),
    "tour_counts": Kind(
        f"{RECIPES}.tour_counts:make",
        estimate_tour_counts,
        f"{PROOFS}.knight_counts:TOUR_COUNTS",
    ),
    "tour_pair_counts": Kind(
        f"{RECIPES}.tour_pair_counts:make",
        estimate_tour_pair_counts,
        f"{PROOFS}.knight_pair_counts:TOUR_PAIR_COUNTS",
    ),
}
"""The kinds of tables by the names that recipes give them."""


def get_kind(table: Table) -> Kind:
    return KINDS[table.recipe.kind]


def estimate_cost(table: Table) -> Cost:
    """Estimate the cost of a table."""
    return get_kind(table).cost(table)


def find_prover(table: Table) -> Prover | None:
    """Find the prover of a table; None if there is none."""
    where = get_kind(table).prove
    prover: Prover | None = import_object(where) if where else None
    return prover


def plan_build(table: Table, cost: Cost, workers: Workers, saved: Checkpoints | None) -> Cost:
    """Plan a build within the available memory, given its cost in memory.

    A search that does not fit is divided into shards, if possible. `saved`: the checkpoints that it
    resumes from. Raise MemoryShort if the smallest shards do not fit.
    """
    plan = get_kind(table).plan
    if not plan:
        return cost
    process, available = (0 if workers.is_remote else PROCESS_BYTES), workers.memory
    if available is None and workers.is_remote:
        available = MAX_TASK_BYTES
    elif available is None:
        free = get_free_memory()
        available = sys.maxsize if free is None else int(FREE_SHARE * free)
    is_whole = not workers.is_remote and cost.memory <= available
    left = max(0, available - process)  # the program alone may take more than there is
    shards: Shards = import_object(plan)(table, workers, left, saved, is_whole)
    if not shards.total:
        return cost
    if not shards.jobs:
        hint = "Raise the limit, or start again: pipeline remove --checkpoints"
        raise MemoryShort(table.name, process + shards.memory, available, hint)
    memory = 0 if workers.is_remote else process + shards.jobs * shards.memory
    return Cost(SHARDED_TIMES * cost.seconds, cost.bytes, memory, shards)


def make(table: Table, puzzle: Puzzle, tasks: Tasks) -> TableData:
    """Search for a table; return its parts, which are made as they are consumed."""
    kind = get_kind(table)
    given = (puzzle, tasks) if kind.needs_puzzle else (tasks,)
    data: TableData = import_object(kind.make)(table, *given)
    return data


def find_counted_column(table: Table, puzzle: Puzzle) -> str:
    """Return the column with the depths that the manifest counts; "" if it counts none."""
    return puzzle.depth if puzzle.has_counts(table) else ""


def find_code(table: Table, puzzle: Puzzle | None = None) -> Code:
    """Find the code that makes a table of a puzzle, by default that of the table's name.

    It is all code that the recipe, the puzzle and the encoder use.
    """
    puzzle = puzzle or find_owner(table.name)
    assert puzzle
    classes = [type(table), *type(puzzle).__mro__]
    # a class in a function is part of it
    names = [
        f"{each.__module__}:{each.__qualname__.partition('.')[0]}"
        for each in classes
        if each.__module__ not in NOT_READ
    ]
    roots = get_kind(table).make, ENCODER, *names, *_find_variables(puzzle)
    return Code(roots, f"{table.describe_form()} {find_counted_column(table, puzzle)}")


def _find_variables(puzzle: Puzzle) -> list[str]:
    """Find the variables whose value is a puzzle; if there are none, the whole module."""
    home = type(puzzle).__module__
    package = home.partition(".")[0]
    # a copy: another thread may import something
    loaded = [name for name in [*sys.modules] if name == package or name.startswith(f"{package}.")]
    found = [
        f"{name}:{variable}"
        for name in sorted(loaded)
        for variable, value in [*vars(sys.modules[name]).items()]
        if value is puzzle
    ]
    return found or [f"{home}:"]


def checkpoints(store: Folder, table: Table, puzzle: Puzzle | None = None) -> Checkpoints:
    """Return the checkpoints of a table that belong to the current code."""
    from puzzle_tablebase.stores.checkpoints import Checkpoints  # completions need no arrays

    return Checkpoints(store, table, find_code(table, puzzle))
