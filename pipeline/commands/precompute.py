"""The command `pipeline precompute`: its options, those of each stage, and its output."""

import dataclasses
import inspect
import json
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand

from pipeline.commands import completion
from pipeline.commands.options import JOBS, Jobs, Json, Memory, Outputs, Quiet, parse_memory
from pipeline.terminal import print_answer, print_error
from tablebase.catalogue import BuildOption
from tablebase.errors import TablebaseError
from tablebase.puzzle import Puzzle
from tablebase.puzzles import MODULES, get_puzzle, is_registered, list_names
from tablebase.tables.store import DEFAULT_FOLDER
from tablebase.tables.store_factory import open_store

if TYPE_CHECKING:
    from pipeline.build_progress import BuildProgress
    from pipeline.build_request import Request

STAGES, VALUES, IN_HELP = "pipeline.stages", "pipeline.values", "pipeline.in_help"
"""Keys of a context's `meta`: the stages that the command line names, their options' values, and
whether the help of stages is being printed."""


class PrecomputeCommand(TyperCommand):
    """The command `precompute`, with the options of the stages that the command line names.

    The options of other built-in stages are known too, but hidden, so that a message can say which
    stage has them. Typer does not export the types of contexts and parameters.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Find the named stages first, because they decide which options there are."""
        ctx.meta[STAGES] = _find_named_stages(super().get_params(ctx), args)
        ctx.meta[VALUES] = {}
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the general parameters and the options of the stages."""
        stages: list[Puzzle] = ctx.meta.get(STAGES, [])
        others = [get_puzzle(name) for name in MODULES]
        params, names = super().get_params(ctx), set[str]()
        if ctx.meta.get(IN_HELP):
            params, others = [], []
        for puzzle in (*stages, *(puzzle for puzzle in others if puzzle not in stages)):
            for option in puzzle.catalogue.options:
                if option.name not in names:
                    names.add(option.name)
                    params.append(_make_param(puzzle, option, is_hidden=puzzle not in stages))
        return params

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the usage line: in the help of stages, with their names."""
        names = [puzzle.name for puzzle in ctx.meta.get(STAGES, []) if ctx.meta.get(IN_HELP)]
        return [*names, *super().collect_usage_pieces(ctx)]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help; that of stages has their own options, and their tables."""
        stages: list[Puzzle] = ctx.meta.get(STAGES, [])
        ctx.meta[IN_HELP] = bool(stages)
        super().format_help(ctx, formatter)
        for puzzle in stages:
            formatter.write(_format_tables(puzzle))
        if stages:
            formatter.write("Other options: pipeline precompute --help\n")
        else:
            formatter.write(f"Stages: {', '.join(list_names())}\n")
            formatter.write("Their tables and options: pipeline precompute STAGE --help\n")


def _format_tables(puzzle: Puzzle) -> str:
    """Format the tables that a stage builds without options."""
    lines = [f"Tables of {puzzle.name} ({puzzle.title}):"]
    tables = puzzle.catalogue.list_stage_tables()
    for table in tables:
        lines += [f"  {table.file}", f"    {table.meaning}."]
        if table.index and table.columns:
            lines.append(f"    {table.index_file}: the index, for other programs.")
    if not tables:
        lines.append(f"  none without {puzzle.catalogue.options[0].flag}")
    return "\n".join([*lines, "", ""])


def _find_named_stages(params: Iterable[Any], args: Sequence[str]) -> list[Puzzle]:
    """Find the stages of the stages and tables that a command line names, in its order."""
    from pipeline.commands.selection import find_owner

    with_value = {
        flag for param in params if not getattr(param, "is_flag", True) for flag in param.opts
    }
    stages = list[Puzzle]()
    for previous, argument in zip(["", *args], args, strict=False):
        if argument.startswith("-") or previous in with_value:
            continue
        try:
            stage = get_puzzle(argument) if is_registered(argument) else find_owner(argument)
        except TablebaseError:  # the command itself reports it
            continue
        if stage and stage not in stages:
            stages.append(stage)
    return stages


def _make_param(puzzle: Puzzle, option: BuildOption, *, is_hidden: bool) -> Any:
    """Make the parameter of a stage's option, which stores its value in the context's `meta`."""

    def store_value(context: typer.Context, value: Any) -> None:
        if value:
            context.meta[VALUES][option.name] = value if option.metavar else []

    declared = typer.Option(
        option.flag,
        metavar=option.metavar or None,
        help=f"{option.help}{' Repeatable.' * bool(option.metavar)}",
        hidden=is_hidden,
        show_default=False,
        expose_value=False,
        callback=store_value,
        rich_help_panel=f"Options of {puzzle.name}",
        autocompletion=completion.make_build_completer(puzzle, option) if option.metavar else None,
    )
    app = typer.Typer(add_completion=False)
    app.command()(_make_function(option, declared))
    (param,) = (p for p in typer.main.get_command(app).params if p.name == option.name)
    return param


def _make_function(option: BuildOption, declared: Any) -> Callable[..., None]:
    """Make a function with one option as its parameter, from which Typer makes the parameter."""

    def function(**values: Any) -> None:
        pass

    kind = list[str] | None if option.metavar else bool
    parameter = inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None if option.metavar else False,
        annotation=Annotated[kind, declared],
    )
    function.__signature__ = inspect.Signature([parameter])  # type: ignore[attr-defined]  # typer reads it
    function.__annotations__ = {option.name: parameter.annotation}
    return function


class Invocation(NamedTuple):
    """A build's request, with what only the command line needs."""

    request: "Request"
    command: list[str]
    scheduler: str | None
    is_quiet: bool
    as_json: bool


