"""Tables of knight's tours: every path walked again, square by square, a row group at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.verify.claims import Array, Fact, Rows, first, workers
from pipeline.verify.knight.boards import NO_SQUARE, Geometry
from pipeline.verify.knight.recount import COUNTED_AGAIN, recounted
from pipeline.verify.published import (
    CONTENT,
    Published,
    check_group,
    check_records,
    check_schema,
    decoding,
    one_batch,
)
from pipeline.verify.references import known_closed, known_starts, known_total
from tablebase.puzzle import AllTours, TourPerPair
from tablebase.puzzles.knight import Board
from tablebase.tables.content import ContentHash


@dataclass(slots=True)
class Claims:
    """What is claimed of the paths of one table, all proved in one pass."""

    content: Fact
    walked: Fact
    columns: Fact
    order: Fact

    def all(self) -> list[Fact]:
        return [self.content, self.walked, self.columns, self.order]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row group is."""

    file: str
    footer: pq.FileMetaData
    group: int
    begin: int
    """Number of its first row in the table."""
    opens: bool
    """Whether it is its file's first: numbers begin anew there."""


@dataclass(slots=True)
class Part:
    """One row group, every row of it proved but for what joins it to the group before."""

    rows: Rows
    batch: pa.RecordBatch
    opens: bool
    squares: npt.NDArray[np.uint8]
    """One row a tour, its squares in turn."""
    pairs: npt.NDArray[np.int64]
    """Number of tours by start * squares + end."""
    first: tuple[int, int]
    last: tuple[int, int]
    """Start and number of the first row and of the last."""


class Counted:
    """How many tours a table was seen to have, by start and end."""

    def __init__(self, geometry: Geometry) -> None:
        squares = geometry.board.squares
        self.pairs = np.zeros((squares, squares), dtype=np.int64)
        self._geometry = geometry

    @property
    def by_start(self) -> list[int]:
        return [int(count) for count in self.pairs.sum(axis=1)]

    @property
    def closed_by_start(self) -> list[int]:
        squares = np.arange(len(self.pairs))
        closing = self._geometry.joined(squares[:, None], squares[None, :])
        return [int(count) for count in (self.pairs * closing).sum(axis=1)]


def prove_tours(listed: Published) -> Counted:
    """Prove a table of tours; returns how many there are by start and end."""
    recipe = listed.known.recipe
    assert isinstance(recipe, (AllTours, TourPerPair))
    geometry = Geometry(Board(recipe.files, recipe.ranks))
    footers = check_schema(listed)
    proof, rows = listed.claims(), listed.entry["rows"]
    every_pair = isinstance(recipe, TourPerPair)
    claims = Claims(
        proof.claim(CONTENT, rows),
        proof.claim("every path is a tour: it visits each square once, by knight's jumps", rows),
        proof.claim("board, start, finish, closed and number match the path", rows),
        proof.claim(
            "there is one tour for every ordered pair of squares whose colours allow it, in order"
            if every_pair
            else "the paths strictly ascend in their square numbers: no tour appears twice",
            rows,
        ),
    )
    counted = Counted(geometry)
    content = ContentHash(listed.known.columns)
    before: Part | None = None
    done = 0
    squares = []
    for part in _parts(listed, footers, geometry, claims, ascending=not every_pair):
        content.update(part.batch)
        _check_border(claims, geometry, before, part, ascending=not every_pair)
        counted.pairs += part.pairs.reshape(counted.pairs.shape)
        done += len(part.rows)
        claims.walked.step(done)
        if every_pair:
            squares.append(part.squares)
        before = part
    claims.content.same(f"{done:,} rows", f"{rows:,} rows")
    said = f"content hash {listed.entry['content']}"
    claims.content.same(f"content hash {content.hexdigest()}", said)
    if every_pair:
        tours = np.concatenate(squares) if squares else np.zeros((0, len(geometry.names)), np.uint8)
        _check_pairs(listed, claims.order, geometry, tours)
    for fact in claims.all():
        fact.proved()
    if every_pair:
        check_records(listed, "each record holds the squares of its row's path", {"squares": tours})
    else:
        _check_symmetry(listed, geometry.board, counted)
        _check_recount(listed, geometry.board, counted)
        _check_totals(listed, geometry.board, counted)
    return counted


