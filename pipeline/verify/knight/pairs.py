"""One tour for every ordered pair of squares that a tour can join."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from pipeline.verify.claims import Array, Said, Seen
from pipeline.verify.knight.tours import Part, Paths
from pipeline.verify.listed import Listed, check_records


def prove_pairs(listed: Listed, seen: Seen) -> None:
    """Prove a table that has one tour a pair, and its index."""
    text = "there is one tour for every ordered pair of squares whose colours allow it, in order"
    paths = Paths(listed, text)
    board = paths.board
    pairs = [pair for pair in permutations(range(board.squares), 2) if board.can_join(*pair)]
    paths.order.same(listed.entry["rows"], len(pairs), "{:,} rows")
    squares = [np.zeros((0, board.squares), dtype=np.uint8)]
    for part in paths.parts():
        wanted = np.array(pairs[part.rows.begin :][: len(part.rows)])
        _check_ends(paths, part, wanted)
        squares.append(part.squares)
    text = "each record holds the squares of its row's path"
    check_records(listed, text, {"squares": np.concatenate(squares)})


def _check_ends(paths: Paths, part: Part, wanted: Array) -> None:
    have, names = part.squares[:, [0, -1]], paths.geometry.names

    def said(row: int) -> Said:
        found, expected = (f"{names[a]} to {names[b]}" for a, b in (have[row], wanted[row]))
        return found, expected

    part.rows.none(paths.order, (have != wanted).any(axis=1), said)
