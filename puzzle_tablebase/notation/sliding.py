"""The notation of sliding boards: rows x columns of cells, with a character for each.

Cells are numbered in reading order; a state has a character for each cell in that order, `0`-`9`,
`a`-`f`, 0 for the blank. A move's letter says which way the blank goes, `U D L R`.
"""

from __future__ import annotations

from puzzle_tablebase.errors import NotationError, require_text

SEPARATORS = ",;/|[](){}"
"""The characters that may stand between cells, beside white space."""
BLANKS = "._"
"""The characters that stand for the blank, beside 0."""

_REPLACEMENTS = {
    blank: str.maketrans(dict.fromkeys(SEPARATORS, " ") | dict.fromkeys(BLANKS, blank))
    for blank in "0."
}
CHARACTERS = "0123456789abcdef"
"""The blank and the tiles."""
MAX_CELLS = len(CHARACTERS)
LETTERS = "UDLR"
MOVE_SETS = tuple(
    [
        "".join([letter for at, letter in enumerate(LETTERS) if letters >> at & 1])
        for letters in range(1 << len(LETTERS))
    ]
)
"""The letters of each set of moves, indexed by the set's bits."""
MARKS_BY_NUMBER = {str(number): mark for number, mark in enumerate(CHARACTERS)}
"""The marks of cells that are written as numbers, if they are separated."""
EXAMPLE_BOARD = "3x4"
"""The board in examples."""
MAX_PROBLEMS = 3
"""The most problems of a state that a message lists."""
GOALS = {"corner": "123456780", "centre": "123804765", "edge": "123456708"}
"""The goals of the 8-puzzle."""


def write_cells(given: object) -> object:
    """Return cells that are given as numbers, in rows or not, as text; all else as it is.

    >>> write_cells([[3, 7, 8], [5, 4, 6], [2, 0, 1]])
    '3 7 8 5 4 6 2 0 1'
    """
    rows = given.tolist() if hasattr(given, "tolist") else given
    if not isinstance(rows, list | tuple):
        return given
    parts = [row if isinstance(row, list | tuple) else [row] for row in rows]
    cells = [cell for part in parts for cell in part]
    if not all(hasattr(cell, "__index__") and not isinstance(cell, bool) for cell in cells):
        return given
    return " ".join([str(cell.__index__()) for cell in cells])


def split_cells(text: str, blank: str = "0") -> list[str]:
    """Split a text at white space and separators, with the blank in one spelling, 0 or a dot.

    >>> split_cells("[[3, 7, 8], [5, 4, 6], [2, ., 1]]")
    ['3', '7', '8', '5', '4', '6', '2', '0', '1']
    """
    return text.translate(_REPLACEMENTS[blank]).split()


def parse_sides(text: str) -> tuple[int, int]:
    """Return the rows and the columns of the board that a text names.

    >>> parse_sides("3x4")
    (3, 4)
    """
    given = require_text(text, "a sliding board", EXAMPLE_BOARD)
    sides = given.strip().lower().replace("×", "x").split("x")
    if len(sides) == 2 and all(side in MARKS_BY_NUMBER for side in sides):
        height, width = map(int, sides)
        if min(height, width) > 1 and height * width <= MAX_CELLS:
            return height, width
    problem = f"a board is rows x columns, 2 or more each, with {MAX_CELLS} cells at most"
    raise NotationError("a sliding board", text, problem, EXAMPLE_BOARD)


def parse_state(text: str, cells: int, what: str) -> str:
    """Return the state of a board of `cells` cells that a text names; `what` names it in errors.

    >>> parse_state("1 2 3 4 5 0", 6, "a state")
    '123450'
    """
    known = CHARACTERS[:cells]
    example = f"{known[1:]}0 (0 is the blank)"
    lower = require_text(write_cells(text), what, example).lower()
    state = "".join(lower.split())
    if len(state) == cells and {*state} == {*known}:
        return state
    words = split_cells(lower)
    marks = [*"".join(words)]
    if len(words) == cells or len(words) == cells - 1 < len(marks) - 1:
        marks = [MARKS_BY_NUMBER.get(word, word) for word in words]
    if sorted(marks) != sorted(known):
        raise NotationError(what, text, _find_problem(marks, known), example)
    return "".join(marks)


def _find_problem(marks: list[str], known: str) -> str:
    """Describe why marks are not each mark of a board once."""
    foreign = next((mark for mark in marks if mark not in CHARACTERS), "")
    if foreign.isascii() and foreign.isdecimal():
        return f"tile {foreign} does not exist"
    if foreign:
        return f"{foreign!r} is not a tile"
    problems, names = [], {mark: f"tile {mark}" for mark in CHARACTERS} | {"0": "the blank (0)"}
    if len(marks) != len(known):
        cells = f"{len(marks):,} cell{'s'[: len(marks) != 1]}"
        problems.append(f"it has {cells}, not {len(known)}")
    for mark in CHARACTERS:
        count = marks.count(mark)
        if count and mark not in known:
            problems.append(f"{names[mark]} does not exist")
        elif count > 1:
            problems.append(
                f"{names[mark]} appears {'twice' if count == 2 else f'{count:,} times'}"
            )
    if len(marks) >= len(known):
        problems += [f"{names[mark]} is missing" for mark in known if mark not in marks]
    elif {"0", *marks} == {*known}:
        problems.append("and the blank is missing: write it as 0")
    if len(marks) != len(known) and len(problems) > MAX_PROBLEMS - 1:
        return problems[0]
    if len(problems) > MAX_PROBLEMS:
        problems[MAX_PROBLEMS - 1 :] = ["and more"]
    return ", ".join(problems)


def list_moved_tiles(states: list[str]) -> str:
    """Return the tile that each move slides: after the move it is on the cell of the blank."""
    blanks = [state.index("0") for state in states[:-1]]
    return "".join([state[blank] for state, blank in zip(states[1:], blanks, strict=True)])


def format_slide(letter: str, tile: str) -> str:
    """Format a move with the tile that it slides."""
    return f"{letter} (tile {tile})"


def format_board(state: str, width: int) -> str:
    """Draw a state of a board of `width` columns as lines of text."""
    cells = state.replace("0", ".")
    rows = range(0, len(cells), width)
    return "".join(f" {' '.join(cells[row : row + width])}\n" for row in rows)
