"""The names that a command takes, to build or remove: of puzzles, groups of tables, and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches

from puzzle_tablebase.errors import BadRequest, TablebaseError, TableMissing, quote
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.puzzles import MODULES, get_puzzle, is_registered, list_names, list_puzzles
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores.access import format_rebuild_command
from puzzle_tablebase.stores.folder import Store


def select_tables(names: Sequence[str]) -> list[tuple[Puzzle, tuple[Table, ...]]]:
    """Select the tables that names stand for, by puzzle; without names, all default tables."""
    selected = dict[str, dict[str, Table]]()
    for name in names:
        puzzle, tables = find_request(name)
        selected.setdefault(puzzle.name, {}).update((table.name, table) for table in tables)
    if not names:
        return [(puzzle, puzzle.tables) for puzzle in list_puzzles()]
    known = MODULES if selected.keys() <= {*MODULES} else list_names()  # else plugins are looked up
    return [
        (get_puzzle(name), tuple(selected[name].values())) for name in known if name in selected
    ]


def find_request(name: str) -> tuple[Puzzle, tuple[Table, ...]]:
    """Find the puzzle of a name, and the tables that it stands for.

    Raise BadRequest for an unknown name, with those that are nearest to it.
    """
    for puzzle in [get_puzzle(name)] if is_registered(name) else _iter_puzzles():
        if tables := puzzle.find_tables(name):
            return puzzle, tables
    near = get_close_matches(name, list_requests(list_puzzles()), cutoff=0.8)
    hint = f"Puzzles: {', '.join(list_names())}. Their tables: pipeline precompute PUZZLE --help"
    if near:
        hint = f"Did you mean {' or '.join(near)}? See: pipeline precompute --help"
    raise BadRequest(f"There is no table {quote(name)}", hint)


def select_published_tables(names: Sequence[str], store: Store) -> tuple[list[str], list[str]]:
    """Select the published tables that names stand for; also return those that are not published.

    A puzzle's name stands for its default tables and all others of it that are published. A
    published table that no puzzle knows is selected by its own name. Raise BadRequest for an
    unknown name, and TableMissing for one of whose tables none is published.
    """
    published, missing = read_manifest(store), dict[str, None]()
    selected = dict[str, None]()
    for name in names:
        others = [name] if name in published else []
        if is_registered(name):
            others = [table for table in published if get_puzzle(name).find_table(table)]
        try:
            tables = [table.name for table in find_request(name)[1]]
        except BadRequest:
            if not others:
                raise
            tables = []
        tables += [table for table in others if table not in tables]
        present = [table for table in tables if table in published]
        if not present:
            raise TableMissing(store.locate(tables[0]), format_rebuild_command(name, store))
        selected |= dict.fromkeys(present)
        missing |= dict.fromkeys(table for table in tables if table not in published)
    return [*selected], [*missing]


def _iter_puzzles() -> Iterator[Puzzle]:
    """Iterate over the puzzles, the built-in ones first: plugins are loaded only after them."""
    yield from map(get_puzzle, MODULES)
    yield from (puzzle for puzzle in list_puzzles() if puzzle.name not in MODULES)


def list_requests(puzzles: Iterable[Puzzle]) -> list[str]:
    """List all names that can be built: of puzzles, of default tables, and of others."""
    puzzles = [*puzzles]
    names = [puzzle.name for puzzle in puzzles]
    for puzzle in puzzles:
        names += [table.name for table in puzzle.tables]
        names += [name for others in puzzle.list_requests().values() for name in others]
    return [*dict.fromkeys(names)]


def list_removable(store: Store) -> list[str]:
    """List the published tables that are not default tables."""
    return sorted(read_manifest(store).keys() - _list_default_tables())


def select_removable_tables(store: Store, names: Sequence[str]) -> set[str]:
    """Select the tables to remove that names of tables and groups stand for.

    A removal that was killed after the manifest was written is completed by removing again.
    """
    # slow to import, and the shell's completion does not need it
    from puzzle_tablebase.pipeline.build import find_unlisted_files
    from puzzle_tablebase.stores.checkpoints import list_checkpoint_files

    published, defaults, selected = read_manifest(store), _list_default_tables(), set[str]()
    for name in names:
        tables = _list_names(name)
        if chosen := defaults.intersection(tables):
            raise BadRequest(
                f"{min(chosen)} is a default table, which cannot be removed",
                "Only tables built on request can be removed",
            )
        present = [
            table
            for table in dict.fromkeys([*tables, name])
            if table in published
            or (table in tables and find_unlisted_files(store, table, None))
            or (table in tables and list_checkpoint_files(store, table))
        ]
        if not present:
            hint = "This folder has no removable tables"
            if removable := list_removable(store):
                hint = f"Removable tables: {', '.join(removable)}"
            raise BadRequest(f"There is no table {quote(name)} to remove", hint)
        selected |= {*present}
    return selected


def _list_names(name: str) -> list[str]:
    """List the names of the tables that a name stands for; none for one that no puzzle knows."""
    try:
        return [table.name for table in find_request(name)[1]]
    except TablebaseError:
        return []


def _list_default_tables() -> set[str]:
    return {table.name for puzzle in list_puzzles() for table in puzzle.tables}
