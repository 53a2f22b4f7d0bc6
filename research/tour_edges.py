"""How many closed tours of a board use each jump, exactly, from the table that ranks them.

The table `knight_closed_ranks_CxR` has the layers of a sweep through half of the board: states of
the frontier, each with the number of partial tours that lead to it (the *forward count*), and for
each state at the cut the number of tours that pass it. Their quotient is the number of ways to
complete the state (the *backward count*). A walk back through the layers gives the backward counts
of all states. A step from one state to the next, which adds some edges, then lies on as many
tours as the product of the forward count before it and the backward count after it.

The board's symmetries give the edges of the other half. Edges between the two columns of the cut
that are no images of others follow from the squares: the edges of a square add up to two a tour.

`python -m research.tour_edges 6x8` prints them. With `--results DIR` it also writes
closed_tour_edges_6x8.csv, and a picture of the board in closed_tour_edges_6x8.svg.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

from puzzle_tablebase.formats.index import HEADER, Header, read_records
from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.notation.knight import FILES
from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.puzzles.knight.tables import make_ranking_table
from puzzle_tablebase.queries.svg import CELL, CELL_DARK, INK, RAMP, Picture
from puzzle_tablebase.tour_frontier.keys import (
    MAX_CELLS,
    decode_layer,
    list_all_mates,
    rank_matching,
    unpack_key,
)
from puzzle_tablebase.tour_frontier.states import FREE, MATCHING_BITS
from research.report import make_parser, save, show

Edge = tuple[int, int]


def stand_up(board: KnightBoard) -> KnightBoard:
    """Turn a board so that it has at most as many files as ranks, as a sweep sees it."""
    return KnightBoard(*board.sorted_sides)


def read_layers(board: KnightBoard, outputs: Path) -> tuple[Array, list[slice]]:
    """Read all records of the ranking table, and where those of each layer are."""
    table = make_ranking_table(board, closed=True)
    with (outputs / f"{table.name}.idx").open("rb") as file:
        header = Header(file.read(HEADER.size))
        records = np.concatenate([*read_records(file, table, header.count, header.seed)])
    number = records["layer"]
    bounds = np.searchsorted(number, np.arange(int(number[-1]) + 2)).tolist()
    return records, [slice(*pair) for pair in pairwise(bounds)]


def count_edges(board: KnightBoard, outputs: Path) -> tuple[int, dict[Edge, int]]:
    """Return the number of closed tours, and of those that use each edge from the first half.

    Edges are pairs of squares of the board as `stand_up` turns it.
    """
    upright = stand_up(board)
    rows, later = upright.files, upright.list_later_neighbours()
    records, spans = read_layers(board, outputs)

    def decode(layer: int) -> tuple[Array, Array]:
        part = records[spans[layer]]
        return decode_layer(part["key"].astype(np.int64), part["states"].copy())

    last = (upright.ranks - 1) // 2 * rows
    keys, ways = decode(last)
    passing_keys, tours = decode(last + 1)
    onward = np.zeros_like(ways)
    at = np.searchsorted(keys, passing_keys)
    onward[at] = tours // ways[at]
    if (keys[at] != passing_keys).any() or (onward[at] * ways[at] != tours).any():
        raise ValueError("the last two layers contradict each other")
    uses: dict[Edge, int] = {}
    for square in reversed(range(last)):
        next_keys, next_onward = keys, onward
        keys, ways = decode(square)
        others = np.array([to - square for to in later[square]], dtype=np.int64)
        onward, counts = np.zeros_like(ways), np.zeros(len(others), dtype=np.int64)
        cells = 2 * rows + 1
        mates, scratch = list_all_mates(cells), np.zeros((3, MAX_CELLS + 2), dtype=np.int64)
        after = next_keys, next_onward
        step_back(keys, ways, *after, others, cells, mates, scratch, onward, counts)
        uses |= {(square, square + to): counts[at] for at, to in enumerate(others.tolist())}
    return int(onward[0]), {edge: int(count) for edge, count in uses.items()}


def list_classes(board: KnightBoard) -> list[list[Edge]]:
    """List the edges of a board, in groups that its symmetries map to each other."""
    images = [*zip(*map(board.find_images, range(board.squares)), strict=True)]
    later = enumerate(board.list_later_neighbours())
    classes: dict[Edge, list[Edge]] = {}
    for one, two in ((one, two) for one, others in later for two in others):
        group = sorted({(min(edge), max(edge)) for edge in ((at[one], at[two]) for at in images)})
        classes[group[0]] = group
    return [*classes.values()]


def complete_uses(
    board: KnightBoard, total: int, uses: dict[Edge, int]
) -> list[tuple[list[Edge], int]]:
    """Return each class of edges with the number of tours that use any one of its edges.

    Raise ValueError unless all counts agree: edges of a class have the same count, and the edges of
    a square add up to two a tour.
    """
    classes = list_classes(board)
    counts = dict[int, int]()
    at_square: list[list[int]] = [[] for _ in range(board.squares)]
    for number, group in enumerate(classes):
        found = {uses[edge] for edge in group if edge in uses}
        if len(found) > 1:
            raise ValueError(f"edges that are each other's images have different counts: {found}")
        if found:
            counts[number] = found.pop()
        for square in (square for edge in group for square in edge):
            at_square[square].append(number)
    for _ in classes:  # each round settles at least one more class, if any is left
        for numbers in at_square:
            unknown = [number for number in numbers if number not in counts]
            if unknown and len({*unknown}) == 1:
                known = sum(counts[number] for number in numbers if number in counts)
                counts[unknown[0]] = (2 * total - known) // len(unknown)
    if any(sum(counts[number] for number in numbers) != 2 * total for numbers in at_square):
        raise ValueError("the edges of a square do not add up to two a tour")
    return [(group, counts[number]) for number, group in enumerate(classes)]


@compiled
def step_back(
    keys: Array, ways: Array, next_keys: Array, next_onward: Array, others: Array, cells: int,
    mates: Array, scratch: Array, onward: Array, counts: Array,
) -> None:  # fmt: skip
    """Set the backward counts of a layer's states, and add up the tours that use each edge.

    The step joins cell 0 to as many of `others` as it needs. A cell that is no end of a path is its
    own mate.
    """
    unpacked, mate, ends = scratch
    for state in range(len(keys)):
        for cell in range(cells + 1):
            unpacked[cell] = cell
        unpack_key(keys[state], mates, unpacked, ends)
        needs = keys[state] >> MATCHING_BITS | FREE << 2 * cells
        need = needs & 3
        total = 0
        for one in range(len(others) if need else 1):
            for two in range(one + 1, len(others)) if need == 2 else range(1):
                for cell in range(cells + 1):
                    mate[cell] = unpacked[cell]
                left, is_legal = needs, True
                for number in range(need):
                    to = others[two if number else one]
                    near, far = mate[0], mate[to]
                    is_legal &= left >> 2 * to & 3 > 0 and near != to
                    mate[near], mate[far] = far, near
                    left -= 1 + (1 << 2 * to)
                if not is_legal:
                    continue
                for cell in range(cells):
                    mate[cell] = mate[cell + 1] - 1
                left >>= 2
                key = left << MATCHING_BITS | rank_matching(left, mate)
                low, high = 0, len(next_keys)
                while high - low > 1:
                    middle = (low + high) // 2
                    if next_keys[middle] > key:
                        high = middle
                    else:
                        low = middle
                if next_keys[low] != key:
                    continue
                total += next_onward[low]
                tours = ways[state] * next_onward[low]
                if need:
                    counts[one] += tours
                if need == 2:
                    counts[two] += tours
        onward[state] = total


def make_rows(board: KnightBoard, outputs: Path) -> pl.DataFrame:
    """Return a row for each class of edges of a board, the most frequent one first."""
    total, uses = count_edges(board, outputs)
    upright = stand_up(board)
    rows = [
        (*map(upright.name_square, group[0]), len(group), tours, tours / total)
        for group, tours in complete_uses(upright, total, uses)
    ]
    columns = ["one", "other", "edges", "tours", "share"]
    table = pl.DataFrame(rows, columns, orient="row")
    return table.sort("tours", "one", "other", descending=[True, False, False])


def count_tours(board: KnightBoard, rows: pl.DataFrame) -> int:
    """Return the number of closed tours, each of which uses an edge for each square."""
    return int((rows["edges"] * rows["tours"]).sum()) // board.squares


def draw_edges(board: KnightBoard, rows: pl.DataFrame) -> str:
    """Draw a board with its edges, the darker and wider the more tours use them, as SVG."""
    total = count_tours(board, rows)
    cell, left, top = 64, 30, 16
    width, height = board.files * cell, board.ranks * cell
    picture = Picture(f"The share of the closed tours of {board} that use each jump")

    def find_centre(square: int) -> tuple[float, float]:
        rank, file = divmod(square, board.files)
        return left + (file + 0.5) * cell, top + height - (rank + 0.5) * cell

    def draw_line(ends: list[tuple[float, float]], share: float) -> None:
        picture.add_path(ends, pick_colour(share), stroke_width=1 + 5 * share)

    for square in range(board.squares):
        x, y = find_centre(square)
        colour = CELL if board.is_light(square) else CELL_DARK
        picture.add_square(x - cell / 2, y - cell / 2, cell, colour)
    for file in range(board.files):
        picture.add_text(find_centre(file)[0], top + height + 16, FILES[file])
    for rank in range(board.ranks):
        picture.add_text(left - 12, find_centre(rank * board.files)[1] + 4, str(rank + 1))
    share_of = {(one, other): tours / total for one, other, _, tours, _ in rows.iter_rows()}
    shares = list[tuple[float, Edge]]()
    for group in list_classes(board):
        one, other = map(board.name_square, group[0])
        shares += [(share_of[one, other], edge) for edge in group]
    for share, edge in sorted(shares):
        draw_line([*map(find_centre, edge)], share)
    x, y = left + width + 24, top + 20
    for (one, other), share in share_of.items():
        draw_line([(x, y - 4), (x + 30, y - 4)], share)
        picture.add_text(x + 40, y, f"{one}-{other}", 12, fill=INK, text_anchor="start")
        picture.add_text(x + 140, y, f"{share:.2%}", 12, fill=INK, text_anchor="end")
        y += 22
    return picture.to_svg(x + 150, top + height + 26)


def compare_sample(board: KnightBoard, rows: pl.DataFrame, paths: list[str]) -> float:
    """Return the greatest difference between the share of a class in a sample and in all tours.

    The unit is the standard error of the sample. Classes that each tour uses alike have none.
    """
    classes = list_classes(board)
    class_of = {edge: number for number, group in enumerate(classes) for edge in group}
    uses = np.zeros((len(paths), len(classes)))
    for sampled, path in zip(uses, paths, strict=True):
        squares = [board.parse_square(path[at : at + 2]) for at in range(0, len(path), 2)]
        for one, other in pairwise([*squares, squares[0]]):
            sampled[class_of[min(one, other), max(one, other)]] += 1
    number = [
        class_of[board.parse_square(one), board.parse_square(other)]
        for one, other, *_ in rows.iter_rows()
    ]
    uses = uses[:, number] / rows["edges"].to_numpy()
    errors = uses.std(axis=0, ddof=1) / len(paths) ** 0.5
    differences = np.abs(uses.mean(axis=0) - rows["share"].to_numpy())
    varies = errors > 0
    return float((differences[varies] / errors[varies]).max())


def pick_colour(share: float) -> str:
    """Return the colour of a share of the tours."""
    return RAMP[min(int(share * len(RAMP)), len(RAMP) - 1)]


def main() -> None:
    """Print how many closed tours of a board use each jump."""
    parser = make_parser(main.__doc__)
    parser.add_argument("board", type=parse_board)
    parser.add_argument("--sample", type=Path, metavar="CSV", help="closed tours to compare with")
    options = parser.parse_args()
    rows, board = make_rows(options.board, options.outputs), stand_up(options.board)
    print(f"{count_tours(board, rows):,} closed tours, {len(rows)} classes of jumps\n")
    show(rows.with_columns(pl.col("share") * 100), decimals=2)
    if options.sample:
        paths = pl.read_csv(options.sample)["path"].to_list()
        greatest = compare_sample(board, rows, paths)
        print(f"{len(paths):,} tours: shares within {greatest:.2f} standard errors")
    name = f"closed_tour_edges_{board}"
    save(options.results, **{name: rows})
    if options.results:
        (options.results / f"{name}.svg").write_text(draw_edges(board, rows))


if __name__ == "__main__":
    main()
