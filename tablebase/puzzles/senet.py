"""Senet on 15 squares, five pieces a side, the throws chosen freely.

A position is 15 characters of `A`, `B` and `.`; squares are numbered 1-15 from the left. A moves
first, then they alternate, and neither may pass. A position may arise after an even number of plies
(A to move) and after an odd one (B to move), so the graph has two nodes for each: its rank, and its
rank + SIZE for B to move.
"""

from __future__ import annotations

from tablebase.errors import NotationError, require_text
from tablebase.graph import UNREACHED, Graph
from tablebase.puzzle import BreadthFirst, Column, StateSpace, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from tablebase.graph import SearchResult
    from tablebase.puzzle import Bytes, Columns

SQUARES = 15
THROWS = range(1, 6)
SIDES = "AB"
OPENING = "ABABABABAB....."
SIZE = 756_756
CHARACTERS = ".AB"


def parse(text: str) -> str:
    """Return the position that a text names.

    >>> parse("ababABABAB.....")
    'ABABABABAB.....'
    """
    position = require_text(text, "a Senet position", OPENING).strip().upper()
    if len(position) == SQUARES and all(position.count(piece) == 5 for piece in CHARACTERS):
        return position
    raise NotationError("a Senet position", text, _find_problem(text.strip()), OPENING)


def _find_problem(text: str) -> str:
    if not text:
        return "it is empty"
    position = text.upper()
    foreign = next((letter for letter in text if letter.upper() not in CHARACTERS), None)
    if foreign:
        return f"{foreign!r} is not one of A, B and '.'"
    if len(position) != SQUARES:
        return f"it has {len(position):,} square{'s'[: len(position) > 1]}, not 15"
    counts = ((piece, position.count(piece)) for piece in "AB.")
    return ", ".join(
        f"it has {count} {'empty squares' if piece == '.' else piece + 's'[: count != 1]}, not 5"
        for piece, count in counts
        if count != 5
    )


def rank(state: str) -> int:
    """Return the position's number in notation order (`.` < `A` < `B`).

    >>> rank(".....AAAAABBBBB"), rank("BBBBBAAAAA.....")
    (0, 756755)
    """
    remaining, ways, total = [5, 5, 5], SIZE, 0
    # the share of the ways that begin with a piece is its share of the remaining pieces
    for squares_left, piece in zip(range(SQUARES, 0, -1), state, strict=True):
        piece_index = CHARACTERS.index(piece)
        total += ways * sum(remaining[:piece_index]) // squares_left
        ways = ways * remaining[piece_index] // squares_left
        remaining[piece_index] -= 1
    return total


def unrank(rank: int) -> str:
    """Return the position of a rank."""
    remaining, ways, position = [5, 5, 5], SIZE, ""
    for squares_left in range(SQUARES, 0, -1):
        for piece_index in range(3):
            ways_with_piece = ways * remaining[piece_index] // squares_left
            if rank < ways_with_piece:
                break
            rank -= ways_with_piece
        position += CHARACTERS[piece_index]
        ways = ways_with_piece
        remaining[piece_index] -= 1
    return position


def is_guarded(position: str, square: int) -> bool:
    """Return whether the piece on a square has one of its side on a neighbouring square."""
    piece = position[square - 1]
    return piece in (position[square - 2 : square - 1] + position[square : square + 1])


def moves(position: str, mover: str) -> Iterator[tuple[int, int, str]]:
    """Yield each legal move of a side, by throw, then starting square.

    Each is the throw, the starting square and the next position.

    >>> next(moves("ABABABABAB.....", "A"))
    (1, 1, 'BAABABABAB.....')
    """
    for throw in THROWS:
        for start in range(1, SQUARES - throw + 1):
            goal = start + throw
            target = position[goal - 1]
            if position[start - 1] != mover or target == mover:
                continue
            if target == "." or not is_guarded(position, goal):
                yield throw, start, swap_squares(position, start, goal)


def swap_squares(position: str, start: int, goal: int) -> str:
    """Return the position after the contents of two squares are swapped."""
    squares = list(position)
    squares[start - 1], squares[goal - 1] = squares[goal - 1], squares[start - 1]
    return "".join(squares)


