"""The proofs of tables of states: of puzzles with goals, and of other graphs.

With goals: if only goals have distance 0, and every other state has a neighbour one move nearer and
none nearer than that, then some path of that length leads to a goal, and no shorter path does. If
the rows are closed under moves that can all be undone, then no state that reaches a goal is
missing. All states and moves come from the puzzle's moves of texts, never from its `graph`. The
8-puzzle's rules are implemented a second time here, for all boards at once.

Other graphs are searched a second time. The graph, and the code that makes columns and records of a
search, are the puzzle's own and are trusted. That the depths, counts and smallest lines are those
of the graph is proved. Of two lines with equally many steps the smaller is the one whose labels'
high four bits come first in dictionary order, or whose low four bits do if the high ones are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from puzzle_tablebase.graph import UNREACHED, SearchResult
from puzzle_tablebase.jit import Array
from puzzle_tablebase.pipeline.verify.claims import (
    Difference,
    Mask,
    Proof,
    PublishedTable,
    Rows,
    Seen,
    Verdict,
    find_places,
)
from puzzle_tablebase.pipeline.verify.files import check_records, read_rows
from puzzle_tablebase.puzzle import GoalPuzzle, StateSpace
from puzzle_tablebase.schema import BreadthFirst
from puzzle_tablebase.tables.parquet import to_arrow

HOW = "every state was compared with its neighbours; every column and record follows from the moves"
PROVED_COLUMNS = ("state", "goal", "distance", "best_moves", "solutions")
NO_NEIGHBOUR = np.iinfo(np.int64).max
"""A distance that stands for no neighbour, larger than any other."""


Moves = tuple[Array, Array, Array]
"""Moves between rows: source rows, target rows, and positions of letters."""

STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))
"""The blank's steps for U, D, L and R, as (rows, columns)."""


@dataclass(frozen=True, slots=True)
class Space:
    """A puzzle's states by rank, and its moves: move m leads from `sources[m]` to `targets[m]`."""

    states: pa.StringArray
    sources: Array
    targets: Array
    """-1 for a move whose result is not a state."""
    letters: Array
    """Each move's letter, as its position in the puzzle's letters."""
    features: Callable[[Array, str], dict[str, Array]]
    """A function from ranks and a goal to further columns of these states."""
    parity: Array | None = None
    """For every state a number that no move changes, if the rules define one."""

    def find_one_way_moves(self) -> Mask:
        """Mark the moves that no move undoes."""
        ends = self.sources, self.targets
        moves, reverses = self._number_pairs(*ends), self._number_pairs(*ends[::-1])
        sorted_moves = np.sort(moves)
        if np.array_equal(sorted_moves, np.sort(reverses)):
            return np.zeros(len(moves), dtype=np.bool_)
        return ~np.isin(reverses, sorted_moves)

    def _number_pairs(self, first: Array, second: Array) -> Array:
        """Return a different number for each different pair of ranks."""
        number: Array = first.astype(np.int64) * len(self.states) + second
        return number


def make_plain_space(puzzle: GoalPuzzle) -> Space:
    """Return any puzzle's space, made from all its states and moves as texts."""
    states, moves = puzzle.list_states(), []
    for letter, ranks, after in puzzle.list_all_moves():
        # `states` ascend in notation order; if a faulty puzzle's do not, the search finds no state
        at = np.minimum(np.searchsorted(states, after), len(states) - 1).astype(np.int32)
        targets = np.where(states[at] == after, at, np.int32(-1))
        letters = np.full(len(ranks), puzzle.letters.index(letter), dtype=np.uint8)
        moves.append((ranks.astype(np.int32), targets, letters))

    def features(ranks: Array, goal: str) -> dict[str, Array]:
        features_by_state = [puzzle.compute_features(states[rank].decode(), goal) for rank in ranks]
        return {
            name: np.array([state_features[name] for state_features in features_by_state])
            for name in (features_by_state or [{}])[0]
        }

    texts = pa.array(states).cast(pa.string())
    sources, targets_found, letter_places = map(np.concatenate, zip(*moves, strict=True))
    return Space(texts, sources, targets_found, letter_places, features)


def prove_goals(
    published: PublishedTable,
    earlier: Seen,
    make_space: Callable[[GoalPuzzle], Space] = make_plain_space,
) -> Proof:
    """Prove one table, with a space that is made once for all tables of the puzzle."""
    puzzle = published.puzzle
    assert isinstance(puzzle, GoalPuzzle)
    results = (earlier[table.name].result for table in puzzle.tables if table.name in earlier)
    spaces = (result for result in results if isinstance(result, Space))
    space = next(spaces, None) or make_space(puzzle)
    rows = read_rows(published)
    prove_rows(published, puzzle, space, rows)
    return published.make_proof(Verdict.PROVED, HOW, space, depths=rows.count_depths("distance"))


