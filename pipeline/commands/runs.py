"""The command `pipeline runs`: the list of run records, or one of them."""

import json
from typing import Annotated

import typer

from pipeline.commands import completion
from pipeline.commands.options import Json, Outputs
from pipeline.commands.text_tables import format_table, make_run_table, make_runs_table
from pipeline.terminal import MAX_MESSAGE, escape_control, fit_terminal, print_answer, print_error
from tablebase.tables.access import open_store, require_listable
from tablebase.tables.run_records import list_run_names, list_runs, read_run


def runs(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN",
            help="Run to show: its name, the beginning of it, or last.",
            autocompletion=completion.complete_runs,
        ),
    ] = None,
    outputs: Outputs = None,
    as_json: Json = False,
) -> None:
    """List the last builds, or show what one of them did."""
    store = open_store(outputs)
    require_listable(store)
    if name is not None:
        run = read_run(store, name)
        if as_json:
            print_answer(f"{json.dumps(run.to_dict())}\n")
            return
        record = run.record
        lines = (
            f"run       {record.name}",
            f"command   pipeline {' '.join(record.command)}",
            f"started   {record.started}",
            f"seconds   {record.seconds:.1f}",
            f"outcome   {': '.join(filter(None, (run.outcome, record.problem)))}",
            f"versions  {', '.join(f'{key} {value}' for key, value in record.versions.items())}",
            f"machine   {', '.join(f'{key} {value}' for key, value in record.machine.items())}",
        )
        text = "".join(f"{escape_control(line[:MAX_MESSAGE])}\n" for line in lines)
        print_answer(fit_terminal(text))
        print_answer(f"\n{format_table(make_run_table(record.tables, run.outcome))}")
        return
    known = [*list_runs(store)]
    if as_json:
        print_answer(f"{json.dumps([run.to_dict() for run in known])}\n")
    else:
        print_answer(format_table(make_runs_table(known)))
    readable = {run.record.name for run in known}
    for unreadable in (other for other in list_run_names(store) if other not in readable):
        print_error(f"note: the run record {unreadable} cannot be read")
