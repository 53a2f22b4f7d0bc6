"""The command `pipeline sample`: a uniform sample of tours, written while they are drawn."""

import contextlib
from functools import partial
from itertools import chain
from typing import Annotated

import typer

from pipeline.commands import completion
from pipeline.commands.options import Outputs
from queries.dispatch import open_reader
from queries.query_options import OptionValues
from tablebase.errors import require_choice
from tablebase.puzzles import is_registered, list_names
from tablebase.tables.store_factory import open_store

MAX_SAMPLE_SIZE = 1_000_000_000
"""Maximum number of tours in a sample."""


def sample(
    name: Annotated[
        str,
        typer.Argument(
            metavar="PUZZLE",
            help="Puzzle to draw from.",
            autocompletion=completion.complete_puzzles,
        ),
    ],
    size: Annotated[
        int, typer.Option("--size", min=1, max=MAX_SAMPLE_SIZE, help="How many to draw.")
    ] = 1,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Random seed.")] = 0,
    board: Annotated[
        str,
        typer.Option(
            "--board",
            metavar="CxR",
            help="Board, files x ranks (over 36 squares: see precompute --rank-tours).",
        ),
    ] = "6x6",
    closed: Annotated[
        bool, typer.Option("--closed", help="Draw closed tours (see precompute --rank-closed).")
    ] = False,
    distinct: Annotated[
        bool, typer.Option("--distinct", help="Sample without replacement (at most 10,000,000).")
    ] = False,
    output: Annotated[
        str | None,
        typer.Option("--output", metavar="FILE", help="File to write (default: standard output)."),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="csv, jsonl or parquet (default: by the name of --output, or csv).",
            autocompletion=completion.make_query_completer("", "format"),
        ),
    ] = None,
    outputs: Outputs = None,
) -> None:
    """Draw a uniform random sample of tours."""
    from pipeline.progress import BatchProgress
    from queries.batch import choose_output_format, open_row_writer

    if not is_registered(name):
        require_choice(name, "puzzle", *list_names())
    output_as, values = (
        choose_output_format(output, format),
        OptionValues(board=board, closed=closed),
    )
    reader = open_reader(name, open_store(outputs))
    with BatchProgress(output=output) as bar, contextlib.ExitStack() as stack:
        on_progress, done = partial(bar.show, "steps to the next rows", row="steps"), 0
        samples = reader.draw_samples(
            values, size, seed, replacement=not distinct, on_progress=on_progress
        )
        first = next(samples)  # before the file is opened: a failed draw leaves no file
        write = stack.enter_context(open_row_writer(output, output_as))
        for rows in chain([first], samples):
            with bar.printing():
                write(rows)
            done += len(rows)
            bar.on_rows(done)
