"""The names of chess boards, of their squares, and of the tables of the knight's tours.

On a board of C files and R ranks, square number = file + C * rank from 0: a1 = 0, b1 = 1.
"""

from __future__ import annotations

from puzzle_tablebase.errors import NotationError, require_text

FILES = "abcdefghijklmnopqrstuvwxyz"
MAX_FILES = len(FILES)
MAX_RANKS = 9
SQUARES = tuple([f"{file}{rank}" for rank in range(1, MAX_RANKS + 1) for file in FILES])
"""The squares of all boards, by rank, then file: one Enum, so that tables of all boards join."""
TOURS_PREFIX = "knight_tours_"
COUNTS_TABLE = "knight_counts"
COUNTS_PREFIX, CLOSED_COUNTS_PREFIX = "knight_counts_", "knight_closed_counts_"
PAIR_COUNTS_PREFIX = "knight_pair_counts_"
RANKS_PREFIX, CLOSED_RANKS_PREFIX = "knight_ranks_", "knight_closed_ranks_"


class ChessBoard:
    """A chess board of `files` x `ranks` squares, and their names.

    >>> board = ChessBoard(8, 8)
    >>> board.name_square(63), board.parse_square("b1")
    ('h8', 1)
    """

    __slots__ = ("files", "ranks", "squares")

    def __init__(self, files: int, ranks: int) -> None:
        self.files = files
        self.ranks = ranks
        self.squares = files * ranks

    def __str__(self) -> str:
        return f"{self.files}x{self.ranks}"

    @property
    def sorted_sides(self) -> tuple[int, int]:
        """The shorter side and the longer one.

        >>> ChessBoard(8, 5).sorted_sides
        (5, 8)
        """
        return min(self.files, self.ranks), max(self.files, self.ranks)

    def name_square(self, square: int) -> str:
        rank, file = divmod(square, self.files)
        return f"{FILES[file]}{rank + 1}"

    def name_squares(self) -> tuple[str, ...]:
        return tuple(self.name_square(square) for square in range(self.squares))

    def list_enum_codes(self) -> tuple[int, ...]:
        """List the position in `SQUARES` of each of the board's squares."""
        return tuple(map(SQUARES.index, self.name_squares()))

    def parse_square(self, text: str) -> int:
        """Return the square that a text names; raise NotationError if it names none."""
        what = f"a square of {self}"
        example = self.name_square(min(1, self.squares - 1))
        name = require_text(text, what, example).strip()
        if name.isascii():  # the Kelvin sign is a k in lower case
            name = name.lower()
        problem = "a square is a letter (file) and a digit (rank)"
        if len(name) == 2 and name[0] in FILES and name[1] in "123456789":
            file, rank = FILES.index(name[0]), int(name[1]) - 1
            if file < self.files and rank < self.ranks:
                return file + self.files * rank
            problem = f"the squares are a1 to {self.name_square(self.squares - 1)}"
        raise NotationError(what, text, problem, example)


def parse_sides(text: str) -> tuple[int, int]:
    """Return the files and the ranks of the board that a text names.

    >>> parse_sides("5x6")
    (5, 6)
    """
    sides = require_text(text, "a board", "8x8").strip().lower().replace("×", "x").split("x")
    if len(sides) != 2 or not all(side.isascii() and side.isdigit() for side in sides):
        raise NotationError("a board", text, "a board is files x ranks", "8x8")
    files, ranks = (int(side[:4]) for side in sides)
    if not 0 < files <= MAX_FILES or not 0 < ranks <= MAX_RANKS:
        problem = f"boards have 1 to {MAX_FILES} files (a-z) and 1 to {MAX_RANKS} ranks"
        raise NotationError("a board", text, problem, "12x3")
    return files, ranks
