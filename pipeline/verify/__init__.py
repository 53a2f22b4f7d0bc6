"""Verification of the published files against the rules, independent of the search that built them.

Read in this order: `claims` (what is checked of a table, and the verdicts on it), `manifest_checks`
(the files against the manifest), `table_rows` and `index_records` (their contents against the
definition of the table), `goal_proof` (puzzles with goals), `graph_proof` (other state spaces),
`generic_proof` (any other table), the packages with the proofs of one puzzle each, `proofs`, the
registry, and `state_counts` (the manifest's numbers).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

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
from pipeline.verify.manifest_checks import check_entry, check_files, check_pages, list_tables
from pipeline.verify.proofs import find_proof
from pipeline.verify.state_counts import check_counts
from tablebase.puzzles import list_puzzles
from tablebase.tables.store import Store

__all__ = ["Claim", "Grade", "Listener", "Verdict", "Verified", "VerifyFailed", "prove", "verify"]

OnVerdicts = Callable[[Sequence[Verdict]], None]
"""A callback for the verdicts on one table."""
ONLY_FILES = "only the bytes of the files were compared with the manifest"
UNKNOWN_TABLE = "the files match the manifest; no puzzle here has a table of that name"
NO_VERDICTS = "the proof that its puzzle brings found no fault, and does not say what it showed"


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of a verification that found no fault."""

    claims: list[Claim]
    verdicts: list[Verdict]
    unpublished: list[str]
    """The default tables that the manifest does not list."""


def ignore_verdicts(verdicts: Sequence[Verdict]) -> None:
    """Do nothing."""


def verify(
    store: Store,
    *,
    quick: bool = False,
    listener: Listener = ignore_claim,
    on_verdicts: OnVerdicts = ignore_verdicts,
) -> Verified:
    """Verify every table in a store; raise VerifyFailed at the first claim that does not hold.

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
        for listed in tables:
            check_files(listed)
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
    defaults = (table.name for puzzle in list_puzzles() for table in puzzle.tables)
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
