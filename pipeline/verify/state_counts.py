"""The proof of the manifest's number of states at each distance, by what each proof counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pipeline.verify.claims import ListedTable, ignore_claim
from pipeline.verify.table_rows import read_rows
from tablebase.tables import MANIFEST
from tablebase.tables.manifest import Depth


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
