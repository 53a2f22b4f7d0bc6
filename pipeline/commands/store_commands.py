"""The commands on whole stores: `pipeline graph`, `pipeline diff` and `pipeline clean`."""

import json
from typing import Annotated

import typer

from pipeline.commands.options import Outputs
from pipeline.commands.text_tables import format_table, make_diff_table, make_leftovers_table
from pipeline.single_query import require_one_printed
from pipeline.terminal import print_answer
from tablebase.tables.access import open_store

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def graph(
    outputs: Outputs = None,
    as_json: AsJson = False,
    svg: Annotated[
        str | None, typer.Option("--svg", metavar="FILE", help="Also draw an SVG picture.")
    ] = None,
) -> None:
    """Print what is made from what, as a Mermaid flowchart: puzzles, recipes, tables and pages."""
    from pipeline.lineage import draw_lineage, format_mermaid, make_lineage

    require_one_printed(svg, as_json=as_json)
    lineage = make_lineage(open_store(outputs))
    if svg is not None:
        from tablebase.output import STANDARD, write_output

        write_output(svg, draw_lineage(lineage).encode())
        if svg == STANDARD:
            return
    print_answer(f"{json.dumps(lineage.to_dict())}\n" if as_json else format_mermaid(lineage))


def diff(
    old: Annotated[str, typer.Argument(metavar="A", help="Folder or URL of tables.")],
    new: Annotated[str, typer.Argument(metavar="B", help="Folder or URL to compare with A.")],
    as_json: AsJson = False,
) -> None:
    """Compare the tables of two stores: which differ in rows, in content or only in bytes.

    Exit code: 0 if all have the same content, 1 if any differs, 3 if damaged.
    """
    from pipeline.comparison import compare_stores, make_difference_error

    stores = open_store(old), open_store(new)
    comparisons = compare_stores(*stores)
    rows = [comparison.to_dict() for comparison in comparisons]
    print_answer(f"{json.dumps(rows)}\n" if as_json else format_table(make_diff_table(comparisons)))
    if error := make_difference_error(comparisons, *stores):
        raise error


def clean(
    outputs: Outputs = None,
    yes: Annotated[bool, typer.Option("--yes", help="Remove what is listed.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the files that unfinished builds left, with their sizes; remove them with --yes.

    Published tables are never listed. Builds resume from what is listed.
    """
    from pipeline.cleaning import format_advice, list_leftovers, remove_leftovers

    store = open_store(outputs)
    leftovers = remove_leftovers(store) if yes else list_leftovers(store)
    if as_json:
        print_answer(f"{json.dumps([leftover.to_dict() for leftover in leftovers])}\n")
        return
    listing = format_table(make_leftovers_table(leftovers)) if leftovers else ""
    print_answer(f"{listing}{format_advice(leftovers, store, removed=yes)}\n")
