"""Boards as text: in the notation that is printed, and in other usual ones.

A cell is one character, or a number between white space or separators. The blank is 0, `.` or `_`,
or the one empty field between commas, tabs or bars.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SEPARATORS = ",;/|[](){}"
"""The characters that may stand between cells, beside white space."""
BLANKS = "._"
"""The characters that stand for the blank, beside 0."""
FIELD_ENDS = ",\t|"
"""The separators between which an empty cell is the blank."""
ROW_ENDS = "\n/;"
"""The separators that may stand between two rows of fields."""

_REPLACEMENTS = {
    blank: str.maketrans(dict.fromkeys(SEPARATORS, " ") | dict.fromkeys(BLANKS, blank))
    for blank in "0."
}


def split_cells(text: str, blank: str = "0") -> list[str]:
    """Split a text at white space and separators, with the blank in one spelling, 0 or a dot.

    >>> split_cells("[[3, 7, 8], [5, 4, 6], [2, ., 1]]")
    ['3', '7', '8', '5', '4', '6', '2', '0', '1']
    """
    return text.translate(_REPLACEMENTS[blank]).split()


def list_tile_problems(cells: Sequence[str], known: str, marks: str) -> Iterator[str]:
    """Yield what is wrong with the tiles of a board, which should be all known ones, once each.

    `marks`: all that a cell may have, in the order of the problems.

    >>> [*list_tile_problems("112340", "012345", "0123456789")]
    ['tile 1 stands twice', 'tile 5 is missing']
    """
    for mark in marks:
        count = [*cells].count(mark)
        if count and mark not in known:
            yield f"{_format_tile(mark)} does not exist"
        elif count > 1:
            yield f"{_format_tile(mark)} stands {'twice' if count == 2 else f'{count:,} times'}"
    if len(cells) >= len(known):
        yield from (f"{_format_tile(mark)} is missing" for mark in known if mark not in cells)


def _format_tile(mark: str) -> str:
    return "the blank (0)" if mark == "0" else f"tile {mark}"


def find_empty_field(text: str, height: int, width: int) -> tuple[list[str], int] | None:
    """Find the only empty field of a board; return all tiles, and the field's cell.

    Brackets around the board or its rows are left out.

    >>> find_empty_field("[[3,7,8],[5,4,6],[2,,1]]", 3, 3)
    (['3', '7', '8', '5', '4', '6', '2', '1'], 7)
    >>> find_empty_field("378 546 21", 3, 3) is None
    True
    """
    if not any(end in text for end in FIELD_ENDS):
        return None
    import re  # a lone lookup never comes here

    text = re.sub(r"\r\n?", "\n", text)
    text = re.sub(r"[])}]\s*[,;/|]?\s*[\[({]", "\n", text)
    text = re.sub(r"[][(){}]", "", text).strip("\n")
    row_end = next((end for end in ROW_ENDS if text.count(end) == height - 1), None)
    rows = text.split(row_end) if row_end else [text]
    return _find_in_rows(rows, height * width // len(rows))


def _find_in_rows(rows: list[str], width: int) -> tuple[list[str], int] | None:
    """Find the only empty field in rows of fields; each row may have a frame, as in | 1 | 2 |."""
    for end in FIELD_ENDS:
        rows = [row.replace(end, ",") for row in rows]
    fields = [[field.strip() for field in row.split(",")] for row in rows]
    # one line with an empty field at each end has a frame, or a blank and a frame
    frame = [at for at in (0, -1) if not any(row[at] for row in fields)]
    if {len(row) - width for row in fields} == {len(frame)}:
        for row in fields:
            for at in frame:
                del row[at]
    cells = [field for row in fields for field in row]
    if {*map(len, fields)} != {width} or cells.count("") != 1:
        return None
    return [cell for cell in cells if cell], cells.index("")
