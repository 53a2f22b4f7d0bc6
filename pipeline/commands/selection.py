"""The selection of the stages of `precompute`, and of the tables of each stage."""

from __future__ import annotations

from collections.abc import Mapping

from tablebase.errors import BadRequest, require_choice
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles import MODULES, get_puzzle, is_registered, list_names, list_puzzles

BOARD_STAGES = {name: get_puzzle(name) for name in MODULES if get_puzzle(name).list_boards()}
"""The built-in stages that accept --board."""

SelectedTables = list[tuple[Puzzle, tuple[Table, ...]]]


def select_stages(stage_names: list[str] | None) -> list[Puzzle]:
    """Return the named puzzles in the order of the registry; without names, all puzzles."""
    if not stage_names:
        return list_puzzles()
    for name in stage_names:
        if not is_registered(name):
            require_choice(name, "stage", *list_names())
    # the names of plugins are looked up only if one is given
    names = MODULES if {*stage_names} <= {*MODULES} else list_names()
    return [get_puzzle(name) for name in names if name in stage_names]


def format_stages_with(option: str) -> str:
    """Format the names of the built-in stages that accept an option for their boards."""
    return " or ".join(
        name for name, stage in BOARD_STAGES.items() if option in stage.board_options
    )


def select_tables(
    stages: list[Puzzle], boards: list[str], options: list[str], *, is_named: bool
) -> SelectedTables:
    """Return the stages with their tables and those of the boards.

    Raises BadRequest for options that cannot be combined with the stages.
    """
    if boards and len([stage for stage in stages if stage.list_boards()]) != 1:
        raise BadRequest(f"--board needs the stage {' or '.join(BOARD_STAGES)}")
    for option in options:
        if not boards or not any(option in stage.board_options for stage in stages):
            raise BadRequest(f"--{option} needs --board and the stage {format_stages_with(option)}")
    selected = [
        (stage, stage.list_tables_with_boards(boards, options) if boards else stage.tables)
        for stage in stages
    ]
    empty = [stage.name for stage, tables in selected if not tables]
    if is_named and empty:
        raise BadRequest(f"{empty[0]} needs a board", "Example: --board 3x4")
    return selected


def add_requests(
    selected: SelectedTables, requests: Mapping[str, list[str] | None]
) -> SelectedTables:
    """Add the tables of requests, such as counts of more boards, to the selected tables.

    Raises BadRequest if no selected stage accepts a request.
    """
    for request, boards in requests.items():
        if boards and not any(request in stage.requests for stage, _ in selected):
            stages = " or ".join(stage.name for stage in _find_stages(request))
            raise BadRequest(f"--{request} needs the stage {stages}")
        if boards:
            selected = [
                (stage, stage.add_request(tables, request, boards)) for stage, tables in selected
            ]
    return selected


def describe_request(request: str) -> str:
    """Return the help text of a request: its meaning, and the stages that accept it."""
    meanings = {stage.name: stage.requests[request] for stage in _find_stages(request)}
    return f"{'; '.join(meanings.values())} ({', '.join(meanings)}; repeatable)"


def _find_stages(request: str) -> list[Puzzle]:
    """Find the built-in stages that accept a request."""
    return [stage for stage in map(get_puzzle, MODULES) if request in stage.requests]


def format_help(stages: list[Puzzle]) -> str:
    """Format the help of some stages: their tables, and the boards that they accept."""
    lines = []
    for stage in stages:
        lines.append(f"pipeline precompute {stage.name}: {stage.title}\n")
        for table in stage.tables:
            lines += [f"  {table.file}", f"    {table.meaning}."]
            if table.index:
                lines.append(f"    {table.index_file}: the index, for other programs.")
        if stage.list_boards():
            lines.append(f"  --board BOARD: {stage.board_meaning}.")
    return "\n".join([*lines, "", "Options: pipeline precompute --help"])