def prove_rows(published: PublishedTable, puzzle: GoalPuzzle, space: Space, rows: Rows) -> None:
    """Prove every column and index field of a table from the moves of its puzzle."""
    recipe = published.definition.recipe
    assert isinstance(recipe, BreadthFirst)
    roots, state, goal = recipe.roots, rows.column("state"), rows.column("goal")
    names, at_goals = [*roots], find_places(pa.array(roots.values()), space.states)
    ranks, goals = find_places(state, space.states), find_places(goal, names)
    here = rows.read_numbers("distance")
    row_of = np.full(len(space.states), -1, dtype=np.int32)

    text = f"the rows are different states of the {puzzle.title}, in notation order"
    with published.begin_claim(text) as check:
        rows.require_none(check, ranks < 0, lambda row: (state[row], "a state"))
        rows.require_ascending(check, "state", ranks)
        rows.require_none(
            check, goals < 0, lambda row: (f"goal {goal[row]}", f"goal {' or '.join(names)}")
        )
        row_of[ranks] = np.arange(len(rows))
    goal_texts = ", ".join(f"{name} ({root})" for name, root in roots.items())
    with published.begin_claim(f"the distance is 0 only at {goal_texts}") as check:
        at = np.where(at_goals < 0, -1, row_of[at_goals])
        for root, row in zip(roots.values(), at, strict=True):
            if row < 0:
                check.refute("no row", f"a row for {root}")
        rows.require_column(check, "goal", names, at)
        rows.require_column(
            check, "distance is 0:", np.isin(np.arange(len(rows)), at), found=here == 0
        )
    moves = _prove_moves(published, puzzle, space, rows, row_of, goals)
    if (parity := space.parity) is not None:
        text = "these are all states of the goals' parity, each with the goal of its own parity"
        with published.begin_claim(text) as check:
            rows.require_column(check, "parity", parity[at_goals][goals], found=parity[ranks])
            check.require_equal("rows", len(rows), int(np.isin(parity, parity[at_goals]).sum()))

    moves = _prove_distances(published, rows, here, moves)
    _prove_best_moves(published, puzzle, rows, moves)
    _prove_solutions(published, rows, here == 0, moves)
    _prove_features(published, space, rows, ranks, goals, [*roots.values()])
    _prove_records(published, rows, ranks, len(space.states))


def _prove_moves(
    published: PublishedTable,
    puzzle: GoalPuzzle,
    space: Space,
    rows: Rows,
    row_of: Array,
    goals: Array,
) -> Moves:
    """Prove that every move can be undone and leads to a row, and return the moves."""
    text = "every move can be undone and leads to a row with the same goal: no state is missing"
    with published.begin_claim(text) as check:
        has_row = row_of[space.sources] >= 0
        sources, reached = row_of[space.sources[has_row]], space.targets[has_row]
        targets, letters = np.where(reached < 0, -1, row_of[reached]), space.letters[has_row]

        def describe_move(move: int, expected: str) -> Difference:
            to = space.states[int(reached[move])] if reached[move] >= 0 else "no state"
            return f"move {puzzle.letters[letters[move]]} to {to}", expected

        goal, stray = rows.column("goal"), (targets < 0) | (goals[sources] != goals[targets])
        wanted = "a row with the goal {}".format
        rows.require_none(
            check, stray, lambda m: describe_move(m, wanted(goal[int(sources[m])])), sources
        )
        one_way, undone = space.find_one_way_moves()[has_row], "a move that can be undone"
        rows.require_none(check, one_way, lambda move: describe_move(move, undone), sources)
    return sources, targets, letters


def _prove_distances(published: PublishedTable, rows: Rows, here: Array, moves: Moves) -> Moves:
    """Prove the distances from those of the neighbours, and return the moves that lead nearer."""
    sources, targets, letters = moves
    near, least = here[targets], np.full(len(rows), NO_NEIGHBOUR)
    text = "each non-goal state's nearest neighbour is exactly one move nearer"
    with published.begin_claim(text) as check:
        np.minimum.at(least, sources, near)
        away = np.flatnonzero(here)
        nearest = pa.array(least[away], mask=least[away] == NO_NEIGHBOUR)
        rows.require_column(check, "nearest neighbour's distance", here[away] - 1, away, nearest)
    down = near == here[sources] - 1
    return sources[down], targets[down], letters[down]


