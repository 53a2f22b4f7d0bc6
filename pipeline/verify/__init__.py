"""Checks the published files against the rules, never by the search that made them.

Read in this order: `claims` (what is told), `verdicts` (what that shows of each table), `listed`
(the files against the manifest), `goals` (puzzles with goals), `walks` (other state spaces),
`listings` (anything else), a folder for what is proved of one puzzle alone, and `proofs`, the
registry.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from pipeline.verify.claims import Claim, Listener, VerifyFailed, ignore_claim
from pipeline.verify.manifest_checks import (
    ListedTable,
    check_entry,
    check_files,
    check_pages,
    list_tables,
)
from pipeline.verify.proofs import find_proof
from pipeline.verify.verdicts import ORDER, Grade, Outcome, Seen, Verdict
from tablebase.puzzle import Puzzle
from tablebase.puzzles import list_puzzles
from tablebase.tables.store import Store

__all__ = ["Claim", "Grade", "Listener", "Verdict", "Verified", "VerifyFailed", "prove", "verify"]

OnVerdicts = Callable[[Sequence[Verdict]], None]
"""A callback for the verdicts on one table."""
ONLY_FILES = "only the bytes of the files were compared with the manifest"
NOT_KNOWN = "the files match the manifest; no puzzle here has a table of that name"
NOT_SAID = "the proof that its puzzle brings found no fault, and does not say what it showed"


@dataclass(frozen=True, slots=True)
class Verified:
    """What was verified without finding a fault; `unpublished`: default tables not listed."""

    claims: list[Claim]
    verdicts: list[Verdict]
    unpublished: list[str]


def ignore_verdicts(verdicts: Sequence[Verdict]) -> None:
    """Do nothing."""


def verify(
    store: Store,
    *,
    quick: bool = False,
    listener: Listener = ignore_claim,
    on_verdicts: OnVerdicts = ignore_verdicts,
) -> Verified:
    """Verify everything that is published in a store; VerifyFailed at the first untruth.

    With `quick` only the files' sizes and hashes, and the indexes' headers and blocks, are checked.
    `on_verdicts` is called once for each table, in the order of the manifest's claims.
    """
    claims: list[Claim] = []
    verdicts: list[Verdict] = []

    def on_claim(claim: Claim, done: int) -> None:
        claims.extend([claim] if claim.passed else [])
        listener(claim, done)

    def record_verdicts(found: Sequence[Verdict]) -> None:
        verdicts.extend(found)
        on_verdicts(found)

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
    """Prove tables in turn, as far as proofs are known, and decide what that showed of each."""
    outcomes: defaultdict[Puzzle | None, dict[str, Outcome]] = defaultdict(dict)
    for listed in tables:
        seen = outcomes[listed.puzzle]
        outcome = _limit(listed, _prove_table(listed, seen))
        seen[listed.name] = outcome
        on_verdicts(outcome.verdicts)


def _prove_table(listed: ListedTable, earlier: Seen) -> Outcome:
    if listed.table is None:
        return listed.make_outcome(Grade.INTACT, NOT_KNOWN)
    if not listed.definition.columns:
        check_entry(listed)
    found: object = find_proof(listed)(listed, earlier)
    # another package's proof may return anything
    if (
        isinstance(found, Outcome)
        and found.verdicts
        and all(of.verdict in ORDER for of in found.verdicts)
    ):
        return found
    return listed.make_outcome(Grade.INTACT, NOT_SAID, found)


def _limit(listed: ListedTable, outcome: Outcome) -> Outcome:
    """Return the outcome with no verdict above *intact* if a column or field has no proof."""
    verdicts = [
        replace(of, table=listed.name, verdict=Grade(of.verdict)) for of in outcome.verdicts
    ]
    if listed.gaps:
        rest = f"not proved: {', '.join(listed.gaps)}"
        verdicts = [
            of
            if of.verdict is Grade.INTACT
            else replace(of, verdict=Grade.INTACT, how=f"{of.how}; {rest}")
            for of in verdicts
        ]
    return replace(outcome, verdicts=tuple(verdicts))
