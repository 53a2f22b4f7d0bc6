"""Read the index files of puzzle-tablebase (docs/format/index.md) with the standard library alone.

python reader.py outputs eight 378546201     # or with a goal: eight:edge, eight:876543210
python reader.py outputs 3x4 3a1b87254960    # or with a goal: 3x4:0123456789ab
python reader.py outputs senet ABAAABBB.B...A.
python reader.py outputs knight "b1 a3"
"""

import json
import sys
import zlib
from io import FileIO
from itertools import combinations, product
from math import factorial, prod
from struct import pack, unpack

GOALS = {"corner": "123456780", "centre": "123804765", "edge": "123456708"}
NO_MOVES, MALFORMED, UNREACHABLE = 255, {"error": "malformed"}, {"error": "unreachable"}


class Index:  # the records of a table, from a file or `io.BytesIO(data)`; each block is checked
    def __init__(self, file, name, width):
        self.file, self.name, self.width, self.fit = file, name, width, 4092 // width
        begin = file.read(6)
        self.require(begin[:4] == b"PTIX", "is not an index")
        self.require(begin[4:] == b"\3\0" or len(begin) < 6, "is not of format version 3")
        zero, its_width, size, self.count, _, its_name = unpack("<HIIQ32s64s", self.read(0)[6:120])
        self.require((zero, size) == (0, 4096), "is laid out in a later way")
        is_ours = (its_width, its_name.rstrip(b"\0")) == (width, name.encode())
        self.require(is_ours, "is the index of another table")
        size *= 1 - -self.count // self.fit
        self.require(file.seek(0, 2) == size, "is too short or too long")

    def require(self, is_right, problem):
        if not is_right:
            raise ValueError(f"{self.name}.idx {problem}")

    def read(self, number):
        self.file.seek(4096 * number)
        block = self.file.read(4096)
        self.seed = self.seed if number else block[24:56]
        checksum = pack("<I", zlib.crc32(self.seed + pack("<Q", number) + block[:-4]))
        self.require(block[4092:] == checksum, f"is damaged: block {number} is not whole")
        return block

    def read_record(self, number):
        self.require(number < self.count, f"has no record {number}")
        block, at = divmod(number, self.fit)
        return self.read(1 + block)[at * self.width :][: self.width]


def rank(order):
    """Return the number of an order of things among all their orders, ascending from 0."""
    if not order:
        return 0
    orders = factorial(len(order)) // prod(factorial(order.count(each)) for each in {*order})
    return orders * sum(each < order[0] for each in order) // len(order) + rank(order[1:])


def answer(open_index, puzzle, key):
    """Answer a key of a puzzle; `open_index` takes a table's name and the width of its records."""
    if puzzle in ("senet", "knight"):
        return (answer_senet if puzzle == "senet" else answer_knight)(open_index, key)
    board, _, goal = puzzle.partition(":")
    is_eight = board == "eight"
    rows, columns = (3, 3) if is_eight else map(int, board.split("x"))
    marks = "0123456789abcdef"[: rows * columns]
    if sorted(key) != list(marks):
        return MALFORMED
    for name in ("corner", "centre") if is_eight and not goal else (goal,):
        goal = GOALS.get(name, name) or f"{marks[1:]}0"
        turns = key.index("0") // columns - goal.index("0") // columns
        pairs = [combinations(state.replace("0", ""), 2) for state in (key, goal)]
        if (turns * (columns - 1) + sum(a > b for each in pairs for a, b in each)) % 2 == 0:
            break
    else:
        return UNREACHABLE
    # each way to lay the board on the wide one of the file: for every cell there, the cell here
    grid = [range(at, at + columns) for at in range(0, len(marks), columns)]
    grids = [each for each in (grid, [*zip(*grid, strict=True)]) if len(each) <= len(each[0])]
    turns = product(grids, (1, -1), (1, -1))
    ways = [[cell for row in g[::down] for cell in row[::across]] for g, down, across in turns]
    way = max(ways, key=lambda way: way.index(goal.index("0")))
    blank, (high, wide) = way.index(goal.index("0")), sorted((rows, columns))
    in_order = "12384765" if is_eight and blank == 4 else marks[1:]
    names = str.maketrans("".join(goal[cell] for cell in way).replace("0", ""), in_order)
    table = f"sliding_{high}x{wide}_{blank + 1}", 1 if len(marks) <= 10 else 45
    index = open_index(*(("eight_edge" if blank == 7 else "eight", 2) if is_eight else table))

    def read(state):  # a record that begins with the distance, modulo 4 if it is a bit
        laid = "".join(state[cell] for cell in way).translate(names)
        places = "".join(laid[column::wide] for column in range(wide))
        half = factorial(len(marks) - 1) // 2  # of all orders reach the goal
        number = places.index("0") * half + rank(places.replace("0", "")) // 2
        if index.width < 45:
            return index.read_record(rank(laid) if is_eight else number)
        bit = index.read_record(number // 360)[number % 360 // 8] >> number % 8 & 1
        return [(sum(divmod(laid.index("0"), wide)) - sum(divmod(blank, wide))) % 2 + 2 * bit]

    solution, best, state = "", "", key
    while state != goal:
        moves, cell, nearer = {}, state.index("0"), (read(state)[0] - 1) % 4
        beside = {*grid[cell // columns], *range(cell % columns, len(marks), columns)}
        for letter, step in zip("UDLR", (-columns, columns, -1, 1), strict=True):
            if (other := cell + step) in beside:
                after = state.translate(str.maketrans("0" + state[other], state[other] + "0"))
                moves |= {letter: after} if read(after)[0] % 4 == nearer else {}
        index.require(moves and len(solution) < NO_MOVES, "is damaged: no walk leads to the goal")
        best, letter = best or "".join(moves), next(iter(moves))
        solution, state = solution + letter, moves[letter]
    facts = {"goal": name or goal, "distance": len(solution), "best_moves": best}
    return facts | {"solution": solution} | ({"solutions": read(key)[1]} if is_eight else {})


def answer_senet(open_index, position):
    if sorted(position) != list(".....AAAAABBBBB"):
        return MALFORMED
    index, squares, throws, moves = open_index("senet", 8), list(position), "", []
    even, _, odd, _, lines = unpack("<BBBBI", index.read_record(rank(position)))
    if (plies := min(even, odd)) == NO_MOVES:
        return UNREACHABLE
    for ply in range(plies, 0, -1):  # back to the opening
        throw, start = divmod(index.read_record(rank(squares))[1 if ply % 2 == 0 else 3], 16)
        one, other = start - 1, start + throw - 1
        squares[one], squares[other] = squares[other], squares[one]
        throws = f"{throw}{throws}"
        moves.insert(0, f"{start}{'-' if squares[other] == '.' else 'x'}{start + throw}")
    even, odd = (None if count == NO_MOVES else count for count in (even, odd))
    facts = {"plies": plies, "plies_even": even, "plies_odd": odd}
    return facts | {"dice": throws, "moves": " ".join(moves), "lines": lines}


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
    folder, puzzle, *keys = sys.argv[1:] or sys.exit(__doc__)
    for key in keys:
        found = answer(lambda *of: Index(FileIO(f"{folder}/{of[0]}.idx"), *of), puzzle, key)
        print(json.dumps({"key": key} | found))
