"""The command line proper: each command parses, calls one function, and prints.

Here, as wherever options are declared, annotations are no texts, which Typer would evaluate one by
one at every start.
"""

import dataclasses
import json
from typing import Annotated, Any, cast

import typer

from pipeline.commands import completion, precompute_shards
from pipeline.commands.options import Outputs, parse_memory
from pipeline.commands.pages import explore, report
from pipeline.commands.query import query
from pipeline.commands.sample import sample
from pipeline.commands.selection import (
    BOARDED,
    asked_for,
    help_of,
    said_of,
    with_option,
    with_requests,
    with_tables,
)
from pipeline.commands.text_tables import drawn, table_of_status, table_of_tables
from pipeline.terminal import complain, say
from queries.dispatch import require_one_printed
from tablebase import __version__
from tablebase.errors import BadRequest, required_choice
from tablebase.puzzles import MODULES, names, puzzle, refused, with_depths
from tablebase.resources import cores
from tablebase.tables.store_factory import tables_store

UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__bases__[0])
"""What Typer raises for words that it does not take; it exports no name of its own for it."""

app = typer.Typer(
    name="pipeline",
    help="Puzzle tablebases: search every state once, publish tables, look answers up at once.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(query, name="query")

MOST_SAID = 300
"""Characters of a word that no command takes."""

WITH_DEPTHS = [name for name in MODULES if puzzle(name).depth]
"""Our puzzles whose states lie at depths."""

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only errors.")]

JOBS = cores()
"""How many searches run at once unless told otherwise."""


def more_boards(verb: str, request: str) -> Any:
    """The option that makes a request of further boards."""
    said = f"Also {verb} {said_of(request)}."
    return typer.Option(f"--{request}", metavar="CxR", help=said)


def _version(asked: bool) -> None:
    if asked:
        say(f"puzzle-tablebase {__version__}\n")
        raise typer.Exit


def run(words: list[str]) -> int:
    """Do what the words say; returns the exit code. Words it cannot take get one sentence too.

    A puzzle that cannot be used does not keep the others from what was asked of all of them.
    """
    try:
        code = _done(words)
    finally:
        for refusal in refused():
            complain(refusal)
    return max(code, *(refusal.exit_code for refusal in refused()), 0)


def _done(words: list[str]) -> int:
    try:
        return int(app(words, prog_name="pipeline", standalone_mode=False) or 0)
    except UsageError as error:
        context, message = getattr(error, "ctx", None), error.format_message()
        if not message.strip():  # nothing was asked, and the help stands there already
            return 2
        command = context.command_path if context is not None else "pipeline"
        said = " ".join(message.split()).rstrip(".")
        raise BadRequest(said[:MOST_SAID], f"See: {command} --help") from error


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command(add_help_option=False)
def precompute(
    context: typer.Context,
    stages: Annotated[
        list[str] | None,
        typer.Argument(
            help="Stages to build (default: all).",
            autocompletion=completion.stages,
        ),
    ] = None,
    outputs: Outputs = None,
    force: Annotated[bool, typer.Option("--force", help="Rebuild up-to-date tables too.")] = False,
    jobs: Annotated[
        int,
        typer.Option("--jobs", min=1, help="Number of searches at once.", show_default="all cores"),
    ] = JOBS,
    board: Annotated[
        list[str] | None,
        typer.Option(
            "--board",
            metavar="BOARD",
            help="Also build the tables of this board: "
            f"{'; '.join(f'{name}: {stage.board_meaning}' for name, stage in BOARDED.items())}. "
            "Repeatable.",
            autocompletion=completion.boards,
        ),
    ] = None,
    goals: Annotated[
        str | None,
        typer.Option(
            "--goals",
            metavar="all",
            help=f"Build all goals of larger boards too ({with_option('goals')}).",
            autocompletion=completion.every_goal,
        ),
    ] = None,
    parquet: Annotated[
        bool,
        typer.Option(
            "--parquet", help=f"List the states of larger boards too ({with_option('parquet')})."
        ),
    ] = False,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="Hand the searches to a Dask scheduler, for example tcp://10.0.0.1:8786.",
        ),
    ] = None,
    piece: precompute_shards.PieceOption = None,
    finish: precompute_shards.FinishOption = False,
    plan: precompute_shards.PlanOption = False,
    count: Annotated[list[str] | None, more_boards("count", "count")] = None,
    closed: Annotated[
        bool, typer.Option("--closed", help="With --count: only closed ones, on larger boards too.")
    ] = False,
    cycles: Annotated[list[str] | None, more_boards("number", "cycles")] = None,
    numbers: Annotated[list[str] | None, more_boards("number", "numbers")] = None,
    memory: Annotated[
        float | None,
        typer.Option(
            "--memory", metavar="GB", help="Refuse a search that needs more (default: free)."
        ),
    ] = None,
    quiet: Quiet = False,
    help: Annotated[
        bool, typer.Option("--help", "-h", help="Show this, or what the stages build.")
    ] = False,
) -> None:
    """Build the tables that are missing or out of date."""
    if help and not stages:
        context.command.params[0].metavar = " ".join(f"[{name}]" for name in names())
    chosen = asked_for(stages)
    if help:
        say(f"{help_of(chosen) if stages else context.get_help()}\n")
        return
    store, limit = tables_store(outputs), parse_memory(memory)
    if asked := precompute_shards.Asked(piece, finish, plan):
        forced = force and not finish  # what mends a damaged list says it too
        others: dict[str, object] = {"force": forced, "goals": goals, "parquet": parquet}
        others |= {"count": count, "closed": closed, "cycles": cycles}
        others |= {"numbers": numbers, "memory": memory}
        besides = [name for name, given in others.items() if given]
        how = precompute_shards.How(store, jobs, scheduler, quiet, besides)
        precompute_shards.precompute_lists(asked, chosen, board or [], how)
        return
    from pipeline.build import Request, build
    from pipeline.dask_executor import workers
    from pipeline.progress import BuildTold
    from pipeline.shards import require_divided

    if goals is not None:
        required_choice(goals, "set of goals", "all")
    further = [name for name, asked in (("goals", goals), ("parquet", parquet)) if asked]
    wanted = with_tables(chosen, board or [], further, named=bool(stages))
    if closed and not count:
        raise BadRequest("--closed needs --count", "Example: --count 8x8 --closed")
    requests = {"closed" if closed else "count": count, "cycles": cycles, "numbers": numbers}
    wanted = with_requests(wanted, requests)
    if scheduler is None:
        require_divided(wanted)
    request = Request(store, wanted, force, jobs, memory=limit)
    with BuildTold(quiet=quiet) as told, workers(scheduler, jobs) as (executor, at_once):
        published = build(dataclasses.replace(request, jobs=at_once), told, executor)
    if not quiet:
        built = {table.name for _, tables in request.tables for table in tables}
        shown = {name: entry for name, entry in published.items() if name in built}
        say(drawn(table_of_tables(shown, told.seconds)))


