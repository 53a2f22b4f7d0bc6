"""Faults of builds: a function, a change of its text, and the smallest table that shows it.

The change is that of a programmer's mistake: all that calls the function in this process runs the
changed text, whether it builds, reads or proves. A compiled caller would keep the machine code of
the old text, so such kernels run as plain Python meanwhile.
"""

from __future__ import annotations
import __future__

import ast
import inspect
import pkgutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from numba.core.dispatcher import Dispatcher

from puzzle_tablebase import puzzles, tour_frontier, two_bit_bfs
from puzzle_tablebase.pipeline import proofs, recipes

PACKAGE = "puzzle_tablebase"
ROOMS = proofs, puzzles, recipes, tour_frontier, two_bit_bfs


class Fault(NamedTuple):
    """A mistake: `old`, which occurs once in the function's text, becomes `new`.

    `function`: its module in the package, and its name there; `mark`: that of a test that takes
    long; `in_shards`: whether workers of a cluster build the table.
    """

    function: str
    old: str
    new: str
    table: str
    mark: str = ""
    in_shards: bool = False


ROWS, BITS = "sliding_2x3_6", "sliding_2x4_8"
TEXTS, PATTERN = "pancakes", "fifteen_125"
LIST, PAIRS, COUNTS = "knight_tours_3x4", "knight_tours_8x8", "knight_counts"
OPEN, CLOSED = "knight_ranks_4x5", "knight_closed_ranks_5x6"
PAIR_COUNTS = "knight_pair_counts_4x3"
SLOW, NIGHTLY = "slow", "nightly"

# ---- searches ---------------------------------------------------------------------------------

