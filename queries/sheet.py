"""Sheets to print, which look like the explorer's: boards, and their answers on the last page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple, cast

import polars as pl

from puzzle_tablebase.errors import BadRequest, NoAnswer, NotationError, quote
from puzzle_tablebase.notation.sliding import CHARACTERS
from puzzle_tablebase.output import write_output
from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.queries.batch_input import find_suffix, read_rows
from puzzle_tablebase.queries.boards import BoardAnswer
from puzzle_tablebase.queries.explorer import read_source
from puzzle_tablebase.queries.knight.prober import KnightProber
from puzzle_tablebase.queries.questions import INPUT_FORMATS, QUERY, format_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from puzzle_tablebase.queries.prober import Prober
    from puzzle_tablebase.queries.questions import Options

WIDTH, HEIGHT = 18, 20
"""The part of a page of A4 or Letter that the boards can have, in centimetres, as in `sheet.js`."""
COLUMN_GAP, ROW_GAP, LINE = 0.9, 0.5, 0.7
"""The gaps between boards, and the height of a line to write on, in centimetres."""
SHOWN_ROWS = 8
"""The most rows that a message names."""
MAX_BOARDS = 1_000
"""The most boards of a sheet, which are solved one by one; more are likely a mistake."""
MAX_TRIES = 20
"""How often tours are drawn at most, to find different starts."""


class Sheet(NamedTuple):
    """The contents of a sheet; boards and answers are HTML.

    `ratio`: the width of a board divided by its height. `across`: the boards side by side; None:
    the number that makes them largest. `most`: the most boards of a page. `are_drawn`: the answers
    are boards.
    """

    title: str
    task: str
    key: str
    boards: list[str]
    answers: list[str]
    ratio: float
    most: int
    across: int | None = None
    aim: str = ""
    blanks: tuple[str, ...] = ()
    are_drawn: bool = False


# ---- what is on a sheet --------------------------------------------------------------------------


def draw_sheet_rows(
    prober: Prober, rows: pl.DataFrame, draw: Callable[[int], pl.DataFrame]
) -> pl.DataFrame:
    """Return the rows of a sample in a sheet's order: by rising distance, or with different starts.

    `draw(number)` draws another sample of this size.
    """
    if not isinstance(prober, KnightProber):
        return rows.sort(prober.puzzle.depth, maintain_order=True)
    if "start" not in rows.columns:
        return rotate_tours(rows)
    found, size = rows.unique("start", maintain_order=True), len(rows)
    for number in range(1, MAX_TRIES):
        if len(found) == size:
            break
        found = pl.concat([found, draw(number)]).unique("start", maintain_order=True)[:size]
    return found


def rotate_tours(rows: pl.DataFrame) -> pl.DataFrame:
    """Rotate closed tours to begin on different squares, in equal steps over the board."""
    board = parse_board(rows["board"][0])
    rows, paths = rows[: board.squares], list[str]()
    for number, path in enumerate(rows["path"]):
        at = path.index(board.name_square(number * board.squares // len(rows)))
        paths.append(path[at:] + path[:at])
    return rows.with_columns(path=pl.Series(paths))


def make_sheet(prober: Prober, options: Options, rows: pl.DataFrame) -> Sheet:
    """Make the sheet of a sample."""
    if isinstance(prober, KnightProber):
        board = parse_board(rows["board"][0])
        return make_tour_sheet(board, rows["path"].to_list(), is_closed=options.closed)
    solved = prober.parse(QUERY, {"goal": options.goal})
    answers = [prober.answer(state, solved) for state in rows["state"]]
    return make_board_sheet(prober, cast("list[BoardAnswer]", answers))


def make_board_sheet(prober: Prober, answers: list[BoardAnswer]) -> Sheet:
    """Make the sheet of boards, all with one goal, and of their solutions."""
    first = answers[0]
    cells, width = len(first.state), first._width
    size = f"Sliding board {cells // width}×{width}"
    title = prober.puzzle.title if prober.puzzle.name in ("eight", "fifteen") else size
    distances = [answer.distance for answer in answers]
    least, most = min(distances), max(distances)
    moves = f"{least} to " if least < most else ""
    return Sheet(
        title=f"{title}, {moves}{format_count(most, 'move')}",
        task="Slide tiles into the gap until the board looks like the one on the right. Count your "
        "moves.",
        key="The fewest moves, and the tiles to slide, one after the other.",
        boards=[_draw_tiles(answer.state, width) for answer in answers],
        answers=[
            f"{format_count(answer.distance, 'move')}: {_name_tiles(answer.tiles or '')}"
            for answer in answers
        ],
        ratio=width * width / cells,
        most=24,
        across=4,
        aim=_draw_tiles(_read_goal(prober, first.goal), width, "The board to reach"),
        blanks=("Moves",),
    )


def _read_goal(prober: Prober, name: str) -> str:
    goals: dict[str, str] = getattr(prober.puzzle, "goals", {})
    return goals.get(name, name)


def make_tour_sheet(board: KnightBoard, paths: list[str], *, is_closed: bool) -> Sheet:
    """Make the sheet of the starts of tours, and of the tours."""
    size = str(board).replace("x", "×")
    tours = [[path[at : at + 2] for at in range(0, len(path), 2)] for path in paths]
    return Sheet(
        title=f"{'Closed knight' if is_closed else 'Knight'}’s tour on {size}",
        task="The knight stands on 1. Make it jump to every square once. Number the squares in the "
        f"order in which you visit them.{' From the last, it must jump back to 1.' * is_closed}",
        key="One of the tours from each start.",
        boards=[
            _draw_chess(board, tour[:1], f"board of {board}, the knight on {tour[0]}")
            for tour in tours
        ],
        answers=[_draw_chess(board, tour, path) for tour, path in zip(tours, paths, strict=True)],
        ratio=board.files / board.ranks,
        most=8,
        are_drawn=True,
    )


def require_page_name(page: str) -> None:
    """Raise BadRequest if a page has the name of a list: it could replace a user's boards."""
    if any(find_suffix(page) in suffixes for suffixes in INPUT_FORMATS.values()):
        raise BadRequest(f"A sheet is a page, and {quote(page)} a list", "Example: sheet.html")


