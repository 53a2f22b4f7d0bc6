"""Answers from the index files (docs/index-format.md). The standard library alone.

    python reader.py outputs eight 378546201
    python reader.py outputs senet ABAAABBB.B...A.
    python reader.py outputs knight b1 a3

Prints one line a key (for the knight, two squares); "-" stands for what there is none of:

    eight   state, goal, distance, number of shortest solutions, every optimal first move,
            one shortest solution
    senet   position, plies, even plies, odd plies, number of shortest lines, throws, moves
    knight  start, finish, closed or open, squares

Without keys on the command line it reads them from standard input. The first key without an answer
ends it with a sentence: exit 1 if there is none, 2 for a bad key, 3 for a bad file. So does an
output that cannot be written: exit 2.
"""

import struct
import sys
import zlib
from collections.abc import Iterator
from functools import lru_cache
from io import FileIO
from itertools import combinations
from math import factorial, prod

BLOCK = 4096
HEADER = struct.Struct("<4sHHIIQ32s64s")
NEVER = 255


class Trouble(Exception):
    """A sentence, and the exit code that goes with it."""

    def __init__(self, code: int, sentence: str) -> None:
        self.code = code
        super().__init__(sentence)


class Index:
    """The records of a table, each read with its block. Nothing else here knows how the file is
    laid out."""

    def __init__(self, folder: str, name: str, width: int) -> None:
        self.path = f"{folder}/{name}.idx"
        try:
            self.file = FileIO(self.path)  # no buffer, which would read ahead to no use
        except OSError as error:
            raise Trouble(3, f"{self.path} cannot be read: {error.strerror}") from error
        header = self._read(0)
        fields = HEADER.unpack(header.ljust(BLOCK, b"\0")[: HEADER.size])
        magic, version, zero, *table, size, self.count, self.content, named = fields
        self.width, self.each = width, (BLOCK - 4) // width
        blocks = 1 - -self.count // self.each
        wanted = [width], name.encode().ljust(64, b"\0")
        checks = {
            "is not an index": magic == b"PTIX",
            "is not of format version 2": version == 2,
            "is damaged: its header is not whole": self._whole(0, header),
            "is laid out in a later way": (zero, size) == (0, BLOCK),
            "is the index of another table": (table, named) == wanted,
            "is too short or too long": self.file.seek(0, 2) == BLOCK * blocks,
        }
        for problem, sound in checks.items():
            if not sound:
                raise Trouble(3, f"{self.path} {problem}")
        self.block = lru_cache(256)(self._block)  # blocks that have passed, to be asked again

    def record(self, number: int) -> bytes:
        if number >= self.count:
            raise Trouble(3, f"{self.path} has no record {number}")
        before, place = divmod(number, self.each)
        return self.block(1 + before)[self.width * place : self.width * (place + 1)]

    def _block(self, number: int) -> bytes:
        block = self._read(number)
        if not self._whole(number, block):
            raise Trouble(3, f"{self.path} is damaged: block {number} is not whole")
        return block

    def _read(self, number: int) -> bytes:
        try:
            self.file.seek(BLOCK * number)
            return self.file.read(BLOCK)
        except OSError as error:
            raise Trouble(3, f"{self.path} cannot be read: {error.strerror}") from error

    def _whole(self, number: int, block: bytes) -> bool:
        crc = zlib.crc32(self.content + number.to_bytes(8, "little") + block[:-4])
        return len(block) == BLOCK and crc == int.from_bytes(block[-4:], "little")


# ---- the 8-puzzle ----


def eight_rank(state: str) -> int:
    """The state's number in order, from 0."""
    total = 0
    for cell, digit in enumerate(state):
        total = total * (9 - cell) + sum(later < digit for later in state[cell:])
    return total


def eight_moves(state: str) -> Iterator[tuple[str, str]]:
    """Each way the blank can go, in the order U D L R, with the state after it."""
    row, column = divmod(state.index("0"), 3)
    possible = row > 0, row < 2, column > 0, column < 2
    for letter, step, open_way in zip("UDLR", (-3, 3, -1, 1), possible, strict=True):
        if open_way:
            tile = state[3 * row + column + step]
            yield letter, state.translate(str.maketrans("0" + tile, tile + "0"))


