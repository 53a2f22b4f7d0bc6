"""Verification of the published files against the rules, independent of the search that built them.

Read in this order: `claims` (what is checked of a table, and the verdicts on it), `files` (the
files against the manifest, and their contents against the definition of the table), `state_proofs`
(puzzles with goals, other state spaces, and any other table), and the proofs of one puzzle each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from puzzle_tablebase.pipeline.verify.claims import (
    Claim,
    Listener,
    Proof,
    PublishedTable,
    Seen,
    TableVerdict,
    Verdict,
    VerifyFailed,
    ignore_claim,
)
from puzzle_tablebase.pipeline.verify.fifteen import prove_pattern
from puzzle_tablebase.pipeline.verify.files import (
    check_entry,
    check_files,
    list_tables,
    read_rows,
)
from puzzle_tablebase.pipeline.verify.knight_counts import prove_counts
from puzzle_tablebase.pipeline.verify.knight_ranks import prove_ranks
from puzzle_tablebase.pipeline.verify.knight_tours import prove_every_tour, prove_pairs
from puzzle_tablebase.pipeline.verify.senet import prove_senet
from puzzle_tablebase.pipeline.verify.sliding import prove_board
from puzzle_tablebase.pipeline.verify.state_proofs import (
    make_eight_space,
    prove_goals,
    prove_graph,
)
from puzzle_tablebase.puzzle import GoalPuzzle, Puzzle, StateSpace
from puzzle_tablebase.puzzles import list_puzzles
from puzzle_tablebase.puzzles.eight import Eight
from puzzle_tablebase.puzzles.fifteen import PatternDistances
from puzzle_tablebase.puzzles.knight.tables import AllTours, TourCounts, TourPerPair, TourRanking
from puzzle_tablebase.puzzles.senet import Senet
from puzzle_tablebase.puzzles.sliding import BoardDistances, Sliding
from puzzle_tablebase.schema import BreadthFirst
from puzzle_tablebase.tables import MANIFEST
from puzzle_tablebase.tables.manifest import Depth
from puzzle_tablebase.tables.store import Store

Prove = Callable[[PublishedTable, Seen], Proof]
"""A function that proves one table."""

PROVERS: dict[tuple[type, type], Prove] = {
    (BreadthFirst, Eight): partial(prove_goals, make_space=make_eight_space),
    (BoardDistances, Sliding): prove_board,
    (BreadthFirst, Senet): prove_senet,
    (BreadthFirst, GoalPuzzle): prove_goals,
    (BreadthFirst, StateSpace): prove_graph,
    (AllTours, Puzzle): prove_every_tour,
    (TourPerPair, Puzzle): prove_pairs,
    (TourCounts, Puzzle): prove_counts,
    (TourRanking, Puzzle): prove_ranks,
    (PatternDistances, Puzzle): prove_pattern,
}

__all__ = [
    "Claim",
    "Listener",
    "TableVerdict",
    "Verdict",
    "Verified",
    "VerifyFailed",
    "prove",
    "verify",
]
OnVerdicts = Callable[[Sequence[TableVerdict]], object]
"""A callback for the verdicts on one table."""
ONLY_FILES = "only the bytes of the files were compared with the manifest"
UNKNOWN_TABLE = "the files match the manifest; no puzzle here has a table of that name"


def find_prover(published: PublishedTable) -> Prove:
    """Return the function that proves a table, by the nearest base classes of recipe and puzzle."""
    kinds = (
        (recipe, puzzle)
        for recipe in type(published.definition.recipe).__mro__
        for puzzle in type(published.puzzle).__mro__
    )
    return next(PROVERS[kind] for kind in kinds if kind in PROVERS)


def check_counts(published: PublishedTable, depths: Mapping[Depth, int]) -> None:
    """Compare every number with the one in `depths`, or with the rows if a proof counted none."""
    if not published.entry.counts:
        return
    proved = depths or _count_rows(published)
    if not proved:
        published.note_missing_proof(["states at each distance"], "its proof counts no states")
        return
    found = {(goal, depth): states for goal, depth, states in published.entry.list_depths()}
    text = "as many states are at each distance as the proof counted"
    with published.begin_claim(text) as claimed:
        check = replace(claimed, claim=replace(claimed.claim, file=MANIFEST))
        for goal, depth in dict.fromkeys([*found, *proved]):
            what = f"states of {published.name}{f', {goal}' if goal else ''} at distance {depth}:"
            check.require_equal(what, found.get((goal, depth), 0), proved.get((goal, depth), 0))


def _count_rows(published: PublishedTable) -> Mapping[Depth, int]:
    """Count the rows at each distance; none of a table without rows, or without a depth."""
    if published.puzzle is None or not published.definition.columns:
        return {}
    rows = read_rows(replace(published, listener=ignore_claim))
    return rows.count_depths(published.puzzle.depth)


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of a verification that found no fault."""

    claims: list[Claim]
    verdicts: list[TableVerdict]
    unpublished: list[str]
    """The default or named tables that the manifest does not list."""


def verify(
    store: Store,
    names: Collection[str] = (),
    *,
    quick: bool = False,
    listener: Listener = ignore_claim,
    on_verdicts: OnVerdicts = len,
) -> Verified:
    """Verify every table in a store; raise VerifyFailed at the first claim that does not hold.

    `names`: of published tables; with them, these alone are verified.
    With `quick` only the files' sizes and hashes, and the indexes' headers and blocks, are checked.
    `on_verdicts` is called once for each table, in the order of the manifest's claims.
    """
    claims: list[Claim] = []
    verdicts: list[TableVerdict] = []

    def on_claim(claim: Claim, done: int) -> None:
        claims.extend([claim] if claim.passed else [])
        listener(claim, done)

    def record_verdicts(new: Sequence[TableVerdict]) -> None:
        verdicts.extend(new)
        on_verdicts(new)

    try:
        tables = list_tables(store, on_claim)
        if names:
            tables = [published for published in tables if published.name in names]
        for published in tables:
            check_files(published)
        if quick:
            for published in tables:
                record_verdicts([published.make_verdict(Verdict.INTACT, ONLY_FILES)])
        else:
            prove(tables, record_verdicts)
    except VerifyFailed as failure:
        listener(failure.claim, 0)
        raise
    proved = {published.name for published in tables}
    defaults = [table.name for puzzle in list_puzzles() for table in puzzle.tables if not names]
    return Verified(claims, verdicts, [name for name in defaults if name not in proved])


def prove(tables: Iterable[PublishedTable], on_verdicts: OnVerdicts = len) -> None:
    """Run each table's proof in turn and report its verdicts."""
    proofs = dict[str, Proof]()
    for published in tables:
        proof = _prove_table(published, proofs)
        check_counts(published, proof.depths)
        proof = _limit(published, proof)
        proofs[published.name] = proof
        on_verdicts(proof.verdicts)


def _prove_table(published: PublishedTable, earlier: Seen) -> Proof:
    if published.table is None:
        return published.make_proof(Verdict.INTACT, UNKNOWN_TABLE)
    if not published.definition.columns:
        check_entry(published)
    return find_prover(published)(published, earlier)


def _limit(published: PublishedTable, proof: Proof) -> Proof:
    """Return the proof with no verdict above *intact* if a column or field has no proof."""
    if not published.gaps:
        return proof
    gaps = f"not proved: {', '.join(published.gaps)}"
    verdicts = [
        verdict
        if verdict.verdict is Verdict.INTACT
        else replace(verdict, verdict=Verdict.INTACT, how=f"{verdict.how}; {gaps}")
        for verdict in proof.verdicts
    ]
    return replace(proof, verdicts=tuple(verdicts))