RECIPE = "pipeline.recipes."
GRAPHS = [
    Fault(f"{RECIPE}graph:_expand", "= ways[target] + lines", "= ways[target] + ONE", TEXTS),
    Fault(f"{RECIPE}graph:make", "space.rank(root)", "space.rank(root) ^ 1", TEXTS, SLOW),
    Fault("graph:find_nearest", "np.argmin(depths", "np.argmax(depths", "eight", SLOW),
    Fault("puzzles:StateSpace.list_states", "range(self.size)", "range(self.size)[::-1]", TEXTS),
    Fault("puzzles:GoalPuzzle.fill_columns", "- 1\n", "\n", TEXTS, SLOW),
    Fault(
        "puzzles:GoalPuzzle.make_records",
        '"solutions": ways',
        '"solutions": ways[::-1]',
        TEXTS,
        SLOW,
    ),
]
BOARDS = [
    Fault(f"{RECIPE}boards:_iter_records", "chunk.view", "chunk[::-1].copy().view", BITS, SLOW),
    # only the manifest's counts are wrong
    Fault(f"{RECIPE}boards:make", "enumerate(layers)}", "enumerate(layers[:-1])}", BITS),
    Fault(
        f"{RECIPE}board_shards:Search._list_bits",
        *("if at & 2 and", "if at & 2 and at != 10 and", BITS),
        in_shards=True,
    ),
    Fault(
        f"{RECIPE}row_files:SavedRows.read",
        *("rows.frontier, is_added)", "rows.frontier, False)", BITS),
        in_shards=True,
    ),
    Fault(
        f"{RECIPE}board_shards:write_bits",
        *("block * shard.space.rows", "(block ^ 1) * shard.space.rows", BITS),
        in_shards=True,
    ),
    Fault(
        "two_bit_bfs.shards:Shard.list_all_blocks",
        *("self.list_blocks(0) + self.list_blocks(1)", "self.list_blocks(1) + self.list_blocks(0)"),
        BITS,
        in_shards=True,
    ),
    Fault(
        "two_bit_bfs.codec:encode_groups",
        *("words[first + row, word]", "words[first + row, word ^ 1]", BITS),
        in_shards=True,
    ),
    Fault("two_bit_bfs.search:Planes.add_root", "1 << bit", "1 << bit + 1", BITS),
    Fault(
        "two_bit_bfs.search:iter_word_records",
        *("pack_rows(words, records)", "pack_rows(words[:, WORDS:], records)", BITS, SLOW),
    ),
    Fault("two_bit_bfs.kernels:_pull_rows", "phase == cycle", "phase > cycle", BITS),
    Fault("two_bit_bfs.kernels:_transpose_tails", "word & 1 else", "word & 1 ^ 1 else", BITS, SLOW),
    Fault("two_bit_bfs.kernels:close_rows", "level & 2", "level & 4", BITS, SLOW),
    Fault("two_bit_bfs.kernels:pack_rows", "high >>= np.uint64(4)", "high >>= ONE", BITS, SLOW),
    Fault("two_bit_bfs.space:make_masks", "(odd + sum(digits))", "sum(digits)", BITS),
    Fault("two_bit_bfs.space:make_word_space", "(line - 1) %", "line %", BITS, SLOW),
    Fault("two_bit_bfs.space:list_row_parities", "% 2).astype", "// 2 % 2).astype", BITS, SLOW),
    Fault(
        "two_bit_bfs.space:_trace_rows",
        *("traced[at], traced[at + 1])", "traced[at + 1], traced[at])", BITS, SLOW),
    ),
]
PATTERNS = [
    Fault(f"{RECIPE}patterns:make_moves", "tile], order_map)", "tile], SAME_ORDER)", PATTERN),
    Fault(
        f"{RECIPE}patterns:make_order_maps",
        *("insert(second, positions.pop(first))", "insert(first, positions.pop(second))"),
        *(PATTERN, SLOW),
    ),
    Fault(f"{RECIPE}patterns:_reach_sets", "> level:", "> level + 1 or level > 9:", PATTERN, SLOW),
    Fault(
        f"{RECIPE}patterns:search_pattern", "level += 1", "level += 1 + level // 9", PATTERN, SLOW
    ),
    Fault(f"{RECIPE}patterns:make", ".T.ravel()", ".ravel()", PATTERN, SLOW),
]
TOURS = [
    Fault(f"{RECIPE}tour_lists:list_prefixes", "(path[-1])", "(path[-1])[::-1]", LIST, SLOW),
    Fault(f"{RECIPE}tour_lists:_search", "last[count] = node", "last[count] = path[0]", LIST),
    Fault(
        f"{RECIPE}tour_lists:iter_paths", "& np.uint64(1) == 1", "& np.uint64(1) == 0", LIST, SLOW
    ),
    Fault(f"{RECIPE}tour_lists:_iter_parts", "tours - first", "tours", LIST, SLOW),
    Fault(f"{RECIPE}tour_lists:make_tour_columns", "[finish]", "[finish[::-1]]", LIST, SLOW),
    Fault(
        f"{RECIPE}tour_pairs:_search_pair",
        *("= path[depth]", "= path[depth if depth != 9 else 10]", PAIRS),
    ),
    Fault(f"{RECIPE}tour_pairs:find_tours_to_each", "end)]", "end)][::-1]", PAIRS, SLOW),
    Fault(
        f"{RECIPE}tour_pairs:_iter_parts", "neighbours(start)", "neighbours(start)[1:]", PAIRS, SLOW
    ),
    Fault(
        f"{RECIPE}tour_pairs:_iter_parts", "tours.view", "tours[:, ::-1].copy().view", PAIRS, SLOW
    ),
]
SWEEPS = [
    Fault(f"{RECIPE}tour_counts:count_tours", "2 * count_cycles", "4 * count_cycles", COUNTS, SLOW),
    Fault(f"{RECIPE}tour_counts:_iter_parts", ".T.ravel()", ".ravel()", COUNTS),
    Fault(f"{RECIPE}tour_pair_counts:_iter_parts", ".T.ravel()", ".ravel()", PAIR_COUNTS),
    Fault(f"{RECIPE}tour_counts:count_cycles", "half[:, ::-1])", "half)", COUNTS, SLOW),
    Fault(f"{RECIPE}tour_joins:find_source", "wanted + total", "wanted | total", OPEN, SLOW),
    Fault(f"{RECIPE}tour_joins:join", "if near == other", "if near == MAX_CELLS", CLOSED, SLOW),
    Fault(f"{RECIPE}tour_joins:_lay_out", "other += one == other", "other += 0", OPEN),
    Fault(f"{RECIPE}tour_joins:list_tables", "(1 << 2 * other) - 1", "(2 << 2 * other) - 1", OPEN),
    Fault("tour_frontier.keys:rank_matching", "matching * others +", "matching +", CLOSED),
    Fault("tour_frontier.keys:_encode", "+= numbers[state]", "+= 1", CLOSED, SLOW),
    Fault(f"{RECIPE}tour_joins:make_moves", "counts] = size", "counts] = 0", CLOSED, SLOW),
    Fault(f"{RECIPE}tour_joins:gather", "+= numbers[state]", "|= numbers[state]", OPEN),
    Fault(f"{RECIPE}tour_meet:_close", "2 * left - 2", "2 * left - 3", CLOSED),
    Fault(f"{RECIPE}tour_meet:make_cut", "others[share:]", "others[share + 1 :]", CLOSED, SLOW),
    Fault(f"{RECIPE}tour_sweep:relabel_needs", "& 3)", "& 2)", OPEN, SLOW),
    Fault(f"{RECIPE}tour_sweep:_insert_cell", "~below) << 2", "~below)", OPEN, SLOW),
    Fault(
        f"{RECIPE}tour_sweep:Step.list_needs", "== self.surplus", "== self.surplus + 1", OPEN, SLOW
    ),
    Fault(
        f"{RECIPE}tour_sweep:_fill_targets",
        "= matching, number",
        "= matching, number // 3 + 1",
        CLOSED,
        SLOW,
    ),
    Fault(f"{RECIPE}tour_sweep:make_steps", "surplus=-2", "surplus=2", OPEN, SLOW),
    Fault(f"{RECIPE}tour_rankings:_make_records", "layer.ways * onward", "layer.ways", CLOSED),
    Fault(f"{RECIPE}tour_rankings:list_origins", "step._replace(wanted=0)", "step", OPEN, SLOW),
    Fault(f"{RECIPE}tour_rankings:_iter_parts", "sums[span]", "sums[span] + 1", CLOSED, SLOW),
    Fault("intrinsics:count_ones", "int(word)", "(int(word) & 0xFFFFF)", CLOSED),
    Fault(
        "intrinsics:count_trailing_zeros", "(int(word) & -int(word))", "int(word)", PATTERN, SLOW
    ),
]

