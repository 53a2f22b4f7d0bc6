"""A reader of the index files (docs/format/index.md) that needs only the standard library.

    python reader.py outputs eight 378546201
    python reader.py outputs senet ABAAABBB.B...A.
    python reader.py outputs knight b1 a3
    python reader.py outputs 3x4 3a1b87254960

Each key (for the knight, two squares) gets one line. "-" stands for a value that does not exist:

    eight   state, goal, distance, number of shortest solutions, every optimal first move,
            one shortest solution
    senet   position, plies, even plies, odd plies, number of shortest lines, throws, moves
    knight  start, finish, closed or open, squares
    3x4     state, distance, every optimal first move, one shortest solution; a board is any number
            of rows x columns up to 16 cells, also 4x3, and 3x4:0123456789ab has another goal

Without keys on the command line, keys are read from standard input. The first key without an answer
ends the program with a message: exit 1 if no answer exists, 2 for a bad key, 3 for a bad file. An
output that cannot be written is exit 2.
"""

import re
import struct
import sys
import zlib
from collections.abc import Iterator
from functools import lru_cache, partial
from io import FileIO
from itertools import combinations
from math import factorial, prod

BLOCK = 4096
HEADER = struct.Struct("<4sHHIIQ32s64s")
NEVER = 255


class ReaderError(Exception):
    """An error message with its exit code."""

    def __init__(self, code: int, message: str) -> None:
        self.code = code
        super().__init__(message)


class Index:
    """The records of a table. Only this class knows the layout of the file."""

    def __init__(self, folder: str, name: str, width: int) -> None:
        self.path = f"{folder}/{name}.idx"
        try:
            self.file = FileIO(self.path)  # unbuffered, because reading ahead is of no use here
        except OSError as error:
            raise ReaderError(3, f"{self.path} cannot be read: {error.strerror}") from error
        header = self._read(0)
        fields = HEADER.unpack(header.ljust(BLOCK, b"\0")[: HEADER.size])
        magic, version, zero, *table, size, self.count, self.content, table_name = fields
        self.width, self.records_per_block = width, (BLOCK - 4) // width
        blocks = 1 - -self.count // self.records_per_block
        expected = [width], name.encode().ljust(64, b"\0")
        checks = {
            "is not an index": magic == b"PTIX",
            "is not of format version 2": version == 2 or len(header) < 6,
            "is damaged: its header is not whole": self._is_intact(0, header),
            "is laid out in a later way": (zero, size) == (0, BLOCK),
            "is the index of another table": (table, table_name) == expected,
            "is too short or too long": self.file.seek(0, 2) == BLOCK * blocks,
        }
        for problem, passed in checks.items():
            if not passed:
                raise ReaderError(3, f"{self.path} {problem}")
        self.read_block = lru_cache(256)(self._read_block)  # a cache of checked blocks

    def read_record(self, number: int) -> bytes:
        if number >= self.count:
            raise ReaderError(3, f"{self.path} has no record {number}")
        before, place = divmod(number, self.records_per_block)
        return self.read_block(1 + before)[self.width * place : self.width * (place + 1)]

    def _read_block(self, number: int) -> bytes:
        block = self._read(number)
        if not self._is_intact(number, block):
            raise ReaderError(3, f"{self.path} is damaged: block {number} is not whole")
        return block

    def _read(self, number: int) -> bytes:
        try:
            self.file.seek(BLOCK * number)
            return self.file.read(BLOCK)
        except OSError as error:
            raise ReaderError(3, f"{self.path} cannot be read: {error.strerror}") from error

    def _is_intact(self, number: int, block: bytes) -> bool:
        crc = zlib.crc32(self.content + number.to_bytes(8, "little") + block[:-4])
        return len(block) == BLOCK and crc == int.from_bytes(block[-4:], "little")


# ---- the 8-puzzle ----


def rank_state(state: str) -> int:
    """Return the state's rank in ascending order, from 0."""
    total = 0
    for cell, digit in enumerate(state):
        total = total * (9 - cell) + sum(later < digit for later in state[cell:])
    return total


def list_moves(state: str) -> Iterator[tuple[str, str]]:
    """Yield the legal moves of the blank in the order U D L R, each with the state after it."""
    row, column = divmod(state.index("0"), 3)
    possible = row > 0, row < 2, column > 0, column < 2
    for letter, step, is_legal in zip("UDLR", (-3, 3, -1, 1), possible, strict=True):
        if is_legal:
            tile = state[3 * row + column + step]
            yield letter, state.translate(str.maketrans("0" + tile, tile + "0"))


