"""The table of how many tours begin where: held against the tables that list them, and more."""

from __future__ import annotations

from pipeline.verify.claims import Fact, Rows
from pipeline.verify.knight.recount import COUNTED_AGAIN, recounted
from pipeline.verify.knight.tours import Counted
from pipeline.verify.published import Published, read_rows
from pipeline.verify.references import known_closed, known_total
from tablebase.puzzles.knight import Board, TourCounts


class CountsTable:
    """The table under proof, and the number of tours that other tables were seen to list."""

    def __init__(self, listed: Published, rows: Rows) -> None:
        recipe = listed.known.recipe
        assert isinstance(recipe, TourCounts)
        self._proof = listed.claims()
        self._rows = rows
        self._boards = [Board(*sides) for sides in recipe.boards]
        # the first row of each board
        self._begin: dict[str, int] = {}
        self._tours = [int(count) for count in rows.numbers("tours")]
        self._closed = [int(count) for count in rows.numbers("closed")]

    def prove(self, listing: dict[str, Counted]) -> None:
        self._squares()
        self._symmetry()
        self._listed(listing)
        self._published()
        self._counted_again(listing)

    def _squares(self) -> None:
        text = f"there is one row for every square of {len(self._boards)} boards, in order"
        with self._proof.claim(text, len(self._rows)) as fact:
            squares: list[tuple[object, ...]] = []
            for board in self._boards:
                self._begin[str(board)] = len(squares)
                sides = str(board), board.files, board.ranks
                squares += [(*sides, board.name(square)) for square in range(board.squares)]
            named = ("board", "files", "ranks", "start")
            columns = (self._rows.column(name).to_pylist() for name in named)
            for row, (have, want) in enumerate(
                zip(zip(*columns, strict=True), squares, strict=False)
            ):
                if have != want:
                    self._rows.refute(fact, row, _words(have), _words(want))
            fact.same(f"{len(self._rows)} rows", f"{len(squares)} rows")

    def _check(
        self, fact: Fact, board: Board, square: int, tours: int | None, closed: int | None
    ) -> None:
        """Refute a claim unless a square has so many tours; None: anything is right."""
        row = self._begin[str(board)] + square
        for name, column, expected in (
            ("tours", self._tours, tours),
            ("closed", self._closed, closed),
        ):
            if expected is not None and column[row] != expected:
                self._rows.refute(fact, row, f"{name} {column[row]}", str(expected))

    def _symmetry(self) -> None:
        text = (
            "mirrored squares have equally many tours, also on the board turned sideways; all "
            "squares of a board have equally many closed tours, which visit them all"
        )
        with self._proof.claim(text, len(self._rows)) as fact:
            for board in self._boards:
                begin = self._begin[str(board)]
                lying = self._begin.get(str(Board(board.ranks, board.files)), begin)
                for square in range(board.squares):
                    least = begin + min(board.turned(square))
                    self._check(fact, board, square, self._tours[least], self._closed[begin])
                    if lying != begin:
                        rank, file = divmod(square, board.files)
                        row = lying + rank + board.ranks * file
                        self._check(fact, board, square, self._tours[row], self._closed[row])

    def _listed(self, listing: dict[str, Counted]) -> None:
        """The boards whose tours are all listed in tables of their own."""
        boards = [board for board in self._boards if str(board) in listing]
        if not boards:
            return
        named = ", ".join(map(str, boards))
        text = f"on {named}: the tours and closed tours are as many as in the board's own table"
        with self._proof.claim(text, sum(board.squares for board in boards)) as fact:
            for board in boards:
                counted = listing[str(board)]
                each = zip(counted.by_start, counted.closed_by_start, strict=True)
                for square, (tours, closed) in enumerate(each):
                    self._check(fact, board, square, tours, closed)

    def _published(self) -> None:
        known = [(board, total) for board in self._boards if (total := known_total(board))]
        text = f"the totals of {len(known)} boards match published totals ({_sources(known)})"
        with self._proof.claim(text, sum(board.squares for board, _ in known)) as fact:
            for board, (published, _) in known:
                begin = self._begin[str(board)]
                tours = sum(self._tours[begin : begin + board.squares])
                fact.same(f"{board}: {tours:,} tours", f"{board}: {published:,} tours")
        known = [(board, closed) for board in self._boards if (closed := known_closed(board))]
        text = f"the closed tours of {len(known)} boards match published totals ({_sources(known)})"
        with self._proof.claim(text, sum(board.squares for board, _ in known)) as fact:
            for board, (published, _) in known:
                for square in range(board.squares):
                    self._check(fact, board, square, None, published)

    def _counted_again(self, listing: dict[str, Counted]) -> None:
        """The boards whose tours no table lists: those of the others were counted as listed."""
        sides = {(board.files, board.ranks) for board in self._boards}
        boards = [
            board
            for board in self._boards
            if str(board) not in listing
            # else the same board on its side is counted, and proved to have the same counts
            and (board.files <= board.ranks or (board.ranks, board.files) not in sides)
        ]
        text = f"on {len(boards)} boards that no table lists: {COUNTED_AGAIN}"
        with self._proof.claim(text, sum(board.squares for board in boards)) as fact:
            for board in boards:
                for square, tours in enumerate(recounted(board)):
                    self._check(fact, board, square, *tours)


def _words(row: tuple[object, ...]) -> str:
    return " ".join(map(str, row))


def _sources(known: list[tuple[Board, tuple[int, str]]]) -> str:
    return "; ".join(sorted({source for _, (_, source) in known}))


def prove_counts(listed: Published, listing: dict[str, Counted]) -> None:
    """Prove the table of counts, given what the tables of tours were seen to list."""
    CountsTable(listed, read_rows(listed)).prove(listing)
