"""The worked examples of docs/index-format.md, made from the published files as it describes."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from math import factorial
from pathlib import Path

from tablebase.puzzles import eight, senet
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.sliding import parse_board
from tablebase.tables.index_format import HEADER
from tests.support.default_tables import INDEXES
from tests.support.format_page import place_of, record_of

STATE, POSITION, WALKED = "378546201", "ABAAABBB.B...A.", "152703846"
FIELDS = (
    ("magic", "bytes", "always `PTIX`"),
    ("version", "u16", "format version of the file"),
    ("zero", "u16", "for later use"),
    ("width", "u32", "bytes in a record, 1 to 4,092"),
    ("block", "u32", "bytes in a block"),
    ("count", "u64", "number of records"),
    ("content", "bytes", "the table's content hash, as `manifest.json` has it in hexadecimal"),
    (
        "name",
        "bytes",
        "the table's name in UTF-8, filled up with zero bytes; one of 64 bytes has none",
    ),
)
"""The header's fields: name, type and meaning."""
STATES = {
    "eight.idx": ("012345678", "123456780", "123804765", STATE, "867254301", "876543210"),
    "eight_edge.idx": ("123456708", "123804765", STATE),
}
REACHED_GOALS = (
    ("3x3", "123456780", "867254301"),
    ("3x3", "123456780", "213456780"),
    ("3x3", "123804765", "123456708"),
    ("2x3", "123450", "120453"),
    ("2x3", "153204", "123405"),
    ("3x4", "123456789ab0", "3a1b87254960"),
    ("3x4", "123456789ab0", "0369147a258b"),
    ("3x4", "123456789ab0", "0369147a25b8"),
    ("3x4", "1234560789ab", "123456789ab0"),
    ("4x3", "123456789ab0", "0ba987654312"),
    ("4x3", "123456789ab0", "ba9876543210"),
    ("4x2", "12345670", "01234567"),
    ("4x2", "12345670", "12034567"),
)
"""Boards, goals and states: the goal can be reached or not."""
OTHER_GOALS = (
    ("3x4", "0123456789ab", "3a1b87254960"),
    ("3x4", "3a1b87254960", "123456789ab0"),
    ("3x4", "1203456789ab", "0369147a258b"),
    ("4x3", "123456789ab0", "123456789ab0"),
    ("4x3", "123456789ab0", "0ba987654312"),
    ("4x3", "1234567809ab", "123456708ab9"),
    ("3x2", "102345", "123450"),
)
POSITIONS = (".....AAAAABBBBB", "AAAAA.....BBBBB", POSITION, senet.OPENING)
PAIRS = ("a1 b1", "b1 a3", "a5 b1", "h8 g8")


def make_parts(outputs: Path) -> dict[str, str]:
    """Make the generated parts of the page, by their marks."""
    return {
        "header": format_header(outputs),
        "worked example": format_example(outputs),
        "rank of a state": format_state_rank(),
        "records of states": format_states(outputs),
        "walk": format_walk(outputs),
        "rank of a position": format_position_rank(),
        "states that reach a goal": format_reached_goals(),
        "goals of other files": format_other_goals(),
        "records of positions": format_positions(outputs),
        "line of play": format_line(outputs),
        "records of tours": format_tours(outputs),
    }


def format_table(titles: str, rows: Iterable[Iterable[object]]) -> str:
    """Format a Markdown table: numbers with separators, bytes in hexadecimal."""
    names = titles.split(", ")
    lines = [f"| {' | '.join(names)} |", f"| {' | '.join('---' for _ in names)} |"]
    lines += [f"| {' | '.join(map(_format_cell, row))} |" for row in rows]
    return "".join(f"{re.sub('  +', ' ', line)}\n" for line in lines)


def _format_cell(value: object) -> str:
    if isinstance(value, bytes):
        return f"`{value.hex(' ')}`"
    return f"{value:,}" if isinstance(value, int) else str(value)


def format_dump(data: bytes, *offsets: int) -> str:
    """Format lines of 16 bytes as `xxd` prints them."""
    lines = []
    for at in offsets:
        line = data[at : at + 16]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in line)
        lines.append(f"{at:08x}: {line.hex(' ')}  {text}\n")
    return f"```hexdump\n{''.join(lines)}```\n"


