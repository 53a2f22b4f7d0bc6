"""The command line proper: each command parses, calls one function, and prints."""

from __future__ import annotations

import dataclasses
import inspect
import json
import sys
from typing import Annotated, Any, cast

import typer

from pipeline import completion
from pipeline.grids import drawn, table_of_status, table_of_tables
from pipeline.terminal import complain, say
from queries.answers import options, reader, reader_class, require_one_printed, respond
from queries.forms import BATCH, OUTPUTS, Asked
from tablebase import __version__
from tablebase.cores import cores
from tablebase.errors import BadRequest, required_choice
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles import MODULES, puzzle, puzzles, with_depths
from tablebase.tables.store import tables_store

UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__bases__[0])
"""What Typer raises for words that it does not take; it exports no name of its own for it."""

app = typer.Typer(
    name="pipeline",
    help="Puzzle tablebases: search every state once, publish tables, look answers up at once.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
query = typer.Typer(help="Answer questions from the tables.", no_args_is_help=True)
app.add_typer(query, name="query")

MOST_SAID = 300
"""Characters of a word that no command takes."""

BOARDED = {stage.name: stage for stage in puzzles() if stage.boards()}
"""The stages that --board is for."""

Outputs = Annotated[
    str | None,
    typer.Option(OUTPUTS.flag, metavar=OUTPUTS.metavar, help=OUTPUTS.help),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only errors.")]


def _with_option(option: str) -> str:
    """The stages that take an option for their boards."""
    return " or ".join(name for name, stage in BOARDED.items() if option in stage.board_options)


JOBS = cores()
"""How many searches run at once unless told otherwise."""


def _version(asked: bool) -> None:
    if asked:
        say(f"puzzle-tablebase {__version__}\n")
        raise typer.Exit


def run(words: list[str]) -> int:
    """Do what the words say; returns the exit code. Words it cannot take get one sentence too."""
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
            metavar=" ".join(f"[{name}]" for name in MODULES),
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
            help=f"Build all goals of larger boards too ({_with_option('goals')}).",
            autocompletion=completion.every_goal,
        ),
    ] = None,
    parquet: Annotated[
        bool,
        typer.Option(
            "--parquet", help=f"List the states of larger boards too ({_with_option('parquet')})."
        ),
    ] = False,
    quiet: Quiet = False,
    help: Annotated[
        bool, typer.Option("--help", "-h", help="Show this, or what the stages build.")
    ] = False,
) -> None:
    """Build the tables that are missing or out of date."""
    chosen = _stages(stages or list(MODULES))
    if help:
        say(f"{_stage_help(chosen) if stages else context.get_help()}\n")
        return
    from pipeline.build import Request, build
    from pipeline.progress import BuildTold

    if goals is not None:
        required_choice(goals, "set of goals", "all")
    further = [name for name, asked in (("goals", goals), ("parquet", parquet)) if asked]
    wanted = _wanted(chosen, board or [], further, named=bool(stages))
    request = Request(tables_store(outputs), wanted, force, jobs)
    with BuildTold(quiet=quiet) as told:
        published = build(request, told)
    if not quiet:
        names = {table.name for _, tables in request.tables for table in tables}
        shown = {name: entry for name, entry in published.items() if name in names}
        say(drawn(table_of_tables(shown, told.seconds)))


def _wanted(
    chosen: list[Puzzle], boards: list[str], further: list[str], *, named: bool
) -> list[tuple[Puzzle, tuple[Table, ...]]]:
    """The tables of the stages, with those of boards; BadRequest for what does not go together."""
    if boards and len([stage for stage in chosen if stage.name in BOARDED]) != 1:
        raise BadRequest(f"--board needs the stage {' or '.join(BOARDED)}")
    for option in further:
        if not boards or not any(option in stage.board_options for stage in chosen):
            raise BadRequest(f"--{option} needs --board and the stage {_with_option(option)}")
    wanted = [(stage, stage.with_boards(boards, further)) for stage in chosen]
    empty = [stage.name for stage, tables in wanted if not tables]
    if named and empty:
        raise BadRequest(f"{empty[0]} has tables of chosen boards only", "Add --board 3x4")
    return wanted


def _stages(names: list[str]) -> list[Puzzle]:
    for name in names:
        required_choice(name, "stage", *MODULES)
    return [puzzle(name) for name in MODULES if name in names]


def _stage_help(chosen: list[Puzzle]) -> str:
    lines = []
    for stage in chosen:
        lines.append(f"pipeline precompute {stage.name}: {stage.title}\n")
        for table in stage.tables:
            lines += [f"  {table.file}", f"    {table.meaning}."]
            if table.index:
                lines.append(f"    {table.index_file}: the index, for other programs.")
        if stage.boards():
            lines.append(f"  --board BOARD: {stage.board_meaning}.")
    return "\n".join([*lines, "", "Options: pipeline precompute --help"])


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


