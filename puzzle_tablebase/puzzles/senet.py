"""Senet on 15 squares, five pieces a side, the throws chosen freely.

A position is 15 characters of `A`, `B` and `.`; squares are numbered 1-15 from the left. A moves
first, then they alternate, and neither may pass. A position may arise after an even number of plies
(A to move) and after an odd one (B to move), so the graph has two nodes for each: its rank, and its
rank + SIZE for B to move.
"""

from __future__ import annotations

from puzzle_tablebase.notation.senet import (
    CHARACTERS,
    OPENING,
    SIDES,
    SQUARES,
    parse_position,
    parse_squares,
)
from puzzle_tablebase.puzzles import ILLEGAL, Rules, StateSpace
from puzzle_tablebase.schema import UNREACHABLE, Column, Recipe, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    import numpy.typing as npt

    from puzzle_tablebase.graph import Graph, SearchResult
    from puzzle_tablebase.notation.moves import Moves
    from puzzle_tablebase.puzzles import Bytes
    from puzzle_tablebase.schema import Columns

THROWS = range(1, 6)
MOVE_KINDS = [(throw, start) for throw in THROWS for start in range(1, SQUARES - throw + 1)]
"""Each throw with each starting square, in the order of the graph's labels: the bits of a word."""
SQUARE_NAMES = {str(square) for square in range(1, SQUARES + 1)}
NODES_AT_A_TIME = 8_192
"""Nodes in a chunk: few enough to keep the arrays of their moves in the processor's cache."""
SIZE = 756_756


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
            # an opponent's piece with another one beside it is guarded
            if target == "." or target not in position[goal - 2 : goal - 1] + position[goal:][:1]:
                yield throw, start, swap_squares(position, start, goal)


def swap_squares(position: str, start: int, goal: int) -> str:
    """Return the position after the contents of two squares are swapped."""
    squares = list(position)
    squares[start - 1], squares[goal - 1] = squares[goal - 1], squares[start - 1]
    return "".join(squares)


def _make_nullable_column(
    name: str, column_type: str, meaning: str, *, distinct: bool = False
) -> Column:
    """Make a column that is null for unreachable positions."""
    return Column(name, column_type, meaning, nullable=True, distinct=distinct)