def format_header(outputs: Path) -> str:
    data = (outputs / "eight.idx").read_bytes()
    rows, offset = [], 0
    for (name, kind, meaning), value in zip(FIELDS, HEADER.unpack_from(data), strict=True):
        shown = value
        if isinstance(value, bytes):
            shown = f"`{value.hex() if name == 'content' else value.rstrip(bytes(1)).decode()}`"
        size = len(value) if isinstance(value, bytes) else int(kind[1:]) // 8
        rows.append((offset, size, kind, name, meaning, shown))
        offset += size
    dump = format_dump(data, 0, 16, 32, 48, 4080)
    table = format_table("offset, size, type, field, meaning, in `eight.idx`", rows)
    return f"{table}\nThe header of `eight.idx`, and the end of its block:\n\n{dump}"


def format_example(outputs: Path) -> str:
    data, rank = (outputs / "eight.idx").read_bytes(), eight.rank(STATE)
    record = record_of(outputs, INDEXES["eight.idx"], rank)
    block, at = place_of(len(record), rank)
    each = 4092 // len(record)
    place, end = rank % each, 4096 * block + 4092
    (checksum,) = struct.unpack_from("<I", data, end)
    return (
        f"The 8-puzzle state `{STATE}` has [rank](#8-puzzle-eightidx-and-eight_edgeidx) {rank:,}, "
        f"and records\nof {len(record)} bytes go {each:,} to a block. {rank:,} = {block - 1} × "
        f"{each:,} + {place}, so its record is number {place} of block {block}\nand begins at byte "
        f"4,096 × {block} + {len(record)} × {place} = {at:,}. In that block:\n\n"
        f"{format_dump(data, at - at % 16, end - end % 16)}\n"
        f"The record, at `{at:08x}`, is `{record.hex(' ')}`: {record[0]} moves, {record[1]} "
        f"shortest solutions. The checksum, at `{end:08x}`,\nis `{checksum:#010x}`. In Python:\n"
    )


def format_state_rank() -> str:
    rows: list[tuple[object, ...]] = []
    products, pairs = 0, 0
    for cell, digit in enumerate(STATE):
        after = [later for later in STATE[cell:] if later < digit]
        weight, tiles = factorial(8 - cell), len({*after} - {"0"})
        rows.append((cell, digit, len(after), weight, weight * len(after), tiles))
        products, pairs = products + weight * len(after), pairs + tiles
    assert products == eight.rank(STATE)
    titles = "cell, digit, smaller digits after it, factorial, product, smaller tiles after it"
    table = format_table(titles, [*rows, ("sum", "", "", "", products, pairs)])
    goal = "even: the goal is corner" if pairs % 2 == 0 else "odd: the goal is centre"
    _, at = place_of(2, products)
    example = f"[Its record](#a-worked-example) begins at byte {at:,}."
    return f"{table}\n{pairs} is {goal}. {example}\n"


def format_states(outputs: Path) -> str:
    rows = []
    for file, states in STATES.items():
        for state in states:
            rank = eight.rank(state)
            record = record_of(outputs, INDEXES[file], rank)
            place = place_of(len(record), rank)
            rows.append((f"`{file}`", f"`{state}`", rank, *place, record, *record))
    return format_table("file, state, rank, block, byte, record, distance, solutions", rows)


def format_walk(outputs: Path) -> str:
    """Format the walk downhill, by the distances of the records."""

    def distance(state: str) -> int:
        return record_of(outputs, INDEXES["eight.idx"], eight.rank(state))[0]

    rows, state = [], WALKED
    while True:
        left, moves = distance(state), dict(eight.moves(state))
        after = ", ".join(f"{letter} {distance(other)}" for letter, other in moves.items())
        taken = next((each for each, other in moves.items() if distance(other) < left), "")
        rows.append((left, f"`{state}`", eight.rank(state), after, taken))
        if not left:
            return format_table("distance, state, rank, distances after each move, taken", rows)
        state = moves[taken]


