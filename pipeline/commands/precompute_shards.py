"""The command `pipeline precompute` for shards of lists and for plans: its options and output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from pipeline.terminal import print_answer
from tablebase.errors import BadRequest, CannotBuild

if TYPE_CHECKING:
    from tablebase.puzzle import Puzzle
    from tablebase.tables.store import Store

ShardOption = Annotated[
    str | None,
    typer.Option("--shard", metavar="I/N", help="Build only shard I of N of the boards' lists."),
]
PublishOption = Annotated[
    bool, typer.Option("--publish", help="Publish the lists once every shard is built.")
]
PlanOption = Annotated[
    bool,
    typer.Option(
        "--plan", help="Estimate rows, bytes and time of the boards, or a shard; build nothing."
    ),
]


class ListAction(NamedTuple):
    """The requested action on lists: build a shard, publish, or plan."""

    shard: str | None
    publish: bool
    plan: bool

    def __bool__(self) -> bool:
        """Return whether any action is requested."""
        return self.shard is not None or self.publish or self.plan


class RunOptions(NamedTuple):
    """The store and the other options that an action runs with."""

    store: Store
    jobs: int
    scheduler: str | None
    quiet: bool
    other_options: Sequence[str]
    """Other options that were given."""


def precompute_lists(
    action: ListAction, stages: Sequence[Puzzle], boards: list[str], run: RunOptions
) -> None:
    """Plan the tables of these boards, build a shard of each, or publish them."""
    from pipeline.build import Request, build
    from pipeline.commands.text_tables import format_table, make_build_table, make_plan_table
    from pipeline.dask_executor import open_executor
    from pipeline.plan import make_plan
    from pipeline.progress import BuildProgress
    from pipeline.shards import build_shard, find_listings, parse_shard, require_complete

    if action.publish and (action.plan or action.shard is not None):
        other = "--plan" if action.plan else "--shard"
        raise BadRequest(
            f"{other} cannot be combined with --publish", "Publish once every shard is built"
        )
    for other in run.other_options:
        raise BadRequest(f"--{other} does not go with --shard, --publish or --plan")
    shard = None if action.shard is None else parse_shard(action.shard)
    option = "shard" if shard else "publish" if action.publish else "plan"
    listings = find_listings(f"--{option}", stages, boards, plannable=option == "plan")
    if action.plan:
        plans = {
            listing.table.name: make_plan(run.store, listing, shard, run.jobs)
            for listing in listings
        }
        print_answer(format_table(make_plan_table(plans, run.jobs)))
        if large := [
            listing for listing in listings if not listing.puzzle.owns_table(listing.table.name)
        ]:
            planned_only = ", ".join(listing.table.name for listing in large)
            raise CannotBuild(planned_only, large[0].puzzle.board_meaning)
        return
    if shard is not None:
        for listing in listings:
            with (
                BuildProgress(quiet=run.quiet) as progress,
                open_executor(run.scheduler, run.jobs) as executor_and_jobs,
            ):
                built = build_shard(run.store, listing, shard, progress, *executor_and_jobs)
            if not run.quiet:
                summary = f"{built.tasks:,} parts, {built.rows:,} rows in {built.seconds:.1f} s"
                print_answer(f"{listing.table.name}: shard {shard}, {summary}\n")
        return
    for listing in listings:
        require_complete(run.store, listing)
    tables = [(listing.puzzle, (listing.table,)) for listing in listings]
    with BuildProgress(quiet=run.quiet) as progress:
        published = build(Request(run.store, tables, jobs=run.jobs), progress)
    if not run.quiet:
        names = [listing.table.name for listing in listings]
        print_answer(
            format_table(
                make_build_table({name: published[name] for name in names}, progress.seconds)
            )
        )
