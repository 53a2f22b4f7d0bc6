"""The command `sheet`: a page to print, with boards of a file."""

from functools import partial
from typing import Annotated

import typer

from puzzle_tablebase.errors import BadRequest
from puzzle_tablebase.output import require_other_file
from puzzle_tablebase.pipeline.commands.options import Outputs
from puzzle_tablebase.puzzles.sliding import parse_board
from puzzle_tablebase.queries.prober import open_prober, parse_query
from puzzle_tablebase.queries.questions import INPUT_FORMATS, QUERY
from puzzle_tablebase.stores import open_store

WITHOUT_BOARD = {"3x3": "eight", "4x4": "fifteen"}
"""The boards that have a puzzle of their own."""


def sheet(
    boards: Annotated[
        str, typer.Argument(metavar="BOARDS", help="File with the boards (- for standard input).")
    ],
    page: Annotated[str, typer.Argument(metavar="FILE", help="Page to write: sheet.html.")],
    board: Annotated[
        str, typer.Option("--board", metavar="RxC", help="Size of the boards, rows x columns.")
    ] = "3x3",
    goal: Annotated[
        str | None,
        typer.Option("--goal", metavar="GOAL", help="Goal of all boards (default: corner)."),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option("--column", metavar="NAME", help="Column with the boards (default: state)."),
    ] = None,
    input_format: Annotated[
        str | None,
        typer.Option(
            "--input-format",
            metavar="NAME",
            help=f"{', '.join(INPUT_FORMATS)} (default: by its name).",
        ),
    ] = None,
    outputs: Outputs = None,
) -> None:
    """Write a page to print: your boards, and the answers on the last page."""
    from puzzle_tablebase.pipeline.reporter import Reporter
    from puzzle_tablebase.queries.sheet import (
        make_board_sheet,
        read_boards,
        require_page_name,
        write_sheet,
    )

    if boards.endswith((".html", ".htm")):
        raise BadRequest("The boards come first", "Example: pipeline sheet boards.csv sheet.html")
    require_other_file(page, boards)
    require_page_name(page)
    name = WITHOUT_BOARD.get(str(parse_board(board)), "sliding")
    given: dict[str, str | None] = {"board": board} if name == "sliding" else {}
    opened = open_prober(name, open_store(outputs))
    # the 8-puzzle has two goals, and a sheet one
    given |= {"goal": goal or ("corner" if name == "eight" else None)}
    prober, options = parse_query(opened, QUERY, given)
    with Reporter() as bar:
        answers = read_boards(
            prober,
            options,
            boards,
            partial(bar.update, "boards"),
            format=input_format,
            column=column,
        )
    write_sheet(make_board_sheet(prober, answers), page)
