"""Sheets of boards to print, made from a sample: the explorer's, without its scripts."""

from __future__ import annotations

from html import escape

import polars as pl

from puzzle_tablebase.notation.sliding import CHARACTERS
from puzzle_tablebase.output import write_output
from puzzle_tablebase.queries.answer import format_count
from puzzle_tablebase.queries.boards import BoardAnswer, BoardReader
from puzzle_tablebase.queries.explorer import read_source
from puzzle_tablebase.queries.options import QUERY, Options
from puzzle_tablebase.queries.svg import draw_board

BOARDS_PER_PAGE, WIDTH, HEIGHT = 12, 5.1, 3.8
"""How many boards a page of A4 or Letter has, and the most centimetres of one."""
TASK = "Slide tiles into the gap until the board looks like the one on the right. Count your moves."
KEY = "The fewest moves, and the tiles to slide, one after the other."
PRINTED = "@page { margin: 1.5cm; } .sheet-page + .sheet-page { break-before: page; }"


def write_sheet(reader: BoardReader, options: Options, rows: pl.DataFrame, target: str) -> None:
    """Write a page with the boards of a sample, and their answers at the end."""
    pages, answers, width = list[str](), list[str](), reader.puzzle.width
    title, goal = reader.puzzle.title, rows["goal"][0]
    aim = reader.puzzle.goals.get(goal, goal)
    solved = reader.parse(QUERY, {"goal": options.goal})
    level = options.distance
    least = f"{level.start} to " if level and len(level) > 1 else ""
    moves = f", {least}{format_count(level[-1], 'move')}" if level else ""
    size = min(WIDTH, HEIGHT * width * width / len(aim))
    for page in rows.iter_slices(BOARDS_PER_PAGE):
        boards = "".join(
            f'<li>{draw_board(state, width)}<p class="blanks"><span>Moves</span></p></li>\n'
            for state in page["state"]
        )
        pages.append(
            f'<div class="sheet-aim">{draw_board(aim, width)}</div>\n<h2>{escape(title)}{moves}'
            f'</h2>\n<p>{TASK}</p>\n<p>Name: <span class="line"></span></p>\n'
            f'<ol class="sheet-boards" start="{len(answers) + 1}" '
            f'style="--across: 3; --width: {size:.2f}cm">\n{boards}</ol>\n'
        )
        answers += [_format_answer(reader, solved, state) for state in page["state"]]
    listed = "".join(f"<li>{answer}</li>\n" for answer in answers)
    pages.append(f'<h2>Answers</h2>\n<p>{KEY}</p>\n<ol class="sheet-answers">\n{listed}</ol>\n')
    shown = "".join(f'<div class="sheet-page">\n{page}</div>\n' for page in pages)
    text = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n<style>{read_source('style.css')}{PRINTED}</style>\n"
        f"</head>\n<body>\n{shown}</body>\n</html>\n"
    )
    write_output(target, text.encode())


def _format_answer(reader: BoardReader, options: Options, state: str) -> str:
    answer = reader.answer(state, options)
    assert isinstance(answer, BoardAnswer)
    tiles = " ".join(str(CHARACTERS.index(tile)) for tile in answer.tiles or "")
    return f"{format_count(answer.distance, 'move')}: {tiles}"
