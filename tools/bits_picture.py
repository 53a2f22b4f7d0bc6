"""`docs/sliding-bits.svg`: a shortest solution, with the two bits that lead along it."""

from __future__ import annotations

from puzzle_tablebase.puzzles.sliding import SlidingBoard, parse_board
from puzzle_tablebase.queries.svg import (
    AMBER,
    BLUE,
    BOLD,
    CELL_DARK,
    GREEN,
    INK,
    MUTED,
    ON_HIGH,
    Picture,
)

STATE = "520143"
CELL, GAP, LEFT, TOP = 26, 34, 150, 62
ROWS = ("the blank's cell", "stored: bit 1", "together: modulo 4", "distance")


def measure_distances(board: SlidingBoard) -> dict[str, int]:
    """Return the distance of every state to the board's first goal, layer by layer."""
    distances, layer = {board.example: 0}, [board.example]
    for state in layer:
        for _, neighbour in board.moves(state):
            if neighbour not in distances:
                distances[neighbour] = distances[state] + 1
                layer.append(neighbour)
    return distances


def draw_bits() -> str:
    board = parse_board("2x3")
    distances = measure_distances(board)
    states = [STATE]
    while distances[states[-1]]:
        near = (state for _, state in board.moves(states[-1]))
        states.append(next(state for state in near if distances[state] < distances[states[-1]]))
    picture = Picture("Two bits lead from a state to the goal")
    text = "Each step goes to a neighbour whose value is one less, modulo 4"
    picture.add_text(24, 30, text, 14, INK, "start", BOLD)
    for number, state in enumerate(states):
        left = LEFT + number * (board.width * CELL + GAP)
        _draw_board(picture, board, state, left)
        home = board.count_steps(state.index("0"), board.example.index("0")) % 2
        bit = distances[state] >> 1 & 1
        values = (home, bit, home + 2 * bit, distances[state])
        middle = left + board.width * CELL / 2
        for row, (value, colour) in enumerate(zip(values, (GREEN, AMBER, BLUE, INK), strict=True)):
            y = TOP + board.height * CELL + 30 + 24 * row
            picture.add_text(middle, y, str(value), 15, colour, "middle", BOLD)
        if number:
            picture.add_text(left - GAP / 2, TOP + board.height * CELL / 2 + 6, "→", 16, MUTED)
    for row, label in enumerate(ROWS):
        y = TOP + board.height * CELL + 30 + 24 * row
        picture.add_text(24, y, label, 12, MUTED, "start")
    width = LEFT + len(states) * (board.width * CELL + GAP)
    return picture.to_svg(width, TOP + board.height * CELL + 130)


def _draw_board(picture: Picture, board: SlidingBoard, state: str, left: float) -> None:
    """Draw a board with its tiles."""
    for cell, mark in enumerate(state):
        x, y = left + cell % board.width * CELL, TOP + cell // board.width * CELL
        is_blank = mark == "0"
        fill = CELL_DARK if is_blank else BLUE
        picture.add_rect(x + 1, y + 1, CELL - 2, CELL - 2, fill, ' rx="3"')
        if not is_blank:
            picture.add_text(x + CELL / 2, y + 18, mark, 13, ON_HIGH)
