"""Sheets of boards to print, made from a sample: the explorer's, without its scripts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import polars as pl

from puzzle_tablebase.output import write_output
from puzzle_tablebase.puzzles.sliding import CHARACTERS
from puzzle_tablebase.queries.answer import format_count
from puzzle_tablebase.queries.boards import BoardAnswer, BoardReader
from puzzle_tablebase.queries.explorer.writer import read_source
from puzzle_tablebase.queries.options import QUERY
from puzzle_tablebase.queries.svg import draw_board

if TYPE_CHECKING:
    from puzzle_tablebase.queries.options import Options

BOARDS_PER_PAGE = 12
ACROSS = 3
WIDTH, HEIGHT = 5.1, 3.8
"""The most centimetres of a board on a page of A4 or Letter with so many."""
TASK = "Slide tiles into the gap until the board looks like the one on the right. Count your moves."
KEY = "The fewest moves, and the tiles to slide, one after the other."
PRINTED = "@page { margin: 1.5cm; } .sheet-page + .sheet-page { break-before: page; }"


def write_sheet(reader: BoardReader, options: Options, rows: pl.DataFrame, target: str) -> None:
    """Write a page with the boards of a sample, by difficulty, and their answers at the end."""
    write_output(target, make_sheet(reader, options, rows).encode())


def make_sheet(reader: BoardReader, options: Options, rows: pl.DataFrame) -> str:
    """Make the page of a sheet; each goal begins a new page."""
    pages, answers, title = list[str](), list[str](), reader.puzzle.title
    solved = reader.parse(QUERY, {"goal": options.goal})
    head = f"{title}, {_format_moves(options.distance)}" if options.distance else title
    for (goal,), group in rows.group_by("goal", maintain_order=True):
        for page in group.iter_slices(BOARDS_PER_PAGE):
            states = page["state"].to_list()
            aim = reader.puzzle.goals.get(goal, goal)
            pages.append(_make_page(head, aim, states, reader.puzzle.width, len(answers) + 1))
            answers += [_format_answer(reader, solved, state) for state in states]
    items = "".join(f"<li>{answer}</li>\n" for answer in answers)
    pages.append(
        f'<div class="sheet-page">\n<h2>Answers</h2>\n<p>{KEY}</p>\n'
        f'<ol class="sheet-answers">\n{items}</ol>\n</div>\n'
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n<style>{read_source('style.css')}{PRINTED}</style>\n"
        f"</head>\n<body>\n{''.join(pages)}</body>\n</html>\n"
    )


def _make_page(head: str, aim: str, states: list[str], width: int, first: int) -> str:
    ratio = width / (len(aim) / width)
    size = min(WIDTH, HEIGHT * ratio)
    boards = "".join(
        f'<li>{draw_board(state, width)}<p class="blanks"><span>Moves</span></p></li>\n'
        for state in states
    )
    return (
        f'<div class="sheet-page">\n<div class="sheet-aim">{draw_board(aim, width)}</div>\n'
        f"<h2>{escape(head)}</h2>\n<p>{TASK}</p>\n"
        '<p>Name: <span class="line"></span></p>\n'
        f'<ol class="sheet-boards" start="{first}" '
        f'style="--across: {ACROSS}; --width: {size:.2f}cm">\n{boards}</ol>\n</div>\n'
    )


def _format_answer(reader: BoardReader, options: Options, state: str) -> str:
    answer = reader.answer(state, options)
    assert isinstance(answer, BoardAnswer)
    tiles = " ".join(str(CHARACTERS.index(tile)) for tile in answer.tiles or "")
    return f"{format_count(answer.distance, 'move')}: {tiles}"


def _format_moves(level: range) -> str:
    if len(level) == 1:
        return format_count(level.start, "move")
    return f"{level.start} to {level[-1]} moves"
