"""The kinds of searches: each one's recipe, the code that makes its tables, and what they cost.

A new search needs one module in `puzzle_tablebase.pipeline.recipes`, one line here, and a proof in
`puzzle_tablebase.pipeline.proofs`. Costs are estimated from a table's parameters alone, as measured
in 2026-11 on the machine that this was written on. Times are within a factor of about four: they
are meant to tell seconds from hours.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import ceil
from struct import calcsize
from typing import TYPE_CHECKING, NamedTuple

from puzzle_tablebase.code_digest import Code
from puzzle_tablebase.errors import MemoryShort
from puzzle_tablebase.puzzles import Puzzle, find_owner, import_object
from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.resources import get_free_memory
from puzzle_tablebase.schema import BITS_INDEX, Table
from puzzle_tablebase.stores import Folder

if TYPE_CHECKING:
    from puzzle_tablebase.pipeline.recipes.board_shards import Plan
    from puzzle_tablebase.pipeline.tasks import TableData, Tasks
    from puzzle_tablebase.stores.checkpoints import Checkpoints

RECIPES = "pipeline.recipes"
NOT_READ = ("builtins", "typing", "abc")
"""The modules of Python's own classes."""
ENCODER = "puzzle_tablebase.formats.encoder:encode_table"

PROCESS_BYTES = 340_000_000
"""Bytes of a process that builds any table: the most that was measured, and some more."""
MAX_TASK_BYTES = 1 << 30
"""Most bytes of memory for a task of a worker, if no limit is given."""
FREE_SHARE = 0.9
"""The share of the free memory that a search uses, if no limit is given."""
SHARDED_TIMES = 2.5
"""How many times more seconds a search in shards takes than one in memory."""
BYTES_PER_TEXT, BYTES_PER_NUMBER = 3, 0.4
"""Compressed bytes of Parquet for each value of a column of texts, or of another column."""
BYTES_PER_TOUR, MAX_TOUR_BYTES = 60, 230_000_000
"""Memory for each tour of a list, and for those of the tasks that are done at the same time."""

LAYER_STATES = {
    False: {
        3: (9, 27, 58, 108, 178, 276, 337, 338, 364),
        4: (78, 701, 1_689, 3_647, 5_073, 5_222, 5_256, 5_262),
        5: (594, 5_642, 26_108, 115_906, 228_936),
        6: (3_840, 97_824, 653_477, 4_023_615, 6_774_595),
        7: (29_488, 1_635_202, 14_736_773),
        8: (195_088, 28_212_855, 335_484_807),
    },
    True: {
        3: (1, 2, 2, 8, 17, 35, 51, 58, 65),
        4: (9, 39, 85, 264, 504, 529, 533),
        5: (54, 172, 1_073, 11_133, 30_360, 33_543, 39_100),
        6: (306, 2_888, 32_510, 444_284, 929_917, 1_006_862),
        7: (1_855, 55_496, 790_745, 12_345_976),
        8: (11_021, 805_614, 16_759_503, 394_917_090),
    },
}
"""For all tours (False) and for closed ones (True), by a board's shorter side: the states of the
largest layer, by the columns of half of the board, from 1; more columns have no larger one."""
COUNTED_LAYERS, RANKED_LAYERS = 4, {"ranked tours": 14, "ranked closed tours": 7}
"""The states of all layers, as a multiple of those of the largest one."""
BYTES_PER_RANKED_STATE = 2.5
MIN_STATES = 20_000
"""States of a sweep that would take as long as the smallest board."""
SWEEP_BYTES = 360_000_000
"""Bytes of a process that sweeps over the smallest board."""
BYTES_PER_STATE = 40
"""Memory for each state of the largest layer, approximately, as measured."""
DENSE_STATES, DENSE_BYTES = 20_000_000, 20
"""The first so many states need so many more bytes each."""


class Cost(NamedTuple):
    """The estimated processor seconds, bytes of all files, and peak memory of the process.

    `shards`: the number that the search is divided into, on a disk; 0: it is in memory. `jobs`: how
    many of them are in memory at a time, `task` the bytes of each. `disk`: the most bytes of the
    folder meanwhile.
    """

    seconds: float
    bytes: int
    memory: int
    shards: int = 0
    jobs: int = 0
    task: int = 0
    disk: int = 0


