"""The tables of a puzzle that is walked to a goal: a proof of every distance, from local facts.

If only goals have distance 0, and every other state has a neighbour one nearer and none nearer
than that, then each state's distance can be walked down to a goal, and no walk gets there sooner.
If the rows are closed under moves that can all be undone, then no state that reaches a goal is
missing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.verify.claims import Array, Rows, Said, Seen
from pipeline.verify.listed import Listed, check_records, read_rows
from pipeline.verify.states import Plain, Space
from tablebase.graph import UNREACHED
from tablebase.puzzle import BreadthFirst, GoalPuzzle

ALWAYS = ("state", "goal", "distance", "best_moves", "solutions")
FAR = np.int16(np.iinfo(np.int16).max)
"""Farther than any distance: where there is no neighbour."""


def prove_goals(
    listed: Listed, seen: Seen, space_of: Callable[[GoalPuzzle], Space] = Plain
) -> Space:
    """Prove one table, all of whose states and moves are in a space made once for all tables."""
    puzzle = listed.puzzle
    assert isinstance(puzzle, GoalPuzzle)
    spaces = (known for known in seen.values() if isinstance(known, Space))
    space = next(spaces, None) or space_of(puzzle)
    Solved(listed, puzzle, space, read_rows(listed)).prove()
    return space


class Solved:
    """Every state with its way to a goal: a table's rows as numbers."""

    def __init__(self, listed: Listed, puzzle: GoalPuzzle, space: Space, rows: Rows) -> None:
        recipe = listed.known.recipe
        assert isinstance(recipe, BreadthFirst)
        self._listed = listed
        self._proof = listed.claims()
        self._puzzle = puzzle
        self._space = space
        self._rows = rows
        self._roots = recipe.roots
        goal = rows.column("goal").cast(pa.string())
        self._ranks = _places(rows.column("state"), space.states)
        self._goals = _places(goal, pa.array(self._roots))
        self._distances = rows.numbers("distance").astype(np.int16)
        self._solutions = rows.numbers("solutions").astype(np.uint64)

    def prove(self) -> None:
        row_of = self._states()
        self._zeros(row_of)
        self._neighbours(*self._moves(row_of))
        self._features()
        if self._listed.known.index:
            self._index()

    def _states(self) -> Array:
        """The row of every state by rank, -1 where it has none."""
        rows, title = self._rows, self._puzzle.title
        state, goal = rows.column("state"), rows.column("goal")
        text = f"the rows are different states of the {title}, in notation order"
        with self._proof.claim(text) as fact:
            rows.none(fact, self._ranks < 0, lambda row: (state[row], "a state"))
            rows.ascend(fact, "state", self._ranks, "state")
            named = f"goal {' or '.join(self._roots)}"
            rows.none(fact, self._goals < 0, lambda row: (f"goal {goal[row]}", named))
        row_of = np.full(len(self._space.states), -1, dtype=np.int32)
        row_of[self._ranks] = np.arange(len(rows))
        return row_of

    def _zeros(self, row_of: Array) -> None:
        goals = ", ".join(f"{name} ({state})" for name, state in self._roots.items())
        goal, distances = self._rows.column("goal"), self._distances
        with self._proof.claim(f"the distance is 0 only at {goals}") as fact:
            at = row_of[[self._puzzle.rank(state) for state in self._roots.values()]]
            names = [*self._roots]
            for name, row in zip(names, at, strict=True):
                if row < 0:
                    fact.refuted("no row", f"a row for {self._roots[name]}")
            other = self._goals[at] != np.arange(len(at))
            self._rows.none(
                fact, other, lambda n: (f"goal {goal[int(at[n])]}", f"goal {names[n]}"), at
            )
            wanted = np.full(len(distances), "a distance above 0")
            wanted[at] = "distance 0"
            wrong = (distances == 0) != (wanted == "distance 0")
            self._rows.none(fact, wrong, lambda row: (f"distance {distances[row]}", wanted[row]))

    def _moves(self, row_of: Array) -> tuple[Array, Array, Array]:
        """The rows that each move joins, and its letter's place in the puzzle's letters."""
        space, goal, names = self._space, self._rows.column("goal"), self._puzzle.letters
        text = "every move can be undone and leads to a row with the same goal: no state is missing"
        with self._proof.claim(text) as fact:
            mine = row_of[space.sources] >= 0
            sources, reached = row_of[space.sources[mine]], space.targets[mine]
            targets, letters = np.where(reached < 0, -1, row_of[reached]), space.letters[mine]

            def stray(move: int) -> Said:
                to = space.states[int(reached[move])] if reached[move] >= 0 else "no state"
                expected = f"a row with the goal {goal[int(sources[move])]}"
                return f"move {names[letters[move]]} to {to}", expected

            wrong = (targets < 0) | (self._goals[sources] != self._goals[targets])
            self._rows.none(fact, wrong, stray, sources)
            undone = "a move that can be undone"
            self._rows.none(
                fact,
                space.one_way()[mine],
                lambda m: (f"move {names[letters[m]]}", undone),
                sources,
            )
        parity = space.parity()
        if parity is not None:
            text = "these are all states of the goals' parity, each with the goal of its own parity"
            with self._proof.claim(text) as fact:
                of_goal = np.array(
                    [parity[self._puzzle.rank(state)] for state in self._roots.values()]
                )
                self._rows.equal(fact, "parity", parity[self._ranks], of_goal[self._goals])
                wanted = int(np.isin(parity, of_goal).sum())
                fact.same(len(self._rows), wanted, "{:,} rows")
        return sources, targets, letters

    def _neighbours(self, sources: Array, targets: Array, letters: Array) -> None:
        rows, here, near = self._rows, self._distances, self._distances[targets]
        text = "every state except the goals has a neighbour one move nearer, and none still nearer"
        with self._proof.claim(text) as fact:
            least = np.full(len(rows), FAR)
            np.minimum.at(least, sources, near)

            def farther(row: int) -> Said:
                nearest = f"its nearest neighbour at {least[row]}"
                expected = f"one at {here[row] - 1} and none nearer"
                return "none" if least[row] == FAR else nearest, expected

            rows.none(fact, (here > 0) & (least != here - 1), farther)
        down = near == here[sources] - 1
        sources, targets, letters = sources[down], targets[down], letters[down]
        with self._proof.claim("best_moves are exactly the moves to those neighbours") as fact:
            sets = np.zeros(len(rows), dtype=np.uint64)
            np.bitwise_or.at(sets, sources, np.uint64(1) << letters.astype(np.uint64))
            kinds, kind = np.unique(sets, return_inverse=True)
            names = [*enumerate(self._puzzle.letters)]
            texts = ["".join(name for at, name in names if int(bits) >> at & 1) for bits in kinds]
            best = rows.column("best_moves")
            rows.none(
                fact,
                _places(best, pa.array(texts)) != kind,
                lambda row: (f"moves {str(best[row])!r}", f"moves {texts[kind[row]]!r}"),
            )
        text = "solutions is the sum of those neighbours' solutions, and 1 at a goal"
        with self._proof.claim(text) as fact:
            expected = (here == 0).astype(np.uint64)
            np.add.at(expected, sources, self._solutions[targets])
            rows.equal(fact, "solutions", self._solutions, expected)

    def _features(self) -> None:
        columns = [c.name for c in self._listed.known.columns if c.name not in ALWAYS]
        said = self._space.features(self._ranks[:1], next(iter(self._roots.values())))
        names = [name for name in columns if name in said]
        silent = [name for name in columns if name not in said]
        if names:
            text = f"{', '.join(names)}: equal to the values computed again from state and goal"
            with self._proof.claim(text) as fact:
                for number, goal in enumerate(self._roots.values()):
                    mine = np.flatnonzero(self._goals == number)
                    expected = self._space.features(self._ranks[mine], goal)
                    for name in names:
                        found = self._rows.numbers(name)[mine]
                        self._rows.equal(fact, name, found, expected[name], mine)
        if silent:
            text = f"{', '.join(silent)}: not proved, because no rule defines it"
            self._proof.claim(text).proved()

    def _index(self) -> None:
        size = len(self._space.states)
        distances = np.full(size, UNREACHED, dtype=np.uint8)
        solutions = np.zeros(size, dtype=np.uint64)
        distances[self._ranks] = self._distances
        solutions[self._ranks] = self._solutions
        text = f"each record matches its state's row; {UNREACHED} and 0 where a state has no row"
        check_records(self._listed, text, {"distance": distances, "solutions": solutions})


def _places(texts: pa.Array, known: pa.Array) -> Array:
    """Where each text stands among those that are known; -1 where it does not."""
    found: Array = pc.index_in(texts, value_set=known).fill_null(-1).to_numpy()
    return found
