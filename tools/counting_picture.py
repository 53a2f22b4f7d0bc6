"""`docs/counting.svg`: partial tours that lead to one state, its key, and one step back."""

from __future__ import annotations

from itertools import combinations

from puzzle_tablebase.frontier.layers import (
    END,
    FREE,
    MATCHING_BITS,
    State,
    step_back,
    step_forward,
)
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.queries.svg import (
    AMBER,
    BLUE,
    BOLD,
    CELL,
    CELL_DARK,
    GREEN,
    INK,
    MUTED,
    ON_HIGH,
    Picture,
)

BOARD, DONE = KnightBoard(5, 8), 11
"""The board, whose squares are numbered down the columns, and the number of finished squares."""
KEY = 181_526_792_765_440
"""A state that three partial tours lead to."""
ROWS, CELLS, SHOWN = 5, 11, 5
"""The squares in a column, the cells of the frontier, and the columns in the picture."""
SIDE, LEFT, TOP = 38, 24, 88
PATH_COLOURS = (BLUE, AMBER, GREEN)

Edge = tuple[int, int]


def list_others(square: int) -> list[int]:
    return [to - square for to in BOARD.list_neighbours(square) if to > square]


def count_layers() -> list[dict[int, int]]:
    """Return the states after each square, with the number of partial tours that lead to each."""
    layers = [{State([FREE] * CELLS, {}).key: 1}]
    for square in range(DONE):
        layer: dict[int, int] = {}
        for key, ways in layers[-1].items():
            for size in range(3):
                for edges in combinations(list_others(square), size):
                    to = step_forward(key, edges, CELLS)
                    if to is not None:
                        layer[to] = layer.get(to, 0) + ways
        layers.append(layer)
    return layers


def unrank_partial_tour(number: int, layers: list[dict[int, int]]) -> list[Edge]:
    """Return the edges of the partial tour with a number."""
    key, edges = KEY, list[Edge]()
    for square in reversed(range(DONE)):
        for previous, offsets in step_back(key, list_others(square), CELLS):
            ways = layers[square].get(previous, 0)
            if number < ways:
                edges += [(square, square + offset) for offset in offsets]
                key = previous
                break
            number -= ways
    return edges


def draw_counting() -> str:
    layers = count_layers()
    state, ways = State.from_key(KEY, CELLS), layers[DONE][KEY]
    picture = Picture("Drawings that lead to one state of a frontier")
    text = f"{ways} drawings on {BOARD}, {DONE} squares finished: they lead to the same state"
    picture.add_text(LEFT, 30, text, 15, INK, "start", BOLD)
    text = (
        "A cell of the frontier has the number of edges that it still needs. Its colour: a piece."
    )
    picture.add_text(LEFT, 50, text, 12, MUTED, "start")
    colours: dict[int, str] = {}
    for end, partner in sorted(state.partner.items()):
        if end < partner:
            colours[end] = colours[partner] = PATH_COLOURS[len(colours) // 2]
    wide = SHOWN * SIDE + 40
    for number in range(ways):
        left = LEFT + number * wide
        picture.add_text(left, TOP - 8, f"drawing {number}", 12, INK, "start", BOLD)
        draw_board(picture, left, state, colours, unrank_partial_tour(number, layers))
    y = TOP + ROWS * SIDE + 44
    picture.add_text(LEFT, y - 12, "The state", 12, INK, "start", BOLD)
    for cell, need in enumerate(state.needs):
        x = LEFT + cell * SIDE
        picture.add_rect(x + 1, y + 1, SIDE - 2, SIDE - 2, colours.get(cell, CELL), ' rx="3"')
        ink = ON_HIGH if cell in colours else INK
        picture.add_text(x + SIDE / 2, y + 24, str(need), 14, ink)
        picture.add_text(x + SIDE / 2, y + SIDE + 16, f"{need:02b}", 12, INK)
    matching = KEY & (1 << MATCHING_BITS) - 1
    ends = ", ".join(f"cell {one} with {two}" for one, two in state.partner.items() if one < two)
    right = LEFT + CELLS * SIDE + 16
    picture.add_text(right, y + 24, f"ends: {ends}", 12, INK, "start")
    text = "two bits a cell, the first cell lowest"
    picture.add_text(right, y + SIDE + 16, text, 12, MUTED, "start")
    text = f"these bits; below them the number of the matching, {matching}"
    picture.add_text(right, y + SIDE + 42, text, 12, MUTED, "start")
    picture.add_text(LEFT, y + SIDE + 42, f"key {KEY:,}", 12, INK, "start", BOLD)
    y += SIDE + 78
    picture.add_text(LEFT, y, f"One step back, over square {DONE - 1}", 12, INK, "start", BOLD)
    first = 0
    for previous, offsets in step_back(KEY, list_others(DONE - 1), CELLS):
        count, y = layers[DONE - 1].get(previous, 0), y + 20
        to = " and ".join(str(DONE - 1 + offset) for offset in offsets) or "nothing"
        numbers = "no drawing: the state was never reached"
        if count:
            last = first + count - 1
            numbers = f"drawing {first}" if count == 1 else f"drawings {first} to {last}"
        picture.add_text(LEFT, y, f"joined to {to}", 12, INK, "start")
        picture.add_text(LEFT + 150, y, f"from the state {previous:,}", 12, MUTED, "start")
        picture.add_text(LEFT + 380, y, numbers, 12, INK if count else MUTED, "start")
        first += count
    return picture.to_svg(LEFT + 3 * wide + 180, y + 24)


def draw_board(
    picture: Picture, left: float, state: State, colours: dict[int, str], edges: list[Edge]
) -> None:
    def centre(square: int) -> tuple[float, float]:
        column, row = divmod(square, ROWS)
        return left + (column + 0.5) * SIDE, TOP + (row + 0.5) * SIDE

    for square in range(SHOWN * ROWS):
        x, y = centre(square)
        cell = square - DONE
        frontier = 0 <= cell < CELLS
        fill = colours.get(cell, CELL) if frontier else CELL_DARK
        picture.add_rect(x - SIDE / 2 + 1, y - SIDE / 2 + 1, SIDE - 2, SIDE - 2, fill, ' rx="3"')
    for one, two in edges:
        picture.add_path([centre(one), centre(two)], INK, 1.6)
    for square in range(SHOWN * ROWS):
        x, y = centre(square)
        cell = square - DONE
        corner = ON_HIGH if cell in colours else MUTED
        if cell < 0:
            picture.add_dot(x, y, 3, INK)
        elif cell < CELLS:
            ink = ON_HIGH if state.needs[cell] == END else INK
            picture.add_text(x + SIDE / 2 - 8, y + SIDE / 2 - 5, str(state.needs[cell]), 11, ink)
        picture.add_text(x - SIDE / 2 + 5, y - SIDE / 2 + 11, str(square), 8, corner, "start")