def read_boards(
    prober: Prober,
    options: Options,
    source: str,
    on_board: Callable[[int, int], None],
    *,
    format: str | None,
    column: str | None,
) -> list[BoardAnswer]:
    """Read boards from a file, and solve them; BadRequest names the rows with invalid keys.

    `on_board` is called with the number of solved boards, and of all boards.
    """
    keys = dict[int, str | None]()
    for rows in read_rows(source, prober, format, column):
        first = len(keys) + 1 + rows.has_header
        keys.update(enumerate(rows.texts[0], first))
        if len(keys) > MAX_BOARDS:
            raise BadRequest(f"A sheet has at most {MAX_BOARDS:,} boards", "Give it fewer")
    answers, problems = list[BoardAnswer](), dict[int, str]()
    for done, (number, key) in enumerate(keys.items(), 1):
        try:
            if key is None:
                raise NoAnswer("the board is missing.")
            answers.append(cast(BoardAnswer, prober.answer(key, options)))
        except (NotationError, NoAnswer) as error:
            problems[number] = str(error)
        on_board(done, len(keys))
    if problems:
        (first, problem), *_ = problems.items()
        names = [f"{number:,}" for number in [*problems][:SHOWN_ROWS]]
        if (more := len(problems) - SHOWN_ROWS) > 0:
            names.append(f"{more:,} more")
        listed = f"Rows {', '.join(names[:-1])} and {names[-1]} are invalid. " if names[1:] else ""
        raise BadRequest(f"{listed}Row {first:,}: {problem.removesuffix('.')}")
    if not answers:
        raise BadRequest("The input has no boards")
    return answers


# ---- how it looks --------------------------------------------------------------------------------


