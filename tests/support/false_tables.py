"""False tables, as data: of each table a list of changes, each with the claim that it refutes.

The files of each false table agree with each other, and the manifest lists them.
"""

import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from puzzle_tablebase.formats.index import (
    BLOCK_BYTES,
    read_records,
)
from puzzle_tablebase.formats.index_writer import IndexWriter
from puzzle_tablebase.puzzles.knight.board import parse_board
from puzzle_tablebase.puzzles.sliding import EIGHT
from puzzle_tablebase.stores import Folder
from tests.support import oracles
from tests.support.count_boards import FIRST_ROWS, change_counts
from tests.support.pancakes import PUZZLE as PANCAKES
from tests.support.tampered import (
    Change,
    Files,
    cell,
    cells,
    change_byte,
    change_header,
    change_records,
    describe_file,
    edit_manifest,
    flip_byte,
    open_one,
    records,
    replace_link,
    reseal,
    sha256,
    swap_rows,
    vouch,
    without,
    write_rows,
)
from tests.support.tour_lists import list_mirrors

ANY = None
"""A row that a case does not name."""
Case = tuple[Any, int | None, str, str]
"""A change, the first false row, the beginning of the claim, and a pattern: found | expected."""

# ---- changes ----------------------------------------------------------------------------------


def renumber(rows: pa.Table) -> pa.Table:
    """Return tours numbered again within each start."""
    starts, numbers = rows["start"].to_pylist(), list[int]()
    for before, start in zip([None, *starts], starts, strict=False):
        numbers.append(numbers[-1] + 1 if start == before else 0)
    at = rows.column_names.index("number")
    return rows.set_column(at, rows.field(at), pa.array(numbers, pa.int64()))


def swap_tours(row: int) -> Change:
    """Return a change that swaps two tours."""
    return lambda rows: renumber(swap_rows(row, row + 1)(rows))


def spell(row: int, change: Callable[[str], str]) -> Change:
    """Return a change of a path."""
    return lambda rows: cell("path", row, change(str(rows["path"][row])))(rows)


def put(row: int, at: int, name: str) -> Change:
    """Return a change of a square of a path."""
    return spell(row, lambda path: path[:at] + name + path[at + 2 :])


def without_paths(row: int, *, all_images: bool) -> Change:
    """Return a change that removes a tour of 5x5 and its reverse, or all of its images."""

    def change(rows: pa.Table) -> pa.Table:
        squares = oracles.read_tour(5, 5, str(rows["path"][row]))
        mirrors = list_mirrors(5, 5)[: None if all_images else 1]
        images = [[turned[square] for square in squares] for turned in mirrors]
        images += [image[::-1] for image in images]
        gone = {"".join(oracles.square_name(5, square) for square in each) for each in images}
        remaining = [at for at, path in enumerate(rows["path"].to_pylist()) if path not in gone]
        assert len(remaining) == len(rows) - len(gone)
        return renumber(rows.take(remaining))

    return change


def level_distances(rows: pa.Table) -> pa.Table:
    """Give only the goal a 0, so that no other state is farther than its neighbours."""
    distance = pc.if_else(pc.equal(rows["distance"], 0), 0, 1).cast(rows["distance"].type)
    at = rows.column_names.index("distance")
    return rows.set_column(at, rows.field(at), distance)


def keep_corner(rows: pa.Table) -> pa.Table:
    return rows.filter(pc.equal(rows.column("goal").cast(pa.string()), "corner"))


def change_file(suffix: str) -> Files:
    """Return a change of one byte in the middle of a file."""
    return Files(lambda folder, name: flip_byte(folder / f"{name}.{suffix}"))


def change_index(change: Callable[[bytes], bytes]) -> Files:
    """Return a change of the bytes of an index, which the manifest lists."""

    def edit(folder: Path, name: str) -> None:
        path = replace_link(folder / f"{name}.idx")
        path.write_bytes(change(path.read_bytes()))
        with edit_manifest(folder) as entries:
            entries[name]["index"]["sha256"] = sha256(path)

    return Files(edit)


def change_entry(**values: Any) -> Files:
    """Return a change of values in the manifest's entry of a table."""

    def edit(folder: Path, name: str) -> None:
        with edit_manifest(folder) as entries:
            entries[name] |= values

    return Files(edit)