def answer_eight(index: Index, state: str) -> str:
    if sorted(state) != list("012345678"):
        raise ReaderError(2, f"{state!r} is not a state, which has each digit 0-8 once: 378546201")

    def find_distance(other: str) -> int:
        return index.read_record(rank_state(other))[0]

    def find_best_moves(current: str) -> list[tuple[str, str]]:
        nearer = find_distance(current) - 1
        return [move for move in list_moves(current) if find_distance(move[1]) == nearer]

    # no move changes whether the number of tile pairs out of order is odd
    odd = sum(a > b for a, b in combinations(state.replace("0", ""), 2)) % 2
    distance, solutions = index.read_record(rank_state(state))
    best = "".join(letter for letter, _ in find_best_moves(state))
    solution, current = "", state
    while moves := find_best_moves(current):
        letter, current = moves[0]
        solution += letter
    goal = "centre" if odd else "corner"
    return f"{state} {goal} {distance} {solutions} {best or '-'} {solution or '-'}"


# ---- Senet ----


def rank_position(position: str) -> int:
    """Return the position's rank in ascending order, from 0."""
    remaining = {".": 5, "A": 5, "B": 5}
    total = 0
    for piece in position:
        for smaller in ".AB"[: ".AB".index(piece)]:
            rest = {**remaining, smaller: remaining[smaller] - 1}
            if remaining[smaller]:
                total += factorial(sum(rest.values())) // prod(map(factorial, rest.values()))
        remaining[piece] -= 1
    return total


def answer_senet(index: Index, position: str) -> str:
    if sorted(position) != list(".....AAAAABBBBB"):
        problem = "is not a position, five each of A, B and .: ABABABABAB....."
        raise ReaderError(2, f"{position!r} {problem}")
    record = index.read_record(rank_position(position))
    even, odd, lines = record[0], record[2], int.from_bytes(record[4:], "little")
    plies = min(even, odd)
    if plies == NEVER:
        raise ReaderError(1, f"{position} is never reached from the opening")
    squares, throws, moves = list(position), [], []
    for ply in range(plies, 0, -1):  # the line of play, followed backwards
        last = index.read_record(rank_position("".join(squares)))[1 if ply % 2 == 0 else 3]
        throw, start = divmod(last, 16)
        one, other = start - 1, start + throw - 1
        squares[one], squares[other] = squares[other], squares[one]
        throws.insert(0, str(throw))
        moves.insert(0, f"{start}{'-' if squares[other] == '.' else 'x'}{start + throw}")
    parities = ["-" if count == NEVER else str(count) for count in (even, odd)]
    line = f"{''.join(throws) or '-'} {' '.join(moves) or '-'}"
    return f"{position} {plies} {' '.join(parities)} {lines} {line}"


# ---- the knight ----


def parse_square(name: str) -> int:
    """Return a square's number: file + 8 * rank, a1 = 0."""
    if len(name) != 2 or name[0] not in "abcdefgh" or name[1] not in "12345678":
        raise ReaderError(2, f"{name!r} is not a square, one of a1 to h8: b1")
    return ord(name[0]) - ord("a") + 8 * (int(name[1]) - 1)


