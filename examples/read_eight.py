"""Answers 8-puzzle states from eight.idx (docs/index-format.md). The standard library alone.

    python read_eight.py eight.idx 378546201 [more states...]

Prints one line a state: state, goal, distance, number of shortest solutions, every optimal first
move, and one shortest solution; "-" stands for no moves. Without states on the command line it
reads them from standard input. A bad state or file ends it with a message and exit 1.
"""

import struct
import sys
import zlib
from collections.abc import Iterator
from itertools import combinations

HEADER = struct.Struct("<4sHHI16s32sI")
STATES = 362_880


def load(path: str) -> bytes:
    """The records of the index; ValueError if anything about the file is not as it should be."""
    with open(path, "rb") as file:
        data = file.read()
    magic, version, width, count, name, _, crc = HEADER.unpack(data[:64].ljust(64, b"\0"))
    checks = {
        "not an index": magic == b"PTIX",
        "not of format version 1": version == 1,
        "the index of another table": (width, count, name.rstrip(b"\0")) == (2, STATES, b"eight"),
        "too short or too long": len(data) == HEADER.size + 2 * STATES,
        # the checksum leaves out its own four bytes
        "damaged, its checksum is wrong": zlib.crc32(data[64:], zlib.crc32(data[:60])) == crc,
    }
    for problem, sound in checks.items():
        if not sound:
            raise ValueError(f"{path}: {problem}")
    return data[HEADER.size :]


def rank(state: str) -> int:
    """The state's number in order, from 0."""
    total = 0
    for cell, digit in enumerate(state):
        total = total * (9 - cell) + sum(later < digit for later in state[cell:])
    return total


def moves(state: str) -> Iterator[tuple[str, str]]:
    """Each way the blank can go, in the order U D L R, with the state after it."""
    row, column = divmod(state.index("0"), 3)
    possible = row > 0, row < 2, column > 0, column < 2
    for letter, step, open_way in zip("UDLR", (-3, 3, -1, 1), possible, strict=True):
        if open_way:
            tile = state[3 * row + column + step]
            yield letter, state.translate(str.maketrans("0" + tile, tile + "0"))


def downhill(records: bytes, state: str) -> list[tuple[str, str]]:
    """The moves that lead one nearer to the goal; none at the goal."""
    nearer = records[2 * rank(state)] - 1
    return [(letter, after) for letter, after in moves(state) if records[2 * rank(after)] == nearer]


def answer(records: bytes, state: str) -> str:
    """The line that answers for a state; ValueError if it is none."""
    if sorted(state) != list("012345678"):
        raise ValueError(f"{state!r}: not a state, which has each digit 0-8 once: 378546201")
    # no move changes whether the tile pairs out of order are odd in number
    odd = sum(a > b for a, b in combinations(state.replace("0", ""), 2)) % 2
    at = 2 * rank(state)
    distance, solutions = records[at : at + 2]
    best = "".join(letter for letter, _ in downhill(records, state))
    solution, here = "", state
    while way := downhill(records, here):
        letter, here = way[0]
        solution += letter
    goal = "centre" if odd else "corner"
    return f"{state} {goal} {distance} {solutions} {best or '-'} {solution or '-'}"


def main(path: str, *states: str) -> None:
    records = load(path)
    for state in states or sys.stdin.read().split():
        print(answer(records, state))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: read_eight.py eight.idx 378546201 [more states...]")
    try:
        main(*sys.argv[1:])
    except (OSError, ValueError) as error:  # not UTF-8 on standard input is a ValueError too
        sys.exit(f"read_eight: {error}")
