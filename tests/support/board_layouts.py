"""Boards as text in every layout that can be read back, and an obvious, slow reader of them."""

from __future__ import annotations

from collections.abc import Iterator

BLANKS = ("0", ".", "_")


def write_board(rows: list[list[str]], between_cells: str, between_rows: str, frame: str) -> str:
    """Write a board: cells joined to rows, rows joined to a text, with something around it.

    `frame`: the text before, an ellipsis, and the text after.
    """
    before, _, after = frame.partition("…")
    return before + between_rows.join(between_cells.join(row) for row in rows) + after


def cut_rows(state: str, width: int) -> list[list[str]]:
    return [[*state[at : at + width]] for at in range(0, len(state), width)]


# (between cells, between rows, around)
LAYOUTS = [
    ("", "", "…"),  # 378546201
    ("", " ", "…"),  # 378 546 201
    ("", "\n", "…"),
    ("", "/", "…"),
    ("", " / ", "…"),
    ("", ";", "…"),
    ("", ", ", "[…]"),
    (" ", " ", "…"),  # 3 7 8 5 4 6 2 0 1
    (" ", "  ", "…"),
    (" ", "\n", "…"),
    (" ", "\n ", " …\n"),  # as it is printed
    (" ", "\n   ", "   …"),
    (" ", " / ", "…"),
    (" ", "/", "…"),
    (" ", "; ", "[…]"),
    (" ", "]\n [", "[[…]]"),  # as numpy prints it
    ("  ", "\n", "…"),
    (",", ",", "…"),
    (",", "\n", "…"),
    (",", "\r\n", "…\r\n"),
    (",", "/", "…"),
    (",", ";", "…"),
    (",", "],[", "[[…]]"),
    (", ", ", ", "(…)"),
    (", ", "], [", "[[…]]"),
    (", ", "},\n {", "{{…}}"),
    ("\t", "\n", "…"),
    ("|", "|\n|", "|…|"),
    (" | ", " |\n| ", "| … |"),
]  # fmt: skip
ENDS_OF_FIELDS = ",\t|"
"""The separators between which an empty field is the blank."""


def write_layouts(state: str, width: int) -> Iterator[str]:
    """Write a state in every layout, with every spelling of the blank."""
    for between_cells, between_rows, frame in LAYOUTS:
        is_field = any(end in between_cells for end in ENDS_OF_FIELDS)
        for blank in [*BLANKS, " ", ""] if is_field else BLANKS:
            rows = cut_rows(state, width)
            spelled = [[blank if cell == "0" else cell for cell in row] for row in rows]
            yield write_board(spelled, between_cells, between_rows, frame)


def read_board(text: str, tiles: str, width: int) -> set[str]:
    """Read a text in an obvious way: return every state that some layout writes like that.

    `tiles`: those in the text, in its order. White space at its ends may be there by accident.
    """
    states = (f"{tiles[:blank]}0{tiles[blank:]}" for blank in range(len(tiles) + 1))
    return {state for state in states if {text, text.strip(" ")} & {*write_layouts(state, width)}}
