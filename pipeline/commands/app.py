"""The Typer application: each command parses its options, calls one function, and prints.

This module and all others that declare options evaluate annotations when they are defined: Typer
would otherwise evaluate each one, as text, at every start.
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
    BOARD_STAGES,
    add_requests,
    describe_request,
    format_help,
    format_stages_with,
    select_stages,
    select_tables,
)
from pipeline.commands.store_commands import clean, diff, graph
from pipeline.commands.text_tables import format_table, make_build_table, make_status_table
from pipeline.terminal import print_answer, print_error
from queries.dispatch import require_one_printed
from tablebase import __version__
from tablebase.errors import BadRequest, require_choice
from tablebase.puzzles import (
    MODULES,
    get_load_errors,
    get_puzzle,
    list_names,
    list_puzzles_with_depths,
)
from tablebase.resources import count_cores
from tablebase.tables.store_factory import open_store

UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__bases__[0])
"""The error that Typer raises for invalid arguments; it does not export the class itself."""

app = typer.Typer(
    name="pipeline",
    help="Build, query and verify puzzle tablebases.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(query, name="query")

MAX_MESSAGE = 300
"""Maximum number of characters of a message about invalid arguments."""

WITH_DEPTHS = [name for name in MODULES if get_puzzle(name).depth]
"""The built-in puzzles whose states have depths."""

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only errors.")]

JOBS = count_cores()
"""The default number of searches that run in parallel."""


def make_board_option(verb: str, request: str) -> Any:
    """Declare the option that requests further boards."""
    help_text = f"Also {verb} {describe_request(request)}."
    return typer.Option(f"--{request}", metavar="CxR", help=help_text)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        print_answer(f"puzzle-tablebase {__version__}\n")
        raise typer.Exit


def run_app(arguments: list[str]) -> int:
    """Run the command with these arguments and return its exit code.

    Invalid arguments raise BadRequest, so that their message has one sentence, too. Puzzles that
    could not be loaded are reported at the end; they do not prevent a command for all puzzles from
    working on the others.
    """
    try:
        code = _run_command(arguments)
    finally:
        for refusal in get_load_errors():
            print_error(refusal)
    return max(code, *(refusal.exit_code for refusal in get_load_errors()), 0)


def _run_command(arguments: list[str]) -> int:
    try:
        return int(app(arguments, prog_name="pipeline", standalone_mode=False) or 0)
    except UsageError as error:
        context, message = getattr(error, "ctx", None), error.format_message()
        if not message.strip():  # no command was given, and Typer has printed the help already
            return 2
        command = context.command_path if context is not None else "pipeline"
        text = " ".join(message.split()).rstrip(".")
        raise BadRequest(text[:MAX_MESSAGE], f"See: {command} --help") from error


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
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
            autocompletion=completion.complete_stages,
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
            f"{'; '.join(f'{name}: {stage.board_meaning}' for name, stage in BOARD_STAGES.items())}"
            ". Repeatable.",
            autocompletion=completion.complete_boards,
        ),
    ] = None,
    goals: Annotated[
        str | None,
        typer.Option(
            "--goals",
            metavar="all",
            help=f"Build all goals of larger boards too ({format_stages_with('goals')}).",
            autocompletion=completion.complete_goals,
        ),
    ] = None,
    parquet: Annotated[
        bool,
        typer.Option(
            "--parquet",
            help=f"Also write Parquet for boards over 10 cells ({format_stages_with('parquet')}).",
        ),
    ] = False,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="Run tasks on a Dask scheduler, for example tcp://10.0.0.1:8786.",
        ),
    ] = None,
    shard: precompute_shards.ShardOption = None,
    publish: precompute_shards.PublishOption = False,
    plan: precompute_shards.PlanOption = False,
    count: Annotated[list[str] | None, make_board_option("count", "count")] = None,
    closed: Annotated[
        bool, typer.Option("--closed", help="Count closed tours only (allows larger boards).")
    ] = False,
    rank_closed: Annotated[list[str] | None, make_board_option("rank", "rank-closed")] = None,
    rank_tours: Annotated[list[str] | None, make_board_option("rank", "rank-tours")] = None,
    memory: Annotated[
        float | None,
        typer.Option("--memory", metavar="GB", help="Memory limit in GB (default: free memory)."),
    ] = None,
    quiet: Quiet = False,
    help: Annotated[
        bool, typer.Option("--help", "-h", help="Show help; with PUZZLE, list its tables.")
    ] = False,
) -> None:
    """Build the tables that are missing or out of date."""
    if help and not stages:
        context.command.params[0].metavar = " ".join(f"[{name}]" for name in list_names())
    chosen = select_stages(stages)
    if help:
        print_answer(f"{format_help(chosen) if stages else context.get_help()}\n")
        return
    store, limit = open_store(outputs), parse_memory(memory)
    if action := precompute_shards.ListAction(shard, publish, plan):
        # the repair command of a damaged list has --force, too, so publishing allows it
        forced = force and not publish
        others: dict[str, object] = {"force": forced, "goals": goals, "parquet": parquet}
        others |= {"count": count, "closed": closed, "rank-closed": rank_closed}
        others |= {"rank-tours": rank_tours, "memory": memory}
        other_options = [name for name, given in others.items() if given]
        run_options = precompute_shards.RunOptions(store, jobs, scheduler, quiet, other_options)
        precompute_shards.precompute_lists(action, chosen, board or [], run_options)
        return
    from pipeline.build import Request, build
    from pipeline.dask_executor import open_executor
    from pipeline.progress import BuildProgress
    from pipeline.shards import require_shards

    if goals is not None:
        require_choice(goals, "set of goals", "all")
    board_options = [name for name, action in (("goals", goals), ("parquet", parquet)) if action]
    wanted = select_tables(chosen, board or [], board_options, is_named=bool(stages))
    if closed and not count:
        raise BadRequest("--closed needs --count", "Example: --count 8x8 --closed")
    requests = {
        "closed" if closed else "count": count,
        "rank-closed": rank_closed,
        "rank-tours": rank_tours,
    }
    wanted = add_requests(wanted, requests)
    if scheduler is None:
        require_shards(wanted)
    request = Request(store, wanted, force, jobs, memory=limit)
    with (
        BuildProgress(quiet=quiet) as progress,
        open_executor(scheduler, jobs) as (executor, at_once),
    ):
        published = build(dataclasses.replace(request, jobs=at_once), progress, executor)
    if not quiet:
        built = {table.name for _, tables in request.tables for table in tables}
        entries = {name: entry for name, entry in published.items() if name in built}
        print_answer(format_table(make_build_table(entries, progress.seconds)))


@app.command()
def remove(
    tables: Annotated[
        list[str],
        typer.Argument(
            metavar="TABLE",
            help="Table to remove, as printed by `pipeline status`.",
            autocompletion=completion.complete_removable_tables,
        ),
    ],
    outputs: Outputs = None,
    quiet: Quiet = False,
) -> None:
    """Remove tables that were built on request (with `precompute --board`)."""
    from pipeline.build import build
    from pipeline.progress import BuildProgress
    from pipeline.removal import make_removal

    with BuildProgress(quiet=quiet) as progress:
        build(make_removal(open_store(outputs), tables, JOBS), progress)
    if not quiet:
        print_answer("".join(f"removed {name}\n" for name in tables))


@app.command()
def status(outputs: Outputs = None, as_json: Json = False) -> None:
    """Show each table's size, version and state."""
    from queries.status import list_status as overview
    from queries.status import make_unusable_error

    store = open_store(outputs)
    rows = overview(store)
    print_answer(f"{json.dumps(rows)}\n" if as_json else format_table(make_status_table(rows)))
    error = make_unusable_error(rows, store)
    if error:
        raise error


