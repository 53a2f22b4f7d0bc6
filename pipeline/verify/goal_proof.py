"""The tables of a puzzle that is walked to a goal: a proof of every distance, from local facts.

If only goals have distance 0, and every other state has a neighbour one nearer and none nearer
than that, then each state's distance can be walked down to a goal, and no walk gets there sooner.
If the rows are closed under moves that can all be undone, then no state that reaches a goal is
missing.

All states and moves are made from the puzzle's moves of texts, never from its `graph`; a puzzle's
own room may say the rules once more, for all states at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pipeline.verify.claims import Array, Mask, Rows, Said, places
from pipeline.verify.manifest_checks import Listed, check_records, read_rows
from pipeline.verify.verdicts import Grade, Outcome, Seen
from tablebase.graph import UNREACHED
from tablebase.puzzle import BreadthFirst, GoalPuzzle

HOW = "every state was compared with its neighbours; every column and record follows from the moves"
ALWAYS = ("state", "goal", "distance", "best_moves", "solutions")
FAR = np.int16(np.iinfo(np.int16).max)
"""Farther than any distance: where there is no neighbour."""


@dataclass(frozen=True, slots=True)
class Space:
    """A puzzle's states by rank, and its moves: `sources[m]` goes to `targets[m]` by a letter."""

    states: pa.StringArray
    sources: Array
    targets: Array
    """-1: no state."""
    letters: Array
    """The letters' places among the puzzle's letters."""
    features: Callable[[Array, str], dict[str, Array]]
    """Further columns for these states on their way to a goal."""
    parity: Array | None = None
    """A number for every state that no move changes, where the rules know one."""

    def one_way(self) -> Mask:
        """Which moves no move undoes."""
        ends = self.sources, self.targets
        forth, back = np.sort(self._pairs(*ends)), np.sort(self._pairs(*ends[::-1]))
        if np.array_equal(forth, back):
            return np.zeros(len(forth), dtype=np.bool_)
        return ~np.isin(self._pairs(*ends[::-1]), forth)

    def _pairs(self, first: Array, second: Array) -> Array:
        """A number for each pair of ranks."""
        number: Array = first.astype(np.int64) * len(self.states) + second
        return number


def plain_space(puzzle: GoalPuzzle) -> Space:
    """Any puzzle's space, by asking for all its states and moves."""
    states, moves = puzzle.states(), []
    for letter, ranks, after in puzzle.all_moves():
        # in notation order they ascend; where they do not, no state is found
        at = np.minimum(np.searchsorted(states, after), len(states) - 1).astype(np.int32)
        targets = np.where(states[at] == after, at, np.int32(-1))
        letters = np.full(len(ranks), puzzle.letters.index(letter), dtype=np.uint8)
        moves.append((ranks.astype(np.int32), targets, letters))

    def features(ranks: Array, goal: str) -> dict[str, Array]:
        found = [puzzle.features(states[rank].decode(), goal) for rank in ranks]
        return {name: np.array([of[name] for of in found]) for name in (found or [{}])[0]}

    texts = pa.array(states).cast(pa.string())
    from_, to, by = map(np.concatenate, zip(*moves, strict=True))
    return Space(texts, from_, to, by, features)


def prove_goals(
    listed: Listed, seen: Seen, space_of: Callable[[GoalPuzzle], Space] = plain_space
) -> Outcome:
    """Prove one table, all of whose states and moves are in a space made once for all tables."""
    puzzle = listed.puzzle
    assert isinstance(puzzle, GoalPuzzle)
    spaces = (of.result for of in seen.values() if isinstance(of.result, Space))
    space = next(spaces, None) or space_of(puzzle)
    prove_rows(listed, puzzle, space, read_rows(listed))
    return listed.outcome(Grade.PROVED, HOW, space)


