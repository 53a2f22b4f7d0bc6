"""Options of several commands, the parsing of their values, and their completion by the shell."""

from collections.abc import Callable
from typing import Annotated

import typer
from typer import Context

from puzzle_tablebase.errors import BadRequest, TablebaseError, quote
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.queries.questions import OUTPUTS, parse_positive_number
from puzzle_tablebase.registry import list_puzzles
from puzzle_tablebase.resources import PROCESS_BYTES
from puzzle_tablebase.stores import open_store

Completer = Callable[[Context], list[str]]

Outputs = Annotated[
    str | None, typer.Option(OUTPUTS.flag, metavar=OUTPUTS.metavar, help=OUTPUTS.help)
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]


def complete_published(context: Context) -> list[str]:
    """List the published tables that are not on the command line yet; [] if none can be read."""
    try:
        published = read_manifest(open_store(context.params.get("outputs")))
    except (OSError, TablebaseError):
        return []
    return [name for name in published if name not in (context.params.get("names") or [])]


def complete_requests(context: Context) -> list[str]:
    """List the names that can be built and are not on the command line yet."""
    from puzzle_tablebase.pipeline.select import list_requests  # slow to import

    given = context.params.get("names") or []
    return [name for name in list_requests(list_puzzles()) if name not in given]


def parse_memory(gigabytes: str) -> int:
    """Return the limit of `--memory` in bytes."""
    allowed = int(parse_positive_number(gigabytes, "--memory", "gigabytes", 16) * 1e9)
    # the smallest tables reserve no memory, so they could not keep a smaller limit
    if allowed < PROCESS_BYTES:
        least = f"{PROCESS_BYTES / 1e9:g}"
        problem = f"--memory {quote(gigabytes)} is too little: the program itself needs {least} GB"
        raise BadRequest(problem, f"Example: --memory {least}")
    return allowed


Memory = Annotated[
    int | None,
    typer.Option(
        "--memory",
        metavar="GB",
        parser=parse_memory,
        help="Memory limit in GB (default: free memory).",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", metavar="N", min=1, help="Number of tasks in parallel.", show_default="all cores"
    ),
]
