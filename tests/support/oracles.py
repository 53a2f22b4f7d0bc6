"""Slow and obvious answers for the three puzzles, to compare the program's with.

Nothing here is shared with the program: no numpy, none of its packages, only strings, dictionaries
and plain loops. Two independent implementations must agree.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import cycle, pairwise, product
from typing import NamedTuple

from tests.support import sliding_oracle

# ---- 8-puzzle -------------------------------------------------------------------------------

eight_neighbours = partial(sliding_oracle.neighbours, rows=3, columns=3)
eight_replay = partial(sliding_oracle.replay, rows=3, columns=3)
eight_distances = partial(sliding_oracle.distances, rows=3, columns=3)
eight_manhattan = partial(sliding_oracle.manhattan, columns=3)


@lru_cache(4)  # a search takes most of a second
def eight_search(goal: str) -> tuple[dict[str, int], dict[str, int]]:
    """Return the fewest moves to the goal and the number of shortest solutions, for every state."""
    distances = eight_distances(goal)
    solutions = {**dict.fromkeys(distances, 0), goal: 1}
    for state, distance in distances.items():
        for farther in eight_neighbours(state).values():
            if distances[farther] > distance:
                solutions[farther] += solutions[state]
    return distances, solutions


def eight_best_moves(state: str, distances: dict[str, int]) -> str:
    return sliding_oracle.best_moves(state, 3, 3, distances)


def eight_features(state: str, goal: str) -> dict[str, int]:
    """Return the values of a row's other columns, which follow from its state and goal."""
    return {
        "blank": state.index("0"),
        "manhattan": eight_manhattan(state, goal),
        "misplaced": sum(state.index(tile) != goal.index(tile) for tile in "12345678"),
    }


# ---- Senet ----------------------------------------------------------------------------------

SENET_OPENING = "ABABABABAB....."

# throw, start and target squares from 1, whether it is a swap, the position after it
SenetMove = tuple[int, int, int, bool, str]


def senet_successors(position: str, mover: str) -> list[SenetMove]:
    """Return every legal move of one side, by throw and then by starting square."""
    rival = "B" if mover == "A" else "A"
    # an empty square on both ends: index = square number, and both ends have neighbours too
    board, squares, result = f".{position}.", len(position), []
    for throw, start in product(range(1, 6), range(1, squares + 1)):
        target = start + throw
        if board[start] != mover or target > squares or board[target] == mover:
            continue
        is_swap = board[target] == rival
        if is_swap and rival in (board[target - 1], board[target + 1]):
            continue
        cells = list(position)
        cells[start - 1], cells[target - 1] = cells[target - 1], cells[start - 1]
        result.append((throw, start, target, is_swap, "".join(cells)))
    return result


class SenetLines(NamedTuple):
    """The shortest lines to a position: their number, and the throws and moves of the smallest."""

    number: int
    dice: str
    starts: str
    """One hexadecimal digit for a starting square, so that texts compare as the numbers do."""
    moves: str


def senet_layers(opening: str = SENET_OPENING) -> Iterator[dict[str, SenetLines]]:
    """Yield the positions first reached after 0, 1, 2 ... plies with that side to move."""
    layer = {opening: SenetLines(1, "", "", "")}
    faced: dict[str, set[str]] = {"A": set(), "B": set()}
    for mover, rival in cycle((("A", "B"), ("B", "A"))):
        if not layer:
            return
        faced[mover].update(layer)
        yield layer
        result: dict[str, list[SenetLines]] = {}
        for position, line in layer.items():
            for throw, start, target, is_swap, after in senet_successors(position, mover):
                if after not in faced[rival]:
                    dice, starts = f"{line.dice}{throw}", f"{line.starts}{start:x}"
                    moves = f"{line.moves} {start}{'-x'[is_swap]}{target}".lstrip()
                    longer = SenetLines(line.number, dice, starts, moves)
                    result.setdefault(after, []).append(longer)
        layer = {
            after: SenetLines(sum(line.number for line in lines), *min(line[1:] for line in lines))
            for after, lines in result.items()
        }


def senet_replay(dice: str, moves: str) -> str:
    """Return the position after a line from the opening; an illegal move is a KeyError."""
    position = SENET_OPENING
    for ply, (throw, step) in enumerate(zip(dice, moves.split(), strict=True)):
        legal = {
            (str(number), f"{start}{'-x'[is_swap]}{target}"): after
            for number, start, target, is_swap, after in senet_successors(position, "AB"[ply % 2])
        }
        position = legal[throw, step]
    return position


# ---- Knight's tours -------------------------------------------------------------------------

JUMPS = ((-1, -2), (1, -2), (2, -1), (2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1))
"""The jumps 1-8 as the rules name them: files to the right, ranks downwards."""


def knight_jumps(files: int, ranks: int) -> dict[int, list[int]]:
    """Return the squares that a knight reaches from each square, in ascending order."""
    squares = range(files * ranks)
    return {one: [other for other in squares if _is_jump(files, one, other)] for one in squares}


def knight_tours(files: int, ranks: int, start: int) -> list[tuple[int, ...]]:
    """Return every tour from a square, in the order of the square numbers."""
    jumps = knight_jumps(files, ranks)
    path, tours = {start: None}, []  # a dictionary has its keys in order

    def extend(last: int) -> None:
        if len(path) == files * ranks:
            tours.append(tuple(path))
        for square in jumps[last]:
            if square not in path:
                path[square] = None
                extend(square)
                del path[square]

    extend(start)
    return tours


def knight_closed_ranks(files: int, ranks: int) -> set[frozenset[frozenset[int]]]:
    """Return every closed tour as the set of its jumps.

    The search extends each path from a1 unless a free square has fewer than two others to come from
    and go to.
    """
    jumps = {square: {*near} for square, near in knight_jumps(files, ranks).items()}
    path, free, result = [0], {*range(1, files * ranks)}, set()

    def extend(here: int) -> None:
        if not free and 0 in jumps[here]:
            result.add(frozenset(map(frozenset, pairwise([*path, 0]))))
        passable = free | {0, here}
        if any(len(passable & jumps[square]) < 2 for square in free):
            return
        for square in jumps[here]:
            if square in free:
                path.append(square)
                free.remove(square)
                extend(square)
                free.add(path.pop())

    extend(0)
    return result


def knight_check(files: int, ranks: int, path: Sequence[int]) -> None:
    """Require that a path is a tour of the board."""
    assert sorted(path) == [*range(files * ranks)]
    assert all(_is_jump(files, *jump) for jump in pairwise(path))


def is_closed(files: int, path: Sequence[int]) -> bool:
    """Tell whether the knight can jump from the last square of a tour back to its first."""
    return _is_jump(files, path[-1], path[0])


def _is_jump(files: int, one: int, other: int) -> bool:
    return {abs(one % files - other % files), abs(one // files - other // files)} == {1, 2}


def square_name(files: int, number: int) -> str:
    """Return the chess name of a square number: 0 is a1, 1 is b1."""
    rank, file = divmod(number, files)
    return f"{'abcdefghijklmnopqrstuvwxyz'[file]}{rank + 1}"


def read_tour(files: int, ranks: int, path: str) -> list[int]:
    """Return the squares of a tour's path; require that it is a tour of the board."""
    names = [square_name(files, number) for number in range(files * ranks)]
    squares = [names.index(path[at : at + 2]) for at in range(0, len(path), 2)]
    knight_check(files, ranks, squares)
    return squares