def keep_content(folder: Path, name: str) -> None:
    """Change a row, but not the content hash in the file and the manifest."""
    path, listed = replace_link(folder / f"{name}.parquet"), open_one(folder, name)
    false = cell("solutions", 70, 9)(pq.read_table(path))
    write_rows(false, path, listed.definition, content=listed.entry.content)
    with edit_manifest(folder) as entries:
        entries[name] |= {"parquet": describe_file(path)}


def move_count(folder: Path, name: str) -> None:
    """Count a state of the manifest's at another distance."""
    with edit_manifest(folder) as entries:
        states = entries[name]["counts"][-1]["states"]
        states[-2:] = [states[-2] - 1, states[-1] + 1]


# ---- the cases --------------------------------------------------------------------------------

ORDER = "the rows are different states of the"
ZERO = "the distance is 0 only at"
MOVES = "every move can be undone and leads to a row with the same goal: no state is missing"
NEARER = "each non-goal state's nearest neighbour is exactly one move nearer"
BEST = "best_moves are exactly the moves to those neighbours"
SUM = "solutions is the sum of those neighbours' solutions, and 1 at a goal"
COMPUTED = ", ".join([*oracles.eight_features("123456780", "123456780"), "rank"])
FEATURES = f"{COMPUTED}: equal to the values computed again from state and"
MANHATTAN = "manhattan: equal to the values computed again from state and"
RECORD = "each record matches its state's row"
AFTER = "a state after the one before it"
FAR = 7
"""One of the farthest stacks, so that no other row depends on it."""
MISSING = PANCAKES.unrank(70)

PANCAKE_CASES: list[Case] = [
    (cell("state", 70, "12345"), 70, ORDER, f"12345 | {AFTER}"),
    (cell("state", 70, "99999"), 70, ORDER, "99999 | a state"),
    (cell("state", 70, "1234"), 70, ORDER, "1234 | a state"),
    (swap_rows(70, 71), 71, ORDER, f"{MISSING} | {AFTER}"),
    (cell("distance", FAR, 0), FAR, ZERO, "distance is 0: True | False"),
    (without(0), ANY, f"{ZERO} stacked (12345)", "no row | a row for 12345"),
    (without(70), ANY, MOVES, f"move ? to {MISSING} | a row with the goal stacked"),
    (cell("distance", FAR, 9), FAR, NEARER, "nearest neighbour's distance 4 | 8"),
    (cell("distance", FAR, 3), FAR, NEARER, "nearest neighbour's distance 4 | 2"),
    (cell("best_moves", FAR, "23"), FAR, BEST, "best_moves 23 | 2345"),
    (cell("best_moves", FAR, ""), FAR, BEST, "best_moves  | 2345"),
    (cell("best_moves", 0, "2"), 0, BEST, "best_moves 2 | "),
    (cell("solutions", FAR, 99), FAR, SUM, "solutions 99 | 4"),
    (change_byte(100, 1), 100, RECORD, "distance 5 | 4"),
    (change_byte(100, 1, 1), 100, RECORD, "solutions 2 | 1"),
]
EIGHT_CASES: list[Case] = [
    (cells(("goal", EIGHT.rank("123804765"), "corner")), ANY, ZERO, "goal corner | centre"),
    (keep_corner, ANY, f"{ZERO} corner (123456780), centre", "no row | a row for 123804765"),
    (cell("goal", 70, "edge"), 70, ORDER, "goal edge | goal corner or centre"),
    (cell("goal", 70, "corner"), ANY, MOVES, "move [UDLR] to ????????? | a row with the goal *"),
]
# one state of each goal
EIGHT_CASES += [(cell("manhattan", row, 99), row, FEATURES, "manhattan 99 | *") for row in (0, 1)]
EDGE_CASES: list[Case] = [
    (level_distances, 0, NEARER, "nearest neighbour's distance 1 | 0"),
    (cell("blank", 70, 1), 70, FEATURES, "blank 1 | 0"),
    (cell("manhattan", 181_439, 1), 181_439, FEATURES, "manhattan 1 | *"),
    (cell("rank", 70, 70), 70, FEATURES, "rank 70 | 141"),
    (cell("misplaced", 181_439, 1), 181_439, FEATURES, "misplaced 1 | *"),
]

PATH = "every path is a tour"
BESIDE = "board, start, finish, closed and number match the path"
NO_TOUR = "no tour is missing"
LATER = "a path after the one before it"

