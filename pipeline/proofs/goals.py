"""The proof of tables with goals: each row against its neighbours, as joins.

If only goals have distance 0, and every other state has a neighbour one move nearer and none nearer
than that, then some path of that length leads to a goal, and no shorter path does. If the rows are
closed under moves that can all be undone, then no state that reaches a goal is missing. So four
joins are enough: the moves of each row are joined with the rows that they lead to; a move without
such a row refutes the table, a distance is one more than the least of the neighbours' (the Bellman
equation), the best moves are those that lead there, and the number of solutions is the sum of
theirs.

The rules of sliding boards are written a second time here, for all rows at once, by slicing texts.
Those of a plugin are the plugin's: its moves and columns as texts, and nothing of its graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import factorial

import numpy as np
import polars as pl

from puzzle_tablebase.jit import Array
from puzzle_tablebase.notation.sliding import parse_sides
from puzzle_tablebase.pipeline.proofs.claims import (
    Claim,
    Difference,
    ListedTable,
    Proof,
    Prover,
    PuzzleRules,
    compare,
    compare_records,
    estimate_joins,
    find_rows,
    require_ascending,
)
from puzzle_tablebase.pipeline.proofs.verdicts import Proved, Verdict
from puzzle_tablebase.schema import UNREACHABLE

HOW = "every state was compared with its neighbours; every column and record follows from the moves"
HOW_OF_PLUGINS = f"by the plugin's own rules, {HOW}"
COLUMNS = ("state", "goal", "distance", "best_moves", "solutions")
FIELDS = ("distance", "solutions")


def prove_eight(listed: ListedTable) -> Proof:
    """Prove a table of the 8-puzzle."""
    return prove_rows(listed, BoardRules(3, 3, by_columns=False))


def prove_board(listed: ListedTable) -> Proof:
    """Prove a table with rows of a sliding board."""
    sides = parse_sides(listed.definition.recipe.parameters["board"])
    return prove_rows(listed, BoardRules(*sides, by_columns=True))


def prove_goals(listed: ListedTable) -> Proof:
    """Prove a table of another puzzle with goals by that puzzle's own rules."""
    assert listed.rules
    result = yield from prove_rows(listed, TextRules(listed.rules))
    return replace(result, how=HOW_OF_PLUGINS, by_plugin=True)


def prove_rows(listed: ListedTable, rules: Rules) -> Proof:
    """Prove every column and index field of a table from the moves of its puzzle."""
    roots = listed.definition.recipe.parameters["roots"]
    rows = rules.number(listed.scan_rows()).collect().lazy()

    text = f"the rows are different states of the {rules.title}"
    yield Claim(text, find_bad_states(rows, [*roots]))

    goals = ", ".join(name if name == root else f"{name} ({root})" for name, root in roots.items())
    yield Claim(f"the distance is 0 only at {goals}", find_bad_goals(rows, roots))

    steps = rules.list_moves(rows).collect().lazy()
    text = "every move can be undone and leads to a row with the same goal: no state is missing"
    yield Claim(text, find_open_moves(rows, steps))

    steps = join_neighbours(rows, steps).collect().lazy()
    text = "each non-goal state's nearest neighbour is exactly one move nearer"
    yield Claim(text, find_bad_distances(rows, steps))

    steps = steps.filter(pl.col("near") == pl.col("distance") - 1)
    text = "best_moves are exactly the moves to those neighbours"
    yield Claim(text, compare_best_moves(rows, steps))

    names = {column.name for column in listed.definition.columns}
    if "solutions" in names:
        text = "solutions is the sum of those neighbours' solutions, and 1 at a goal"
        yield Claim(text, compare_solutions(rows, steps))

    features = [name for name in rules.features if name in names]
    if features:
        text = f"{', '.join(features)}: equal to the values computed again from state and goal"
        expected = rules.compute_features(rows, roots)
        yield Claim(text, compare(expected, *features))

    fields = [name for name, _ in listed.definition.index if name in FIELDS]
    if fields:
        text = f"each record matches its state's row; {UNREACHABLE} and 0 where a state has no row"
        records = make_records(rows, fields, rules.states)
        yield listed.claim_records(text, compare_records(listed, [records]))
    return Proved(Verdict.PROVED, HOW, [*COLUMNS, *features], fields)


def find_bad_states(rows: pl.LazyFrame, goals: list[str]) -> Iterator[Difference]:
    """Yield rows with invalid states, out of order, or with a goal that the table lacks."""
    yield from find_rows(rows, pl.col("key").is_null(), pl.col("state"), pl.lit("a state"))
    yield from require_ascending(rows, "state", "key")
    goal, expected = pl.col("goal"), pl.lit(f"goal {' or '.join(goals)}")
    yield from find_rows(rows, ~goal.is_in(goals), goal, expected, "goal")