COLUMNS = (
    Column(
        "position", "string", "15 characters, each A, B or . (empty)", distinct=True, ascending=True
    ),
    _make_nullable_column(
        "plies", "int16", "fewest plies from the opening; null if no line of play ever reaches it"
    ),
    _make_nullable_column(
        "plies_even", "int16", "smallest even number of plies (A to move); null if none"
    ),
    _make_nullable_column(
        "plies_odd", "int16", "smallest odd number of plies (B to move); null if none"
    ),
    _make_nullable_column(
        "dice",
        "string",
        "throws of a shortest line, one digit per ply: the smallest such string, not a random one",
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


class Senet(StateSpace, Rules):
    name = "senet"
    title = "Senet"
    size = SIZE
    example = OPENING
    depth = "plies"
    parse = staticmethod(parse_position)
    rank = staticmethod(rank)
    unrank = staticmethod(unrank)

    tables = (
        Table(
            "senet",
            "All 756,756 arrangements of five A, five B and five empty squares on 15 squares, each "
            "with the fewest plies from the opening ABABABABAB..... and a shortest line of play: "
            "how soon a position can be reached when both sides choose their throws; not who wins",
            "rows in notation order (. < A < B); row number = rank",
            COLUMNS,
            Recipe("senet", roots={"opening": OPENING}),
            index=(
                ("plies_even", "B"),
                ("last_even", "B"),
                ("plies_odd", "B"),
                ("last_odd", "B"),
                ("lines", "I"),
            ),
            rows=SIZE,
        ),
    )

    def read_moves(self, text: str, start: str) -> Moves:
        """Read moves such as 5-10 or 4x7."""
        from puzzle_tablebase.notation.moves import find_word_end, read_moves

        def find_end(text: str, at: int) -> int:
            end = find_word_end(text, at)
            squares = text[at:end].replace("x", "-", 1).split("-")
            return end if len(squares) == 2 and {*squares} <= SQUARE_NAMES else at

        return read_moves(text, find_end, "moves such as 5-10 or 4x7")

    def step(self, here: str, move: str, number: int) -> tuple[str, str]:
        start, goal = parse_squares(move)
        is_swap = here[goal - 1] != "."
        for throw, square, after in moves(here, SIDES[(number - 1) % 2]):
            if (square, square + throw) == (start, goal) and is_swap == ("x" in move):
                return after, ""
        return here, ILLEGAL

    def list_states(self) -> Bytes:
        import numpy as np

        letters = np.frombuffer(CHARACTERS.encode(), dtype=np.uint8)
        return letters[_list_digits(_list_codes())].view("S15").ravel()

    def make_graph(self) -> Graph:
        import numpy as np

        from puzzle_tablebase.graph import Graph

        codes = _list_codes()
        rank_of = np.zeros(3**SQUARES, dtype=np.int32)
        rank_of[codes] = np.arange(SIZE)
        digits, bits = _list_digits(codes), (2 << np.arange(SQUARES)).astype(np.uint16)
        sets = [(digits == side) @ bits for side in (1, 2)]
        legal = [_find_legal_moves(sets[side], sets[1 - side]) for side in range(2)]
        offsets = np.zeros(2 * SIZE + 1, dtype=np.int64)
        np.cumsum(np.bitwise_count(np.concatenate(legal)), out=offsets[1:])
        targets = np.empty(offsets[-1], dtype=np.int32)
        labels = np.empty(offsets[-1], dtype=np.uint8)
        label_of = np.array([throw << 4 | start for throw, start in MOVE_KINDS], dtype=np.uint8)
        goal_of = np.array([start + throw for throw, start in MOVE_KINDS], dtype=np.uint16)
        for side in range(2):
            gains = _list_gains(side)
            for begin in range(0, SIZE, NODES_AT_A_TIME):
                nodes = slice(begin, min(begin + NODES_AT_A_TIME, SIZE))
                row, move = _list_bits(legal[side][nodes])
                is_swap = sets[1 - side][nodes].take(row) >> goal_of.take(move) & 1
                after = codes[nodes].take(row) + gains.take(move + len(MOVE_KINDS) * is_swap)
                edges = slice(*offsets[[side * SIZE + nodes.start, side * SIZE + nodes.stop]])
                targets[edges] = rank_of.take(after) + (1 - side) * SIZE
                labels[edges] = label_of.take(move)
        return Graph(offsets, targets, labels)

    def fill_columns(
        self, table: Table, graph: Graph, results: Mapping[str, SearchResult]
    ) -> Columns:
        import numpy as np

        result = results["opening"]
        even, odd = result.depth[:SIZE], result.depth[SIZE:]
        plies = np.minimum(even, odd)
        node = np.arange(SIZE) + SIZE * (odd < even)
        states = self.list_states()
        dice, moves = _format_lines(result, node, states)
        is_unreachable = plies == UNREACHABLE
        mask = np.ma.MaskedArray
        return {
            "position": states,
            "plies": mask(plies, is_unreachable),
            "plies_even": mask(even, even == UNREACHABLE),
            "plies_odd": mask(odd, odd == UNREACHABLE),
            "dice": mask(dice, is_unreachable),
            "moves": mask(moves, is_unreachable),
            "lines": mask(result.ways[node], is_unreachable),
        }

    def make_records(self, table: Table, results: Mapping[str, SearchResult]) -> Columns:
        import numpy as np

        result = results["opening"]
        even, odd = result.depth[:SIZE], result.depth[SIZE:]
        return {
            "plies_even": even,
            "last_even": result.label[:SIZE],
            "plies_odd": odd,
            "last_odd": result.label[SIZE:],
            "lines": np.where(odd < even, result.ways[SIZE:], result.ways[:SIZE]),
        }


def _list_codes() -> npt.NDArray[np.int32]:
    """List all positions in notation order as base-3 numbers: 0 empty, 1 A, 2 B."""
    import numpy as np

    codes, counts = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int32)
    for _ in range(SQUARES):
        codes = np.add.outer(3 * codes, np.arange(3, dtype=np.int32)).ravel()
        counts = np.add.outer(counts, 16 ** np.arange(3, dtype=np.int32)).ravel()
        # a count of 6 has the bits of 2 and of 4
        is_possible = counts & counts >> 1 & 0x222 == 0
        codes, counts = codes[is_possible], counts[is_possible]
    return codes


def _list_digits(codes: npt.NDArray[np.int32]) -> npt.NDArray[np.uint8]:
    """List the digits of positions, a row each."""
    import numpy as np

    digits = np.empty((len(codes), SQUARES), dtype=np.uint8)
    for square in reversed(range(SQUARES)):
        codes, digits[:, square] = np.divmod(codes, np.int32(3))
    return digits


def _find_legal_moves(
    own: npt.NDArray[np.uint16], rival: npt.NDArray[np.uint16]
) -> npt.NDArray[np.uint64]:
    """Find which of `MOVE_KINDS` are legal in each position, as the bits of a word."""
    import numpy as np

    landing = ~own & ~(rival & (rival << 1 | rival >> 1))  # not on a guarded piece
    legal = np.zeros(len(own), dtype=np.uint64)
    for throw in THROWS:
        starts = (own & landing >> throw).astype(np.uint64)
        legal |= starts >> np.uint64(1) << np.uint64(MOVE_KINDS.index((throw, 1)))
    return legal


def _list_gains(side: int) -> npt.NDArray[np.int64]:
    """List what each of `MOVE_KINDS` adds to a position's code: to empty squares, then as swaps."""
    import numpy as np

    weight = 3 ** np.arange(SQUARES)[::-1]
    steps = np.array([weight[start + throw - 1] - weight[start - 1] for throw, start in MOVE_KINDS])
    own, rival = (1, 2) if side == 0 else (2, 1)
    return np.concatenate([own * steps, (own - rival) * steps])


def _list_bits(
    words: npt.NDArray[np.uint64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """List the bits that are set in each word, as the word's index and the bit's number."""
    import numpy as np

    bits = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")
    at = np.flatnonzero(bits.view(np.bool_))  # five times as fast as of numbers
    return at >> 6, at & 63


def _format_lines(
    result: SearchResult, node: npt.NDArray[np.int64], states: Bytes
) -> tuple[Bytes, Bytes]:
    """Format the throws and the moves of the smallest line to each position's node, as text.

    Each node's texts are those of its parent with one ply added, so only the texts of one layer
    above are in memory.
    """
    import numpy as np

    longest = int(result.depth[result.order].max())
    board = states.view(np.uint8).reshape(SIZE, SQUARES)
    dice = np.zeros(SIZE, dtype=f"S{longest}")
    moves = np.zeros(SIZE, dtype=f"S{6 * longest}")
    numbers = np.array([str(square) for square in range(SQUARES + 1)], dtype=np.bytes_)
    row_in_layer = np.zeros(2 * SIZE, dtype=np.int32)
    layer_throws = layer_moves = np.zeros(1, dtype="S1")
    layers = np.split(result.order, np.flatnonzero(np.diff(result.depth[result.order])) + 1)
    for depth, layer in enumerate(layers[1:], start=1):
        parent = result.parent[layer]
        throw, start = result.label[layer] >> 4, result.label[layer] & 15
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
