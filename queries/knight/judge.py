"""The judge of knight's tours: squares, or the numbers of jumps from a square."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from queries.check.judge import Judge, write_text
from queries.check.reading import SEPARATORS, Reading, read_marks, read_words
from queries.judgement import Judgement, make_illegal, make_unreadable
from queries.knight.ranked_tours import RankedTours
from tablebase.errors import BadRequest, NoAnswer, TableMissing
from tablebase.puzzles.knight.board import FILES, JUMPS

NUMBERS = "12345678"
MAX_RANK = (1 << 63) - 1
"""The highest rank that a column can hold."""


class KnightJudge(Judge):
    """A judge of tours from a square."""

    reader: Any  # a KnightReader, which imports this module
    columns = ("result", "length", "step", "problem", "score", "rank")

    def __init__(self, lookup: Any, answer_column: str = "answer") -> None:
        super().__init__(lookup, answer_column)
        self._ranked: dict[bool, RankedTours | None] = {}

    def check(self, key: str, answer: object) -> Judgement:
        board = self.lookup.board
        start, text = board.parse_square(key), write_text(answer)
        has_jumps = text.lstrip(SEPARATORS)[:1] in {*NUMBERS}
        if has_jumps:
            reading = read_marks(text, NUMBERS, "one of the jumps 1-8")
        else:
            reading = read_words(text, "[a-zA-Z][1-9]", "a square such as b1")
        length = max(0, len(reading.moves) - (not has_jumps))
        if reading.problem:
            return make_unreadable(max(1, length + 1), reading.problem)
        squares = [start]
        for step, (move, file, rank) in enumerate(self._iter_places(squares, reading, has_jumps)):
            square = file + board.files * rank
            problem = ""
            if not step:
                if (rank, file) != divmod(start, board.files):
                    return make_illegal(length, 0, f"it begins on {move}")
                continue
            if not (0 <= file < board.files and 0 <= rank < board.ranks):
                problem = "it leaves the board"
            elif not board.is_jump(squares[-1], square):
                problem = f"no jump leads there from {board.name_square(squares[-1])}"
            elif square in squares:
                problem = f"{board.name_square(square)} was visited before"
            if problem:
                return make_illegal(length, step, f"{move}: {problem}")
            squares.append(square)
        return self._judge_end(squares)

    def _iter_places(
        self, squares: list[int], reading: Reading, has_jumps: bool
    ) -> Iterator[tuple[str, int, int]]:
        """Yield the start and each move with the file and rank that it leads to, from 0.

        `squares` are those visited so far; the caller adds to them.
        """
        files = self.lookup.board.files
        if has_jumps or not reading.moves:
            yield "", squares[0] % files, squares[0] // files
        for move in reading.moves:
            if has_jumps:
                right, down = JUMPS[int(move) - 1]
                yield move, squares[-1] % files + right, squares[-1] // files - down
            else:
                yield move.lower(), FILES.index(move[0].lower()), int(move[1]) - 1

    def _judge_end(self, squares: list[int]) -> Judgement:
        """Judge legal jumps by the squares that they visit."""
        board, length = self.lookup.board, len(squares) - 1
        if len(squares) < board.squares:
            return Judgement(result="incomplete", length=length, score=0.0)
        is_closed = board.is_jump(squares[-1], squares[0])
        return Judgement(
            result="closed tour" if is_closed else "tour",
            length=length,
            score=1.0,
            rank=self._find_rank(squares, is_closed),
        )

    def _find_rank(self, squares: list[int], is_closed: bool) -> int | None:
        """Find a closed tour's rank among closed ones, or that of another; None without a table."""
        if is_closed not in self._ranked:
            try:
                ranked = self.reader.open_ranked_tours(self.lookup.board, closed=is_closed)
            except (TableMissing, NoAnswer, BadRequest):
                ranked = None
            self._ranked[is_closed] = ranked
        tours = self._ranked[is_closed]
        rank = None if tours is None else tours.rank(squares)
        return rank if rank is None or rank <= MAX_RANK else None
