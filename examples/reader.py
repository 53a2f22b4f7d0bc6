"""Read the index files of puzzle-tablebase (docs/format/index.md) with the standard library alone.

    python reader.py outputs eight 378546201     # or with a goal: eight:edge, eight:876543210
    python reader.py outputs 3x4 3a1b87254960    # or with a goal: 3x4:0123456789ab
    python reader.py outputs senet ABAAABBB.B...A.
    python reader.py outputs knight "b1 a3"

`Index` reads the records of any table, from an open file or from `io.BytesIO(data)`.
"""

import json
import sys
import zlib
from io import FileIO
from itertools import combinations
from math import factorial, prod
from struct import unpack

GOALS = {"corner": "123456780", "centre": "123804765", "edge": "123456708"}
NEVER = 255
MALFORMED, UNREACHABLE = {"error": "malformed"}, {"error": "unreachable"}


class Index:
    """The records of one table. Every block is checked when it is read."""

    def __init__(self, file, name, width):
        self.file, self.name, self.width, self.fit = file, name, width, 4092 // width
        begin = file.read(6)
        self.require(begin[:4] == b"PTIX", "is not an index")
        self.require(begin[4:] == b"\2\0" or len(begin) < 6, "is not of format version 2")
        header = self.read_block(0, "its header")
        zero, its_width, size, self.count = unpack("<HIIQ", header[6:24])
        self.require((zero, size) == (0, 4096), "is laid out in a later way")
        its_table = its_width, header[56:120].rstrip(b"\0").decode()
        self.require(its_table == (width, name), "is the index of another table")
        blocks = 1 - -self.count // self.fit
        self.require(file.seek(0, 2) == 4096 * blocks, "is too short or too long")

    def require(self, is_right, problem):
        if not is_right:
            raise ValueError(f"{self.name}.idx {problem}")

    def read_block(self, number, name):
        self.file.seek(4096 * number)
        block = self.file.read(4096)
        self.content = self.content if number else block[24:56]
        checksum = zlib.crc32(self.content + number.to_bytes(8, "little") + block[:-4])
        is_whole = block[4092:] == checksum.to_bytes(4, "little")
        self.require(is_whole, f"is damaged: {name} is not whole")
        return block

    def read_record(self, number):
        self.require(number < self.count, f"has no record {number}")
        at, place = 1 + number // self.fit, number % self.fit * self.width
        return self.read_block(at, f"block {at}")[place : place + self.width]


def answer(open_index, puzzle, key):
    """Answer a key of a puzzle; `open_index` takes a table's name and the width of its records."""
    puzzle, _, goal = puzzle.partition(":")
    if puzzle in ("senet", "knight"):
        return {"senet": answer_senet, "knight": answer_knight}[puzzle](open_index, key)
    return answer_board(open_index, puzzle, goal, key)


def rank(order):
    """Return the number of an order of things among all their orders, ascending from 0."""
    total = 0
    for at, thing in enumerate(order):
        rest = order[at:]
        orders = factorial(len(rest)) // prod(factorial(rest.count(each)) for each in {*rest})
        total += orders * sum(other < thing for other in rest) // len(rest)
    return total