TOUR_CASES: list[Case] = [
    *(
        (put(1000, at, name), 1000, PATH, f"{at * '?'}{name}* | a tour")
        for at, name in ((0, "b1"), (2, "a1"), (20, "f1"), (20, "a6"), (20, "A1"))
    ),
    # all squares, by other jumps; a square twice, by a knight's jump
    (spell(7, lambda path: path[:10] + path[12:14] + path[10:12] + path[14:]), 7, PATH, "*"),
    (spell(7, lambda path: path[:-2] + path[-6:-4]), 7, PATH, "* | a tour"),
    (cell("path", 1007, "a1"), 1007, PATH, "length of path 2 | 50"),
    (cell("board", 1000, "5x6"), 1000, BESIDE, "board 5x6 | 5x5"),
    (cell("start", 1000, "c3"), 1000, BESIDE, "start c3 | b4"),
    (cell("finish", 1000, "c3"), 1000, BESIDE, "finish c3 | ??"),
    (cell("closed", 1000, True), 1000, BESIDE, "closed True | False"),
    (cell("number", 1000, 9), 1000, BESIDE, "number 9 | *"),
    # within the rows that are read at a time, and where they meet
    *((swap_tours(row), row + 1, PATH, f"* | {LATER}") for row in (99, 100)),
    (lambda rows: renumber(rows.take([*range(500), *range(499, 1727)])), 500, PATH, f"* | {LATER}"),
    (without_paths(700, all_images=False), ANY, NO_TOUR, "tours from ??: * | *"),
    (without_paths(0, all_images=True), ANY, NO_TOUR, "tours from a1: 302 | 304"),
]
PAIRS = "there is one tour for every ordered pair of squares"
PAIR_CASES: list[Case] = [
    (lambda rows: renumber(without(40)(rows)), ANY, PAIRS, "rows 2047 | 2048"),
    (swap_tours(40), 40, PAIRS, "from b1 to ?? | b1 to ??"),
    (change_byte(2047, 1, 63), 2047, "each record holds the squares", "squares [[]* | [[]*"),
]

PLACED = "the rows are different states of the 2x3 board, by the blank's place"
GOAL = "the distance is 0 only at 123450"
SLIDING_CASES: list[Case] = [
    (swap_rows(7, 8), 8, PLACED, f"* | {AFTER}"),
    (cell("state", 12, "12345"), 12, PLACED, "12345 | a state"),
    (cell("state", 12, "123455"), 12, PLACED, "123455 | a state"),
    (cell("goal", 9, "123405"), 9, PLACED, "goal 123405 | goal 123450"),
    (without(359), ANY, MOVES, "move ? to ?????? | a row with the goal 123450"),
    (cell("distance", 100, 0), 100, GOAL, "distance is 0: True | False"),
    (cell("distance", 100, 3), ANY, NEARER, "nearest neighbour's distance * | *"),
    (cell("best_moves", 11, "UDLR"), 11, BEST, "best_moves UDLR | *"),
    (cell("best_moves", 359, ""), 359, BEST, "best_moves  | *"),
    (cell("manhattan", 5, 0), 5, MANHATTAN, "manhattan 0 | *"),
    (change_records(lambda every: np.add(every, 2, out=every)), 0, RECORD, "distance * | *"),
    (change_byte(100, -14), 100, RECORD, "distance 0 | 14"),
    *((change_byte(rank, 2), rank, RECORD, "distance * | *") for rank in (0, 359)),
]

SWEPT = "on 4x5, 5x4, 5x6, 6x5, 7x3: counts match a second sweep, start by start"
ONE_ROW = "there is one row for every square of"
WALKED = "on 3 boards that no table lists: counts match an independent recount, path by path"
LISTED = "on 3x4: the tours and closed tours are as many as in the board's own table"


def change_tours(*changes: tuple[str, int, int]) -> Change:
    """Return a change of the tours of boards that keeps their totals and symmetry."""
    return change_counts(*(("tours", *change) for change in changes))


COUNT_CASES: list[Case] = [
    (lambda rows: rows[:-1], ANY, ONE_ROW, "rows 166 | 167"),
    (cell("start", 9, "c1"), 9, ONE_ROW, "start c1 | *"),
    (cell("board", 9, "5x6"), 9, ONE_ROW, "board 5x6 | 3x4"),
    (cell("tours", 9, None), 9, ONE_ROW, "a null in tours: True | False"),
    (cell("tours", 19, 305), 19, WALKED, "tours 305 | 0"),
    (cell("closed", 19, 2), 19, WALKED, "closed 2 | 0"),
    (change_counts(("closed", "5x6", -1, 1)), FIRST_ROWS["5x6"], SWEPT, "closed 17 | 16"),
    *(
        (change_tours(*changes), FIRST_ROWS[changes[0][0]], claim, "tours * | *")
        for claim, *changes in (
            (LISTED, ("3x4", 0, 1), ("3x4", 1, -1), ("4x3", 0, 1), ("4x3", 4, -1)),
            (WALKED, ("4x4", 0, 1), ("4x4", 5, -1)),
            (SWEPT, ("4x5", 0, 1), ("4x5", 1, -1), ("5x4", 0, 1), ("5x4", 5, -1)),
            (SWEPT, ("7x3", 0, 1), ("7x3", 1, -1)),
        )
    ),
]