def _prove_best_moves(
    published: PublishedTable, puzzle: GoalPuzzle, rows: Rows, best: Moves
) -> None:
    """Prove the best moves, given the moves that lead nearer."""
    sources, _, letters = best
    with published.begin_claim("best_moves are exactly the moves to those neighbours") as check:
        # two moves of a letter lead nearer as one letter
        count = len(puzzle.letters)
        pairs = np.unique(sources * np.int64(count) + letters)
        begins = np.searchsorted(pairs, np.arange(len(rows) + 1) * count).astype(np.int32)
        texts = pa.array([*puzzle.letters], pa.string()).take(pa.array(pairs % count))
        rows.require_column(
            check, "best_moves", pc.binary_join(pa.ListArray.from_arrays(begins, texts), "")
        )


def _prove_solutions(published: PublishedTable, rows: Rows, is_goal: Mask, best: Moves) -> None:
    """Prove the numbers of solutions, given the moves that lead nearer."""
    sources, targets, _ = best
    text = "solutions is the sum of those neighbours' solutions, and 1 at a goal"
    with published.begin_claim(text) as check:
        expected = is_goal.astype(np.int64)
        np.add.at(expected, sources, rows.read_numbers("solutions")[targets])
        rows.require_column(check, "solutions", expected)


def _prove_records(published: PublishedTable, rows: Rows, ranks: Array, states: int) -> None:
    """Prove the index's records from the rows, which are proved already."""
    fields = {"distance", "solutions"}.intersection(name for name, _ in published.definition.index)
    if fields:
        depth, ways = np.full(states, UNREACHED), np.zeros(states, dtype=np.int64)
        depth[ranks], ways[ranks] = rows.read_numbers("distance"), rows.read_numbers("solutions")
        text = f"each record matches its state's row; {UNREACHED} and 0 where a state has no row"
        values = {"distance": depth, "solutions": ways}
        check_records(published, text, {name: values[name] for name in sorted(fields)})


def _prove_features(
    published: PublishedTable,
    space: Space,
    rows: Rows,
    ranks: Array,
    goals: Array,
    roots: list[str],
) -> None:
    """Prove the further columns that the rules define, and report those that they do not."""
    columns = [
        column.name for column in published.definition.columns if column.name not in PROVED_COLUMNS
    ]
    known_features = space.features(ranks[:1], roots[0])
    if names := [name for name in columns if name in known_features]:
        text = f"{', '.join(names)}: equal to the values computed again from state and goal"
        with published.begin_claim(text) as check:
            for number, root in enumerate(roots):
                rows_of_goal = np.flatnonzero(goals == number)
                expected = space.features(ranks[rows_of_goal], root)
                for name in names:
                    rows.require_column(check, name, expected[name], rows_of_goal)
    published.note_missing_proofs({*PROVED_COLUMNS, *known_features}, ("distance", "solutions"))


