"""`pipeline sample`: tours by chance, written as they are drawn."""

import contextlib
from functools import partial
from itertools import chain
from typing import Annotated

import typer

from pipeline.commands import completion
from pipeline.commands.options import Outputs
from queries.dispatch import reader
from queries.query_options import Asked
from tablebase.errors import required_choice
from tablebase.puzzles import names, registered
from tablebase.tables.store_factory import tables_store

MOST = 1_000_000_000
"""Tours in a sample."""


def sample(
    name: Annotated[
        str,
        typer.Argument(
            metavar="PUZZLE", help="Puzzle to draw from.", autocompletion=completion.stages
        ),
    ],
    size: Annotated[int, typer.Option("--size", min=1, max=MOST, help="How many to draw.")] = 1,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="The same seed draws the same again.")
    ] = 0,
    board: Annotated[
        str,
        typer.Option(
            "--board",
            metavar="CxR",
            help="Board, files x ranks (open tours of over 36 squares: see precompute --numbers).",
        ),
    ] = "6x6",
    closed: Annotated[
        bool, typer.Option("--closed", help="Draw closed tours (see precompute --cycles).")
    ] = False,
    distinct: Annotated[
        bool, typer.Option("--distinct", help="Draw no tour twice (at most 10,000,000).")
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
            autocompletion=completion.of_query("", "format"),
        ),
    ] = None,
    outputs: Outputs = None,
) -> None:
    """Draw tours by chance, each as likely as any other."""
    from pipeline.progress import BatchTold
    from queries.batch import output_format, rows_written

    if not registered(name):
        required_choice(name, "puzzle", *names())
    form, asked = output_format(output, format), Asked(board=board, closed=closed)
    asks = reader(name, tables_store(outputs))
    with BatchTold(output=output) as bar, contextlib.ExitStack() as stack:
        told, done = partial(bar.show, "steps to the next rows", row="steps"), 0
        drawn = asks.samples(asked, size, seed, replacement=not distinct, told=told)
        first = next(drawn)  # what cannot be drawn leaves no file
        write = stack.enter_context(rows_written(output, form))
        for rows in chain([first], drawn):
            with bar.printing():
                write(rows)
            done += len(rows)
            bar.rows(done)