def _parts(
    listed: Published,
    footers: list[pq.FileMetaData],
    geometry: Geometry,
    claims: Claims,
    *,
    ascending: bool,
) -> Iterator[Part]:
    """Every row group proved by itself, in order; as many at once as there are processors."""
    waiting: deque[Future[Part]] = deque()
    groups = [
        (file, said["first"], footer, group)
        for (file, said), footer in zip(listed.files, footers, strict=True)
        for group in range(footer.num_row_groups)
        if footer.row_group(group).num_rows
    ]
    begin = 0
    with ThreadPoolExecutor(workers()) as pool:
        try:
            for file, first_row, footer, group in groups:
                place = Place(file, footer, group, begin, begin == first_row)
                waiting.append(pool.submit(_part, listed, place, geometry, claims, ascending))
                begin += footer.row_group(group).num_rows
                if len(waiting) > workers():
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _part(
    listed: Published, place: Place, geometry: Geometry, claims: Claims, ascending: bool
) -> Part:
    content = claims.content.of(place.file)
    source = listed.store.source(place.file)
    with decoding(content), pq.ParquetFile(source, metadata=place.footer) as file:
        batch = one_batch(content, file.read_row_group(place.group, use_threads=False))
        check_group(content, listed.known, place.footer.row_group(place.group), batch)
    rows = Rows(batch, place.begin)
    squares = _walk(rows, geometry, claims.walked)
    start, end, number = _check_columns(rows, geometry, squares, claims.columns)
    if ascending:
        row = first(~_ascends(squares))
        if row is not None:
            rows.refute(claims.order, row + 1, "another path", f"one after {_path(rows, row)}")
    key = start.astype(np.int64) * len(geometry.names) + end
    return Part(
        rows,
        batch,
        place.opens,
        squares,
        np.bincount(key, minlength=len(geometry.names) ** 2),
        (int(start[0]), int(number[0])),
        (int(start[-1]), int(number[-1])),
    )


def _path(rows: Rows, row: int) -> str:
    return str(rows.column("path")[row])


def _walk(rows: Rows, geometry: Geometry, fact: Fact) -> npt.NDArray[np.uint8]:
    """Walk every path: its squares as numbers, a row a path."""
    count = len(geometry.names)
    text, other_length = rows.text("path", 2 * count)
    row = first(other_length)
    if row is not None:
        rows.refute(fact, row, f"{len(_path(rows, row))} characters", f"{2 * count} characters")
    pairs = text.view("<u2")
    squares = np.empty((len(rows), count), dtype=np.uint8)
    visited = np.zeros(len(rows), dtype=np.uint64)
    jumps = np.ones(len(rows), dtype=np.bool_)
    reach = np.full(len(rows), geometry.all_squares)
    for step in range(count):
        here = geometry.written[pairs[:, step]]
        bit = geometry.bits[here]
        visited |= bit
        # a name that is no square has no bit, so that the path never visits all
        jumps &= reach & bit != 0
        reach = geometry.near[here]
        squares[:, step] = here
    row = first((visited != geometry.all_squares) | ~jumps)
    if row is not None:
        rows.refute(fact, row, _path(rows, row), "a tour")
    return squares


def _check_columns(
    rows: Rows, geometry: Geometry, squares: npt.NDArray[np.uint8], fact: Fact
) -> tuple[Array, Array, Array]:
    start, end = squares[:, 0], squares[:, -1]
    row = first(~pc.equal(rows.column("board"), str(geometry.board)).to_numpy(zero_copy_only=False))
    if row is not None:
        rows.refute(fact, row, f"board {rows.column('board')[row]}", str(geometry.board))
    for name, expected in (("start", start), ("finish", end)):
        column = rows.column(name)
        square_of = {text: square for square, text in enumerate(geometry.names)}
        named = np.array(
            [square_of.get(text, NO_SQUARE) for text in column.dictionary.to_pylist()], np.uint8
        )
        row = first(named[column.indices.to_numpy()] != expected)
        if row is not None:
            found = f"{name} {column[row]}"
            rows.refute(fact, row, found, geometry.names[expected[row]])
    fact.equal(rows, rows.numbers("closed"), geometry.joined(start, end), "closed")
    number = rows.numbers("number").astype(np.int64)
    following = np.where(np.diff(start) == 0, number[:-1] + 1, 0)
    row = first(number[1:] != following)
    if row is not None:
        rows.refute(fact, row + 1, f"number {number[row + 1]}", str(following[row]))
    return start, end, number