def format_move(position: str, throw: int, start: int) -> str:
    """Format a move from a position as in the table: `5-10`, or `4x7` for a swap."""
    goal = start + throw
    return f"{start}{'-' if position[goal - 1] == '.' else 'x'}{goal}"


def _make_nullable_column(name: str, kind: str, meaning: str, *, distinct: bool = False) -> Column:
    """Make a column that is null for a position that no line of play leads to."""
    return Column(name, kind, meaning, nullable=True, distinct=distinct)


COLUMNS = (
    Column("position", "string", "15 characters, each A, B or . (empty)", distinct=True),
    _make_nullable_column(
        "plies", "int8", "fewest plies from the opening; null if no line of play ever reaches it"
    ),
    _make_nullable_column(
        "plies_even", "int8", "smallest even number of plies (A to move); null if none"
    ),
    _make_nullable_column(
        "plies_odd", "int8", "smallest odd number of plies (B to move); null if none"
    ),
    _make_nullable_column(
        "dice",
        "string",
        "throws of a shortest line, one digit per ply; the smallest such string",
        distinct=True,
    ),
    _make_nullable_column(
        "moves",
        "string",
        "moves of that line, squares 1-15, - to an empty square, x for a swap; of all "
        "lines with these throws the smallest by starting squares",
        distinct=True,
    ),
    _make_nullable_column(
        "lines", "int64", "number of different shortest lines (by piece or throw)"
    ),
)


class Senet(StateSpace):
    name = "senet"
    title = "Senet"
    size = SIZE
    example = OPENING
    depth = "plies"
    parse = staticmethod(parse)
    rank = staticmethod(rank)
    unrank = staticmethod(unrank)

    tables = (
        Table(
            "senet",
            "All 756,756 arrangements of five A, five B and five empty squares on 15 squares, each "
            "with the fewest plies from the opening ABABABABAB..... and a shortest line of play",
            "rows in notation order (. < A < B); row number = rank",
            COLUMNS,
            BreadthFirst({"opening": OPENING}),
            index=(
                ("plies_even", "B"),
                ("last_even", "B"),
                ("plies_odd", "B"),
                ("last_odd", "B"),
                ("lines", "I"),
            ),
            rows=SIZE,
            sorted_by=("position",),
        ),
    )

    def list_states(self) -> Bytes:
        import numpy as np

        letters = np.frombuffer(CHARACTERS.encode(), dtype=np.uint8)[_split_digits(_list_codes())]
        return letters.T.copy().view("S15").ravel()

    def make_graph(self) -> Graph:
        import numpy as np

        codes = _list_codes()
        board = np.zeros((SQUARES + 2, SIZE), dtype=np.uint8)
        board[1:-1] = _split_digits(codes)
        rank_of = np.zeros(3**SQUARES, dtype=np.int32)
        rank_of[codes] = np.arange(SIZE, dtype=np.int32)
        weight = [3 ** (SQUARES - square) for square in range(SQUARES + 1)]
        is_alone = {
            square: (board[square] != board[square - 1]) & (board[square] != board[square + 1])
            for square in range(2, SQUARES + 1)
        }
        edges = []
        for throw in THROWS:
            for start in range(1, SQUARES - throw + 1):
                goal = start + throw
                for side, mover in enumerate((1, 2)):
                    open_goal = (board[goal] == 0) | ((board[goal] == 3 - mover) & is_alone[goal])
                    # half the size of numpy's result: there are sixteen million
                    sources = np.flatnonzero((board[start] == mover) & open_goal).astype(np.int32)
                    gain = board[start, sources].astype(np.int32) - board[goal, sources]
                    next_rank = rank_of[codes[sources] + gain * (weight[goal] - weight[start])]
                    edges.append(
                        (throw << 4 | start, sources + side * SIZE, next_rank + (1 - side) * SIZE)
                    )
        return Graph.from_moves(2 * SIZE, edges)

    def fill_columns(
        self, table: Table, graph: Graph, walks: Mapping[str, SearchResult]
    ) -> Columns:
        import numpy as np

        walk = walks["opening"]
        even, odd = walk.depth[:SIZE], walk.depth[SIZE:]
        plies = np.minimum(even, odd)
        node = np.arange(SIZE) + SIZE * (odd < even)
        states = self.list_states()
        dice, moves = _format_lines(walk, node, states)
        unreached = plies == UNREACHED
        columns: dict[str, npt.NDArray[Any]] = {"position": states}
        for name, values, nulls in (
            ("plies", plies, unreached),
            ("plies_even", even, even == UNREACHED),
            ("plies_odd", odd, odd == UNREACHED),
            ("dice", dice, unreached),
            ("moves", moves, unreached),
            ("lines", walk.ways[node], unreached),
        ):
            columns[name] = np.ma.MaskedArray(values, nulls)
        return columns

    def make_records(self, table: Table, walks: Mapping[str, SearchResult]) -> Columns:
        import numpy as np

        walk = walks["opening"]
        even, odd = walk.depth[:SIZE], walk.depth[SIZE:]
        return {
            "plies_even": even,
            "last_even": walk.label[:SIZE],
            "plies_odd": odd,
            "last_odd": walk.label[SIZE:],
            "lines": np.where(odd < even, walk.ways[SIZE:], walk.ways[:SIZE]),
        }


