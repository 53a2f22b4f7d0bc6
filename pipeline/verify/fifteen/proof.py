"""The proof of a pattern's distances: a second search, by moves that are written a second time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import numpy as np
import pyarrow as pa

from pipeline.verify.claims import Array, Grade, ListedTable, Outcome, Seen
from pipeline.verify.fifteen.placements import (
    UNKNOWN,
    find_least,
    list_masks,
    search_placements,
)
from pipeline.verify.index_records import iter_records
from pipeline.verify.table_rows import decode_rows
from tablebase.puzzles.fifteen import PatternDistances

HOW = "every entry is the least over the blank's places in a second search of all placements"
HOW_OF_ROWS = f"{HOW}; every row follows from its number"
CHUNK_ORDERS = 1 << 6
"""Orders whose entries are compared at a time."""


def prove_pattern(listed: ListedTable, earlier: Seen) -> Outcome:
    """Prove the distances of a pattern, and the table's rows if it has any."""
    recipe = listed.definition.recipe
    assert isinstance(recipe, PatternDistances)
    proof = Placements(listed, recipe)
    proof.prove()
    if listed.definition.columns:
        proof.prove_rows()
    listed.note_missing_proofs(("cells", "distance"), ("distance",))
    return listed.make_outcome(Grade.PROVED, HOW_OF_ROWS if listed.definition.columns else HOW)


class Placements:
    """All placements of a pattern, with the fewest moves to each from a second search."""

    def __init__(self, listed: ListedTable, recipe: PatternDistances) -> None:
        self._listed = listed
        self._tiles = recipe.pattern.tiles
        height, width = recipe.pattern.height, recipe.pattern.width
        cells, count = height * width, len(self._tiles)
        self._masks = list_masks(cells, count)
        with listed.begin_claim("a second search reaches every placement", index=True) as check:
            self._places, self._depth = search_placements(
                height, width, self._tiles, lambda: check.report_progress(0)
            )
            unreached = sum(int((part == UNKNOWN).sum()) for part in self._iter_least())
            check.require_equal("placements out of reach", unreached, 0)

    def _iter_least(self) -> Iterator[Array]:
        """Iterate over the least depths of the placements by rank, some orders at a time."""
        orders = len(self._depth)
        for first in range(0, orders, CHUNK_ORDERS):
            end = min(orders, first + CHUNK_ORDERS)
            least = np.empty((end - first, len(self._masks)), dtype=np.uint8)
            find_least(self._depth, self._places.sets, first, end, least)
            yield least.ravel()

    def prove(self) -> None:
        """Prove every record: no entry is too high, and none too low."""
        listed = self._listed
        text = "every entry is the fewest moves of the tiles over all places of the blank"
        with listed.begin_claim(text, index=True) as check:
            size = len(self._depth) * len(self._masks)
            check.require_equal("records", listed.index.records, size)
            parts, least, used = self._iter_least(), np.empty(0, np.uint8), 0
            for begin, records in iter_records(listed, check):
                distances = records["distance"]
                while len(least) - used < len(distances):
                    least, used = np.concatenate([least[used:], next(parts)]), 0
                expected = least[used : used + len(distances)]
                used += len(distances)
                for at in np.flatnonzero(distances != expected)[:1].tolist():
                    content_of = {"cells": self._format_cells(begin + at)}
                    check.refute(int(distances[at]), int(expected[at]), begin + at, content_of)
                check.report_progress(begin + len(distances))

    def prove_rows(self) -> None:
        """Prove that the rows are the placements in the order of their ranks."""
        with self._listed.begin_claim("every row is its rank's cells and distance") as check:
            check.require_equal("rows", self._listed.entry.rows, self._listed.index.records)
            least, texts = self._iter_least(), self._iter_cells()
            distances, cells = np.empty(0, np.uint8), np.empty(0, f"S{len(self._tiles)}")
            for rows, _ in decode_rows(self._listed, len):
                count = len(rows)
                while len(distances) < count:
                    distances = np.concatenate([distances, next(least)])
                while len(cells) < count:
                    cells = np.concatenate([cells, next(texts)])
                expected = pa.array(distances[:count].astype(np.int8))
                rows.require_column(check, "cells", pa.array(cells[:count].astype(str)))
                rows.require_column(check, "distance", expected)
                distances, cells = distances[count:], cells[count:]
                check.report_progress(rows.begin + count)

    def _iter_cells(self) -> Iterator[Array]:
        """Iterate over the cells of the placements by rank as text, some orders at a time."""
        sets, count = len(self._masks), len(self._tiles)
        firsts = [self._format_cells(at) for at in range(sets)]
        marks = np.array(firsts, dtype=f"S{count}").view(np.uint8).reshape(sets, count)
        for order in permutations(range(count)):
            texts = np.empty_like(marks)
            texts[:, order] = marks
            yield texts.view(f"S{count}").ravel()

    def _format_cells(self, rank: int) -> str:
        """Return the cells of a placement's tiles, a character each."""
        order, at = divmod(rank, len(self._masks))
        mask = self._masks[at]
        free = list(range(len(self._tiles)))
        cells = [""] * len(free)
        for cell in (cell for cell in range(mask.bit_length()) if mask >> cell & 1):
            following = 1
            for factor in range(1, len(free)):
                following *= factor
            number, order = divmod(order, following)
            cells[free.pop(number)] = f"{cell:x}"
        return "".join(cells)
