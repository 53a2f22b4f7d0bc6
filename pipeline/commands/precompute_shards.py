"""`pipeline precompute` of lists in pieces, and plans: what it takes, and what it then prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from pipeline.terminal import say
from tablebase.errors import BadRequest, CannotBuild

if TYPE_CHECKING:
    from tablebase.puzzle import Puzzle
    from tablebase.tables.store import Store

PieceOption = Annotated[
    str | None,
    typer.Option(
        "--piece", metavar="I/N", help="Make only the I-th of N pieces of the boards' lists."
    ),
]
FinishOption = Annotated[
    bool, typer.Option("--finish", help="Publish these lists, if all pieces are there.")
]
PlanOption = Annotated[
    bool,
    typer.Option(
        "--plan", help="Only print what the boards will take, or a piece: rows, bytes, hours."
    ),
]


class Asked(NamedTuple):
    """What is to be done of lists, or told of boards."""

    piece: str | None
    finish: bool
    plan: bool

    def __bool__(self) -> bool:
        return self.piece is not None or self.finish or self.plan


class How(NamedTuple):
    """Where and by whom."""

    store: Store
    jobs: int
    scheduler: str | None
    quiet: bool
    besides: Sequence[str]
    """Other options that were given."""


def precompute_lists(asked: Asked, stages: Sequence[Puzzle], boards: list[str], how: How) -> None:
    """Plan the tables of these boards, make a piece of each, or publish them."""
    from pipeline.build import Request, build
    from pipeline.commands.text_tables import drawn, table_of_plans, table_of_tables
    from pipeline.dask_executor import workers
    from pipeline.plan import planned
    from pipeline.progress import BuildTold
    from pipeline.shards import listings, make_piece, parse_piece, require_all

    if asked.finish and (asked.plan or asked.piece is not None):
        other = "--plan" if asked.plan else "--piece"
        raise BadRequest(f"{other} cannot be combined with --finish", "Finish when all is there")
    for other in how.besides:
        raise BadRequest(f"--{other} does not go with --piece, --finish or --plan")
    piece = None if asked.piece is None else parse_piece(asked.piece)
    option = "piece" if piece else "finish" if asked.finish else "plan"
    lists = listings(f"--{option}", stages, boards, planned=option == "plan")
    if asked.plan:
        plans = {of.table.name: planned(how.store, of, piece, how.jobs) for of in lists}
        say(drawn(table_of_plans(plans, how.jobs)))
        if large := [of for of in lists if not of.puzzle.owns(of.table.name)]:
            planned_only = ", ".join(of.table.name for of in large)
            raise CannotBuild(planned_only, large[0].puzzle.board_meaning)
        return
    if piece is not None:
        for listing in lists:
            with BuildTold(quiet=how.quiet) as told, workers(how.scheduler, how.jobs) as by:
                done = make_piece(how.store, listing, piece, told, *by)
            if not how.quiet:
                made = f"{done.parts:,} parts, {done.rows:,} rows in {done.seconds:.1f} s"
                say(f"{listing.table.name}: piece {piece}, {made}\n")
        return
    for listing in lists:
        require_all(how.store, listing)
    tables = [(listing.puzzle, (listing.table,)) for listing in lists]
    with BuildTold(quiet=how.quiet) as told:
        published = build(Request(how.store, tables, jobs=how.jobs), told)
    if not how.quiet:
        names = [listing.table.name for listing in lists]
        say(drawn(table_of_tables({name: published[name] for name in names}, told.seconds)))