# ---- rules ------------------------------------------------------------------------------------

BOARD = "puzzles.sliding:SlidingBoard."
ARRAYS = "puzzles.board_arrays:"
SLIDING = [
    Fault(f"{BOARD}list_exits", "if (blank + 1) %", "if blank and (blank + 1) %", PATTERN),
    Fault(f"{BOARD}count_steps", "abs(down) + abs(right)", "max(abs(down), abs(right))", ROWS),
    Fault(f"{BOARD}rank", "// 2", "// 2 ^ 1", BITS, SLOW),
    Fault(f"{BOARD}is_odd", "% 2 == 1", "% 2 == 0", BITS),
    Fault(f"{BOARD}make_words", "self.rank(root)", "self.rank(root) ^ 1", BITS, SLOW),
    Fault("puzzles.sliding:Eight.rank", "(state)", "(state) ^ 3", "eight_edge", SLOW),
    Fault(f"{BOARD}list_tiles", "== parity", "!= parity", ROWS, SLOW),
    Fault(f"{BOARD}make_graph", "(at, sources,", "(3 - at, sources,", ROWS),
    Fault(f"{BOARD}fill_columns", "boards[:, has_goal]", "boards[::-1, has_goal]", ROWS, SLOW),
    Fault(f"{BOARD}weigh_tile", "cell if tile == 0", "tile if tile == 0", "eight_edge", SLOW),
    Fault(f"{BOARD}weigh_tile", "cell != home", "tile != home", "eight_edge", SLOW),
    Fault(f"{ARRAYS}sum_weights", "[row]", "[row ^ 1]", ROWS, SLOW),
    Fault(f"{ARRAYS}iter_moves", "yield at, sources", "yield at ^ 1, sources", ROWS),
    Fault(f"{ARRAYS}list_boards", "range(marks)", "range(marks)[::-1]", ROWS, SLOW),
    Fault("puzzles.board_numbers:list_parities", "digit + odd", "digit + odd + 1", ROWS, SLOW),
    Fault(f"{ARRAYS}write_states", "tiles.T + ZERO", "tiles[::-1].T + ZERO", ROWS, SLOW),
    Fault("puzzles.fifteen:list_neighbours", "(height, width)", "(1, height * width)", PATTERN),
    Fault("puzzles.fifteen:rank_set", "enumerate(cells, 1)", "enumerate(cells[::-1], 1)", PATTERN),
]
KNIGHT = "puzzles.knight.board:KnightBoard."
FARTHER = "for right, down in JUMPS", "for right, down in (*JUMPS, (3, 0), (-3, 0))"
RULES = [
    Fault(f"{KNIGHT}list_neighbours", *FARTHER, OPEN),
    Fault(f"{KNIGHT}list_neighbours", *FARTHER, CLOSED, SLOW),
    Fault(f"{KNIGHT}list_neighbours", *FARTHER, COUNTS),
    Fault(f"{KNIGHT}list_neighbours", FARTHER[0], FARTHER[1].replace("3", "1"), PAIRS),
    Fault(f"{KNIGHT}list_later_neighbours", "if to > at", "if to > at and at + to != 17", OPEN),
    Fault(f"{KNIGHT}is_light", "square // self.files) %", "0) %", OPEN),
    Fault(f"{KNIGHT}find_images", "(file, far_file)", "(file, file)", OPEN),
    Fault("puzzles.knight.tour_ranker:Sweep.__init__", "*other, *one,", "*one, *other,", OPEN),
    Fault("puzzles.knight.tour_ranker:Sweep.map_squares", "max(images", "min(images", OPEN, SLOW),
]
SENET = [
    Fault("puzzles.senet:rank", "return total", "return total - 1", "senet", NIGHTLY),
    Fault("puzzles.senet:_list_gains", "(own - rival) * steps", "own * steps", "senet", SLOW),
    Fault("puzzles.senet:_find_legal_moves", "rival >> 1", "rival >> 2", "senet", NIGHTLY),
    Fault("puzzles.senet:_format_lines", 'b"-", b"x"', 'b"x", b"-"', "senet", NIGHTLY),
    Fault("puzzles.senet:Senet.fill_columns", "np.minimum", "np.maximum", "senet", NIGHTLY),
    Fault("puzzles.senet:Senet.make_records", "label[SIZE:]", "label[:SIZE]", "senet", NIGHTLY),
]
FAULTS = [*GRAPHS, *BOARDS, *PATTERNS, *TOURS, *SWEEPS, *SLIDING, *RULES, *SENET]