class Search(NamedTuple):
    """A kind of search; what it costs was measured on one core."""

    recipe: str
    """The recipe's module, in the package of recipes."""
    seconds: Callable[[Table], float]
    """The function that estimates the processor seconds."""
    memory: Callable[[Table], float]
    """The function that estimates the bytes of the process."""
    plan: str = ""
    """The function that plans a search that may have shards: its module, and its name."""
    needs_puzzle: bool = False
    """Whether the recipe searches the state space of the table's puzzle, whatever that is."""


def estimate_cost(table: Table) -> Cost:
    """Estimate the cost of a table; rows whose number is unknown cost nothing."""
    search, rows = SEARCHES[table.recipe.search], table.rows or 0
    texts = sum(column.kind == "string" for column in table.columns)
    row_bytes = BYTES_PER_TEXT * texts + BYTES_PER_NUMBER * (len(table.columns) - texts)
    size = (row_bytes + calcsize(table.record_format)) * rows
    if table.recipe.search in RANKED_LAYERS:
        size += BYTES_PER_RANKED_STATE * estimate_states(table)
    return Cost(search.seconds(table), ceil(size), ceil(search.memory(table)))


def plan_build(table: Table, cost: Cost, tasks: Tasks, saved: Checkpoints | None) -> Cost:
    """Plan a build that costs so much in memory with the memory that there is.

    A search that does not fit is divided into shards, if it can be. `saved`: what it resumes from.
    Raise MemoryShort if the smallest shards do not fit.
    """
    plan = SEARCHES[table.recipe.search].plan
    if not plan or table.index != BITS_INDEX:
        return cost
    process, available = (0 if tasks.is_remote else PROCESS_BYTES), tasks.memory
    if available is None and tasks.is_remote:
        available = MAX_TASK_BYTES
    elif available is None:
        free = get_free_memory()
        available = sys.maxsize if free is None else int(FREE_SHARE * free)
    is_whole = not tasks.is_remote and cost.memory <= available
    plan_shards = import_object(f"puzzle_tablebase.{RECIPES}.{plan}")
    left = max(0, available - process)  # the program alone may take more than there is
    planned: Plan | None = plan_shards(table, tasks, left, saved, is_whole)
    if planned is None:
        return cost
    if not planned.jobs:
        hint = "Raise the limit, or start again: pipeline remove --checkpoints"
        raise MemoryShort(table.name, process + planned.memory, available, hint)
    memory = 0 if tasks.is_remote else process + planned.jobs * planned.memory
    seconds = SHARDED_TIMES * cost.seconds
    return Cost(
        seconds, cost.bytes, memory, planned.shards, planned.jobs, planned.memory, planned.disk
    )


def list_swept_boards(table: Table) -> list[tuple[KnightBoard, bool]]:
    """List the boards that a search sweeps over, each with whether it is for closed tours alone."""
    parameters = table.recipe.parameters
    if "boards" in parameters:
        return [(parse_board(name), name in parameters["closed"]) for name in parameters["boards"]]
    return [(parse_board(parameters["board"]), "closed" in table.recipe.search)]


def estimate_states(table: Table) -> float:
    """Estimate the states of all layers of a table's sweeps."""
    layers = RANKED_LAYERS.get(table.recipe.search, COUNTED_LAYERS)
    boards = list_swept_boards(table)
    return sum(MIN_STATES + layers * _estimate_layer(*board) for board in boards)


def _estimate_layer(board: KnightBoard, closed: bool) -> float:
    """Estimate the number of states of a board's largest layer."""
    short, long = sorted((board.files, board.ranks))
    columns, states = (long - 1) // 2, LAYER_STATES[closed].get(short, ())
    return states[min(columns, len(states)) - 1] if states and columns else 0


def estimate_sweep(table: Table, times: float = 1) -> float:
    """Estimate the bytes for the largest sweep of a table, if its states take `times` as many."""
    most = max((estimate_count(*board) for board in list_swept_boards(table)), default=SWEEP_BYTES)
    return SWEEP_BYTES + times * (most - SWEEP_BYTES)


def estimate_count(board: KnightBoard, closed: bool) -> int:
    """Estimate the bytes for counting the tours of a board, or its closed tours alone."""
    states = _estimate_layer(board, closed)
    return ceil(SWEEP_BYTES + BYTES_PER_STATE * states + DENSE_BYTES * min(states, DENSE_STATES))


def count_images(table: Table) -> int:
    """Count the states of a sweep by both ends for one of other sweeps: on some boards, images."""
    ((board, _),) = list_swept_boards(table)
    return 1 + min(board.files, board.ranks) % 2


