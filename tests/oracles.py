"""Slow and obvious answers for the three puzzles, to hold the program against.

Nothing here is shared with the program: no numpy, none of its packages, only strings,
dictionaries and plain loops. What the two agree on, two different pieces of code have found.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise

# ---- 8-puzzle -------------------------------------------------------------------------------

BLANK_STEPS = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}


def eight_neighbours(state: str) -> dict[str, str]:
    """Every state one move away, by the letter of the move, in the order U D L R."""
    blank = state.index("0")
    row, column = divmod(blank, 3)
    found = {}
    for letter, (down, right) in BLANK_STEPS.items():
        if row + down in range(3) and column + right in range(3):
            cells = list(state)
            tile = 3 * (row + down) + column + right
            cells[blank], cells[tile] = cells[tile], cells[blank]
            found[letter] = "".join(cells)
    return found


def eight_apply(state: str, letter: str) -> str:
    """The state after one move of the blank; ValueError where the blank cannot go that way."""
    neighbours = eight_neighbours(state)
    if letter not in neighbours:
        raise ValueError(f"the blank of {state} cannot go {letter!r}, only {' '.join(neighbours)}")
    return neighbours[letter]


def eight_replay(start: str, letters: str) -> list[str]:
    """Every state on the way, the start first."""
    states = [start]
    for letter in letters:
        states.append(eight_apply(states[-1], letter))
    return states


def eight_distances(goal: str) -> dict[str, int]:
    """The fewest moves to the goal, for every state that reaches it."""
    distances = {goal: 0}
    waiting = deque([goal])
    while waiting:
        state = waiting.popleft()
        for neighbour in eight_neighbours(state).values():
            if neighbour not in distances:
                distances[neighbour] = distances[state] + 1
                waiting.append(neighbour)
    return distances


def eight_solutions(goal: str) -> dict[str, int]:
    """The number of different shortest solutions, for every state that reaches the goal."""
    distances = eight_distances(goal)
    solutions = {goal: 1}
    # the search met the states nearest first, so a state's better neighbours are always counted
    for state in list(distances)[1:]:
        solutions[state] = sum(
            solutions[neighbour]
            for neighbour in eight_neighbours(state).values()
            if distances[neighbour] == distances[state] - 1
        )
    return solutions


def eight_best_moves(state: str, distances: dict[str, int]) -> str:
    """Every first move of a shortest solution, in the order U D L R; empty at the goal."""
    return "".join(
        letter
        for letter, neighbour in eight_neighbours(state).items()
        if distances[neighbour] == distances[state] - 1
    )


def eight_manhattan(state: str, goal: str) -> int:
    """Rows and columns that each tile is away from its place, added up; the blank not counted."""
    total = 0
    for tile in "12345678":
        row, column = divmod(state.index(tile), 3)
        goal_row, goal_column = divmod(goal.index(tile), 3)
        total += abs(row - goal_row) + abs(column - goal_column)
    return total


def eight_misplaced(state: str, goal: str) -> int:
    """The number of tiles that are not in their place; the blank not counted."""
    return sum(state.index(tile) != goal.index(tile) for tile in "12345678")


# ---- Senet ----------------------------------------------------------------------------------

SENET_OPENING = "ABABABABAB....."

# throw, start square, target square, is it a swap, the position after it; squares count from 1
SenetMove = tuple[int, int, int, bool, str]


def senet_successors(position: str, mover: str) -> list[SenetMove]:
    """Every legal move of one side, by throw and then by starting square."""
    rival = "B" if mover == "A" else "A"
    # an empty square on both ends: index = square number, and squares 1 and 15 have neighbours too
    board = f".{position}."
    own = [square for square in range(1, 16) if board[square] == mover]
    found = []
    for throw in range(1, 6):
        for start in own:
            target = start + throw
            if target > 15 or board[target] == mover:
                continue
            is_swap = board[target] == rival
            if is_swap and rival in (board[target - 1], board[target + 1]):
                continue
            cells = list(position)
            cells[start - 1], cells[target - 1] = cells[target - 1], cells[start - 1]
            found.append((throw, start, target, is_swap, "".join(cells)))
    return found


def _senet_walk(limit: int | None) -> Iterator[tuple[str, int, list[SenetMove]]]:
    """Each position with each parity, nearest first: its plies, and its moves on shortest lines."""
    nearest = {(SENET_OPENING, 0): 0}
    waiting = deque([(SENET_OPENING, 0)])
    while waiting:
        position, parity = waiting.popleft()
        plies = nearest[position, parity]
        onward = []
        if limit is None or plies < limit:
            for move in senet_successors(position, "AB"[parity]):
                after = (move[4], 1 - parity)
                if after not in nearest:
                    nearest[after] = plies + 1
                    waiting.append(after)
                if nearest[after] == plies + 1:
                    onward.append(move)
        yield position, plies, onward


def senet_plies(limit: int | None) -> dict[tuple[str, int], int]:
    """The fewest plies to each (position, parity of the plies), up to a limit or to the end."""
    return {(position, plies % 2): plies for position, plies, _ in _senet_walk(limit)}


def senet_lines(limit: int | None) -> dict[str, int]:
    """The number of different shortest lines to each position."""
    lines: dict[str, int] = {}
    coming = {(SENET_OPENING, 0): 1}
    for position, plies, moves in _senet_walk(limit):
        # all lines to a position come from one layer, so its count is complete once it is met
        count = coming.pop((position, plies % 2))
        # met a second time, it is by the other parity, which takes longer
        lines.setdefault(position, count)
        for *_, after in moves:
            key = (after, (plies + 1) % 2)
            coming[key] = coming.get(key, 0) + count
    return lines


def senet_smallest_line(limit: int | None) -> dict[str, tuple[str, str]]:
    """The dice and moves of each position's smallest shortest line: by throws, then by starts."""
    smallest: dict[str, tuple[str, str]] = {}
    for (position, _), line in senet_smallest_lines(limit).items():
        smallest.setdefault(position, line)
    return smallest


