"""Verification of the published files against the rules, independent of the search that built them.

Read in this order: `claims` (what is checked of a table, and the verdicts on it), `files` (the
files against the manifest, and their contents against the definition of the table), `goal_proof`
(puzzles with goals), `graph_proof` (other state spaces, and any other table), and the proofs of one
puzzle each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pipeline.verify.claims import (
    ORDER,
    Claim,
    Grade,
    ListedTable,
    Listener,
    Outcome,
    Seen,
    Verdict,
    VerifyFailed,
    ignore_claim,
)
from pipeline.verify.fifteen import prove_pattern
from pipeline.verify.files import check_entry, check_files, check_pages, list_tables, read_rows
from pipeline.verify.goal_proof import make_eight_space, prove_goals
from pipeline.verify.graph_proof import prove_generic, prove_graph
from pipeline.verify.knight.counts import prove_counts
from pipeline.verify.knight.ranking import prove_ranks
from pipeline.verify.knight.tours import prove_every_tour, prove_pairs
from pipeline.verify.senet import prove_senet
from pipeline.verify.sliding import prove_board
from tablebase.puzzle import GoalPuzzle, Puzzle, StateSpace
from tablebase.puzzles import list_puzzles, load_part
from tablebase.puzzles.eight import Eight
from tablebase.puzzles.fifteen import PatternDistances
from tablebase.puzzles.knight.tables import AllTours, ClosedTourRanking, TourCounts, TourPerPair
from tablebase.puzzles.senet import Senet
from tablebase.puzzles.sliding import BoardDistances, Sliding
from tablebase.schema import BreadthFirst
from tablebase.tables import MANIFEST
from tablebase.tables.manifest import Depth
from tablebase.tables.store import Store

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

__all__ = ["Claim", "Grade", "Listener", "Verdict", "Verified", "VerifyFailed", "prove", "verify"]
OnVerdicts = Callable[[Sequence[Verdict]], None]
"""A callback for the verdicts on one table."""
ONLY_FILES = "only the bytes of the files were compared with the manifest"
UNKNOWN_TABLE = "the files match the manifest; no puzzle here has a table of that name"
NO_VERDICTS = "the proof that its puzzle brings found no fault, and does not say what it showed"


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


def check_counts(listed: ListedTable, depths: Mapping[Depth, int]) -> None:
    """Compare every number with the one in `depths`, or with the rows if a proof counted none."""
    if listed.entry.counts is None:
        return
    proved = depths or _count_rows(listed)
    if not proved:
        listed.note_missing_proof(["states at each distance"], "its proof counts no states")
        return
    found = {(goal, depth): states for goal, depth, states in listed.entry.counts.list_depths()}
    text = "as many states are at each distance as the proof counted"
    with listed.begin_claim(text) as claimed:
        check = replace(claimed, claim=replace(claimed.claim, file=MANIFEST))
        for goal, depth in dict.fromkeys([*found, *proved]):
            what = f"states of {listed.name}{f', {goal}' if goal else ''} at distance {depth}:"
            check.require_equal(what, found.get((goal, depth), 0), proved.get((goal, depth), 0))


def _count_rows(listed: ListedTable) -> Mapping[Depth, int]:
    """Count the rows at each distance; none of a table without rows, or without a depth."""
    depth = listed.puzzle.depth if listed.puzzle else ""
    if listed.table is None or depth not in [column.name for column in listed.table.columns]:
        return {}
    return read_rows(replace(listed, listener=ignore_claim)).count_depths(depth)


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of a verification that found no fault."""

    claims: list[Claim]
    verdicts: list[Verdict]
    unpublished: list[str]
    """The default or named tables that the manifest does not list."""


def ignore_verdicts(verdicts: Sequence[Verdict]) -> None:
    """Do nothing."""


def verify(
    store: Store,
    names: Collection[str] = (),
    *,
    quick: bool = False,
    listener: Listener = ignore_claim,
    on_verdicts: OnVerdicts = ignore_verdicts,
) -> Verified:
    """Verify every table in a store; raise VerifyFailed at the first claim that does not hold.

    `names`: of published tables; with them, these alone are verified, and no pages.
    With `quick` only the files' sizes and hashes, and the indexes' headers and blocks, are checked.
    `on_verdicts` is called once for each table, in the order of the manifest's claims.
    """
    claims: list[Claim] = []
    verdicts: list[Verdict] = []

    def on_claim(claim: Claim, done: int) -> None:
        claims.extend([claim] if claim.passed else [])
        listener(claim, done)

    def record_verdicts(new: Sequence[Verdict]) -> None:
        verdicts.extend(new)
        on_verdicts(new)

    try:
        tables = list_tables(store, on_claim)
        if names:
            tables = [listed for listed in tables if listed.name in names]
        for listed in tables:
            check_files(listed)
        if not names:
            check_pages(store, on_claim)
        if quick:
            for listed in tables:
                record_verdicts([listed.make_verdict(Grade.INTACT, ONLY_FILES)])
        else:
            prove(tables, record_verdicts)
    except VerifyFailed as failure:
        listener(failure.claim, 0)
        raise
    published = {listed.name for listed in tables}
    defaults = [table.name for puzzle in list_puzzles() for table in puzzle.tables if not names]
    return Verified(claims, verdicts, [name for name in defaults if name not in published])


def prove(tables: Iterable[ListedTable], on_verdicts: OnVerdicts = ignore_verdicts) -> None:
    """Run each table's proof in turn and report its verdicts."""
    outcomes = dict[str, Outcome]()
    for listed in tables:
        outcome = _prove_table(listed, outcomes)
        check_counts(listed, outcome.depths)
        outcome = _limit(listed, outcome)
        outcomes[listed.name] = outcome
        on_verdicts(outcome.verdicts)


def _prove_table(listed: ListedTable, earlier: Seen) -> Outcome:
    if listed.table is None:
        return listed.make_outcome(Grade.INTACT, UNKNOWN_TABLE)
    if not listed.definition.columns:
        check_entry(listed)
    outcome: object = find_proof(listed)(listed, earlier)
    # a plugin's proof may return anything
    if (
        isinstance(outcome, Outcome)
        and outcome.verdicts
        and all(verdict.verdict in ORDER for verdict in outcome.verdicts)
    ):
        return outcome
    return listed.make_outcome(Grade.INTACT, NO_VERDICTS, outcome)


def _limit(listed: ListedTable, outcome: Outcome) -> Outcome:
    """Return the outcome with no verdict above *intact* if a column or field has no proof."""
    verdicts = [
        replace(verdict, table=listed.name, verdict=Grade(verdict.verdict))
        for verdict in outcome.verdicts
    ]
    if listed.gaps:
        gaps = f"not proved: {', '.join(listed.gaps)}"
        verdicts = [
            verdict
            if verdict.verdict is Grade.INTACT
            else replace(verdict, verdict=Grade.INTACT, how=f"{verdict.how}; {gaps}")
            for verdict in verdicts
        ]
    return replace(outcome, verdicts=tuple(verdicts))