def add_tours(board: str, difference: int, pairs: Iterable[tuple[int, int]]) -> Change:
    """Return a change of the tours from some squares to others, and of no more."""
    rows = {pair: row for row, pair in enumerate(parse_board(board).list_pairs())}

    def change(table: pa.Table) -> pa.Table:
        for pair in pairs:
            tours = table["tours"][rows[pair]].as_py() + difference
            table = cell("tours", rows[pair], tours)(table)
        return table

    return change


def change_pairs(board: str, *changes: tuple[int, int, int]) -> Change:
    """Return a change of the tours between two squares, in both directions and at all images."""
    sides = parse_board(board)

    def change(table: pa.Table) -> pa.Table:
        for one, other, difference in changes:
            images = zip(sides.find_images(one), sides.find_images(other), strict=True)
            pairs = {ends for image in images for ends in (image, image[::-1])}
            table = add_tours(board, difference, pairs)(table)
        return table

    return change


ONE_PAIR = "there is one row for every ordered pair of squares"
IMAGES = "as many tours lead back, and as many between the images of both squares"
PAIR_COUNT_CASES: list[Case] = [
    (without(40), ANY, ONE_PAIR, "rows 71 | 72"),
    (swap_rows(40, 41), 40, ONE_PAIR, "from ?? to ?? | ?? to ??"),
    (cell("board", 40, "4x3"), 40, "board and closed match the pair", "board 4x3 | 3x4"),
    (cell("closed", 40, True), 40, "board and closed match the pair", "closed True | False"),
    (cell("tours", 0, 9), 0, IMAGES, "tours 9 | *"),
    # at all images, but not back; and back, but at no image
    (add_tours("3x4", 1, [(0, 1), (2, 1), (9, 10), (11, 10)]), 0, IMAGES, "tours 2 | 1"),
    (add_tours("3x4", 1, [(0, 1), (1, 0)]), 0, IMAGES, "tours 2 | 1"),
    (
        change_pairs("3x4", (0, 1, 1)),
        0,
        "between each two squares, tours are as many as in knight_tours_3x4",
        "tours 2 | 1",
    ),
    (change_byte(71, 1), 71, "each record holds the tours of its row", "tours 2 | 1"),
]
SUMS = "all tours, and the closed ones, from each square are as many as in a second sweep"
SWEPT_PAIR_CASES: list[Case] = [
    (change_pairs("4x5", (0, 1, 1)), ANY, SUMS, "tours from a1: * | *"),
    # the first square is a jump from the seventh; the tours from each square stay as many
    (change_pairs("4x5", (0, 6, 1), (0, 1, -1)), ANY, SUMS, "* from *: * | *"),
]
FILE_CASES: list[Case] = [
    (change_file("parquet"), ANY, "size and SHA-256", "SHA-256 * | *"),
    (change_file("idx"), ANY, "size and SHA-256", "SHA-256 * | *"),
    (change_entry(index=None), ANY, "the table is listed with the files", "files * | *.idx*"),
    *(
        (change_index(change), ANY, "header, checksums and zeros", "other bytes in * | those of *")
        for change in (
            lambda data: change_header(data, version=9),
            lambda data: data[:-9] + b"!" + data[-8:],
            lambda data: reseal(data[:-9] + b"!" + data[-8:]),  # instead of a zero
        )
    ),
    (
        change_entry(parameters={}),
        ANY,
        "schema, row count and metadata",
        "metadata parameters: * | {}",
    ),
    (Files(keep_content), ANY, "every row decodes", "content hash * | *"),
    (Files(move_count), ANY, "as many states are at each distance", "states of pancakes, * | *"),
]
"""Changes of files that all tables have, each with the claim that all proofs share."""


# ---- indexes alone, and rows of a state space -------------------------------------------------


