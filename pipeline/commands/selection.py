"""The stages of `precompute`: which are asked for, and the tables of each."""

from __future__ import annotations

from collections.abc import Mapping

from tablebase.errors import BadRequest, required_choice
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles import MODULES, names, puzzle, puzzles, registered

BOARDED = {name: puzzle(name) for name in MODULES if puzzle(name).boards()}
"""Our stages that --board is for."""

Wanted = list[tuple[Puzzle, tuple[Table, ...]]]


def asked_for(asked: list[str] | None) -> list[Puzzle]:
    """The puzzles of these names in the order of the registry; of no names, all."""
    if not asked:
        return puzzles()
    for name in asked:
        if not registered(name):
            required_choice(name, "stage", *names())
    every = MODULES if {*asked} <= {*MODULES} else names()
    return [puzzle(name) for name in every if name in asked]


def with_option(option: str) -> str:
    """The stages that take an option for their boards."""
    return " or ".join(name for name, stage in BOARDED.items() if option in stage.board_options)


def with_tables(
    chosen: list[Puzzle], boards: list[str], further: list[str], *, named: bool
) -> Wanted:
    """The tables of the stages, with those of boards; BadRequest for what does not go together."""
    if boards and len([stage for stage in chosen if stage.boards()]) != 1:
        raise BadRequest(f"--board needs the stage {' or '.join(BOARDED)}")
    for option in further:
        if not boards or not any(option in stage.board_options for stage in chosen):
            raise BadRequest(f"--{option} needs --board and the stage {with_option(option)}")
    wanted = [
        (stage, stage.with_boards(boards, further) if boards else stage.tables) for stage in chosen
    ]
    empty = [stage.name for stage, tables in wanted if not tables]
    if named and empty:
        raise BadRequest(f"{empty[0]} has tables of chosen boards only", "Add --board 3x4")
    return wanted


def with_requests(wanted: Wanted, asked: Mapping[str, list[str] | None]) -> Wanted:
    """The same, with what is asked of more boards; BadRequest where no stage does that."""
    for request, boards in asked.items():
        if boards and not any(request in stage.requests for stage, _ in wanted):
            stages = " or ".join(stage.name for stage in _taking(request))
            raise BadRequest(f"--{request} needs the stage {stages}")
        if boards:
            wanted = [
                (stage, stage.with_request(tables, request, boards)) for stage, tables in wanted
            ]
    return wanted


def said_of(request: str) -> str:
    """What a request is of, and of which stages, as the help says it."""
    found = {stage.name: stage.requests[request] for stage in _taking(request)}
    return f"{'; '.join(found.values())} ({', '.join(found)}; repeatable)"


def _taking(request: str) -> list[Puzzle]:
    """Our stages that a request can be made to."""
    return [stage for stage in map(puzzle, MODULES) if request in stage.requests]


def help_of(chosen: list[Puzzle]) -> str:
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
