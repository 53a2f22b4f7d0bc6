"""The tables of a puzzle that is walked to a goal: a proof of every distance, from local facts.

If only goals have distance 0, and every other state has a neighbour one nearer and none nearer
than that, then each state's distance can be walked down to a goal, and no walk gets there sooner.
If the rows are closed under moves that can all be undone, then no state that reaches a goal is
missing.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.verify.claims import Array, Fact, Rows, first
from pipeline.verify.published import Published, check_records, read_rows
from pipeline.verify.spaces import Space
from tablebase.graph import UNREACHED
from tablebase.puzzle import BreadthFirst, GoalPuzzle

ALWAYS = ("state", "goal", "distance", "best_moves", "solutions")
FAR = np.int16(np.iinfo(np.int16).max)
"""Farther than any distance: where there is no neighbour."""


class GoalTable:
    """One table under proof, its columns as numbers."""

    def __init__(self, listed: Published, puzzle: GoalPuzzle, space: Space, rows: Rows) -> None:
        recipe = listed.known.recipe
        assert isinstance(recipe, BreadthFirst)
        self._listed = listed
        self._proof = listed.claims()
        self._puzzle = puzzle
        self._space = space
        self._rows = rows
        self._roots = recipe.roots
        found = pc.index_in(rows.column("state"), value_set=space.states)
        self._ranks: npt.NDArray[np.int32] = found.fill_null(-1).to_numpy()
        named = pc.index_in(rows.column("goal").cast(pa.string()), value_set=pa.array(self._roots))
        self._goals: npt.NDArray[np.int32] = named.fill_null(-1).to_numpy()
        self._distances = rows.numbers("distance").astype(np.int16)
        self._solutions = rows.numbers("solutions")

    def prove(self) -> None:
        self._states()
        self._zeros()
        self._classes()
        self._nearer()
        self._best_moves()
        self._sums()
        self._features()
        self._index()

    def _states(self) -> None:
        text = f"the rows are different states of the {self._puzzle.title}, in notation order"
        with self._proof.claim(text, len(self._rows)) as fact:
            row = first(self._ranks < 0)
            if row is not None:
                self._rows.refute(fact, row, self._state(row), "a state")
            after = first(np.diff(self._ranks) <= 0)
            if after is not None:
                expected = f"a state after {self._state(after)}"
                self._rows.refute(fact, after + 1, self._state(after + 1), expected)
            row = first(self._goals < 0)
            if row is not None:
                found = f"goal {self._rows.column('goal')[row]}"
                self._rows.refute(fact, row, found, f"goal {' or '.join(self._roots)}")
        self._row_of = np.full(len(self._space.states), -1, dtype=np.int32)
        self._row_of[self._ranks] = np.arange(len(self._rows))

    def _state(self, row: int) -> str:
        return str(self._rows.column("state")[row])

    def _zeros(self) -> None:
        goals = ", ".join(f"{name} ({state})" for name, state in self._roots.items())
        text = f"the distance is 0 only at {goals}"
        with self._proof.claim(text, len(self._rows)) as fact:
            is_goal = np.zeros(len(self._rows), dtype=np.bool_)
            for number, (name, state) in enumerate(self._roots.items()):
                row = int(self._row_of[self._puzzle.rank(state)])
                if row < 0:
                    fact.refuted("no row", f"a row for {state}")
                if self._goals[row] != number:
                    found = str(self._rows.column("goal")[row])
                    self._rows.refute(fact, row, f"goal {found}", f"goal {name}")
                is_goal[row] = True
            row_or_none = first((self._distances == 0) != is_goal)
            if row_or_none is not None:
                found = f"distance {self._distances[row_or_none]}"
                expected = "distance 0" if is_goal[row_or_none] else "a distance above 0"
                self._rows.refute(fact, row_or_none, found, expected)

    def _classes(self) -> None:
        """After this, `_from` and `_to` are the rows that each move joins."""
        space = self._space
        text = "every move can be undone and leads to a row with the same goal: no state is missing"
        with self._proof.claim(text, len(self._rows)) as fact:
            mine = self._row_of[space.sources] >= 0
            self._from = self._row_of[space.sources[mine]]
            self._to = np.where(space.targets[mine] < 0, -1, self._row_of[space.targets[mine]])
            self._letters = space.letters[mine]
            strays = (self._to < 0) | (self._goals[self._from] != self._goals[self._to])
            if strays.any():
                move = np.flatnonzero(strays)[np.argmin(self._from[strays])]
                row = int(self._from[move])
                letter = self._puzzle.letters[self._letters[move]]
                target = int(space.targets[mine][move])
                to = str(space.states[target]) if target >= 0 else "no state"
                expected = f"a row with the goal {self._rows.column('goal')[row]}"
                self._rows.refute(fact, row, f"move {letter} to {to}", expected)
            one_way = space.one_way()
            one_way = one_way[mine[one_way]]
            if len(one_way):
                row = int(self._row_of[space.sources[one_way[0]]])
                letter = self._puzzle.letters[space.letters[one_way[0]]]
                self._rows.refute(fact, row, f"move {letter}", "a move that can be undone")
        parity = space.parity()
        if parity is None:
            return
        text = "these are all states of the goals' parity, each with the goal of its own parity"
        with self._proof.claim(text, len(self._rows)) as fact:
            of_goal = np.array([parity[self._puzzle.rank(goal)] for goal in self._roots.values()])
            fact.equal(self._rows, parity[self._ranks], of_goal[self._goals], "parity")
            wanted = int(np.isin(parity, of_goal).sum())
            fact.same(f"{len(self._rows):,} rows", f"{wanted:,} rows")

    def _nearer(self) -> None:
        """After this, `_down` marks the moves that go one nearer."""
        text = "every state except the goals has a neighbour one move nearer, and none still nearer"
        with self._proof.claim(text, len(self._rows)) as fact:
            near = self._distances[self._to]
            least = np.full(len(self._rows), FAR)
            np.minimum.at(least, self._from, near)
            away = self._distances > 0
            row = first(away & (least != self._distances - 1))
            if row is not None:
                nearest = "none" if least[row] == FAR else f"its nearest neighbour at {least[row]}"
                expected = f"one at {self._distances[row] - 1} and none nearer"
                self._rows.refute(fact, row, nearest, expected)
            self._down = near == self._distances[self._from] - 1

    def _best_moves(self) -> None:
        text = "best_moves are exactly the moves to those neighbours"
        with self._proof.claim(text, len(self._rows)) as fact:
            sets = np.zeros(len(self._rows), dtype=np.uint64)
            bits = np.uint64(1) << self._letters.astype(np.uint64)
            np.bitwise_or.at(sets, self._from[self._down], bits[self._down])
            kinds, kind = np.unique(sets, return_inverse=True)
            texts = [self._letters_in(int(bits)) for bits in kinds]
            found = pc.index_in(self._rows.column("best_moves"), value_set=pa.array(texts))
            row = first(found.fill_null(-1).to_numpy() != kind)
            if row is not None:
                have = str(self._rows.column("best_moves")[row])
                self._rows.refute(fact, row, f"moves {have!r}", f"moves {texts[kind[row]]!r}")

    def _letters_in(self, bits: int) -> str:
        letters = self._puzzle.letters
        return "".join(letter for at, letter in enumerate(letters) if bits >> at & 1)

    def _sums(self) -> None:
        text = "solutions is the sum of those neighbours' solutions, and 1 at a goal"
        with self._proof.claim(text, len(self._rows)) as fact:
            expected = np.where(self._distances == 0, 1, 0).astype(np.uint64)
            ways = self._solutions[self._to[self._down]].astype(np.uint64)
            np.add.at(expected, self._from[self._down], ways)
            fact.equal(self._rows, self._solutions.astype(np.uint64), expected, "solutions")

    def _features(self) -> None:
        columns = [c.name for c in self._listed.known.columns if c.name not in ALWAYS]
        said = self._space.features(self._ranks[:1], next(iter(self._roots.values())))
        names = [name for name in columns if name in said]
        silent = [name for name in columns if name not in said]
        if names:
            text = f"{', '.join(names)}: equal to the values computed again from state and goal"
            with self._proof.claim(text, len(self._rows)) as fact:
                for number, goal in enumerate(self._roots.values()):
                    self._check_features(fact, names, np.flatnonzero(self._goals == number), goal)
        if silent:
            text = f"{', '.join(silent)}: not proved, because no rule defines it"
            self._proof.claim(text, len(self._rows)).proved()

    def _check_features(self, fact: Fact, names: list[str], mine: Array, goal: str) -> None:
        expected = self._space.features(self._ranks[mine], goal)
        for name in names:
            found = self._rows.numbers(name)
            wrong = first(found[mine] != expected[name])
            if wrong is not None:
                row = int(mine[wrong])
                self._rows.refute(fact, row, f"{name} {found[row]}", str(expected[name][wrong]))

    def _index(self) -> None:
        if not self._listed.known.index:
            return
        size = len(self._space.states)
        distances = np.full(size, UNREACHED, dtype=np.uint8)
        solutions: Array = np.zeros(size, dtype=self._solutions.dtype)
        distances[self._ranks] = self._distances
        solutions[self._ranks] = self._solutions
        text = f"each record matches its state's row; {UNREACHED} and 0 where a state has no row"
        check_records(self._listed, text, {"distance": distances, "solutions": solutions})


def prove_goals(listed: Published, puzzle: GoalPuzzle, space: Space) -> None:
    """Prove one table of a puzzle that is walked to a goal."""
    GoalTable(listed, puzzle, space, read_rows(listed)).prove()
