"""Every tour of a board: in order, none twice, and as many as there are."""

from __future__ import annotations

import numpy as np

from pipeline.verify.claims import Array, Mask, Seen
from pipeline.verify.knight.recount import COUNTED_AGAIN, recounted
from pipeline.verify.knight.references import known_closed, known_starts, known_total
from pipeline.verify.knight.tours import Counted, Part, Paths
from pipeline.verify.listed import Listed


def prove_every_tour(listed: Listed, seen: Seen) -> Counted:
    """Prove a table of all tours; returns how many there are by start and end."""
    text = "the paths strictly ascend in their square numbers: no tour appears twice"
    paths = Paths(listed, text)
    before: Array = np.zeros((0, paths.board.squares), dtype=np.uint8)
    for part in paths.parts():
        _check_order(paths, before, part)
        before = part.squares[-1:]
    _check_symmetry(listed, paths.counted)
    _check_recount(listed, paths.counted)
    _check_totals(listed, paths.counted)
    return paths.counted


def _check_order(paths: Paths, before: Array, part: Part) -> None:
    """`before`: the last path of the row group before, if there is one."""
    squares = np.concatenate([before, part.squares])
    wrong = np.zeros(len(part.rows), dtype=np.bool_)
    wrong[1 - len(before) :] = ~ascends(squares)
    names = paths.geometry.names

    def said(row: int) -> tuple[str, str]:
        path = "".join(names[square] for square in squares[row + len(before) - 1])
        return "another path", f"one after {path}"

    part.rows.none(paths.order, wrong, said)


def ascends(squares: Array) -> Mask:
    """Whether each path but the last comes before the one after it."""
    rows, count = squares.shape
    # eight squares at a time as one number, the last ones first
    padded = np.zeros((rows, -count % 8 + count), dtype=np.uint8)
    padded[:, :count] = squares
    words = padded.view(">u8")
    before = np.zeros(max(rows - 1, 0), dtype=np.bool_)
    for column in reversed(range(words.shape[1])):
        word = words[:, column].astype(np.uint64)
        before = (word[:-1] < word[1:]) | ((word[:-1] == word[1:]) & before)
    return before


def _check_symmetry(listed: Listed, counted: Counted) -> None:
    text = "equally many tours lead from a square to another and back, and between mirrored squares"
    pairs, board = counted.pairs, counted.board
    with listed.claims().claim(text) as fact:
        turned = np.array([board.turned(square) for square in range(board.squares)]).T
        images = [("back", pairs.T), *(("mirrored", pairs[np.ix_(at, at)]) for at in turned)]
        for how, image in images:
            for start, end in np.argwhere(pairs != image)[:1]:
                found = f"{pairs[start, end]:,} from {board.name(start)} to {board.name(end)}"
                fact.refuted(found, f"{image[start, end]:,}, as {how}")


def _check_recount(listed: Listed, counted: Counted) -> None:
    """As many as there are, and no tour twice: so none is missing."""
    with listed.claims().claim(f"no tour is missing: from every square {COUNTED_AGAIN}") as fact:
        found = zip(counted.by_start, counted.closed_by_start, strict=True)
        again = recounted(counted.board)
        for name, have, want in zip(counted.board.names(), found, again, strict=True):
            fact.same(have, want, f"{{0[0]:,}} tours, {{0[1]:,}} closed, from {name}")


def _check_totals(listed: Listed, counted: Counted) -> None:
    """Hold the number of tours against what others have published."""
    board, starts = counted.board, [f"from {name}" for name in counted.board.names()]
    every = {"tours": sum(counted.by_start)}
    by_start, closed = (
        dict(zip(starts, of, strict=True)) for of in (counted.by_start, counted.closed_by_start)
    )
    for known, found, text in (
        (known_total(board), every, f"{board} has {{:,}} directed tours"),
        (
            known_closed(board),
            closed,
            f"{{:,}} directed closed tours of {board} start at every square",
        ),
        (
            known_starts(board),
            by_start,
            "the numbers of tours from each square match published numbers",
        ),
    ):
        if known:
            count, source = known
            with listed.claims().claim(f"{text.format(count)} ({source})") as fact:
                wanted = np.broadcast_to(count, len(found))
                for (of, have), want in zip(found.items(), wanted, strict=True):
                    fact.same(have, want, f"{{:,}} {of}")
