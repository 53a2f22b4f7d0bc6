"""The commands `pipeline sample NAME`: a uniform sample, written while it is drawn."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

import typer

from pipeline.commands.options import make_number_parser
from pipeline.commands.puzzle_commands import PuzzleGroup, declare, make_parameter
from pipeline.single_query import OUTPUTS
from queries.dispatch import get_reader_class, open_reader
from queries.reader import Option, Reader, select_given
from tablebase.errors import BadRequest
from tablebase.puzzles import get_puzzle
from tablebase.tables.access import open_store

GENERAL = (
    Option("size", "How many to draw (default: 1).", "N"),
    Option("seed", "Random seed (default: 0).", "N"),
    Option("distinct", "Sample without replacement (at most 10,000,000)."),
    Option(
        "output",
        "File to write (default: standard output); compressed if its name ends in .gz, .bz2, .xz "
        "or .zst.",
        "FILE",
    ),
    Option("format", "csv, jsonl or parquet (default: by the name of --output, or csv).", "NAME"),
    Option("json", "Print one JSON object a row, as --format jsonl does."),
    OUTPUTS,
)
"""The options of all samples."""


def _make_command(name: str) -> Callable[..., None]:
    """Make the function of `sample NAME`."""
    kind = get_reader_class(name)

    def command(**arguments: Any) -> None:
        values = select_given(arguments)
        general = {"size": 1, "seed": 0, **dict.fromkeys(option.name for option in GENERAL[2:])}
        general |= {name: values.pop(name) for name in general.keys() & values.keys()}
        _write_sample(name, values, general)

    parameters = [make_parameter(name, option) for option in (*kind.sample_options, *GENERAL)]
    title = get_puzzle(name).title
    return declare(command, parameters, f"{title}: draw a uniform random sample.")


def _write_sample(name: str, values: dict[str, Any], general: dict[str, Any]) -> None:
    """Draw a sample with a puzzle's own options, and write it with the general ones."""
    from pipeline.progress import BatchProgress
    from queries.batch import choose_output_format, open_row_writer
    from queries.sampling import MAX_SIZE, SampleRequest

    output, requested = general["output"], general["format"]
    if general["json"] and requested is not None:
        raise BadRequest("--json cannot be combined with --format", "Leave out one of them")
    output_as = choose_output_format(output, "jsonl" if general["json"] else requested)
    request = SampleRequest(
        make_number_parser("--size", 1, MAX_SIZE)(general["size"]),
        make_number_parser("--seed", 0)(general["seed"]),
        not general["distinct"],
    )
    query = open_reader(name, open_store(general["outputs"])).make_query(**values)
    with BatchProgress(output=output) as bar, contextlib.ExitStack() as stack:
        on_progress, done = partial(bar.show, "steps to the next rows", row="steps"), 0
        samples = query.draw_samples(request, on_progress)
        first = next(samples)  # before the file is opened: a failed draw leaves no file
        write = stack.enter_context(open_row_writer(output, output_as))
        for rows in chain([first], samples):
            with bar.printing():
                write(rows)
            done += len(rows)
            bar.on_rows(done)


class SampleGroup(PuzzleGroup):
    """The commands of puzzles whose readers declare options of samples."""

    @classmethod
    def make_function(cls, puzzle: str) -> Callable[..., None]:
        return _make_command(puzzle)

    @classmethod
    def has_command(cls, reader: type[Reader]) -> bool:
        return bool(reader.sample_options)


sample_app = typer.Typer(
    help="Draw a uniform random sample of states, positions or tours.",
    cls=SampleGroup,
    no_args_is_help=True,
)
