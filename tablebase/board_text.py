"""Boards as text: in the notation that is printed, and in other usual ones.

A cell is one character, or a number between white space or separators. The blank is 0, `.` or `_`;
a space stands for it where it can mean one cell only.
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
ROW_ENDS = "\n/;|,"
"""The separators that may stand between two rows."""

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


def find_gap(text: str, height: int, width: int) -> tuple[list[str], int] | None:
    """Find the cell for which a text has a gap; return all tiles, and that cell.

    None unless there is exactly one such cell: in the picture that the rows make, between two
    separators, or where a line has more room than anywhere else. White space at the two ends of a
    line counts only where the cells are evenly spaced.

    >>> find_gap(" 3 7 8\\n 5 4 6\\n 2   1", 3, 3)
    (['3', '7', '8', '5', '4', '6', '2', '1'], 7)
    >>> find_gap("378546 2 1", 3, 3)
    (['3', '7', '8', '5', '4', '6', '2', '1'], 7)
    >>> find_gap("378 546 21", 3, 3) is None
    True
    """
    text = _drop_brackets(text)
    has_words = len(split_cells(text)) == height * width - 1
    for rows, end in _split_rows(text, height):
        found = _find_gap_in_rows(rows, height * width, width, end, has_words=has_words)
        if found:
            return found
    return None


def _find_gap_in_rows(
    rows: list[str], cells: int, width: int, row_end: str, *, has_words: bool
) -> tuple[list[str], int] | None:
    """Find the cell without a tile in rows, or in one line with all of them."""
    if any(end in row for row in rows for end in FIELD_ENDS):
        return _find_empty_field(rows, cells // len(rows))
    spans = [_list_spans(row, has_words=has_words) for row in rows]
    tiles = [tile for row in spans for tile, _, _ in row]
    if len(tiles) != cells - 1:
        return None
    if len(rows) == 1:
        gap = _find_gap_in_line(spans[0], len(rows[0]), width)
        return None if gap is None else (tiles, gap)
    lengths = [*map(len, rows)]
    gaps = set[int]()
    for side in (0, 1):  # tiles may be aligned at their begin or at their end
        columns = [[(begin, end - 1)[side] for _, begin, end in row] for row in spans]
        gap = _find_gap_in_picture(columns, lengths, width, is_cut=row_end == "\n")
        gaps |= set() if gap is None else {gap}
    return (tiles, gaps.pop()) if len(gaps) == 1 else None


def _drop_brackets(text: str) -> str:
    """Return a text without brackets, with a line for each row in brackets of its own."""
    import re  # a lone lookup never comes here

    text = re.sub(r"\r\n?", "\n", text)
    text = re.sub(r"[])}]\s*[,;/|]?\s*[\[({]", "\n", text)
    return re.sub(r"[][(){}]", "", text).strip("\n")


def _split_rows(text: str, height: int) -> Iterator[tuple[list[str], str]]:
    """Yield the board's rows as separators split them; each time the separator comes second."""
    for end in ROW_ENDS:
        count = text.count(end)
        if count != height - 1:
            continue
        if end != "\n":
            if end in "/|" and text.count(f" {end} ") == count:
                yield text.split(f" {end} "), end
                return
            if text.count(f"{end} ") == count:
                yield text.split(f"{end} "), end
        rows = text.split(end)
        # where a space belongs to each separator, another reading needs a complete picture
        if end == "\n" or text.count(f"{end} ") < count or len({*map(len, rows)}) == 1:
            yield rows, end
        return
    yield [text], ""


def _find_empty_field(rows: list[str], width: int) -> tuple[list[str], int] | None:
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


def _list_spans(row: str, *, has_words: bool) -> list[tuple[str, int, int]]:
    """List the tiles in a row, each with its begin and end: words, or single characters."""
    import re

    pattern = r"\S+" if has_words else r"\S"
    return [(match[0], *match.span()) for match in re.finditer(pattern, row)]


def _find_gap_in_line(spans: list[tuple[str, int, int]], length: int, width: int) -> int | None:
    """Find the only cell of a line of tiles for which there is room."""
    begins, ends = [begin for _, begin, _ in spans], [end for _, _, end in spans]
    gaps = [begin - end for end, begin in zip([0, *ends], [*begins, length], strict=True)]
    cells = [cell for cell in range(len(gaps)) if _has_room(gaps, cell, width)]
    return cells[0] if len(cells) == 1 else None


def _has_room(gaps: list[int], cell: int, width: int) -> bool:
    """Return whether the blank can be in the gap before the tile of that number.

    `gaps` has the white space before each tile, and after the last.
    """
    in_rows, between_rows = set[int](), set[int]()
    for tile in range(1, len(gaps) - 1):
        if tile != cell:
            is_first = (tile + (tile > cell)) % width == 0
            (between_rows if is_first else in_rows).add(gaps[tile])
    if len(in_rows) != 1:
        return False
    (step,) = in_rows
    first, last = gaps[0], gaps[-1]
    if cell in (0, len(gaps) - 1):
        # a picture in one line, which may be indented like a printed row
        indent, room = (first - step - 1, last) if cell == 0 else (first, last - step - 1)
        is_even = len(between_rows) < 2
        return is_even and min(between_rows) >= step and indent in (0, step) and room == 0
    widest = max(between_rows, default=step) if cell % width in (0, width - 1) else step
    return min(between_rows, default=step) >= step and gaps[cell] > widest


def _find_gap_in_picture(
    rows: list[list[int]], lengths: list[int], width: int, *, is_cut: bool
) -> int | None:
    """Find the only cell without a tile in a picture, given the columns of the tiles in each row.

    `is_cut`: the white space at the end of a row may be missing.
    """
    short = [row for row, columns in enumerate(rows) if len(columns) == width - 1]
    if len(short) != 1 or sum(map(len, rows)) != len(rows) * width - 1:
        return None
    (row,) = short
    complete = [columns for at, columns in enumerate(rows) if at != row]
    # where the first row lacks its indentation, the others show the columns
    grids = {tuple(columns) for columns in complete[0 if row == 0 else 1 :] or complete}
    if len(grids) == 1 and {*rows[row]} <= {*(grid := grids.pop())}:
        column = next(at for at, place in enumerate(grid) if place not in rows[row])
        may_be_cut = is_cut and row > 0
        if column < width - 1 or may_be_cut or lengths[row] > grid[-1]:
            return row * width + column
        return None
    # rows that are shifted: only the distances within each row count
    steps = {tuple(place - columns[0] for place in columns) for columns in complete}
    if len(steps) != 1:
        return None
    (grid,) = steps
    shifted = [place - rows[row][0] for place in rows[row]]
    matches = []
    for column in range(width):
        rest = [place for at, place in enumerate(grid) if at != column]
        if [place - rest[0] for place in rest] == shifted:
            matches.append(row * width + column)
    return matches[0] if len(matches) == 1 else None