def write_sheet(sheet: Sheet, target: str) -> None:
    """Write a sheet as a page without scripts."""
    across, width = measure(sheet, min(sheet.most, len(sheet.boards)))
    sized = f'style="--across: {across}; --width: {width:.2f}cm"'
    blanks = "".join(f"<span>{escape(label)}</span>" for label in sheet.blanks)
    parts = list[str]()
    for begin in range(0, len(sheet.boards), sheet.most):
        shown = sheet.boards[begin : begin + sheet.most]
        boards = "".join(f'<li>{board}<p class="blanks">{blanks}</p></li>\n' for board in shown)
        parts.append(
            f'<div class="sheet-aim">{sheet.aim}</div>\n<h2>{escape(sheet.title)}</h2>\n'
            f'<p>{sheet.task}</p>\n<p>Name: <span class="line"></span></p>\n'
            f'<ol class="sheet-boards" start="{begin + 1}" {sized}>\n{boards}</ol>\n'
        )
    in_part = sheet.most if sheet.are_drawn else len(sheet.answers)
    class_name = "sheet-boards" if sheet.are_drawn else "sheet-answers"
    for begin in range(0, len(sheet.answers), in_part):
        answers = "".join(f"<li>{one}</li>\n" for one in sheet.answers[begin : begin + in_part])
        parts.append(
            f"<h2>Answers</h2>\n<p>{sheet.key}</p>\n"
            f'<ol class="{class_name}" start="{begin + 1}" {sized}>\n{answers}</ol>\n'
        )
    pages = "".join(f'<div class="sheet-page">\n{part}</div>\n' for part in parts)
    text = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(sheet.title)}</title>\n<style>{read_source('style.css')}</style>\n"
        f'</head>\n<body>\n<div class="sheet">\n{pages}</div>\n</body>\n</html>\n'
    )
    write_output(target, text.encode())


def measure(sheet: Sheet, boards: int) -> tuple[int, float]:
    """Return how many boards stand side by side, and their width, as `measure` of `sheet.js`."""
    sizes = list[tuple[float, int]]()
    for across in [sheet.across] if sheet.across else range(1, boards + 1):
        column = WIDTH / across - COLUMN_GAP
        row = HEIGHT / -(-boards // across) - ROW_GAP - LINE * len(sheet.blanks)
        sizes.append((min(column, row * sheet.ratio), across))
    width, across = max(sizes, key=lambda size: size[0])
    return across, width


def _draw_tiles(state: str, width: int, label: str = "") -> str:
    names = ["" if mark == "0" else str(CHARACTERS.index(mark)) for mark in state]
    cells = [(name, "tile" if name else "gap") for name in names]
    label = label or " ".join(name or "gap" for name in names)
    return _draw_picture("tiles", label, width, cells)


def _name_tiles(tiles: str) -> str:
    return " ".join(str(CHARACTERS.index(tile)) for tile in tiles)


def _draw_chess(board: KnightBoard, squares: list[str], label: str) -> str:
    """Draw a board with the numbers and the line of squares: the last rank is first."""
    order = {board.parse_square(square): step for step, square in enumerate(squares, 1)}
    cells = list[tuple[str, str]]()
    for rank in reversed(range(board.ranks)):
        for file in range(board.files):
            square = rank * board.files + file
            name = board.name_square(square)
            edge = f"{name[0] if rank == 0 else ''}{name[1] if file == 0 else ''}"
            text = f'<span class="square">{edge}</span>'
            text += f' <span class="number">{order.get(square, "")}</span>'
            cells.append((text, "light" if board.is_light(square) else "dark"))
    path = [*order]
    is_closed = len(path) == board.squares and board.is_jump(path[-1], path[0])
    lines = {"path": path, "way-back": [path[-1], path[0]] if is_closed else []}
    paths = "".join(
        f'<path class="{class_name}" d="{_draw_line(board, passed)}"/>'
        for class_name, passed in lines.items()
    )
    line = (
        f'<svg class="tour" aria-hidden="true" viewBox="0 0 {board.files} {board.ranks}">'
        f"{paths}</svg>"
    )
    return _draw_picture("chess", label, board.files, cells, line)


def _draw_line(board: KnightBoard, squares: list[int]) -> str:
    """Draw a line through the centres of squares; a single square has none."""
    cells = [divmod(square, board.files) for square in squares]
    points = [f"{file + 0.5} {board.ranks - rank - 0.5}" for rank, file in cells]
    return f"M{'L'.join(points)}" if len(points) > 1 else ""


def _draw_picture(
    classes: str, label: str, columns: int, cells: list[tuple[str, str]], more: str = ""
) -> str:
    """Draw a board as `showPicture` of `grid.js` does; `cells`: content and class of each."""
    drawn = "".join(f'<span class="{cell}">{content}</span>' for content, cell in cells)
    return (
        f'<div class="board picture {classes}" role="img" aria-label="{escape(label)}" '
        f'style="--columns: {columns}">{drawn}{more}</div>'
    )