def estimate_sweep_seconds(table: Table) -> float:
    """Estimate the processor seconds of a table's sweeps."""
    return 1e-6 * estimate_states(table)


SEARCHES = {
    "breadth first": Search(
        "graph",
        lambda table: 3e-6 * table.states,
        lambda table: PROCESS_BYTES + 390 * table.states,
        needs_puzzle=True,
    ),
    "breadth first of a board": Search(
        "graph",
        lambda table: 2.3e-6 * table.states,
        lambda table: PROCESS_BYTES + 200 * table.states,
        needs_puzzle=True,
    ),
    "breadth first in blocks": Search(
        "boards",
        lambda table: 1e-8 * table.states,
        # two bits for each state, in words of 60
        lambda table: PROCESS_BYTES + 0.27 * table.states,
        plan="board_shards:plan_shards",
    ),
    "every tour": Search(
        "tour_lists",
        lambda table: 7e-7 * table.states,
        lambda table: PROCESS_BYTES + min(BYTES_PER_TOUR * (table.rows or 0), MAX_TOUR_BYTES),
    ),
    "one tour a pair": Search(
        "tour_pairs",
        lambda table: 2e-4 * table.states,
        lambda table: PROCESS_BYTES,
    ),
    "placements of a pattern": Search(
        "patterns",
        lambda table: 4e-8 * table.states,
        lambda table: PROCESS_BYTES + 2 * table.states,
    ),
    # a ranking keeps all encoded layers in memory, and no state stands for its mirror image
    "ranked closed tours": Search(
        "tour_rankings", estimate_sweep_seconds, lambda table: estimate_sweep(table, 2)
    ),
    "ranked tours": Search(
        "tour_rankings", estimate_sweep_seconds, lambda table: estimate_sweep(table, 2.2)
    ),
    "tour counts": Search("tour_counts", estimate_sweep_seconds, estimate_sweep),
    "tour counts by pair": Search(
        "tour_pair_counts",
        lambda table: 2 * count_images(table) * estimate_sweep_seconds(table),
        lambda table: estimate_sweep(table, count_images(table)),
    ),
}
"""The searches by the names that recipes give them."""


def make(table: Table, puzzle: Puzzle, tasks: Tasks) -> TableData:
    """Search for a table; return its parts, each made when it is consumed."""
    kind = SEARCHES[table.recipe.search]
    search = import_object(f"puzzle_tablebase.{RECIPES}.{kind.recipe}:make")
    given = (puzzle, tasks) if kind.needs_puzzle else (tasks,)
    data: TableData = search(table, *given)
    return data


def find_counted_column(table: Table, puzzle: Puzzle) -> str:
    """Return the column with the depths that the manifest counts; "" if it counts none."""
    return puzzle.depth if puzzle.has_counts(table) else ""


def find_code(table: Table, puzzle: Puzzle | None = None) -> Code:
    """Find the code that makes a table, of its puzzle (by default that of its name).

    It is what the recipe, the puzzle and the encoder lead to.
    """
    puzzle = puzzle or find_owner(table.name)
    assert puzzle
    classes = [type(table), *type(puzzle).__mro__]
    # a class in a function is part of it
    kinds = [
        f"{kind.__module__}:{kind.__qualname__.partition('.')[0]}"
        for kind in classes
        if kind.__module__ not in NOT_READ
    ]
    make = f"puzzle_tablebase.{RECIPES}.{SEARCHES[table.recipe.search].recipe}:make"
    roots = make, ENCODER, *kinds, *_find_variables(puzzle)
    return Code(roots, f"{table.describe_form()} {find_counted_column(table, puzzle)}")


def _find_variables(puzzle: Puzzle) -> list[str]:
    """Find the variables that a puzzle is the value of; without any, the whole of its module."""
    home = type(puzzle).__module__
    modules = [
        (name, module)
        for name, module in sorted(sys.modules.items())
        if name.partition(".")[0] == home.partition(".")[0]
    ]
    found = [
        f"{name}:{variable}"
        for name, module in modules
        for variable, value in [*vars(module).items()]
        if value is puzzle
    ]
    return found or [f"{home}:"]


def checkpoints(store: Folder, table: Table, puzzle: Puzzle | None = None) -> Checkpoints:
    """Return the checkpoints of a table that belong to the present code."""
    from puzzle_tablebase.stores.checkpoints import Checkpoints  # completions need no arrays

    return Checkpoints(store, table, find_code(table, puzzle))