def find_bad_goals(rows: pl.LazyFrame, roots: Mapping[str, str]) -> Iterator[Difference]:
    """Yield goals without a row, other rows with distance 0, and goals with another distance."""
    goals = pl.LazyFrame({"state": [*roots.values()], "goal, expected": [*roots]})
    for (root,) in goals.select("state").join(rows, on="state", how="anti").collect().iter_rows():
        yield Difference("no row", f"a row for {root}")
    yield from compare(rows.join(goals, on="state"), "goal")
    at_goal = rows.join(goals, on="state", how="left")
    is_goal, is_0 = pl.col("goal, expected").is_not_null(), pl.col("distance") == 0
    yield from find_rows(at_goal, is_0 != is_goal, is_0, is_goal, "distance is 0:")


def find_open_moves(rows: pl.LazyFrame, steps: pl.LazyFrame) -> Iterator[Difference]:
    """Yield moves that lead to no row with the same goal, and moves that cannot be undone."""
    goals = rows.select("state", "goal")
    stray = steps.join(goals, left_on=["after", "goal"], right_on=["state", "goal"], how="anti")
    found = pl.format("move {} to {}", "letter", "after")
    wanted = pl.format("a row with the goal {}", "goal")
    yield from find_rows(stray, pl.lit(True), found, wanted)
    ends = steps.select("state", "after")
    one_way = steps.join(ends, left_on=["after", "state"], right_on=["state", "after"], how="anti")
    yield from find_rows(one_way, pl.lit(True), found, pl.lit("a move that can be undone"))


def join_neighbours(rows: pl.LazyFrame, steps: pl.LazyFrame) -> pl.LazyFrame:
    """Return each move with the distances of the rows before and after it."""
    numbers = [name for name in FIELDS if name in rows.collect_schema().names()]
    here = rows.select("row", pl.col("distance").cast(pl.Int64))
    there = rows.select(
        pl.col("state").alias("after"), *(pl.col(name).cast(pl.Int64) for name in numbers)
    ).rename({"distance": "near"})
    return steps.select("row", "letter", "after").join(here, on="row").join(there, on="after")


def find_bad_distances(rows: pl.LazyFrame, steps: pl.LazyFrame) -> Iterator[Difference]:
    """Yield a state that is not exactly one move farther than its nearest neighbour."""
    nearest = steps.group_by("row").agg(pl.col("near").min())
    away = rows.filter(pl.col("distance") != 0).join(nearest, on="row", how="left")
    expected = pl.col("distance").cast(pl.Int64) - 1
    is_wrong = ~pl.col("near").eq_missing(expected)
    yield from find_rows(away, is_wrong, pl.col("near"), expected, "nearest neighbour's distance")


def compare_best_moves(rows: pl.LazyFrame, best: pl.LazyFrame) -> Iterator[Difference]:
    """Yield a row whose text is not that of the letters that lead nearer, in their order."""
    # several moves of a letter stand as one letter; the physical order is that of the letters
    letters = best.select("row", "letter").unique().sort("row", pl.col("letter").to_physical())
    texts = letters.group_by("row", maintain_order=True).agg(
        expected=pl.col("letter").cast(pl.String).str.join()
    )
    expected = pl.col("expected").fill_null("")
    yield from compare(rows.join(texts, on="row", how="left"), best_moves=expected)


def compare_solutions(rows: pl.LazyFrame, best: pl.LazyFrame) -> Iterator[Difference]:
    """Yield a row whose number of solutions is not the sum of those of its best moves."""
    sums = best.group_by("row").agg(expected=pl.col("solutions").sum())
    expected = pl.col("expected").fill_null(0) + (pl.col("distance") == 0)
    yield from compare(rows.join(sums, on="row", how="left"), solutions=expected)


def make_records(rows: pl.LazyFrame, fields: list[str], states: int) -> dict[str, Array]:
    """Return the expected value of each index field, by the number of the state."""
    known, result = rows.select("record", *fields).collect(), {}
    for name in fields:
        result[name] = np.full(states or len(known), UNREACHABLE if name == "distance" else 0)
        result[name][known["record"].to_numpy()] = known[name].to_numpy()
    return result


EIGHT = Prover(prove_eight, estimate_joins)
SLIDING_ROWS = Prover(prove_board, estimate_joins)
GOALS = Prover(prove_goals, estimate_joins)

# ---- second rule books ------------------------------------------------------------------------


