"""The stages of `precompute`: which are asked for, and the tables of each."""

from __future__ import annotations

from tablebase.errors import BadRequest, required_choice
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles import MODULES, names, puzzle, puzzles, registered

BOARDED = {name: puzzle(name) for name in MODULES if puzzle(name).boards()}
"""Our stages that --board is for."""
COUNTED = {name: puzzle(name).counted for name in MODULES if puzzle(name).counted}
"""Our stages that --count is for, and what they count."""
NUMBERED = {name: puzzle(name).numbered for name in MODULES if puzzle(name).numbered}
"""Our stages that --cycles is for, and what they give numbers to."""

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


def with_counts(wanted: Wanted, boards: list[str], *, closed: bool) -> Wanted:
    """The same, with counts of more boards; BadRequest where no stage counts."""
    if closed and not boards:
        raise BadRequest("--closed needs --count", "Example: --count 8x8 --closed")
    if boards and not any(stage.counted for stage, _ in wanted):
        raise BadRequest(f"--count needs the stage {' or '.join(COUNTED)}")
    return [(stage, stage.with_counts(tables, boards, closed=closed)) for stage, tables in wanted]


def with_numbers(wanted: Wanted, boards: list[str]) -> Wanted:
    """The same, with numbers on more boards; BadRequest where no stage gives any."""
    if boards and not any(stage.numbered for stage, _ in wanted):
        raise BadRequest(f"--cycles needs the stage {' or '.join(NUMBERED)}")
    return [(stage, stage.with_numbers(tables, boards)) for stage, tables in wanted]


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
