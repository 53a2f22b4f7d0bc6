"""The knight's rules: jumps, colours, tours and symmetries of a board.

On a board of C files and R ranks, square number = file + C * rank from 0: a1 = 0, b1 = 1.
"""

from __future__ import annotations

from puzzle_tablebase.notation.knight import FILES, ChessBoard, parse_sides
from puzzle_tablebase.puzzles import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from puzzle_tablebase.notation.moves import Moves

JUMPS = ((-1, -2), (1, -2), (2, -1), (2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1))
"""The jumps 1-8 as (files, ranks downwards)."""


class KnightBoard(ChessBoard, Rules):
    """A board of so many files and ranks, with its jumps, colours, tours and symmetries.

    >>> board = KnightBoard(8, 8)
    >>> board.name_square(63), board.parse_square("b1"), board.find_jump(0, 17)
    ('h8', 1, 2)
    """

    __slots__ = ()

    def is_light(self, square: int) -> bool:
        """Return whether a square is light; a jump always changes the colour, and a1 is dark."""
        return (square % self.files + square // self.files) % 2 == 1

    def list_neighbours(self, square: int) -> list[int]:
        """List the squares that are one jump away, ascending."""
        rank, file = divmod(square, self.files)
        return sorted(
            file + right + self.files * (rank - down)
            for right, down in JUMPS
            if 0 <= file + right < self.files and 0 <= rank - down < self.ranks
        )

    def list_later_neighbours(self) -> list[list[int]]:
        """List for each square its neighbours with higher numbers."""
        squares = range(self.squares)
        return [[to for to in self.list_neighbours(at) if to > at] for at in squares]

    def is_tour(self, squares: list[int]) -> bool:
        """Return whether squares are a tour: each once, and one jump from the square before."""
        is_complete = sorted(squares) == list(range(self.squares))
        return is_complete and all(map(self.is_jump, squares, squares[1:]))

    def is_jump(self, start: int, goal: int) -> bool:
        """Return whether the knight can jump from one square to the other."""
        ranks = start // self.files - goal // self.files
        files = start % self.files - goal % self.files
        return abs(ranks * files) == 2

    def find_jump(self, start: int, goal: int) -> int:
        """Return the jump, 1 to 8, between two squares; raise ValueError if there is none."""
        down = start // self.files - goal // self.files
        return 1 + JUMPS.index((goal % self.files - start % self.files, down))

    def read_moves(self, text: str, start: list[int]) -> Moves:
        """Read jumps or squares; the first square may be the start of the tour."""
        from puzzle_tablebase.notation.moves import SEPARATORS, read_marks, read_moves

        if text.lstrip(SEPARATORS)[:1] in {*"12345678"}:
            return read_marks(text, "12345678", "jumps, 1 to 8")

        def find_end(text: str, at: int) -> int:
            is_file = text[at].isascii() and text[at].isalpha()
            return at + 2 if is_file and text[at + 1 : at + 2] in {*"123456789"} else at

        squares, problem = read_moves(text, find_end, "squares such as b1")
        squares = [square.lower() for square in squares]
        has_start = squares[:1] == [self.name_square(start[0])]
        return squares[has_start:], problem

    def step(self, here: list[int], move: str, number: int) -> tuple[list[int], str]:
        """Jump from the last of the visited squares: `move` is a jump, or a square."""
        last = here[-1]
        rank, file = divmod(last, self.files)
        if move.isdigit():
            right, down = JUMPS[int(move) - 1]
            file, rank = file + right, rank - down
        else:
            file, rank = FILES.index(move[0]), int(move[1]) - 1
        square, problem = file + rank * self.files, ""
        if not (0 <= file < self.files and 0 <= rank < self.ranks):
            problem = "it leaves the board"
        elif not self.is_jump(last, square):
            problem = f"no jump leads there from {self.name_square(last)}"
        elif square in here:
            problem = f"{self.name_square(square)} was visited before"
        return [*here, square], problem

    def can_join(self, start: int, end: int) -> bool:
        """Return whether the alternating colours allow a tour between two squares."""
        return (self.is_light(start) == self.is_light(end)) == (self.squares % 2 == 1)

    def list_ends(self) -> list[int]:
        """List the squares where a tour can end: on an odd number of squares, those of a1's colour.

        >>> KnightBoard(3, 3).list_ends()
        [0, 2, 4, 6, 8]
        """
        return [at for at in range(self.squares) if not (self.squares % 2 and self.is_light(at))]

    def count_pairs(self) -> int:
        """Count the ordered pairs of squares that the colours allow a tour to join."""
        ends = (self.squares + 1) // 2  # of each colour, or of a1's alone
        return ends * (ends - 1) if self.squares % 2 else 2 * ends * ends

    def list_pairs(self) -> list[tuple[int, int]]:
        """List these pairs, ascending."""
        ends = self.list_ends()
        return [(one, to) for one in ends for to in ends if one != to and self.can_join(one, to)]

    def find_pair(self, start: int, end: int) -> int:
        """Return the number of a pair in `list_pairs`.

        >>> KnightBoard(8, 8).find_pair(1, 2), KnightBoard(5, 5).find_pair(2, 4)
        (33, 13)
        """
        ends = self.list_ends()
        before = sum(start != to and self.can_join(start, to) for to in ends if to < end)
        return self.count_pairs() // len(ends) * ends.index(start) + before

    def has_tours(self) -> bool:
        """Return whether there is a tour: boards without one are small, or narrower than 3."""
        sides = self.sorted_sides
        return self.squares == 1 or (sides[0] > 2 and sides not in ((3, 3), (3, 5), (3, 6), (4, 4)))

    def has_closed_tours(self) -> bool:
        """Return whether there is a closed tour, by Schwenk's theorem of 1991."""
        short, long = self.sorted_sides
        is_exception = short in (1, 2, 4) or (short == 3 and long < 10)
        return self.squares % 2 == 0 and not is_exception

    def find_images(self, square: int) -> tuple[int, ...]:
        """Find the images of a square under the board's symmetries (4, or 8 of a square board)."""
        rank, file = divmod(square, self.files)
        far_file, far_rank = self.files - 1 - file, self.ranks - 1 - rank
        images = [(f, r) for f in (file, far_file) for r in (rank, far_rank)]
        if self.files == self.ranks:
            images += [(r, f) for f, r in images]
        return tuple(f + self.files * r for f, r in images)


def parse_board(text: str) -> KnightBoard:
    """Return the board that a text names: files x ranks.

    >>> str(parse_board("5x6"))
    '5x6'
    """
    return KnightBoard(*parse_sides(text))