class BoardRules:
    """Sliding boards of up to ten cells: a digit for each cell, 0 for the blank.

    Rows are sorted by their text; or, `by_columns`, by the blank's place and then by the tiles,
    both column by column, and a state's number is then that of its row.
    """

    features: tuple[str, ...] = ("blank", "manhattan", "misplaced", "rank")
    """The columns that these rules define."""

    def __init__(self, height: int, width: int, *, by_columns: bool) -> None:
        self._height, self._width = height, width
        self._cells, self._by_columns = height * width, by_columns
        by_place = "by the blank's place and then the tiles, column by column"
        title = f"{height}x{width} board, {by_place}"
        self.title = title if by_columns else "8-puzzle, in notation order"
        """The name and the order of the rows, in words."""
        self.states = 0 if by_columns else factorial(self._cells)
        """The records of the index; 0: one for each row."""

    def number(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Add `key`, by which rows ascend, null for invalid states; and `record`, a number."""
        state, cells = pl.col("state"), range(self._cells)
        marks = (state.str.contains(str(mark), literal=True) for mark in cells)
        is_state = pl.all_horizontal(state.str.len_bytes() == self._cells, *marks)
        if not self._by_columns:
            rows = rows.with_columns(key=pl.when(is_state).then(state))
            return rows.with_columns(record=self._compute_rank())
        order = [row * self._width + at for at in range(self._width) for row in range(self._height)]
        text = pl.concat_str(state.str.slice(cell, 1) for cell in order)
        place, tiles = text.str.find("0", literal=True), text.str.replace("0", "", literal=True)
        key = pl.concat_str(place.cast(pl.String), tiles)
        return rows.with_columns(key=pl.when(is_state).then(key), record=pl.col("row"))

    def _compute_rank(self) -> pl.Expr:
        """Return the number of a state: each digit counts the smaller ones that come after it."""
        digits = [pl.col("key").str.slice(cell, 1).cast(pl.Int64) for cell in range(self._cells)]
        return pl.sum_horizontal(
            (later < digit).cast(pl.Int64) * factorial(self._cells - 1 - cell)
            for cell, digit in enumerate(digits)
            for later in digits[cell + 1 :]
        )

    def list_moves(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """List `row`, `state`, `goal`, `letter` and `after`, the next state, of every move."""
        letters = pl.Enum([*"UDLR"])
        known = rows.select("row", "state", "goal", blank=self._find("0"))
        steps = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}
        moves = []
        for cell in range(self._cells):
            for letter, (down, right) in steps.items():
                row, column = cell // self._width + down, cell % self._width + right
                if 0 <= row < self._height and 0 <= column < self._width:
                    to = row * self._width + column
                    order = [*range(self._cells)]
                    order[cell], order[to] = to, cell
                    after = pl.concat_str(pl.col("state").str.slice(at, 1) for at in order)
                    moved = known.filter(pl.col("blank") == cell).drop("blank")
                    moves.append(moved.with_columns(letter=pl.lit(letter, letters), after=after))
        return pl.concat(moves)

    def _find(self, mark: str, text: str = "state") -> pl.Expr:
        return pl.col(text).str.find(mark, literal=True).cast(pl.Int64)

    def compute_features(self, rows: pl.LazyFrame, roots: Mapping[str, str]) -> pl.LazyFrame:
        """Add the columns that these rules define, each as `NAME, expected`."""
        rows = rows.with_columns(root=pl.col("goal").replace_strict(roots))
        width, tiles = self._width, [str(tile) for tile in range(1, self._cells)]
        cells = [(self._find(tile), self._find(tile, "root")) for tile in tiles]
        steps = [
            (at // width - home // width).abs() + (at % width - home % width).abs()
            for at, home in cells
        ]
        misplaced = pl.sum_horizontal((at != home).cast(pl.Int64) for at, home in cells)
        features = (self._find("0"), pl.sum_horizontal(steps), misplaced, pl.col("record"))
        named = zip(self.features, features, strict=True)
        return rows.with_columns(value.alias(f"{name}, expected") for name, value in named)


class TextRules:
    """Any puzzle with goals, by all its states and moves as texts."""

    def __init__(self, puzzle: PuzzleRules) -> None:
        self._puzzle, self.title = puzzle, f"{puzzle.title}, in notation order"
        texts = _decode(puzzle.list_states())
        self.states = len(texts)
        self._known = pl.LazyFrame({"state": texts}).with_row_index("record")
        goal = next(iter(puzzle.goals.values()))
        self.features = tuple(puzzle.compute_features(texts[0], goal)) if texts else ()

    def number(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        numbered = rows.join(self._known, on="state", how="left", maintain_order="left")
        return numbered.with_columns(key=pl.col("record"))

    def list_moves(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        letters = pl.Enum([*self._puzzle.letters])
        moves = [
            pl.LazyFrame(
                {"record": ranks, "after": _decode(texts)},
                {"record": pl.UInt32, "after": pl.String},
                strict=False,
            ).with_columns(letter=pl.lit(letter, letters))
            for letter, ranks, texts in self._puzzle.list_all_moves()
        ]
        known = rows.select("row", "state", "goal", "record")
        columns = ("row", "state", "goal", "letter", "after")
        return pl.concat(moves).join(known, on="record").select(columns)

    def compute_features(self, rows: pl.LazyFrame, roots: Mapping[str, str]) -> pl.LazyFrame:
        compute = self._puzzle.compute_features
        known = rows.select("state", "goal").collect().iter_rows()
        values = [compute(state, roots[goal]) for state, goal in known]
        expected = pl.LazyFrame(values, dict.fromkeys(self.features, pl.Int64))
        return pl.concat([rows, expected.rename("{}, expected".format)], how="horizontal")


def _decode(texts: Array) -> list[str]:
    return [text.decode() for text in texts.tolist()]


Rules = BoardRules | TextRules