@app.command()
def histogram(
    name: Annotated[
        str,
        typer.Argument(
            metavar="|".join(WITH_DEPTHS),
            help="Puzzle to count, built in or from a plugin.",
            autocompletion=list_puzzles_with_depths,
        ),
    ],
    board: Annotated[
        str | None,
        typer.Option(
            "--board",
            metavar="BOARD",
            help="Board whose states are counted (sliding).",
            autocompletion=completion.complete_boards,
        ),
    ] = None,
    outputs: Outputs = None,
    as_json: Json = False,
    svg: Annotated[
        str | None, typer.Option("--svg", metavar="FILE", help="Also draw an SVG picture.")
    ] = None,
) -> None:
    """Print the number of states at each distance, with bars."""
    from queries.histogram import count_states as counted
    from queries.histogram import format_bars

    require_one_printed(svg, as_json=as_json)
    counts = counted(name, open_store(outputs), board)
    if svg is not None:
        from queries.svg import draw_histogram
        from tablebase.output import STANDARD, write_output

        write_output(svg, draw_histogram(counts).encode())
        if svg == STANDARD:
            return
    print_answer(f"{json.dumps(counts.to_dicts())}\n" if as_json else format_bars(counts))


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
    from pipeline.progress import ProofProgress
    from pipeline.verify import VerifyFailed
    from pipeline.verify import verify as verify_store
    from tablebase.tables.checkpoints import summarize_shards

    store = open_store(outputs)
    with ProofProgress(
        None if as_json else print_answer, every_claim=verbose, quick=quick
    ) as progress:
        try:
            verified = verify_store(
                store, quick=quick, listener=progress, on_verdicts=progress.on_verdicts
            )
        except VerifyFailed as failure:
            if as_json:
                print_answer(f"{json.dumps({'failure': failure.to_dict()})}\n")
            raise
        answer = progress.finish(verified, summarize_shards(store))
    if as_json:
        print_answer(f"{json.dumps(answer)}\n")


for command in (sample, report, explore, graph, diff, clean):
    app.command()(command)
