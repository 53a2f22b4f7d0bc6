"""Proves the published files from the rules alone, never by the search that made them.

Read in this order: `claims` (what is told), `listed` (the files against the manifest), `goals`
(puzzles with goals), `walks` (other state spaces), `listings` (anything else), a folder for what is
proved of one puzzle alone, and `proofs`, the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pipeline.verify.claims import Claim, Listener, VerifyFailed, unheard
from pipeline.verify.listed import Listed, check_files, check_pages, listed_in
from pipeline.verify.listings import prove_listing
from pipeline.verify.proofs import proof_of
from tablebase.puzzles import puzzles
from tablebase.tables.store import Store

__all__ = ["Claim", "Listener", "VerifyFailed", "prove", "verify"]


def verify(
    store: Store,
    *,
    quick: bool = False,
    report: Listener = unheard,
    whole: Callable[[str], None] = lambda table: None,
) -> list[Claim]:
    """Prove everything that is published in a store; VerifyFailed at the first untruth.

    With `quick` only the files' sizes and hashes, and the indexes' headers and blocks, are checked.
    `whole` is told each table whose every row is proved, in the order of the manifest's claims.
    """
    proved: list[Claim] = []

    def heard(claim: Claim, done: int) -> None:
        proved.extend([claim] if claim.passed else [])
        report(claim, done)

    try:
        tables = listed_in(store, heard)
        for listed in tables:
            check_files(listed)
        check_pages(store, heard)
        for puzzle in [] if quick else puzzles():
            prove([listed for listed in tables if listed.puzzle is puzzle], whole)
    except VerifyFailed as failure:
        report(failure.claim, 0)
        raise
    return proved


def prove(tables: Iterable[Listed], whole: Callable[[str], None] = lambda table: None) -> None:
    """Prove a puzzle's tables in turn; where no proof is known, what holds for any table."""
    found: dict[str, Any] = {}
    for listed in tables:
        proof = proof_of(listed)
        if proof is None:
            prove_listing(listed)
        else:
            found[listed.name] = proof(listed, found)
            whole(listed.name)
