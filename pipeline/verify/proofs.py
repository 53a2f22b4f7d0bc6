"""The registry of proofs: which one a table has, by its recipe's class and its puzzle's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pipeline.verify.eight.states import sliding_space
from pipeline.verify.goals import prove_goals
from pipeline.verify.knight.counts import prove_counts
from pipeline.verify.knight.numbered import prove_numbered
from pipeline.verify.knight.tours import prove_every_tour, prove_pairs
from pipeline.verify.listed import Listed
from pipeline.verify.listings import prove_listing
from pipeline.verify.senet.proof import prove_senet
from pipeline.verify.sliding.proof import prove_board
from pipeline.verify.verdicts import Outcome, Seen
from pipeline.verify.walks import prove_walks
from tablebase.block_space import InBlocks
from tablebase.puzzle import BreadthFirst, GoalPuzzle, Puzzle, StateSpace
from tablebase.puzzles import part_of
from tablebase.puzzles.eight import Eight
from tablebase.puzzles.knight import AllTours, NumberedCycles, TourPerPair
from tablebase.puzzles.senet import Senet
from tablebase.puzzles.sliding import Sliding
from tablebase.puzzles.tour_counts import TourCounts

Prove = Callable[[Listed, Seen], Outcome]
"""Proves one table, and says what that showed."""

PROOFS: dict[tuple[type, type], Prove] = {
    (BreadthFirst, Eight): partial(prove_goals, space_of=sliding_space),
    (InBlocks, Sliding): prove_board,
    (BreadthFirst, Senet): prove_senet,
    (BreadthFirst, GoalPuzzle): prove_goals,
    (BreadthFirst, StateSpace): prove_walks,
    (AllTours, Puzzle): prove_every_tour,
    (TourPerPair, Puzzle): prove_pairs,
    (TourCounts, Puzzle): prove_counts,
    (NumberedCycles, Puzzle): prove_numbered,
}


def proof_of(listed: Listed) -> Prove:
    """The proof of a puzzle's table: its own, or that of the nearest kinds of recipe and puzzle;
    of no kind that is known, what holds for any table."""
    if listed.puzzle and listed.puzzle.proof:
        own: Prove = part_of(listed.puzzle, listed.puzzle.proof)
        return own
    kinds = (
        (recipe, puzzle)
        for recipe in type(listed.known.recipe).__mro__
        for puzzle in type(listed.puzzle).__mro__
    )
    return next((PROOFS[kind] for kind in kinds if kind in PROOFS), prove_listing)