def senet_smallest_lines(limit: int | None) -> dict[tuple[str, int], tuple[str, str]]:
    """The same for each position with each parity of plies, nearest first."""
    smallest: dict[tuple[str, int], tuple[str, str]] = {}
    # a line: its throws, its starting squares, its moves. One hexadecimal digit for a starting
    # square, so that texts compare as the numbers do
    coming = {(SENET_OPENING, 0): ("", "", "")}
    for position, plies, moves in _senet_walk(limit):
        dice, starts, text = coming.pop((position, plies % 2))
        smallest[position, plies % 2] = (dice, text.lstrip())
        for throw, start, target, is_swap, after in moves:
            key = (after, (plies + 1) % 2)
            sign = "x" if is_swap else "-"
            line = (f"{dice}{throw}", f"{starts}{start:x}", f"{text} {start}{sign}{target}")
            coming[key] = min(line, coming.get(key, line))
    return smallest


def senet_replay(dice: str, moves: str) -> str:
    """The position after a line from the opening; ValueError at the first move that is illegal."""
    steps = moves.split(" ") if moves else []
    if len(dice) != len(steps):
        raise ValueError(f"{len(dice)} throws for {len(steps)} moves")
    position = SENET_OPENING
    for ply, (throw, step) in enumerate(zip(dice, steps, strict=True)):
        mover = "AB"[ply % 2]
        legal = {
            (str(number), f"{start}{'x' if is_swap else '-'}{target}"): after
            for number, start, target, is_swap, after in senet_successors(position, mover)
        }
        if (throw, step) not in legal:
            raise ValueError(
                f"ply {ply + 1}: {mover} cannot play {step} with {throw} in {position}"
            )
        position = legal[throw, step]
    return position


# ---- Knight's tours -------------------------------------------------------------------------


def knight_jumps(files: int, ranks: int) -> dict[int, list[int]]:
    """The squares that a knight reaches from each square, in ascending order."""
    squares = range(files * ranks)
    return {here: [there for there in squares if _is_jump(files, here, there)] for here in squares}


def knight_tours(files: int, ranks: int, start: int) -> Iterator[tuple[int, ...]]:
    """Every tour from a square, in the order of the square numbers."""
    jumps = knight_jumps(files, ranks)
    path = [start]

    def extend() -> Iterator[tuple[int, ...]]:
        if len(path) == files * ranks:
            yield tuple(path)
        for square in jumps[path[-1]]:
            if square not in path:
                path.append(square)
                yield from extend()
                path.pop()

    return extend()


def knight_check(files: int, ranks: int, path: Sequence[int]) -> None:
    """Nothing for a tour of the board; ValueError with the first fault for anything else."""
    if sorted(path) != list(range(files * ranks)):
        raise ValueError(f"not every square of {files}x{ranks} exactly once: {list(path)}")
    for number, (here, there) in enumerate(pairwise(path), start=1):
        if not _is_jump(files, here, there):
            names = f"{square_name(files, here)} to {square_name(files, there)}"
            raise ValueError(f"step {number}, {names}, is no knight's move")


def is_closed(files: int, path: Sequence[int]) -> bool:
    """Can the knight jump from the last square of a tour back to its first?"""
    return _is_jump(files, path[-1], path[0])


def _is_jump(files: int, here: int, there: int) -> bool:
    """Are two squares a knight's move apart?"""
    across = abs(here % files - there % files)
    up = abs(here // files - there // files)
    return sorted((across, up)) == [1, 2]


def square_name(files: int, number: int) -> str:
    """The chess name of a square number: 0 is a1, 1 is b1."""
    rank, file = divmod(number, files)
    return f"{'abcdefghijklmnopqrstuvwxyz'[file]}{rank + 1}"


def square_number(files: int, name: str) -> int:
    """The square number of a chess name; ValueError for a name that is none."""
    if not re.fullmatch(r"[a-z][1-9][0-9]?", name) or ord(name[0]) - ord("a") >= files:
        raise ValueError(f"no square of a board with {files} files: {name!r}")
    return ord(name[0]) - ord("a") + files * (int(name[1:]) - 1)
