"""Options of several commands, and the parsing of their values."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated

import typer

from pipeline.single_query import OUTPUTS
from queries.reader import parse_positive_number
from tablebase.cost import PROCESS_BYTES
from tablebase.errors import BadRequest, quote
from tablebase.resources import count_cores

Outputs = Annotated[
    str | None,
    typer.Option(OUTPUTS.flag, metavar=OUTPUTS.metavar, help=OUTPUTS.help),
]

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only errors.")]
JOBS = count_cores()
"""The default number of searches that run in parallel."""


def make_number_parser(flag: str, least: int, most: int | None = None) -> Callable[[object], int]:
    """Make the parser of an option's value, a whole number; `least` and `most` are allowed."""

    def parse_number(value: object) -> int:
        text = str(value).strip()
        number = int(text) if re.fullmatch(r"[0-9]{1,30}", text) else None
        if number is None or number < least or (most is not None and number > most):
            limits = f"from {least:,}" if most is None else f"from {least:,} to {most:,}"
            problem = f"{flag} needs a whole number {limits}, not {quote(text)}"
            raise BadRequest(problem, f"Example: {flag} {least}")
        return number

    return parse_number


def parse_memory(gigabytes: str | None) -> int | None:
    """Return the bytes that `--memory` allows, or None if it is not given."""
    if gigabytes is None:
        return None
    allowed = int(parse_positive_number(gigabytes, "--memory", "gigabytes", 16) * 1e9)
    if allowed < PROCESS_BYTES:  # the smallest tables reserve none, and could not obey
        least = f"{PROCESS_BYTES / 1e9:g}"
        problem = f"--memory {quote(gigabytes)} is too little: the program itself needs {least} GB"
        raise BadRequest(problem, f"Example: --memory {least}")
    return allowed


Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        metavar="N",
        parser=make_number_parser("--jobs", 1),
        help="Number of searches in parallel.",
        show_default="all cores",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option("--memory", metavar="GB", help="Memory limit in GB (default: free memory)."),
]
