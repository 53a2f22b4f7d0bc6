"""Selection of tables by name: to build, copy, prove or remove."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import partial

from puzzle_tablebase.errors import BadRequest, TableMissing, quote
from puzzle_tablebase.formats.manifest import read_manifest, read_versions
from puzzle_tablebase.pipeline.publish import find_unlisted_files
from puzzle_tablebase.puzzles import Puzzle
from puzzle_tablebase.registry import MODULES, get_puzzle, is_registered, list_puzzles
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import Folder, Store
from puzzle_tablebase.stores.checkpoints import list_checkpoint_files


def select_tables(names: Sequence[str]) -> list[tuple[Puzzle, Table]]:
    """Select the tables that names stand for, each once; without names, all default tables."""
    if not names:
        return [(puzzle, table) for puzzle in list_puzzles() for table in puzzle.tables]
    found = [(puzzle, table) for puzzle, tables in map(find_request, names) for table in tables]
    return [*{table.name: (puzzle, table) for puzzle, table in found}.values()]


def find_request(name: str) -> tuple[Puzzle, tuple[Table, ...]]:
    """Find the puzzle of a name, and the tables that it stands for.

    Raise BadRequest for an unknown name, with those that are nearest to it.
    """
    known = [name] if is_registered(name) else MODULES
    # plugins are loaded only for a name that is no built-in puzzle's
    for find_puzzles in (partial(map, get_puzzle, known), list_puzzles):
        for puzzle in find_puzzles():
            if tables := puzzle.find_tables(name):
                return puzzle, tables
    near = get_close_matches(name, list_requests(list_puzzles()), n=2, cutoff=0.8)
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    raise BadRequest(f"There is no table {quote(name)}", f"{hint}See: pipeline precompute --list")


def list_requests(puzzles: Iterable[Puzzle]) -> list[str]:
    """List all names that can be built: of puzzles, of default tables, and of others."""
    puzzles = [*puzzles]
    names = [puzzle.name for puzzle in puzzles]
    for puzzle in puzzles:
        names += [table.name for table in puzzle.tables]
        names += [name for others in puzzle.list_requests().values() for name in others]
    return [*dict.fromkeys(names)]


def find_removable(store: Folder, name: str) -> list[str]:
    """Find the tables that `remove` removes by a name: those with an entry, a file or checkpoints.

    Raise BadRequest if there are none, or if one is a default table.
    """
    published = read_versions(store)
    tables = [name] if name in published else [table.name for table in find_request(name)[1]]
    defaults = {table.name for puzzle in list_puzzles() for table in puzzle.tables}
    if chosen := defaults.intersection(tables):
        problem = f"{min(chosen)} is a default table, which cannot be removed"
        raise BadRequest(problem, "Only tables built on request can be removed")
    present = [
        table
        for table in tables
        if table in published
        or find_unlisted_files(store, table)
        or list_checkpoint_files(store, table)
    ]
    if not present:
        problem = f"There is no table {quote(name)} to remove"
        raise BadRequest(problem, "See: pipeline status")
    return present


def select_published(store: Store, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Select the published tables that names stand for; also return those that are not published.

    A puzzle's name stands for its default tables and all others of it that are published. Raise
    BadRequest for an unknown name, and TableMissing for one of whose tables none is published.
    """
    published, selected, missing = read_manifest(store), list[str](), list[str]()
    for name in names:
        own = [*filter(get_puzzle(name).find_table, published)] if is_registered(name) else []
        if own:
            tables = [*(table.name for table in get_puzzle(name).tables), *own]
        else:
            is_table = name in published
            tables = [name] if is_table else [table.name for table in find_request(name)[1]]
        present = [table for table in tables if table in published]
        if not present:
            raise TableMissing(store, tables[0], name)
        selected += present
        missing += [table for table in tables if table not in published]
    return [*dict.fromkeys(selected)], [*dict.fromkeys(missing)]
