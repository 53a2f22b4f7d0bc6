"""Boards as text in every layout that can be read back."""

from __future__ import annotations

from collections.abc import Iterator

SEPARATORS = r"[\s,;/|\[\](){}]"
"""What may stand between cells, as the pages say, as a regular expression."""
# (between cells, between rows, around)
LAYOUTS = [
    ("", "", "…"),  # 378546201
    ("", " ", "…"),  # 378 546 201
    ("", "\n", "…"),
    ("", " / ", "…"),
    ("", ";", "…"),
    ("", ", ", "[…]"),
    (" ", " ", "…"),  # 3 7 8 5 4 6 2 0 1
    (" ", "\n ", " …\n"),  # as it is printed
    (" ", "\n   ", "   …"),
    (" ", "/", "…"),
    (" ", "; ", "[…]"),
    (" ", "]\n [", "[[…]]"),  # as numpy prints it
    ("  ", "\n", "…"),
    (",", ",", "…"),
    (",", "\r\n", "…\r\n"),
    (", ", ", ", "(…)"),
    (", ", "], [", "[[…]]"),
    (", ", "},\n {", "{{…}}"),
    ("\t", "\n", "…"),
    ("|", "|\n|", "|…|"),
]  # fmt: skip


def write_layouts(state: str, width: int) -> Iterator[str]:
    """Write a state in every layout, with every spelling of the blank."""
    for between_cells, between_rows, frame in LAYOUTS:
        for blank in "0._":
            cells = state.replace("0", blank)
            rows = [
                between_cells.join(cells[at : at + width]) for at in range(0, len(state), width)
            ]
            yield frame.replace("…", between_rows.join(rows))