def answer_board(open_index, board, goal, key):
    is_eight = board == "eight"
    rows, columns = (3, 3) if is_eight else map(int, board.split("x"))
    marks = "0123456789abcdef"[: rows * columns]
    if sorted(key) != list(marks):
        return MALFORMED
    for name in ("corner", "centre") if is_eight and not goal else (goal,):
        goal = GOALS.get(name, name) or f"{marks[1:]}0"
        parity = (key.index("0") // columns - goal.index("0") // columns) * (columns - 1)
        for state in (key, goal):  # tiles whose greater one stands first
            parity += sum(a > b for a, b in combinations(state.replace("0", ""), 2))
        if parity % 2 == 0:
            break
    else:
        return UNREACHABLE

    # each way to lay the board on the wide one of the file: for every cell there, the cell here
    grid = [range(at, at + columns) for at in range(0, len(marks), columns)]
    grids = [each for each in (grid, [*zip(*grid, strict=True)]) if len(each) <= len(each[0])]
    turns = [(each, down, across) for each in grids for down in (1, -1) for across in (1, -1)]
    ways = [[cell for row in g[::down] for cell in row[::across]] for g, down, across in turns]
    way = max(ways, key=lambda way: way.index(goal.index("0")))
    blank, (high, wide) = way.index(goal.index("0")), sorted((rows, columns))
    in_order = "12384765" if is_eight and blank == 4 else marks[1:]
    names = str.maketrans("".join(goal[cell] for cell in way).replace("0", ""), in_order)
    table = f"sliding_{high}x{wide}_{blank + 1}", 1 if len(marks) <= 10 else 45
    index = open_index(*(("eight_edge" if blank == 7 else "eight", 2) if is_eight else table))

    def read(state):  # the distance modulo 4, and the rest of the record
        laid = "".join(state[cell] for cell in way).translate(names)
        places = "".join(laid[column::wide] for column in range(wide))
        orders = places.index("0") * factorial(len(marks) - 1) + rank(places.replace("0", ""))
        number = orders // 2  # as half of the orders reach the goal
        if index.width < 45:
            distance, *others = index.read_record(rank(laid) if is_eight else number)
            return distance % 4, others
        bit = index.read_record(number // 360)[number % 360 // 8] >> number % 8 & 1
        steps = sum(divmod(laid.index("0"), wide)) - sum(divmod(blank, wide))
        return steps % 2 + 2 * bit, []

    solution, best, state = "", "", key
    while state != goal:
        moves, cell, nearer = {}, state.index("0"), (read(state)[0] - 1) % 4
        for letter, down, across in (("U", -1, 0), ("D", 1, 0), ("L", 0, -1), ("R", 0, 1)):
            row, column = cell // columns + down, cell % columns + across
            if row in range(rows) and column in range(columns):
                tile = state[row * columns + column]
                after = state.translate(str.maketrans("0" + tile, tile + "0"))
                moves |= {letter: after} if read(after)[0] == nearer else {}
        index.require(moves and len(solution) < NEVER, "is damaged: no walk leads to the goal")
        best, letter = best or "".join(moves), next(iter(moves))
        solution, state = solution + letter, moves[letter]
    facts = {"goal": name or goal, "distance": len(solution), "best_moves": best}
    facts |= {"solutions": read(key)[1][0]} if is_eight else {}
    return facts | {"solution": solution}


def answer_senet(open_index, position):
    if sorted(position) != list(".....AAAAABBBBB"):
        return MALFORMED
    index, squares, throws, moves = open_index("senet", 8), list(position), [], []
    even, _, odd, _, *lines = index.read_record(rank(position))
    if even == odd == NEVER:
        return UNREACHABLE
    for ply in range(min(even, odd), 0, -1):  # back to the opening
        throw, start = divmod(index.read_record(rank(squares))[1 if ply % 2 == 0 else 3], 16)
        one, other = start - 1, start + throw - 1
        squares[one], squares[other] = squares[other], squares[one]
        throws.insert(0, str(throw))
        moves.insert(0, f"{start}{'-' if squares[other] == '.' else 'x'}{start + throw}")
    plies = {"plies": min(even, odd), "plies_even": even, "plies_odd": odd}
    facts = {name: None if count == NEVER else count for name, count in plies.items()}
    facts |= {"dice": "".join(throws), "moves": " ".join(moves)}
    return facts | {"lines": int.from_bytes(bytes(lines), "little")}


def answer_knight(open_index, key):
    names, words = [f"{file}{rank}" for rank in range(1, 9) for file in "abcdefgh"], key.split()
    if len(words) != 2 or not {*words} <= {*names}:
        return MALFORMED
    start, finish = map(names.index, words)
    files, ranks = abs(start % 8 - finish % 8), abs(start // 8 - finish // 8)
    if (files + ranks) % 2 == 0:
        return UNREACHABLE
    squares = open_index("knight_tours_8x8", 64).read_record(32 * start + finish // 2)
    return {"closed": files * ranks == 2, "path": "".join(names[square] for square in squares)}


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    folder, puzzle, *keys = sys.argv[1:]
    for key in keys:
        found = answer(lambda *of: Index(FileIO(f"{folder}/{of[0]}.idx"), *of), puzzle, key)
        print(json.dumps({"key": key} | found))
