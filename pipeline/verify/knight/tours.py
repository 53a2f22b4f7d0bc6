"""Tables of knight's tours: every path walked again, square by square, a row group at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.verify.claims import Array, Rows
from pipeline.verify.knight.boards import NO_SQUARE, Geometry
from pipeline.verify.listed import CONTENT, Listed, check_content, check_schema, read_group
from pipeline.work import in_threads
from tablebase.puzzles.knight import AllTours, TourPerPair
from tablebase.tables.content import ContentHash


@dataclass(frozen=True, slots=True)
class Part:
    """One row group, every row of it proved but for what joins it to the group before."""

    rows: Rows
    batch: pa.RecordBatch
    opens: bool
    """Whether it is its file's first: numbers begin anew there."""
    squares: npt.NDArray[np.uint8]
    """One row a tour, its squares in turn."""
    numbers: npt.NDArray[np.int64]


class Counted:
    """How many tours a table was seen to have, by start and end."""

    def __init__(self, geometry: Geometry) -> None:
        self.board = geometry.board
        self.pairs = np.zeros((self.board.squares, self.board.squares), dtype=np.int64)
        squares = np.arange(self.board.squares)
        self._closing = geometry.joined(squares[:, None], squares[None, :])

    @property
    def by_start(self) -> list[int]:
        return [int(count) for count in self.pairs.sum(axis=1)]

    @property
    def closed_by_start(self) -> list[int]:
        return [int(count) for count in (self.pairs * self._closing).sum(axis=1)]


class Paths:
    """One pass over all paths of a table, which proves four claims; who takes its parts proves the
    fourth, how they are ordered.
    """

    def __init__(self, listed: Listed, order: str) -> None:
        recipe = listed.known.recipe
        assert isinstance(recipe, (AllTours, TourPerPair))
        self.board = recipe.board
        self.geometry = Geometry(self.board)
        self.counted = Counted(self.geometry)
        self._listed = listed
        self._footers = check_schema(listed)
        proof = listed.claims()
        self._content = proof.claim(CONTENT)
        self._walked = proof.claim(
            "every path is a tour: it visits each square once, by knight's jumps"
        )
        self._columns = proof.claim("board, start, finish, closed and number match the path")
        self.order = proof.claim(order)

    def parts(self) -> Iterator[Part]:
        """Every row group in order; after the last the claims are proved."""
        listed, content = self._listed, ContentHash(self._listed.known.columns)
        before: Part | None = None
        done = 0
        for part in self._row_groups():
            content.update(part.batch)
            start, end = part.squares[:, 0], part.squares[:, -1]
            expected = 0
            if before and not part.opens and before.squares[-1, 0] == start[0]:
                expected = int(before.numbers[-1]) + 1
            part.rows.equal(self._columns, "number", part.numbers[:1], np.array([expected]))
            np.add.at(self.counted.pairs, (start, end), 1)
            yield part
            done += len(part.rows)
            self._walked.step(done)
            before = part
        check_content(self._content, listed, done, content)
        for fact in (self._content, self._walked, self._columns, self.order):
            fact.proved()

    def _row_groups(self) -> Iterator[Part]:
        """Each proved by itself; as many at once as there are processors."""
        begin, groups = 0, []
        for (file, said), footer in zip(self._listed.files, self._footers, strict=True):
            for group in range(footer.num_row_groups):
                size = footer.row_group(group).num_rows
                if size:
                    groups.append((file, footer, group, begin, begin == said["first"]))
                    begin += size
        yield from in_threads(self._part, groups)

    def _part(
        self, file: str, footer: pq.FileMetaData, number: int, begin: int, opens: bool
    ) -> Part:
        batch = read_group(self._content, self._listed, file, footer, number)
        rows = Rows(batch, begin)
        squares = self._walk(rows)
        numbers = self._check_columns(rows, squares[:, 0], squares[:, -1])
        return Part(rows, batch, opens, squares, numbers)

    def _walk(self, rows: Rows) -> npt.NDArray[np.uint8]:
        """Walk every path: its squares as numbers, a row a path."""
        geometry, count, path = self.geometry, self.board.squares, rows.column("path")
        text, other = rows.text("path", 2 * count)
        length = f"{2 * count} characters"
        rows.none(self._walked, other, lambda row: (f"{len(str(path[row]))} characters", length))
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
        wrong = (visited != geometry.all_squares) | ~jumps
        rows.none(self._walked, wrong, lambda row: (path[row], "a tour"))
        return squares

    def _check_columns(self, rows: Rows, start: Array, end: Array) -> npt.NDArray[np.int64]:
        """Hold the columns beside the path against it; the tours' numbers."""
        fact, board = self._columns, rows.column("board")
        same = pc.equal(board, str(self.board)).to_numpy(zero_copy_only=False)
        rows.none(fact, ~same, lambda row: (f"board {board[row]}", str(self.board)))
        self._check_square(rows, "start", start)
        self._check_square(rows, "finish", end)
        rows.equal(fact, "closed", rows.numbers("closed"), self.geometry.joined(start, end))
        number = rows.numbers("number").astype(np.int64)
        following = np.where(np.diff(start) == 0, number[:-1] + 1, 0)
        rows.equal(fact, "number", number, np.concatenate([number[:1], following]))
        return number

    def _check_square(self, rows: Rows, name: str, expected: Array) -> None:
        names, column = self.geometry.names, rows.column(name)
        known = pc.index_in(column.dictionary, value_set=pa.array(names)).fill_null(NO_SQUARE)
        wrong = known.to_numpy()[column.indices.to_numpy()] != expected
        rows.none(self._columns, wrong, lambda row: (f"{name} {column[row]}", names[expected[row]]))