def prove_rows(listed: Listed, puzzle: GoalPuzzle, space: Space, rows: Rows) -> None:
    """Prove every state's way to a goal."""
    recipe = listed.known.recipe
    assert isinstance(recipe, BreadthFirst)
    roots, state, goal = recipe.roots, rows.column("state"), rows.column("goal")
    names, at_goals = [*roots], [puzzle.rank(root) for root in roots.values()]
    ranks, goals = places(state, space.states), places(goal, names)
    here, solutions = rows.numbers("distance").astype(np.int16), rows.numbers("solutions")
    row_of = np.full(len(space.states), -1, dtype=np.int32)

    text = f"the rows are different states of the {puzzle.title}, in notation order"
    with listed.claim(text) as fact:
        rows.none(fact, ranks < 0, lambda row: (state[row], "a state"))
        rows.ascend(fact, "state", ranks)
        rows.none(fact, goals < 0, lambda row: (f"goal {goal[row]}", f"goal {' or '.join(names)}"))
        row_of[ranks] = np.arange(len(rows))
    said = ", ".join(f"{name} ({root})" for name, root in roots.items())
    with listed.claim(f"the distance is 0 only at {said}") as fact:
        at = row_of[at_goals]
        for root, row in zip(roots.values(), at, strict=True):
            if row < 0:
                fact.refuted("no row", f"a row for {root}")
        rows.equal(fact, "goal", names, at)
        rows.equal(fact, "distance is 0:", np.isin(np.arange(len(rows)), at), found=here == 0)
    sources, targets, letters = _moves(listed, puzzle, space, rows, row_of, goals)
    if (parity := space.parity) is not None:
        text = "these are all states of the goals' parity, each with the goal of its own parity"
        with listed.claim(text) as fact:
            rows.equal(fact, "parity", parity[at_goals][goals], found=parity[ranks])
            fact.same("rows", len(rows), int(np.isin(parity, parity[at_goals]).sum()))

    near, least = here[targets], np.full(len(rows), FAR)
    text = "every state except the goals has a neighbour one move nearer, and none still nearer"
    with listed.claim(text) as fact:
        np.minimum.at(least, sources, near)
        away = np.flatnonzero(here)
        found = pa.array(least[away], mask=least[away] == FAR)
        rows.equal(fact, "nearest neighbour's distance", here[away] - 1, away, found)
    down = near == here[sources] - 1
    sources, targets, letters = sources[down], targets[down], letters[down]
    with listed.claim("best_moves are exactly the moves to those neighbours") as fact:
        sets = np.zeros(len(rows), dtype=np.uint64)
        np.bitwise_or.at(sets, sources, np.uint64(1) << letters.astype(np.uint64))
        kinds, kind = np.unique(sets, return_inverse=True)
        texts = [
            "".join(letter for at, letter in enumerate(puzzle.letters) if bits >> at & 1)
            for bits in kinds.tolist()
        ]
        rows.equal(fact, "best_moves", pa.array(texts, pa.string()).take(pa.array(kind)))
    text = "solutions is the sum of those neighbours' solutions, and 1 at a goal"
    with listed.claim(text) as fact:
        expected = (here == 0).astype(np.int64)
        np.add.at(expected, sources, solutions[targets])
        rows.equal(fact, "solutions", expected)

    _prove_features(listed, space, rows, ranks, goals, [*roots.values()])
    fields = {"distance", "solutions"}.intersection(name for name, _ in listed.known.index)
    if fields:
        depth, ways = np.full(len(row_of), UNREACHED), np.zeros(len(row_of), dtype=np.int64)
        depth[ranks], ways[ranks] = here, solutions
        text = f"each record matches its state's row; {UNREACHED} and 0 where a state has no row"
        values = {"distance": depth, "solutions": ways}
        check_records(listed, text, {name: values[name] for name in sorted(fields)})


def _moves(
    listed: Listed, puzzle: GoalPuzzle, space: Space, rows: Rows, row_of: Array, goals: Array
) -> tuple[Array, Array, Array]:
    """The rows that each move joins, once they are seen to be rows, and its letter's place."""
    text = "every move can be undone and leads to a row with the same goal: no state is missing"
    with listed.claim(text) as fact:
        mine = row_of[space.sources] >= 0
        sources, reached = row_of[space.sources[mine]], space.targets[mine]
        targets, letters = np.where(reached < 0, -1, row_of[reached]), space.letters[mine]

        def told(move: int, expected: str) -> Said:
            to = space.states[int(reached[move])] if reached[move] >= 0 else "no state"
            return f"move {puzzle.letters[letters[move]]} to {to}", expected

        goal, stray = rows.column("goal"), (targets < 0) | (goals[sources] != goals[targets])
        wanted = "a row with the goal {}".format
        rows.none(fact, stray, lambda m: told(m, wanted(goal[int(sources[m])])), sources)
        undone = "a move that can be undone"
        rows.none(fact, space.one_way()[mine], lambda move: told(move, undone), sources)
    return sources, targets, letters


def _prove_features(
    listed: Listed, space: Space, rows: Rows, ranks: Array, goals: Array, roots: list[str]
) -> None:
    """Prove further columns, as far as the rules know them, and say which they do not."""
    columns = [column.name for column in listed.known.columns if column.name not in ALWAYS]
    said = space.features(ranks[:1], roots[0])
    if names := [name for name in columns if name in said]:
        text = f"{', '.join(names)}: equal to the values computed again from state and goal"
        with listed.claim(text) as fact:
            for number, root in enumerate(roots):
                mine = np.flatnonzero(goals == number)
                expected = space.features(ranks[mine], root)
                for name in names:
                    rows.equal(fact, name, expected[name], mine)
    listed.name_unproved({*ALWAYS, *said}, ("distance", "solutions"))
