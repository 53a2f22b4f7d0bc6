"""Options of several commands, and the parsing of their values."""

from __future__ import annotations

from typing import Annotated

import typer

from queries.query_options import OUTPUTS
from tablebase.errors import BadRequest
from tablebase.resources import count_cores

Outputs = Annotated[
    str | None,
    typer.Option(OUTPUTS.flag, metavar=OUTPUTS.metavar, help=OUTPUTS.help),
]

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only errors.")]
JOBS = count_cores()
"""The default number of searches that run in parallel."""


def parse_memory(gigabytes: float | None) -> int | None:
    """Return the bytes that `--memory` allows, or None if it is not given."""
    if gigabytes is None:
        return None
    if not 0 < gigabytes < float("inf"):
        problem = f"--memory needs a number of gigabytes above 0, not {gigabytes:g}"
        raise BadRequest(problem, "Example: --memory 16")
    return int(gigabytes * 1e9)