def format_position_rank() -> str:
    rows, total = [], 0
    for at, piece in enumerate(POSITION):
        left = {each: POSITION[at:].count(each) for each in ".AB"}
        ways: dict[str, object] = {".": "", "A": ""}
        for smaller in ".A"[: ".AB".index(piece)]:
            if left[smaller]:
                after = {**left, smaller: left[smaller] - 1}.values()
                count = factorial(sum(after))
                for number in after:
                    count //= factorial(number)
                ways[smaller], total = count, total + count
        rows.append((at + 1, f"`{piece}`", " ".join(map(str, left.values())), *ways.values()))
    assert total == senet.rank(POSITION)
    width = struct.calcsize(INDEXES["senet.idx"].record_format)
    block, at = place_of(width, total)
    each = 4092 // width
    table = format_table("square, character, left: `.` `A` `B`, with `.` here, with `A` here", rows)
    return (
        f"{table}\nThe sum of the last two columns, {total:,}, is the rank. A block holds {each} "
        f"records of {width} bytes, so it\nis record {total % each} of block {block} and begins at "
        f"byte 4,096 × {block} + {width} × {total % each} = {at:,}.\n"
    )


def count_pairs(state: str) -> int:
    """Count the pairs of tiles of which the greater one stands first in reading order."""
    tiles = state.replace("0", "")
    return sum(later < tile for at, tile in enumerate(tiles) for later in tiles[at:])


def format_reached_goals() -> str:
    rows = []
    for name, goal, state in REACHED_GOALS:
        board = parse_board(name)
        lines = abs(state.index("0") // board.width - goal.index("0") // board.width)
        counted: list[object] = [count_pairs(state), count_pairs(goal)]
        total = count_pairs(state) + count_pairs(goal)
        counted.append("" if board.width % 2 else lines)
        total += 0 if board.width % 2 else lines
        assert board.can_reach(state, goal) == (total % 2 == 0)
        answer = "no" if total % 2 else "yes"
        rows.append((name, f"`{goal}`", f"`{state}`", *counted, total, answer))
    titles = "board, goal, state, pairs of the state, pairs of the goal, rows, sum, reached"
    return format_table(titles, rows)


def format_other_goals() -> str:
    rows = []
    for name, goal, state in OTHER_GOALS:
        board = parse_board(name)
        assert board.can_reach(state, goal), (name, goal, state)
        view = board.view_goal(goal)
        table = board.wide.make_table(view.table_goal, with_rows=False)
        read = view.map_state(state)
        texts = (f"`{text}`" for text in (goal, table.index_file, state, read))
        rows.append((name, *texts, board.wide.rank(read)))
    return format_table("board, goal, file, state, it is read as, rank", rows)


def format_positions(outputs: Path) -> str:
    table, rows = INDEXES["senet.idx"], []
    for position in POSITIONS:
        rank = senet.rank(position)
        record = record_of(outputs, table, rank)
        values = struct.unpack(table.record_format, record)
        rows.append((f"`{position}`", rank, *place_of(len(record), rank), record, *values))
    names = ", ".join(name for name, _ in table.index)
    return format_table(f"position, rank, block, byte, record, {names}", rows)


def format_line(outputs: Path) -> str:
    """Format the line of play that leads to a position, walked backwards."""
    table, position, rows = INDEXES["senet.idx"], POSITION, []
    plies: int | None = None
    while plies != 0:
        record = record_of(outputs, table, senet.rank(position))
        names = [name for name, _ in table.index]
        fields = dict(zip(names, struct.unpack(table.record_format, record), strict=True))
        plies = min(fields["plies_even"], fields["plies_odd"]) if plies is None else plies
        field = f"last_{('even', 'odd')[plies % 2]}"
        throw, start = divmod(fields[field], 16)
        rows.append((plies, f"`{position}`", field, fields[field], throw, start, start + throw))
        squares = list(position)
        one, other = start - 1, start + throw - 1
        squares[one], squares[other] = squares[other], squares[one]
        position, plies = "".join(squares), plies - 1
        if not plies:
            rows.append((0, f"`{position}`", "", "", "", "", ""))
    assert position == senet.OPENING
    return format_table("plies, position, field, last move, throw, from, to", rows)


def format_tours(outputs: Path) -> str:
    board, rows = KnightBoard(8, 8), []
    for pair in PAIRS:
        start, finish = map(board.parse_square, pair.split())
        number = 32 * start + finish // 2
        record = record_of(outputs, INDEXES["knight_tours_8x8.idx"], number)
        ends = [f"{board.name_square(square)} = {square}" for square in (start, finish)]
        rows.append((*ends, number, *place_of(len(record), number), record[:4], record[-4:]))
    return format_table("start, finish, record, block, byte, first squares, last squares", rows)
