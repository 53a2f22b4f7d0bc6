"""Senet's smallest lines written out as the table has them, and what is wrong with any other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.verify.claims import Said
from pipeline.verify.lines import Lines
from pipeline.verify.senet.positions import Positions
from tablebase.puzzles.senet import OPENING, SIDES, move_text, moves

LABELS = range(128)
"""A throw and a starting square in one number, the throw in the high four bits."""
DICE = pa.array([str(label >> 4) for label in LABELS])
MOVES = pa.array([f"{m & 15}{sign}{(m & 15) + (m >> 4)}" for sign in "-x" for m in LABELS])


def other_lines(
    positions: Positions, lines: Lines, found: Sequence[pa.Array]
) -> dict[int, tuple[str, str]]:
    """The rows that a line leads to whose dice or moves are not the smallest's, each with those."""
    size = len(positions.numbers)
    place, reached = np.zeros(2 * size, dtype=np.int32), np.zeros(size, dtype=np.bool_)
    texts, before = [pa.array([""]), pa.array([""])], lines.layers[0]
    wrong: dict[int, tuple[str, str]] = {}
    for ply, nodes in enumerate(lines.layers):
        if ply:
            place[before] = np.arange(len(before))
            parents, label = lines.parent[nodes], lines.last[nodes].astype(np.int64)
            goal = (label >> 4) + (label & 15) - 1
            swaps = positions.sets[ply % 2][parents % size] >> goal & 1
            steps = (
                (DICE.take(label), ""),
                (MOVES.take(label + len(LABELS) * swaps), " "[: ply - 1]),
            )
            texts = [
                pc.binary_join_element_wise(text.take(place[parents]), step, gap)
                for text, (step, gap) in zip(texts, steps, strict=True)
            ]
        # a position's fewest plies are those of the first layer that it stands in
        new = np.flatnonzero(~reached[nodes % size])
        rows = nodes[new] % size
        reached[rows] = True
        for text, column in zip(texts, found, strict=True):
            for at in np.flatnonzero(pc.not_equal(text.take(new), column.take(rows))):
                dice, moves = (str(text[new[at]]) for text in texts)
                wrong[int(rows[at])] = dice, moves
        before = nodes
    return wrong


def fault(texts: Sequence[str], plies: int) -> Said | None:
    """What is wrong with dice and moves that should lead to a position in so many plies, if any."""
    position, dice, line = texts
    steps = line.split(" ") if line else []
    for name, count in (("throws", len(dice)), ("moves", len(steps))):
        if count != plies:
            return f"{count} {name}", f"{plies} {name}"
    here = OPENING
    for ply, step in enumerate(zip(dice, steps, strict=True)):
        legal = {
            (str(throw), move_text(here, throw, start)): after
            for throw, start, after in moves(here, SIDES[ply % 2])
        }
        if step not in legal:
            return f"ply {ply + 1} that is no legal move", "a legal move"
        here = legal[step]
    return None if here == position else ("another position at the line's end", "the row's own")