def eight(index: Index, state: str) -> str:
    if sorted(state) != list("012345678"):
        raise Trouble(2, f"{state!r} is not a state, which has each digit 0-8 once: 378546201")

    def distance(of: str) -> int:
        return index.record(eight_rank(of))[0]

    def downhill(here: str) -> list[tuple[str, str]]:
        nearer = distance(here) - 1
        return [move for move in eight_moves(here) if distance(move[1]) == nearer]

    # no move changes whether the tile pairs out of order are odd in number
    odd = sum(a > b for a, b in combinations(state.replace("0", ""), 2)) % 2
    far, solutions = index.record(eight_rank(state))
    best = "".join(letter for letter, _ in downhill(state))
    solution, here = "", state
    while way := downhill(here):
        letter, here = way[0]
        solution += letter
    goal = "centre" if odd else "corner"
    return f"{state} {goal} {far} {solutions} {best or '-'} {solution or '-'}"


# ---- Senet ----


def senet_rank(position: str) -> int:
    """The position's number in order, from 0."""
    left = {".": 5, "A": 5, "B": 5}
    total = 0
    for piece in position:
        for smaller in ".AB"[: ".AB".index(piece)]:
            rest = {**left, smaller: left[smaller] - 1}
            if left[smaller]:
                total += factorial(sum(rest.values())) // prod(map(factorial, rest.values()))
        left[piece] -= 1
    return total


def senet(index: Index, position: str) -> str:
    if sorted(position) != list(".....AAAAABBBBB"):
        problem = "is not a position, five each of A, B and .: ABABABABAB....."
        raise Trouble(2, f"{position!r} {problem}")
    record = index.record(senet_rank(position))
    even, odd, lines = record[0], record[2], int.from_bytes(record[4:], "little")
    plies = min(even, odd)
    if plies == NEVER:
        raise Trouble(1, f"{position} is never reached from the opening")
    squares, throws, moves = list(position), [], []
    for ply in range(plies, 0, -1):  # the line of play, walked backwards
        last = index.record(senet_rank("".join(squares)))[1 if ply % 2 == 0 else 3]
        throw, start = divmod(last, 16)
        one, other = start - 1, start + throw - 1
        squares[one], squares[other] = squares[other], squares[one]
        throws.insert(0, str(throw))
        moves.insert(0, f"{start}{'-' if squares[other] == '.' else 'x'}{start + throw}")
    said = ["-" if found == NEVER else str(found) for found in (even, odd)]
    line = f"{''.join(throws) or '-'} {' '.join(moves) or '-'}"
    return f"{position} {plies} {' '.join(said)} {lines} {line}"


# ---- the knight ----


def square(name: str) -> int:
    """A square's number: file + 8 * rank, a1 = 0."""
    if len(name) != 2 or name[0] not in "abcdefgh" or name[1] not in "12345678":
        raise Trouble(2, f"{name!r} is not a square, one of a1 to h8: b1")
    return ord(name[0]) - ord("a") + 8 * (int(name[1]) - 1)


def knight(index: Index, start: str, finish: str) -> str:
    one, other = square(start), square(finish)
    files, ranks = abs(one % 8 - other % 8), abs(one // 8 - other // 8)
    if (files + ranks) % 2 == 0:
        raise Trouble(1, f"no tour leads from {start} to {finish}: it ends on the other colour")
    squares = index.record(32 * one + other // 2)
    path = "".join("abcdefgh"[at % 8] + str(1 + at // 8) for at in squares)
    return f"{start} {finish} {'closed' if files * ranks == 2 else 'open'} {path}"


# ---- the command ----

ANSWERS = {
    "eight": (eight, 1, ("eight", 2)),
    "senet": (senet, 1, ("senet", 8)),
    "knight": (knight, 2, ("knight_tours_8x8", 64)),
}
"""What answers for a puzzle, from how many words, from which table."""


def main(words: list[str]) -> None:
    if len(words) < 2 or words[1] not in ANSWERS:
        raise Trouble(2, "usage: reader.py FOLDER eight|senet|knight [KEY...]")
    answer, size, table = ANSWERS[words[1]]
    index = Index(words[0], *table)
    keys = words[2:] or sys.stdin.read().split()
    try:
        # a file of its own, because Python flushes sys.stdout once more at its exit
        with open(1, "w", closefd=False) as output:
            for at in range(0, len(keys), size):
                if len(keys) < at + size:
                    raise Trouble(2, f"{keys[at]!r} lacks the square where the tour ends: b1 a3")
                print(answer(index, *keys[at : at + size]), file=output)
    except OSError as error:
        raise Trouble(2, f"standard output cannot be written: {error.strerror}") from error


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (Trouble, UnicodeDecodeError) as error:
        print(f"reader: {error}", file=sys.stderr)
        sys.exit(getattr(error, "code", 2))
