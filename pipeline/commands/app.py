"""The Typer application: each command parses its options, calls one function, and prints.

This module and all others that declare options evaluate annotations when they are defined: Typer
would otherwise evaluate each one, as text, at every start.
"""

import json
import shutil
import sys
from typing import Annotated, cast

import typer
from typer.core import TyperArgument, TyperOption

from pipeline.commands import completion
from pipeline.commands.options import JOBS, Json, Outputs, Quiet
from pipeline.commands.pages import explore, report
from pipeline.commands.precompute import PrecomputeCommand, precompute
from pipeline.commands.query import query_app
from pipeline.commands.runs import runs
from pipeline.commands.sample import sample_app
from pipeline.commands.store_commands import clean, diff, graph
from pipeline.commands.text_tables import format_table, make_status_table
from pipeline.commands.usage import make_usage_error
from pipeline.single_query import require_one_printed
from pipeline.terminal import print_answer, print_error, print_line
from tablebase import __version__
from tablebase.errors import BadRequest
from tablebase.puzzles import (
    MODULES,
    get_load_errors,
    get_puzzle,
    list_puzzles_with_depths,
)
from tablebase.stdio import explain_os_error
from tablebase.tables.access import open_store
from tablebase.tables.store import Store


def _show_no_type(parameter: object, ctx: object) -> None:
    """Show no type in the help of an argument, whose name and help say what it is."""


def _show_metavar(parameter: TyperOption, ctx: object) -> str | None:
    """Show what to write after an option in its help, and nothing for a flag."""
    return None if parameter.is_flag else parameter.metavar


# Typer has no setting for it, and would show <bool> and <list[str]>
TyperArgument.display_type_rich = _show_no_type  # type: ignore[assignment, method-assign]  # replaced
TyperOption.display_type_rich = _show_metavar  # type: ignore[assignment, method-assign]  # replaced

UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__bases__[0])
"""The error that Typer raises for invalid arguments; it does not export the class itself."""

app = typer.Typer(
    name="pipeline",
    help="Build, query and verify puzzle tablebases.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(query_app, name="query")
app.add_typer(sample_app, name="sample")

WITH_DEPTHS = [name for name in MODULES if get_puzzle(name).depth]
"""The built-in puzzles whose states have depths."""


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
        if not error.format_message().strip():  # no command was given: the help is printed already
            return 2
        raise make_usage_error(error, arguments, typer.main.get_command(app)) from error
    except OSError as error:
        if "--install-completion" not in arguments:
            raise
        raise BadRequest(
            f"Completion cannot be installed ({explain_os_error(error)})",
            "Print it with --show-completion, and copy it",
        ) from error


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


app.command(cls=PrecomputeCommand)(precompute)


@app.command()
def remove(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME",
            help="Table or group to remove; `pipeline status` lists the tables.",
            autocompletion=completion.complete_removable_tables,
        ),
    ],
    outputs: Outputs = None,
    quiet: Quiet = False,
) -> None:
    """Remove tables that were built on request."""
    from pipeline.build import build
    from pipeline.build_progress import BuildProgress
    from pipeline.removal import make_removal
    from pipeline.runs import RunRecorder

    store = open_store(outputs)
    with (
        BuildProgress(quiet=quiet) as progress,
        RunRecorder(store, sys.argv[1:], progress) as recorder,
    ):
        request = make_removal(store, names, JOBS)
        build(request, recorder)
    if not quiet:
        print_answer("".join(f"removed {name}\n" for name in sorted(request.without)))


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
        str | None,
        typer.Argument(
            metavar="|".join(WITH_DEPTHS),
            help="Puzzle to count, built in or from a plugin.",
            autocompletion=list_puzzles_with_depths,
        ),
    ] = None,
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
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            metavar="FILE",
            help="Write the numbers of all tables: .parquet, .csv, .jsonl.",
        ),
    ] = None,
) -> None:
    """Print the number of states at each distance, with bars."""
    from queries.histogram import count_states as counted
    from queries.histogram import format_bars

    if output is not None:
        if name or board or svg or as_json:
            raise BadRequest("--output writes the numbers of all tables", "Leave out the others")
        _write_counts(open_store(outputs), output)
        return
    if name is None:
        problem = f"One of {', '.join(WITH_DEPTHS)} is missing"
        raise BadRequest(problem, "See: pipeline histogram --help")
    require_one_printed(svg, as_json=as_json)
    counts = counted(name, open_store(outputs), board)
    if svg is not None:
        from queries.svg import draw_histogram
        from tablebase.output import STANDARD, write_output

        write_output(svg, draw_histogram(counts).encode())
        if svg == STANDARD:
            return
    width = shutil.get_terminal_size().columns
    print_answer(f"{json.dumps(counts.to_dicts())}\n" if as_json else format_bars(counts, width))


def _write_counts(store: Store, output: str) -> None:
    """Write the number of states at each distance in all tables, in the format of the suffix."""
    from queries.batch import choose_output_format, open_row_writer
    from queries.histogram import list_counts

    output_format, counts = choose_output_format(output, None), list_counts(store)
    with open_row_writer(output, output_format) as write:
        write(counts)


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

    store = open_store(outputs)
    with ProofProgress(
        None if as_json else print_line, every_claim=verbose, quick=quick
    ) as progress:
        try:
            verified = verify_store(
                store, quick=quick, listener=progress, on_verdicts=progress.on_verdicts
            )
        except VerifyFailed as failure:
            if as_json:
                print_answer(f"{json.dumps({'failure': failure.to_dict()})}\n")
            raise
        answer = progress.finish(verified)
    if as_json:
        print_answer(f"{json.dumps(answer)}\n")


def print_help(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COMMAND",
            help="Command to explain, such as query eight (default: all).",
            autocompletion=completion.complete_commands,
        ),
    ] = None,
) -> None:
    """Print the help of a command."""
    raise typer.Exit(_run_command([*(words or []), "--help"]))


for command in (runs, report, explore, graph, diff, clean):
    app.command()(command)
app.command(name="help")(print_help)