def _ascends(squares: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
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


def _check_border(
    claims: Claims, geometry: Geometry, before: Part | None, part: Part, *, ascending: bool
) -> None:
    """What joins a row group to the one before it."""
    start, number = part.first
    expected = 0
    if before is not None:
        last_start, last_number = before.last
        expected = last_number + 1 if last_start == start and not part.opens else 0
        border = np.stack([before.squares[-1], part.squares[0]])
        if ascending and not _ascends(border)[0]:
            path = _path(before.rows, len(before.rows) - 1)
            part.rows.refute(claims.order, 0, "another path", f"one after {path}")
    if number != expected:
        part.rows.refute(claims.columns, 0, f"number {number}", str(expected))


def _check_pairs(
    listed: Published, fact: Fact, geometry: Geometry, tours: npt.NDArray[np.uint8]
) -> None:
    board = geometry.board
    wanted = [
        (start, end)
        for start in range(board.squares)
        for end in range(board.squares)
        if start != end and board.can_join(start, end)
    ]
    have = tours[:, [0, -1]]
    fact.same(f"{len(have):,} rows", f"{len(wanted):,} rows")
    row = first((have != np.array(wanted, dtype=np.uint8).reshape(-1, 2)).any(axis=1))
    if row is not None:
        pairs = (
            " to ".join(geometry.names[at] for at in pair) for pair in (have[row], wanted[row])
        )
        rows = pa.concat_tables(
            [pq.read_table(listed.store.source(file)) for file, _ in listed.files]
        )
        content = rows.slice(row, 1).to_pylist()[0]
        fact.refuted(next(pairs), next(pairs), row, content)


def _check_symmetry(listed: Published, board: Board, counted: Counted) -> None:
    text = "equally many tours lead from a square to another and back, and between mirrored squares"
    with listed.claims().claim(text, listed.entry["rows"]) as fact:
        turned = np.array([board.turned(square) for square in range(board.squares)]).T
        images = [("back", counted.pairs.T)]
        images += [("mirrored", counted.pairs[np.ix_(image, image)]) for image in turned]
        for how, image in images:
            wrong = np.argwhere(counted.pairs != image)
            if len(wrong):
                start, end = wrong[0]
                pair = f"{board.name(start)} to {board.name(end)}"
                found = f"{counted.pairs[start, end]:,} from {pair}"
                fact.refuted(found, f"{image[start, end]:,}, as {how}")


def _check_recount(listed: Published, board: Board, counted: Counted) -> None:
    """As many as there are, and no tour twice: so none is missing."""
    text = f"no tour is missing: from every square {COUNTED_AGAIN}"
    with listed.claims().claim(text, listed.entry["rows"]) as fact:
        found = zip(counted.by_start, counted.closed_by_start, strict=True)
        for square, (have, want) in enumerate(zip(found, recounted(board), strict=True)):
            said = "{:,} tours, {:,} closed, from " + board.name(square)
            fact.same(said.format(*have), said.format(*want))


def _check_totals(listed: Published, board: Board, counted: Counted) -> None:
    """Hold the number of tours against what others have published."""
    total, closed, starts = known_total(board), known_closed(board), known_starts(board)
    proof, rows = listed.claims(), listed.entry["rows"]
    if total:
        count, source = total
        text = f"{board} has {count:,} directed tours ({source})"
        with proof.claim(text, rows) as fact:
            fact.same(f"{sum(counted.by_start):,} tours", f"{count:,} tours")
    if closed:
        count, source = closed
        text = f"{count:,} directed closed tours of {board} start at every square ({source})"
        with proof.claim(text, rows) as fact:
            for square, found in enumerate(counted.closed_by_start):
                name = board.name(square)
                fact.same(f"{found:,} from {name}", f"{count:,} from {name}")
    if starts:
        counts, source = starts
        text = f"the numbers of tours from each square match published numbers ({source})"
        with proof.claim(text, rows) as fact:
            for square, found in enumerate(counted.by_start):
                name = board.name(square)
                fact.same(f"{found:,} from {name}", f"{counts[square]:,} from {name}")