# ---- planting ---------------------------------------------------------------------------------

# a module that is loaded later would keep what stands in another one at that moment
for room in ROOMS:
    for each in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
        __import__(each.name)


@contextmanager
def plant(fault: Fault) -> Iterator[None]:
    """Change the text of a function in this process, and put it back."""
    owner, function = _find_function(fault)
    old, plain = function.__code__, [*_list_callers({owner, function})]
    function.__code__ = change_code(fault)
    try:
        for names, name, kernel in plain:
            names[name] = kernel.py_func
        _forget()
        yield
    finally:
        function.__code__ = old
        for names, name, kernel in plain:
            names[name] = kernel
        _forget()


def _find_function(fault: Fault) -> tuple[Any, FunctionType]:
    """Find what a fault names in its module, and the function in Python behind it."""
    module, _, path = fault.function.partition(":")
    owner: Any = __import__(f"{PACKAGE}.{module}", fromlist=["_"])
    for part in path.split("."):
        owner = getattr(owner, part)
    return owner, getattr(owner, "__wrapped__", None) or getattr(owner, "py_func", owner)


def change_code(fault: Fault) -> CodeType:
    """Compile the changed text of a function, with the free variables that it has."""
    _, function = _find_function(fault)
    text = textwrap.dedent(inspect.getsource(function))
    assert text.count(fault.old) == 1, f"{text.count(fault.old)} times: {fault.old}"
    (node,) = ast.parse(text.replace(fault.old, fault.new)).body
    assert isinstance(node, ast.FunctionDef)
    node.decorator_list = []
    tree = ast.Module([node], [])
    if free := function.__code__.co_freevars:  # `super()` needs the class
        inner = textwrap.indent(ast.unparse(node), " ")
        tree = ast.parse(f"def outer():\n {' = '.join(free)} = None\n{inner}")
    file, flag = function.__code__.co_filename, __future__.annotations.compiler_flag
    code = compile(ast.unparse(tree), file, "exec", flag, dont_inherit=True)
    return _find_code(_find_code(code, "outer") if free else code, node.name)


def _find_code(code: CodeType, name: str) -> CodeType:
    return next(
        each for each in code.co_consts if isinstance(each, CodeType) and each.co_name == name
    )


def _list_callers(changed: set[Any]) -> list[tuple[dict[str, Any], str, Dispatcher]]:
    """List the variables of kernels that are changed or call a changed one; they join `changed`."""
    globals_of = [
        vars(module) for name, module in [*sys.modules.items()] if name.startswith(PACKAGE)
    ]
    kernels = {each for names in globals_of for each in names.values() if _is_kernel(each)}
    pending = True
    while pending:
        pending = False
        for kernel in kernels - changed:
            function = kernel.py_func
            called = (function.__globals__.get(name) for name in function.__code__.co_names)
            if any(
                isinstance(each, Dispatcher | FunctionType) and each in changed for each in called
            ):
                changed.add(kernel)
                pending = True
    return [
        (names, name, each)
        for names in globals_of
        for name, each in [*names.items()]
        if _is_kernel(each) and each in changed
    ]


def _is_kernel(value: object) -> bool:
    return isinstance(value, Dispatcher)


def _forget() -> None:
    """Empty the caches of functions, which may hold results of the other text."""
    for name, module in [*sys.modules.items()]:
        if name.startswith(PACKAGE):
            for each in [*vars(module).values()]:
                if hasattr(each, "cache_clear") and hasattr(each, "__wrapped__"):
                    each.cache_clear()
