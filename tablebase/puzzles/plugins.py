"""Puzzles of other packages: entry points, each naming a module that has a `PUZZLE`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from tablebase.errors import PuzzleRefused
from tablebase.puzzle import Puzzle

GROUP = "puzzle_tablebase.puzzles"


@cache
def named() -> dict[str, list[EntryPoint]]:
    """The entry points by name, in alphabetical order; more than one where packages disagree."""
    found: dict[str, list[EntryPoint]] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        found.setdefault(point.name, []).append(point)
    return found


def clashes(taken: Iterable[str]) -> dict[str, PuzzleRefused]:
    """What is wrong with those that bear a name of ours."""
    problem = "the program has a puzzle of that name itself"
    return {name: _refused(name, problem) for name in taken if name in named()}


def installed(name: str, ours: Iterable[Puzzle]) -> Puzzle:
    """The puzzle of that name; PuzzleRefused where it cannot be used beside ours."""
    if len(named()[name]) > 1:
        raise _refused(name, "only one package may bring a puzzle of that name")
    (point,) = named()[name]
    found = loaded(name, f"{point.value}:PUZZLE")
    if not isinstance(found, Puzzle):
        raise _refused(name, f"PUZZLE in {point.value} is of type {type(found).__name__}")
    if found.name != name:
        raise _refused(name, f"the puzzle itself is named {found.name!r}")
    taken = [table.name for table in found.tables if any(own.owns(table.name) for own in ours)]
    if taken:
        raise _refused(name, f"the program itself has a table {taken[0]}")
    return found


def loaded(name: str, where: str) -> Any:
    """What the package of a puzzle has at a place (`module:name`); PuzzleRefused where nothing."""
    point = EntryPoint(name, where, GROUP)
    try:
        return point.load()
    except Exception as error:  # whatever foreign code raises as it is imported
        problem = f"loading {where} failed ({type(error).__name__}: {error})"
        raise _refused(name, problem) from error


def _refused(name: str, problem: str) -> PuzzleRefused:
    packages = sorted({point.dist.name for point in named()[name] if point.dist})
    return PuzzleRefused(name, packages, problem)
