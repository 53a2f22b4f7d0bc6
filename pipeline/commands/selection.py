"""The selection of `precompute`: stages, tables, and the tables that their options request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tablebase.catalogue import BuildOption
from tablebase.errors import BadRequest, quote
from tablebase.puzzle import Puzzle
from tablebase.puzzles import (
    MODULES,
    get_puzzle,
    is_registered,
    list_names,
    list_puzzles,
)
from tablebase.schema import Table

if TYPE_CHECKING:
    from tablebase.catalogue import BuildValues


class Targets(NamedTuple):
    """The targets of a command line: stages, and names of single tables by stage."""

    stages: list[Puzzle]
    table_names: dict[str, list[str]]

    @property
    def puzzles(self) -> list[Puzzle]:
        """The stages, with those of single tables, in the order of the registry; or all."""
        names = {*self.table_names, *(stage.name for stage in self.stages)}
        if not names:
            return list_puzzles()
        known = MODULES if names <= {*MODULES} else list_names()  # else plugins are looked up
        return [get_puzzle(name) for name in known if name in names]


def find_owner(table: str) -> Puzzle | None:
    """Find the puzzle that a table of that name belongs to."""
    builtin = (get_puzzle(name) for name in MODULES)
    owner = next((puzzle for puzzle in builtin if puzzle.catalogue.owns_table(table)), None)
    return owner or next(
        (puzzle for puzzle in list_puzzles() if puzzle.catalogue.owns_table(table)), None
    )


def parse_targets(texts: Sequence[str]) -> Targets:
    """Parse the names of stages and tables; raise BadRequest for a name that is neither."""
    stages, table_names = list[Puzzle](), dict[str, list[str]]()
    for text in texts:
        if is_registered(text):
            stages.append(get_puzzle(text))
        elif owner := find_owner(text):
            table_names.setdefault(owner.name, []).append(text)
        else:
            hint = f"Stages: {', '.join(list_names())}. Tables: see pipeline status"
            raise BadRequest(f"There is no stage or table {quote(text)}", hint)
    return Targets(stages, table_names)


def select_tables(targets: Targets, values: BuildValues) -> list[tuple[Puzzle, tuple[Table, ...]]]:
    """Select the tables of the targets and those that the options request."""
    selected = []
    values_by_stage = _assign_values(targets, values)
    stage_names = {stage.name for stage in targets.stages}
    for puzzle in targets.puzzles:
        by_option = puzzle.catalogue.request_tables(values_by_stage.get(puzzle.name, {}))
        names = targets.table_names.get(puzzle.name, [])
        tables = {table.name: table for table in map(puzzle.catalogue.find_table, names) if table}
        if puzzle.name in stage_names or not names:
            tables |= {table.name: table for table in puzzle.tables}
        if puzzle.name in stage_names and not by_option:
            tables |= {table.name: table for table in puzzle.catalogue.list_stage_tables()}
        tables |= {table.name: table for table in by_option}
        if puzzle.name in stage_names and not tables:
            raise _make_missing_option_error(puzzle)
        selected.append((puzzle, tuple(tables.values())))
    return selected


def _make_missing_option_error(puzzle: Puzzle) -> BadRequest:
    """Make the error of a stage that has no tables without an option."""
    option = puzzle.catalogue.options[0]
    example = f"Example: pipeline precompute {puzzle.name} {_format_example(option)}"
    return BadRequest(f"{puzzle.name} has no table without {option.flag}", example)


def _format_example(option: BuildOption) -> str:
    return " ".join(filter(None, (option.flag, option.example)))


def _assign_values(targets: Targets, values: BuildValues) -> dict[str, BuildValues]:
    """Assign each option's value to the one stage that declares it; raise BadRequest otherwise.

    Stages come before those of which only single tables are named.
    """
    assigned: dict[str, dict[str, Sequence[str]]] = {}
    for name, texts in values.items():
        owners = find_declarations(targets.stages, name) or find_declarations(targets.puzzles, name)
        if len(owners) != 1:
            every_owner = owners or find_declarations([get_puzzle(name) for name in MODULES], name)
            flag = next(iter(every_owner.values())).flag
            examples = [
                f"pipeline precompute {stage} {_format_example(option)}"
                for stage, option in every_owner.items()
            ]
            problem = f"{flag} is an option of the stage {' and of '.join(every_owner)}"
            raise BadRequest(problem, f"Example: {' or '.join(examples)}")
        assigned.setdefault(next(iter(owners)), {})[name] = texts
    return dict(assigned)


def find_declarations(puzzles: Sequence[Puzzle], name: str) -> Mapping[str, BuildOption]:
    """Find an option's declarations, by stage."""
    return {
        puzzle.name: option
        for puzzle in puzzles
        for option in puzzle.catalogue.options
        if option.name == name
    }
