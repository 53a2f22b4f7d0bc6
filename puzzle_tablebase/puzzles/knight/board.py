"""The knight's boards: squares, jumps, and the notation of boards and squares.

On a board of C files and R ranks, square number = file + C * rank from 0: a1 = 0, b1 = 1.
"""

from __future__ import annotations

from puzzle_tablebase.errors import NotationError, require_text

JUMPS = ((-1, -2), (1, -2), (2, -1), (2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1))
"""The jumps 1-8 as (files, ranks downwards)."""

FILES = "abcdefghijklmnopqrstuvwxyz"
MAX_FILES = len(FILES)
MAX_RANKS = 9


class KnightBoard:
    """A board of so many files and ranks.

    >>> board = KnightBoard(8, 8)
    >>> board.name_square(63), board.parse_square("b1"), board.find_jump(0, 17)
    ('h8', 1, 2)
    """

    __slots__ = ("files", "ranks", "squares")

    def __init__(self, files: int, ranks: int) -> None:
        self.files = files
        self.ranks = ranks
        self.squares = files * ranks

    def __str__(self) -> str:
        return f"{self.files}x{self.ranks}"

    def name_square(self, square: int) -> str:
        rank, file = divmod(square, self.files)
        return f"{FILES[file]}{rank + 1}"

    def name_squares(self) -> tuple[str, ...]:
        return tuple(self.name_square(square) for square in range(self.squares))

    def find_enum_places(self) -> tuple[int, ...]:
        """Find the position in `SQUARES` of each of the board's squares."""
        return tuple(map(SQUARES.index, self.name_squares()))

    def parse_square(self, text: str) -> int:
        """Return the square that a text names; raise NotationError if it names none."""
        what = f"a square of {self}"
        example = self.name_square(min(1, self.squares - 1))
        name = require_text(text, what, example).strip()
        if name.isascii():  # the Kelvin sign is a k in lower case
            name = name.lower()
        problem = "a square is a letter and a digit (file and rank)"
        if len(name) == 2 and name[0] in FILES and name[1] in "123456789":
            file, rank = FILES.index(name[0]), int(name[1]) - 1
            if file < self.files and rank < self.ranks:
                return file + self.files * rank
            problem = f"the squares are a1 to {self.name_square(self.squares - 1)}"
        raise NotationError(what, text, problem, example)

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
        """Return whether squares are a tour: all of them, each one jump from the one before."""
        is_complete = sorted(squares) == list(range(self.squares))
        return is_complete and all(map(self.is_jump, squares, squares[1:]))

    def is_jump(self, start: int, goal: int) -> bool:
        """Return whether the knight can jump from one square to the other."""
        ranks = start // self.files - goal // self.files
        files = start % self.files - goal % self.files
        return abs(ranks * files) == 2

    def find_jump(self, start: int, goal: int) -> int:
        """Return which of the jumps 1-8 joins two squares; raise ValueError if none does."""
        down = start // self.files - goal // self.files
        return 1 + JUMPS.index((goal % self.files - start % self.files, down))

    def can_join(self, start: int, end: int) -> bool:
        """Return whether the colours, which alternate, allow a tour between two squares."""
        return (self.is_light(start) == self.is_light(end)) == (self.squares % 2 == 1)

    def has_tours(self) -> bool:
        """Return whether there is a tour: boards without one are small, or narrower than 3."""
        sides = min(self.files, self.ranks), max(self.files, self.ranks)
        return self.squares == 1 or (sides[0] > 2 and sides not in ((3, 3), (3, 5), (3, 6), (4, 4)))

    def has_closed_tours(self) -> bool:
        """Return whether there is a closed tour, by Schwenk's theorem of 1991."""
        short, long = sorted((self.files, self.ranks))
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


SQUARES = tuple([f"{file}{rank}" for rank in range(1, MAX_RANKS + 1) for file in FILES])
"""The squares of all boards, by rank, then file: one Enum, so that tables of all boards join."""


def parse_board(text: str) -> KnightBoard:
    """Return the board that a text names: files x ranks.

    >>> str(parse_board("5x6"))
    '5x6'
    """
    sides = require_text(text, "a board", "8x8").strip().lower().replace("×", "x").split("x")
    if len(sides) != 2 or not all(side.isascii() and side.isdigit() for side in sides):
        raise NotationError("a board", text, "a board is files x ranks", "8x8")
    files, ranks = (int(side[:4]) for side in sides)
    if not 0 < files <= MAX_FILES or not 0 < ranks <= MAX_RANKS:
        problem = f"boards have 1 to {MAX_FILES} files (a-z) and 1 to {MAX_RANKS} ranks"
        raise NotationError("a board", text, problem, "12x3")
    return KnightBoard(files, ranks)