def _query_command(name: str) -> None:
    """Declare `query NAME` from the one list of its options, the one that the quick door reads."""
    asked_of = (*options(name), *BATCH)
    kind = reader_class(name)

    def command(**given: Any) -> None:
        words = given.pop("key") or []
        key = " ".join(words)
        asked = {option: value for option, value in given.items() if value not in (None, False)}
        batch = {option.name: asked.pop(option.name) for option in BATCH if option.name in asked}
        if not words and kind.keyless in asked and not batch:
            say(respond(name, None, asked))
        elif key in ("", "-") or "input" in batch:
            if key not in ("", "-"):
                raise BadRequest("--input cannot be combined with a key", "Use one of the two")
            _answer_batch(name, asked, batch)
        elif batch:
            flags = [option.flag for option in BATCH if option.name in batch]
            raise BadRequest(f"{flags[0]} is for batches only", "Leave out the key")
        else:
            say(respond(name, key, asked))

    parameters = [
        inspect.Parameter(
            "key",
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[list[str] | None, typer.Argument(metavar=kind.key)],
        )
    ]
    for option in asked_of:
        declared = typer.Option(
            option.flag,
            help=option.help,
            metavar=option.metavar or None,
            show_default=False,
            autocompletion=completion.of_query(name, option.name) if option.metavar else None,
        )
        parameters.append(
            inspect.Parameter(
                option.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=None if option.metavar else False,
                annotation=Annotated[str | None if option.metavar else bool, declared],
            )
        )
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__doc__ = f"{puzzle(name).title}: answer one key, or a batch of keys."
    query.command(name)(command)


def _answer_batch(name: str, asked: Asked, batch: dict[str, Any]) -> None:
    from pipeline.progress import BatchTold
    from queries.batch import Batch, answer_all, output_format

    for option in options(name):
        if option.lone and asked.get(option.name):
            raise BadRequest(f"{option.flag} works with a single key only", "Batches have --format")
    source, output = batch.get("input", "-"), batch.get("output")
    if source == "-" and sys.stdin and sys.stdin.isatty():
        complain("reading keys from standard input (press Ctrl-D to finish)")
    request = Batch(
        source,
        output_format(output, batch.get("format")),
        output,
        batch.get("strict", False),
        batch.get("column"),
        batch.get("prefix", ""),
        batch.get("input_format"),
    )
    asks = reader(name, tables_store(asked.get("outputs"))).meant(asked)
    with BatchTold(output=output) as bar:
        refused = answer_all(asks, asked, request, bar.rows)
    if refused:
        many = "key is" if refused == 1 else "keys are"
        hint = f"See the column {request.prefix}error"
        raise BadRequest(f"{refused:,} {many} invalid", hint)


for _name in MODULES:
    _query_command(_name)


@app.command()
def status(outputs: Outputs = None, as_json: Json = False) -> None:
    """List the tables: rows, bytes, the version that built them, and what is missing."""
    from queries.overview import status as overview
    from queries.overview import unusable

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
            metavar="|".join(with_depths()),
            help="Puzzle whose states are counted.",
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
    from queries.overview import bars
    from queries.overview import histogram as counted

    require_one_printed(svg, as_json=as_json)
    counts = counted(name, tables_store(outputs), board)
    if svg is not None:
        from queries.drawings import histogram_svg
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
    """Prove every number in the published tables, using only the rules."""
    from pipeline.progress import ProofTold
    from pipeline.verify import VerifyFailed
    from pipeline.verify import verify as proved

    store = tables_store(outputs)
    with ProofTold(say=None if as_json else say, every_claim=verbose) as told:
        try:
            claims = proved(store, quick=quick, report=told, whole=told.proved)
        except VerifyFailed as failure:
            if as_json:
                say(f"{json.dumps({'proved': False, 'failure': failure.facts()})}\n")
            raise
        verdict = told.end(quick=quick)
    if as_json:
        rows = [dataclasses.asdict(claim) for claim in claims]
        say(f"{json.dumps({**verdict, 'claims': rows})}\n")


@app.command()
def report(
    outputs: Outputs = None,
    output: Annotated[
        str | None,
        typer.Option("--output", metavar="PATH", help="File for the page, folder for pictures."),
    ] = None,
    format: Annotated[
        str,
        typer.Option(
            "--format",
            help="html: one page; svg, png: only the pictures.",
            autocompletion=completion.page_formats,
        ),
    ] = "html",
) -> None:
    """Write outputs/report.html, a page of charts made from the tables."""
    from queries.report import write_report
    from tablebase.output import STANDARD

    store = tables_store(outputs)
    usual = store.full("report.html" if format == "html" else "report")
    target = usual if output is None else output
    written = write_report(store, target, format)
    if target == STANDARD:
        return
    for path in written:
        say(f"{path}\n")


@app.command()
def explore(outputs: Outputs = None) -> None:
    """Write outputs/explorer.html, a page with the answers inside; it needs only a browser."""
    from queries.explorer import write_explorer

    store = tables_store(outputs)
    target = store.full("explorer.html")
    write_explorer(store, target)
    say(f"{target}\n")