def change_count(difference: int) -> Files:
    """Return a change that drops the last record of an index, or writes it twice."""

    def edit(folder: Path, name: str) -> None:
        table, index = open_one(folder, name).definition, replace_link(folder / f"{name}.idx")
        count, written = records(index.read_bytes()), io.BytesIO()
        with Folder(folder).open(index.name) as file:
            parts = np.concatenate([*read_records(file, table, count)])
        parts = parts[[*range(count), count - 1][: count + difference]]
        fields = {field: parts[field] for field, _ in table.index}
        writer = IndexWriter(written, table, len(parts))
        writer.write(0, fields)
        writer.finish()
        index.write_bytes(written.getvalue())
        with edit_manifest(folder) as entries:
            entries[name]["rows"] = entries[name]["index"]["records"] = len(parts)
        vouch(folder, name)

    return Files(edit)


def replace_first_byte(data: bytes) -> bytes:
    """Change the first record, with right checksums, and leave the digest."""
    return reseal(data[:BLOCK_BYTES] + b"!" + data[BLOCK_BYTES + 1 :])


def flip_state(*ranks: int) -> Files:
    """Return a change of the bits of some states."""

    def edit(every: npt.NDArray[np.uint8]) -> None:
        for rank in ranks:
            every[rank // 360, rank % 360 // 8] ^= 1 << rank % 8

    return change_records(edit)


BIT = "each bit is bit 1 of the state's distance, layer by layer from the goal"
ENTRY = "parameters, number of records and content hash"
BIT_CASES: list[Case] = [
    *((flip_state(rank), rank, BIT, "bit ? | ?") for rank in (0, 1, 361, 7777, 20_159)),
    (change_count(-1), ANY, "there is a record for every 360 states", "records 55 | 56"),
    (change_entry(rows=20_160), ANY, ENTRY, "records 20160 | 56"),
    (change_entry(parameters={}), ANY, ENTRY, "parameters {} | {*}"),
    (change_index(replace_first_byte), ANY, "header, checksums", "other bytes in the header | *"),
    (change_entry(content="00"), ANY, ENTRY, "content hash 00 | *"),
]
FEWEST = "every entry is the fewest moves"
PATTERN_CASES: list[Case] = [
    *((change_byte(rank, change), rank, FEWEST, "* | *") for rank, change in ((0, 1), (100, -2))),
    (change_count(-1), ANY, FEWEST, "records 503 | more"),
    (change_count(1), ANY, FEWEST, "records 505 | 504"),
]


def change_record(field: int, size: int, record: int, value: int) -> Files:
    """Return a change of a number in a record."""

    def edit(every: npt.NDArray[np.uint8]) -> None:
        number = int.from_bytes(every[record, field : field + size].tobytes(), "little") + value
        every[record, field : field + size] = [*(number % (1 << 8 * size)).to_bytes(size, "little")]

    return change_records(edit)


LAYERS = "every layer is counted again from the empty board: each state"
RANK_CASES: list[Case] = [
    (change_record(0, 2, 5, 1), 5, LAYERS, "layer 6 | 5"),
    (change_record(2, 8, 5, 1), 5, LAYERS, "key * | *"),
    (change_record(10, 8, 5, 1), 5, LAYERS, "before 1 | 0"),
    *((change_byte(at, 1, 18), at, LAYERS, "states * | *") for at in (0, 5, 13)),
    (change_byte(3, 1, -1), 3, LAYERS, "states * | *"),  # after the zeros that end a record
    (change_count(-1), ANY, LAYERS, "records 13 | more"),
    (change_count(1), ANY, LAYERS, "records 15 | 14"),
]
CASES: dict[str, list[Case]] = {
    "pancakes": [*PANCAKE_CASES, *FILE_CASES],
    "sliding_2x4_8": BIT_CASES,
    "fifteen_125": PATTERN_CASES,
    "knight_closed_ranks_5x6": RANK_CASES,
    "knight_ranks_4x5": [
        (change_byte(at, 1, 18), at, LAYERS, "* | *") for at in (0, 9, 11, 20, 21)
    ],
    "eight": EIGHT_CASES,
    "eight_edge": EDGE_CASES,
    "knight_tours_5x5": TOUR_CASES,
    "knight_tours_8x8": PAIR_CASES,
    "sliding_2x3_6": SLIDING_CASES,
    "knight_counts": COUNT_CASES,
    "knight_pair_counts_3x4": PAIR_COUNT_CASES,
    "knight_pair_counts_4x3": [
        (change_pairs("4x3", (0, 1, 1)), 0, "between each two squares, counts match", "tours 1 | 0")
    ],
    "knight_pair_counts_4x5": SWEPT_PAIR_CASES,
}
