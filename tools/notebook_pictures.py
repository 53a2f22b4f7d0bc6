"""What a notebook shows of answers, for `docs/python.md`."""

from __future__ import annotations

from queries import open_tables
from queries.answer import Answer
from queries.api import Tables
from tests.support.shell import ROOT


def open_own_tables() -> Tables:
    return open_tables(str(ROOT / "outputs"))


def draw_board() -> str:
    return _draw(open_own_tables().eight.probe("378546201"))


def draw_solution() -> str:
    return _draw(open_own_tables().answer("eight", "283104765"))


def draw_line_of_play() -> str:
    return _draw(open_own_tables().senet.probe("ABAAABBB.B...A."))


def draw_tour() -> str:
    return _draw(open_own_tables().knight.probe("a1", closed=True, board="6x6"))


def _draw(answer: Answer) -> str:
    """Return what a notebook asks an answer for."""
    picture = answer._repr_svg_()
    assert picture is not None
    return picture