def make_eight_space(puzzle: GoalPuzzle) -> Space:
    """Return the space of all 9! boards in notation order.

    To find a board's rank, its text is read as one number of nine digits.
    """
    # permutations of sorted digits come in ascending order, which is notation order
    texts = ["".join(digits) for digits in permutations("012345678")]
    boards = np.frombuffer("".join(texts).encode(), dtype=np.uint8).reshape(-1, 9) - ord("0")
    weights = 10 ** np.arange(8, -1, -1, dtype=np.int32)
    numbers = boards @ weights
    # row t of this is tile t's cell on every board
    cells = np.ascontiguousarray(np.argsort(boards, axis=1).T.astype(np.int8))
    moves = []
    for (letter, (down, right)), cell in product(enumerate(STEPS), range(9)):
        row, column = cell // 3 + down, cell % 3 + right
        if 0 <= row < 3 and 0 <= column < 3:
            sources, other = np.flatnonzero(cells[0] == cell), 3 * row + column
            tile = boards[sources, other].astype(np.int32)
            after = numbers[sources] + tile * (weights[cell] - weights[other])
            targets = np.searchsorted(numbers, after)
            edges = [sources, targets, np.full(len(sources), letter)]
            moves.append(np.stack(edges).astype(np.int32))

    def features(ranks: Array, goal: str) -> dict[str, Array]:
        manhattan, misplaced = np.zeros((2, len(ranks)), dtype=np.int16)
        for tile in range(1, 9):
            home, at = goal.index(str(tile)), cells[tile, ranks]
            manhattan += abs(at // 3 - home // 3) + abs(at % 3 - home % 3)
            misplaced += at != home
        return {
            "blank": cells[0, ranks],
            "manhattan": manhattan,
            "misplaced": misplaced,
            "rank": ranks,
        }

    # whether the number of tile pairs out of order is odd
    pairs = [(low, high) for high in range(1, 9) for low in range(1, high)]
    parity = np.bitwise_xor.reduce([cells[low] > cells[high] for low, high in pairs]).astype(int)
    sources, targets, letters = np.concatenate(moves, axis=1)
    return Space(pa.array(texts), sources, targets, letters, features, parity)


Edges = tuple[Array, Array, Array]
"""The sources, targets and labels of edges."""
HOW_OF_GRAPHS = (
    "a second search of the graph, all shortest lines at once, gave the same rows and records; the "
    "graph and the code that makes rows of a search are the puzzle's own, as in the build"
)


def prove_graph(published: PublishedTable, earlier: Seen) -> Proof:
    """Prove one table by a second search of the graph from each root."""
    puzzle, table = published.puzzle, published.definition
    assert isinstance(puzzle, StateSpace)
    assert isinstance(table.recipe, BreadthFirst)
    rows, graph = read_rows(published), puzzle.make_graph()
    nodes = len(graph.offsets) - 1
    begins = np.repeat(np.arange(nodes), np.diff(graph.offsets))

    def list_edges(layer: Array) -> Edges:
        edges = np.flatnonzero(np.isin(begins, layer))
        return begins[edges], graph.targets[edges], graph.labels[edges]

    roots = table.recipe.roots.items()
    results = {
        name: search_graph(nodes, puzzle.find_node(state), list_edges) for name, state in roots
    }
    text = f"{puzzle.depth} and all other columns are as a second search of the graph finds them"
    with published.begin_claim(text) as check:
        columns = puzzle.fill_columns(table, graph, results)
        for column in table.columns:
            expected = to_arrow(column, columns[column.name])
            check.require_equal("rows", len(rows), len(expected))
            rows.require_column(check, column.name, expected)
    if table.index:
        text = "each record is as a second search of the graph finds it"
        records = dict(puzzle.make_records(table, results))
        check_records(published, text, records)
        published.note_missing_proofs([column.name for column in table.columns], records)
    return published.make_proof(
        Verdict.RECOUNTED, HOW_OF_GRAPHS, depths=rows.count_depths(puzzle.depth)
    )


def search_graph(nodes: int, root: int, list_edges: Callable[[Array], Edges]) -> SearchResult:
    """Search a graph breadth first, extending all shortest lines one step at a time.

    `list_edges` returns every edge whose source is among the given nodes.
    """
    depth, ways = np.full(nodes, UNREACHED, dtype=np.uint8), np.zeros(nodes, dtype=np.uint64)
    parent, last = np.full(nodes, -1, dtype=np.int32), np.zeros(nodes, dtype=np.uint8)
    depth[root], ways[root], layers = 0, 1, [np.array([root], dtype=np.int32)]
    # the positions of a node's smallest line, and of its high labels, among lines of equal length
    place, highs = np.zeros((2, nodes), dtype=np.int64)
    least = np.full(nodes, np.iinfo(np.int64).max)
    for length, layer in enumerate(layers, start=1):
        sources, targets, labels = list_edges(layer)
        new = depth[targets] == UNREACHED
        if not new.any():
            break
        sources, targets, labels = sources[new], targets[new], labels[new]
        depth[targets] = length
        np.add.at(ways, targets, ways[sources])
        high, low = labels.astype(np.int64) >> 4, labels.astype(np.int64) & 15
        # compared in this order: the high labels so far, this one, all labels so far, this low one
        key = (highs[sources] << 4 | high) << 32 | place[sources] << 4 | low
        np.minimum.at(least, targets, key)
        smallest = np.flatnonzero(key == least[targets])
        smallest = smallest[np.argsort(key[smallest], kind="stable")]
        # of edges with equal keys the first one counts
        _, first = np.unique(targets[smallest], return_index=True)
        smallest = smallest[np.sort(first)]
        new_nodes, key = targets[smallest], key[smallest]
        parent[new_nodes], last[new_nodes] = sources[smallest], labels[smallest]
        place[new_nodes] = np.arange(len(new_nodes))
        highs[new_nodes] = np.cumsum(np.diff(key >> 32, prepend=key[:1] >> 32) > 0)
        layers.append(new_nodes)
    return SearchResult(depth, ways, parent, last, np.concatenate(layers).astype(np.int32))
