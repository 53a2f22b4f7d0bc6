"""`docs/sliding.svg`: the rank of a sliding board's state, and the parts that a move changes."""

from __future__ import annotations

from puzzle_tablebase.puzzles.sliding import parse_board
from puzzle_tablebase.queries.svg import (
    AMBER,
    BLUE,
    BOLD,
    CELL_DARK,
    GREEN,
    INK,
    MUTED,
    ON_HIGH,
    PAPER,
    Picture,
)
from puzzle_tablebase.word_space import ROW_STATES, TAIL

STATE = "3a1b87254960"
SIDE, LEFT, TOP = 34, 24, 74
COLOURS = {"head": BLUE, "tail": AMBER, "blank": GREEN}


def draw_sliding() -> str:
    board = parse_board("3x4")
    rows, head_tiles = board.make_words(board.example).rows, board.cells - 1 - TAIL
    order = [cell for cell in board.cell_at if STATE[cell] != "0"]
    part = {cell: "head" if at < head_tiles else "tail" for at, cell in enumerate(order)}
    picture = Picture("The number of a state of a sliding board")
    picture.add_text(
        LEFT, 30, f"{STATE} on {board}: rank {board.rank(STATE):,}", 15, INK, "start", BOLD
    )
    text = "Places are numbered column by column; the tiles' order has a head and a tail."
    picture.add_text(LEFT, 50, text, 12, MUTED, "start")
    picture.add_rect(LEFT, TOP, board.width * SIDE, board.height * SIDE, CELL_DARK, ' rx="4"')
    for cell, mark in enumerate(STATE):
        x = LEFT + cell % board.width * SIDE
        y = TOP + cell // board.width * SIDE
        fill = COLOURS[part.get(cell, "blank")]
        picture.add_rect(x + 2, y + 2, SIDE - 4, SIDE - 4, fill, ' rx="3"')
        if mark != "0":
            picture.add_text(x + SIDE / 2, y + 20, mark, 14, ON_HIGH)
        picture.add_text(x + SIDE - 5, y + SIDE - 5, str(board.place[cell]), 8, PAPER, "end")
    across = LEFT + board.width * SIDE + 44
    draw_row(
        picture, across, TOP + 4, [STATE[cell] for cell in order], [part[cell] for cell in order]
    )
    block, rest = divmod(board.rank(STATE), board.orders)
    head, tail = divmod(rest, ROW_STATES)
    labels = [
        ("blank", f"block {block}: the blank's place"),
        ("head", f"row {head:,} of {rows:,}: the first {head_tiles} tiles"),
        ("tail", f"place {tail} of {ROW_STATES}: the last {TAIL}, halved by parity"),
    ]
    for number, (name, text) in enumerate(labels):
        y = TOP + 56 + 19 * number
        picture.add_rect(across, y - 10, 12, 12, COLOURS[name], ' rx="2"')
        picture.add_text(across + 20, y, text, 12, INK, "start")
    formula = f"rank = ({block} × {rows:,} + {head:,}) × {ROW_STATES} + {tail}"
    picture.add_text(across, TOP + 118, formula, 12, INK, "start")
    y = TOP + 160
    picture.add_text(LEFT, y, "What a move changes", 13, INK, "start", BOLD)
    moves = (
        "U or D: the blank's place alone, so that all of a row goes to one row",
        "L or R: one tile passes two others; here 6 passes b and 5, within the tail",
    )
    for number, text in enumerate(moves):
        picture.add_text(LEFT, y + 20 + 18 * number, text, 12, INK, "start")
    after = dict(board.moves(STATE))["L"]
    tiles = [after[cell] for cell in board.cell_at if after[cell] != "0"]
    draw_row(picture, across, y + 52, tiles, [part[cell] for cell in order])
    picture.add_text(LEFT, y + 71, f"After L, {after}:", 12, MUTED, "start")
    return picture.to_svg(across + 11 * 26 + 60, y + 98)


def draw_row(picture: Picture, left: float, top: float, tiles: list[str], parts: list[str]) -> None:
    """Draw an order of tiles, each in the colour of its part."""
    for at, (tile, part) in enumerate(zip(tiles, parts, strict=True)):
        picture.add_rect(left + at * 26, top, 24, 26, COLOURS[part], ' rx="3"')
        picture.add_text(left + at * 26 + 12, top + 18, tile, 13, ON_HIGH)