def answer_knight(index: Index, start: str, finish: str) -> str:
    one, other = parse_square(start), parse_square(finish)
    files, ranks = abs(one % 8 - other % 8), abs(one // 8 - other // 8)
    if (files + ranks) % 2 == 0:
        raise ReaderError(1, f"no tour leads from {start} to {finish}: it ends on the other colour")
    squares = index.read_record(32 * one + other // 2)
    path = "".join("abcdefgh"[at % 8] + str(1 + at // 8) for at in squares)
    return f"{start} {finish} {'closed' if files * ranks == 2 else 'open'} {path}"


# ---- sliding boards ----

MARKS = "0123456789abcdef"
SMALL_CELLS = 10
"""Cells of the largest boards with a byte for each state."""


class Board:
    """A board with a goal, and the map from its states to those of the goal's file."""

    def __init__(self, rows: int, columns: int, goal: str) -> None:
        self.rows, self.columns, self.goal = rows, columns, goal
        self.high, self.long = sorted((rows, columns))
        blank = self.require_state(goal).index("0")
        ways = list_ways(rows, columns)
        self.way = max(ways, key=lambda way: way.index(blank))  # the file of the last such cell
        self.blank = self.way.index(blank)
        tiles = "".join(goal[cell] for cell in self.way).replace("0", "")
        self.names = str.maketrans(tiles, MARKS[1 : rows * columns])
        self.width = 1 if rows * columns <= SMALL_CELLS else 45
        self.table = f"sliding_{self.high}x{self.long}_{self.blank + 1}"

    def require_state(self, text: str) -> str:
        marks = MARKS[: self.rows * self.columns]
        if sorted(text) != list(marks):
            problem = f"is not a state of {self.rows}x{self.columns}, which has each of {marks}"
            raise ReaderError(2, f"{text!r} {problem} once: {marks[1:]}0")
        return text

    def reaches_goal(self, state: str) -> bool:
        """Tell whether the tile pairs out of order, and for an even number of columns the rows
        between the blanks, add up to an even number."""
        pairs = [
            pair for marks in (state, self.goal) for pair in combinations(marks.replace("0", ""), 2)
        ]
        rows = state.index("0") // self.columns - self.goal.index("0") // self.columns
        return (sum(a > b for a, b in pairs) + rows * (self.columns - 1)) % 2 == 0

    def find_value(self, index: Index, state: str) -> int:
        """Return the distance modulo 4."""
        laid = "".join(state[cell] for cell in self.way).translate(self.names)
        places = "".join(laid[column :: self.long] for column in range(self.long))
        order, rank = places.replace("0", ""), 0
        for place, tile in enumerate(order):
            rank = rank * (len(order) - place) + sum(later < tile for later in order[place:])
        rank = places.index("0") * (factorial(len(order)) // 2) + rank // 2
        if self.width == 1:
            return index.read_record(rank)[0] % 4
        byte = index.read_record(rank // 360)[rank % 360 // 8]
        steps = sum(divmod(laid.index("0"), self.long)) - sum(divmod(self.blank, self.long))
        return steps % 2 + 2 * (byte >> rank % 8 & 1)

    def list_nearer(self, index: Index, current: str) -> list[tuple[str, str]]:
        """List the moves to states whose value is one less, each with the state after it."""
        row, column = divmod(current.index("0"), self.columns)
        possible = row > 0, row < self.rows - 1, column > 0, column < self.columns - 1
        steps, moves = (-self.columns, self.columns, -1, 1), []
        for letter, step, is_legal in zip("UDLR", steps, possible, strict=True):
            if is_legal:
                tile = current[row * self.columns + column + step]
                after = current.translate(str.maketrans("0" + tile, tile + "0"))
                if self.find_value(index, after) == (self.find_value(index, current) - 1) % 4:
                    moves.append((letter, after))
        return moves


def list_ways(rows: int, columns: int) -> list[list[int]]:
    """List the ways to lay a board on the wide one: for each cell of that one, the cell here."""
    high, long = sorted((rows, columns))
    ways = []
    for down, across in ((1, 1), (-1, 1), (1, -1), (-1, -1)):
        cells = [(row, column) for row in range(high)[::down] for column in range(long)[::across]]
        if rows <= columns:
            ways.append([row * columns + column for row, column in cells])
        if rows >= columns:
            ways.append([column * columns + row for row, column in cells])
    return ways


def answer_board(index: Index, state: str, board: Board) -> str:
    goal = board.goal
    if not board.reaches_goal(board.require_state(state)):
        raise ReaderError(1, f"{state} does not reach {goal}: swap any two tiles")
    best = "".join(letter for letter, _ in board.list_nearer(index, state)) if state != goal else ""
    solution, current = "", state
    while current != goal:
        moves = board.list_nearer(index, current)
        if not moves or len(solution) == NEVER:
            raise ReaderError(3, f"{index.path} is damaged: no walk leads from {state} to {goal}")
        letter, current = moves[0]
        solution += letter
    return f"{state} {len(solution)} {best or '-'} {solution or '-'}"


def parse_board(text: str) -> Board | None:
    """Return the board and the goal of ROWSxCOLUMNS or ROWSxCOLUMNS:GOAL."""
    found = re.fullmatch(r"([2-8])x([2-8])(:.*)?", text, re.DOTALL)
    if not found or int(found[1]) * int(found[2]) > len(MARKS):
        return None
    rows, columns = int(found[1]), int(found[2])
    return Board(rows, columns, found[3][1:] if found[3] else f"{MARKS[1 : rows * columns]}0")


# ---- the command ----

ANSWERS = {
    "eight": (answer_eight, 1, ("eight", 2)),
    "senet": (answer_senet, 1, ("senet", 8)),
    "knight": (answer_knight, 2, ("knight_tours_8x8", 64)),
}
"""For each puzzle: the function that answers, the words in a key, the table and its width."""


def main(arguments: list[str]) -> None:
    board = parse_board(arguments[1]) if len(arguments) > 1 else None
    if board:
        answer, size, table = partial(answer_board, board=board), 1, (board.table, board.width)
    elif len(arguments) > 1 and arguments[1] in ANSWERS:
        answer, size, table = ANSWERS[arguments[1]]
    else:
        puzzles = "|".join([*ANSWERS, "ROWSxCOLUMNS[:GOAL]"])
        raise ReaderError(2, f"usage: reader.py FOLDER {puzzles} [KEY...]")
    index = Index(arguments[0], *table)
    keys = arguments[2:] or sys.stdin.read().split()
    try:
        # a separate file object, because Python flushes sys.stdout again when it exits
        with open(1, "w", closefd=False) as output:
            for at in range(0, len(keys), size):
                if len(keys) < at + size:
                    raise ReaderError(
                        2, f"{keys[at]!r} lacks the square where the tour ends: b1 a3"
                    )
                print(answer(index, *keys[at : at + size]), file=output)
    except OSError as error:
        raise ReaderError(2, f"standard output cannot be written: {error.strerror}") from error


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (ReaderError, UnicodeDecodeError) as error:
        print(f"reader: {error}", file=sys.stderr)
        sys.exit(getattr(error, "code", 2))