def precompute(
    context: typer.Context,
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="STAGE|TABLE",
            help="Stages or tables to build (default: all).",
            autocompletion=completion.complete_targets,
        ),
    ] = None,
    outputs: Outputs = None,
    force: Annotated[bool, typer.Option("--force", help="Rebuild up-to-date tables too.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be built, why and at what cost.")
    ] = False,
    jobs: Jobs = JOBS,
    memory: Memory = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="Run tasks on a Dask scheduler, for example tcp://10.0.0.1:8786.",
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Build the tables that are missing or out of date."""
    from pipeline.build_request import Request
    from pipeline.commands.selection import parse_targets, select_tables

    tables = select_tables(parse_targets(targets or []), context.meta[VALUES])
    store = open_store(outputs)
    request = Request(
        store,
        tables,
        force,
        jobs,
        memory=parse_memory(memory),
    )
    run = Invocation(request, sys.argv[1:], scheduler, quiet, as_json)
    if dry_run:
        _print_dry_run(run)
    else:
        _build(run)


def _build(run: Invocation) -> None:
    """Build the tables, and print what was built."""
    from pipeline.build import build
    from pipeline.build_progress import BuildProgress
    from pipeline.dask_executor import open_executor
    from pipeline.dry_run import find_expected_seconds
    from pipeline.runs import RunRecorder

    request = run.request
    expected_seconds = find_expected_seconds(request)
    with (
        BuildProgress(quiet=run.is_quiet, expected_seconds=expected_seconds) as progress,
        RunRecorder(request.store, run.command, progress) as recorder,
        open_executor(run.scheduler, request.jobs) as (executor, at_once),
    ):
        build(dataclasses.replace(request, jobs=at_once), recorder, executor)
    if recorder.problem and not run.is_quiet:
        print_error(f"note: the run record was not written: {recorder.problem}")
    if run.as_json:
        print_answer(f"{json.dumps(_describe_build(run, progress))}\n")
    elif not run.is_quiet:
        _print_build(run, progress)


def _describe_build(run: Invocation, progress: "BuildProgress") -> dict[str, Any]:
    """Return what was built as plain values."""
    return {
        "tables": [
            {
                "table": name,
                "reason": built.reason,
                "rows": built.entry.rows,
                "bytes": sum(file.bytes for file in built.entry.all_files),
                **built.statistics._asdict(),
            }
            for name, built in progress.built.items()
        ],
        "up_to_date": progress.up_to_date,
        "store": str(run.request.store),
    }


def _print_build(run: Invocation, progress: "BuildProgress") -> None:
    """Print the tables that were built, where they are, and what to type next."""
    from pipeline.commands.text_tables import format_table, make_build_table

    store, up_to_date = run.request.store, progress.up_to_date
    if not progress.built:
        tables = f"All {len(up_to_date)} tables are" if len(up_to_date) > 1 else "The table is"
        print_answer(f"{tables} up to date in {store}.\n")
        return
    print_answer(format_table(make_build_table(progress.built)))
    if up_to_date:
        print_answer(f"up to date: {', '.join(up_to_date)}\n")
    outputs = "" if str(store) == DEFAULT_FOLDER else f" --outputs {shlex.quote(str(store))}"
    examples = [
        f"pipeline query {puzzle.name} {puzzle.example}"
        for puzzle, tables in run.request.tables
        if puzzle.example and any(table.name in progress.built for table in tables)
    ]
    following = examples[0] if examples else "pipeline status"
    print_answer(f"The tables are in {store}. Next: {following}{outputs}\n")


def _print_dry_run(run: Invocation) -> None:
    """Print what the same command without --dry-run does, and raise the error that it raises."""
    from pipeline.commands.text_tables import format_table, make_dry_run_table
    from pipeline.dry_run import plan_build

    plan = plan_build(run.request)
    if run.as_json:
        print_answer(f"{json.dumps(plan.to_dict())}\n")
        return
    if plan.recovery and plan.recovery.tables:
        print_error(plan.recovery.problem)
        print_answer(f"would recover: {', '.join(sorted(plan.recovery.tables))}\n")
    if plan.tables:
        print_answer(format_table(make_dry_run_table(plan.tables)))
    if plan.up_to_date:
        print_answer(f"up to date: {', '.join(plan.up_to_date)}\n")
