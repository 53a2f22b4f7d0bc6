"""The commands `pipeline report` and `pipeline explore`: pages made from the tables."""

from typing import Annotated

import typer

from pipeline.commands import completion
from pipeline.commands.options import Outputs
from pipeline.terminal import print_answer
from tablebase.stdio import expand_path
from tablebase.tables.access import open_store


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
            metavar="html|svg|png",
            help="html: one page; svg, png: only the pictures.",
            autocompletion=completion.complete_page_formats,
        ),
    ] = "html",
    sample: Annotated[
        str | None,
        typer.Option(
            "--sample", metavar="FILE", help="Also show this sample (see `pipeline sample`)."
        ),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(
            "--run",
            metavar="RUN",
            help="Also show where the time of a build went: its name in `pipeline runs`, or last.",
            autocompletion=completion.complete_runs,
        ),
    ] = None,
) -> None:
    """Write outputs/report.html, a page of charts made from the tables."""
    from queries.report.writer import REPORT_PAGE, write_report
    from tablebase.output import STANDARD

    store = open_store(outputs)
    default_target = store.locate(REPORT_PAGE if format == "html" else "report")
    target = default_target if output is None else expand_path(output)
    paths = write_report(store, target, format, sample, run)
    if target == STANDARD:
        return
    for path in paths:
        print_answer(f"{path}\n")


def explore(
    outputs: Outputs = None,
    output: Annotated[
        str | None, typer.Option("--output", metavar="PATH", help="File for the page.")
    ] = None,
) -> None:
    """Write outputs/explorer.html, a page with the answers inside; it needs only a browser."""
    from queries.explorer.writer import EXPLORER_PAGE, write_explorer
    from tablebase.output import STANDARD

    store = open_store(outputs)
    target = store.locate(EXPLORER_PAGE) if output is None else expand_path(output)
    write_explorer(store, target)
    if target != STANDARD:
        print_answer(f"{target}\n")