@app.command()
def remove(
    tables: Annotated[
        list[str],
        typer.Argument(
            metavar="TABLE",
            help="Table to remove, as printed by `pipeline status`.",
            autocompletion=completion.removable_tables,
        ),
    ],
    outputs: Outputs = None,
    quiet: Quiet = False,
) -> None:
    """Remove tables that were built on request (with `precompute --board`)."""
    from pipeline.build import build
    from pipeline.progress import BuildTold
    from pipeline.removal import removal

    with BuildTold(quiet=quiet) as told:
        build(removal(tables_store(outputs), tables, JOBS), told)
    if not quiet:
        say("".join(f"removed {name}\n" for name in tables))


@app.command()
def status(outputs: Outputs = None, as_json: Json = False) -> None:
    """List the tables: rows, bytes, the version that built them, and what is missing."""
    from queries.status import status as overview
    from queries.status import unusable

    store = tables_store(outputs)
    rows = overview(store)
    say(f"{json.dumps(rows)}\n" if as_json else drawn(table_of_status(rows)))
    refused = unusable(rows, store)
    if refused:
        raise refused


@app.command()
def histogram(
    name: Annotated[
        str,
        typer.Argument(
            metavar="|".join(WITH_DEPTHS),
            help="Puzzle whose states are counted: one of these, or another package's.",
            autocompletion=with_depths,
        ),
    ],
    board: Annotated[
        str | None,
        typer.Option(
            "--board",
            metavar="BOARD",
            help="Board whose states are counted (sliding).",
            autocompletion=completion.boards,
        ),
    ] = None,
    outputs: Outputs = None,
    as_json: Json = False,
    svg: Annotated[
        str | None, typer.Option("--svg", metavar="FILE", help="Also draw an SVG picture.")
    ] = None,
) -> None:
    """Print the number of states at each distance, with bars."""
    from queries.histogram import bars
    from queries.histogram import histogram as counted

    require_one_printed(svg, as_json=as_json)
    counts = counted(name, tables_store(outputs), board)
    if svg is not None:
        from queries.svg import histogram_svg
        from tablebase.output import STANDARD, write

        write(svg, histogram_svg(counts).encode())
        if svg == STANDARD:
            return
    say(f"{json.dumps(counts.to_dicts())}\n" if as_json else bars(counts))


@app.command()
def verify(
    outputs: Outputs = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only compare the files with the manifest.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print one line per claim.")] = False,
    as_json: Json = False,
) -> None:
    """Verify the published tables, and say of each what was shown: proved, recounted, ..."""
    from pipeline.progress import ProofTold
    from pipeline.verify import VerifyFailed
    from pipeline.verify import verify as verify_store
    from tablebase.tables.checkpoints import pieces_of

    store = tables_store(outputs)
    with ProofTold(None if as_json else say, every_claim=verbose, quick=quick) as told:
        try:
            verified = verify_store(store, quick=quick, report=told, on_verdicts=told.on_verdicts)
        except VerifyFailed as failure:
            if as_json:
                say(f"{json.dumps({'failure': failure.facts()})}\n")
            raise
        answer = told.end(verified, pieces_of(store))
    if as_json:
        say(f"{json.dumps(answer)}\n")


for command in (sample, report, explore):
    app.command()(command)
