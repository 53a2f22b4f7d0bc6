"""The judge of knight's tours: squares, or the numbers of jumps from a square."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from queries.check.judge import SEPARATORS, IllegalMove, Judge, read
from queries.judgement import Judgement
from tablebase.errors import BadRequest, NoAnswer, TableMissing
from tablebase.puzzles.knight.board import FILES, JUMPS

MAX_RANK = (1 << 63) - 1
"""The highest rank that a column can hold."""


class KnightJudge(Judge):
    """A judge of tours from a square; the first square of an answer may be where it starts."""

    columns = ("result", "length", "step", "problem", "score", "rank")
    has_claims = False

    def parse(self, key: str) -> tuple[list[str], None, None]:
        board = self.lookup.board
        return [board.name_square(board.parse_square(key))], None, None

    def read_moves(self, text: str, start: list[str]) -> tuple[list[str], str]:
        if text.lstrip(SEPARATORS)[:1] in {*"12345678"}:
            return read(text, "[1-8]", "one of the jumps 1-8", stop=".")
        squares, problem = read(text, "[a-zA-Z][1-9]", "a square such as b1")
        squares = [square.lower() for square in squares]
        return squares[squares[:1] == start :], problem

    def follow(self, start: list[str], moves: list[str]) -> Iterator[list[str]]:
        board, squares = self.lookup.board, [*start]
        for move in moves:
            here = board.parse_square(squares[-1])
            if move.isdigit():
                right, down = JUMPS[int(move) - 1]
                file, rank = here % board.files + right, here // board.files - down
            else:
                file, rank = FILES.index(move[0]), int(move[1]) - 1
            square = file + rank * board.files
            if not (0 <= file < board.files and 0 <= rank < board.ranks):
                raise IllegalMove(f"{move}: it leaves the board")
            if not board.is_jump(here, square):
                raise IllegalMove(f"{move}: no jump leads there from {squares[-1]}")
            if board.name_square(square) in squares:
                raise IllegalMove(f"{move}: {board.name_square(square)} was visited before")
            squares.append(board.name_square(square))
            yield squares

    def complete(self, judged: Judgement, start: list[str], last: list[str]) -> Judgement:
        board, rank = self.lookup.board, None
        squares = [*map(board.parse_square, last)]
        if len(squares) < board.squares:
            return judged
        is_closed = board.is_jump(squares[-1], squares[0])
        with suppress(TableMissing, NoAnswer, BadRequest):  # there is no ranking
            rank = self.reader.open_ranked_tours(board, closed=is_closed).rank(squares)
        return Judgement(
            result="closed tour" if is_closed else "tour",
            length=judged.length,
            score=1.0,
            rank=None if rank is None or rank > MAX_RANK else rank,
        )