def _list_codes() -> npt.NDArray[np.int32]:
    """List all positions as base-3 numbers, leftmost square first: ascending, in notation order."""
    import numpy as np

    codes = np.zeros(1, dtype=np.int32)
    counts = np.zeros((3, 1), dtype=np.int8)
    for square in range(SQUARES):
        new_codes, new_counts = [], []
        for digit in range(3):
            possible = counts[digit] < 5
            new_codes.append(codes[possible] + np.int32(digit * 3**square))
            new_counts.append(counts[:, possible])
            new_counts[-1][digit] += 1
        codes, counts = np.concatenate(new_codes), np.concatenate(new_counts, axis=1)
    return codes


def _split_digits(codes: npt.NDArray[np.int32]) -> npt.NDArray[np.uint8]:
    """Split codes into digits, one row for each square: 0 empty, 1 A, 2 B."""
    import numpy as np

    digits = np.empty((SQUARES, len(codes)), dtype=np.uint8)
    rest = codes
    for square in reversed(range(SQUARES)):
        rest, digits[square] = np.divmod(rest, 3)
    return digits


def _format_lines(
    walk: SearchResult, node: npt.NDArray[np.int64], states: Bytes
) -> tuple[Bytes, Bytes]:
    """Format the throws and the moves of the smallest line to each position's node, as text.

    Each node's texts are those of its parent with one ply added, so only the texts of one layer
    above are in memory.
    """
    import numpy as np

    longest = int(walk.depth[walk.order].max())
    board = states.view(np.uint8).reshape(SIZE, SQUARES)
    dice = np.zeros(SIZE, dtype=f"S{longest}")
    moves = np.zeros(SIZE, dtype=f"S{6 * longest}")
    numbers = np.array([str(square) for square in range(SQUARES + 1)], dtype=np.bytes_)
    row_in_layer = np.zeros(2 * SIZE, dtype=np.int32)
    layer_throws = layer_moves = np.zeros(1, dtype="S1")
    layers = np.split(walk.order, np.flatnonzero(np.diff(walk.depth[walk.order])) + 1)
    for depth, layer in enumerate(layers[1:], start=1):
        parent = walk.parent[layer]
        throw, start = walk.label[layer] >> 4, walk.label[layer] & 15
        empty = board[parent % SIZE, throw + start - 1] == ord(".")
        move = np.strings.add(
            np.strings.add(numbers[start], np.where(empty, b"-", b"x")), numbers[start + throw]
        )
        separated = move if depth == 1 else np.strings.add(b" ", move)
        layer_throws = np.strings.add(layer_throws[row_in_layer[parent]], numbers[throw])
        layer_moves = np.strings.add(layer_moves[row_in_layer[parent]], separated)
        row_in_layer[layer] = np.arange(len(layer))
        chosen = np.flatnonzero(node[layer % SIZE] == layer)
        position = layer[chosen] % SIZE
        dice[position], moves[position] = layer_throws[chosen], layer_moves[chosen]
    return dice, moves


PUZZLE = Senet()
