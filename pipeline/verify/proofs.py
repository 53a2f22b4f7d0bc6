"""The registry of proofs, by the class of a table's recipe and that of its puzzle."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pipeline.verify.claims import ListedTable, Outcome, Seen
from pipeline.verify.eight.space import make_eight_space
from pipeline.verify.fifteen.proof import prove_pattern
from pipeline.verify.generic_proof import prove_generic
from pipeline.verify.goal_proof import prove_goals
from pipeline.verify.graph_proof import prove_graph
from pipeline.verify.knight.counts import prove_counts
from pipeline.verify.knight.ranking import prove_ranks
from pipeline.verify.knight.tours import prove_every_tour, prove_pairs
from pipeline.verify.senet.proof import prove_senet
from pipeline.verify.sliding.proof import prove_board
from tablebase.puzzle import GoalPuzzle, Puzzle, StateSpace
from tablebase.puzzles import load_part
from tablebase.puzzles.eight import Eight
from tablebase.puzzles.fifteen import PatternDistances
from tablebase.puzzles.knight.count_recipe import TourCounts
from tablebase.puzzles.knight.tables import AllTours, ClosedTourRanking, TourPerPair
from tablebase.puzzles.senet import Senet
from tablebase.puzzles.sliding import BoardDistances, Sliding
from tablebase.schema import BreadthFirst

Prove = Callable[[ListedTable, Seen], Outcome]
"""A function that proves one table and returns the outcome."""

PROOFS: dict[tuple[type, type], Prove] = {
    (BreadthFirst, Eight): partial(prove_goals, make_space=make_eight_space),
    (BoardDistances, Sliding): prove_board,
    (BreadthFirst, Senet): prove_senet,
    (BreadthFirst, GoalPuzzle): prove_goals,
    (BreadthFirst, StateSpace): prove_graph,
    (AllTours, Puzzle): prove_every_tour,
    (TourPerPair, Puzzle): prove_pairs,
    (TourCounts, Puzzle): prove_counts,
    (ClosedTourRanking, Puzzle): prove_ranks,
    (PatternDistances, Puzzle): prove_pattern,
}


def find_proof(listed: ListedTable) -> Prove:
    """Return a table's proof: the puzzle's own, or that of the nearest base classes.

    A table whose recipe and puzzle have no registered class gets the generic proof.
    """
    if listed.puzzle and listed.puzzle.proof:
        proof: Prove = load_part(listed.puzzle, listed.puzzle.proof)
        return proof
    kinds = (
        (recipe, puzzle)
        for recipe in type(listed.definition.recipe).__mro__
        for puzzle in type(listed.puzzle).__mro__
    )
    return next((PROOFS[kind] for kind in kinds if kind in PROOFS), prove_generic)
