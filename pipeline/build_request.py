"""Requests of builds: the tables, and for each the reason why it must be built."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tablebase.puzzle import Stage
from tablebase.schema import Table
from tablebase.tables.manifest import Entry, find_mismatch, list_parameters
from tablebase.tables.parquet import compute_description
from tablebase.tables.repair import ABSENT, make_open_error
from tablebase.tables.store import Store
from tablebase.tables.store_errors import Unreachable

StageTables = Sequence[tuple[Stage, tuple[Table, ...]]]

UP_TO_DATE = "up to date"
FORCED = "forced"


def list_no_followers() -> StageTables:
    """Return no tables."""
    return ()


@dataclass(frozen=True, slots=True)
class Request:
    """A build's tables, its store and its limits."""

    store: Store
    tables: StageTables
    force: bool = False
    jobs: int = 1
    without: frozenset[str] = frozenset()
    """Names of tables to remove."""
    memory: int | None = None
    """Bytes that a search may use; None: all free memory."""
    find_followers: Callable[[], StageTables] = list_no_followers
    """A function that finds the published tables that are made from others, which are built again
    if those change. It is called only if a build changes a table."""


def divide_request(request: Request) -> tuple[Request, Request]:
    """Divide a request: tables that are made from other tables come after all those."""

    def select(*, is_derived: bool) -> Request:
        tables = [
            (stage, tuple(t for t in tables if bool(t.recipe.list_sources()) == is_derived))
            for stage, tables in request.tables
        ]
        return replace(request, tables=tables, find_followers=list_no_followers)

    return select(is_derived=False), select(is_derived=True)


def follow_request(request: Request) -> Request:
    """Return a request of the tables that follow a changed one and are not requested themselves.

    They are never forced.
    """
    requested = {table.name for _, tables in request.tables for table in tables}
    followers = [
        (stage, tuple(table for table in tables if table.name not in requested))
        for stage, tables in request.find_followers()
    ]
    return replace(request, tables=followers, force=False, find_followers=list_no_followers)


def list_reasons(
    request: Request, published: Mapping[str, Entry]
) -> Iterator[tuple[Stage, Table, str]]:
    """Yield each requested table with its stage and the reason to build it, or `UP_TO_DATE`.

    The table is as it must be built beside those that are published or requested.
    """
    requested = {table.name: dict[str, Any]() for _, tables in request.tables for table in tables}
    parameters = {**requested, **list_parameters(published)}
    changed = set[str]()
    for part in divide_request(request):
        yield from _list_reasons(part, published, parameters, changed)
    if changed:
        yield from _list_reasons(follow_request(request), published, parameters, changed)


def _list_reasons(
    request: Request,
    published: Mapping[str, Entry],
    parameters: Mapping[str, Mapping[str, Any]],
    changed: set[str],
) -> Iterator[tuple[Stage, Table, str]]:
    """Yield the tables of a part of a request; `changed` gets the names of those to build."""
    for stage, tables in request.tables:
        for default_table in tables:
            table = stage.catalogue.adapt_to_manifest(default_table, parameters)
            reason = _find_reason(request, table, published, changed)
            if reason != UP_TO_DATE:
                changed.add(table.name)
            yield stage, table, reason


def _find_reason(
    request: Request, table: Table, published: Mapping[str, Entry], changed: set[str]
) -> str:
    """Find the reason to build a table; `changed`: the tables that are built before it."""
    entry = published.get(table.name)
    reason = explain_rebuild(request.store, entry, table, request.force)
    sources = {*table.recipe.list_sources()}
    if reason == UP_TO_DATE and sources & changed:
        return "its tables are rebuilt"
    if reason == UP_TO_DATE and sources - find_unchanged(entry, published):
        return "its tables changed"
    return reason


def explain_rebuild(store: Store, entry: Entry | None, table: Table, force: bool) -> str:
    """Return the reason why a table must be built, or `UP_TO_DATE`."""
    if force:
        return FORCED
    if entry is None:
        return "missing"
    if entry.parameters != table.recipe.list_parameters():
        return "parameters changed"
    if entry.description != compute_description(table):
        return "description changed"
    for file in entry.all_files:
        try:
            if find_mismatch(store, file):
                return f"{file.file} damaged"
        except ABSENT:
            return f"{file.file} missing"
        except Unreachable as error:
            raise make_open_error(store.locate(file.file), error, "") from error
        except OSError:
            return f"{file.file} cannot be read"
    return UP_TO_DATE


def find_unchanged(entry: Entry | None, published: Mapping[str, Entry]) -> frozenset[str]:
    """Find the tables that have not changed since a table was made from them."""
    made_from = entry.made_from.items() if entry else ()
    return frozenset(
        name
        for name, content in made_from
        if name in published and published[name].content == content
    )


def list_contents(table: Table, published: Mapping[str, Entry]) -> dict[str, str]:
    """Return the content hash of each table that a table is made from."""
    names = (name for name in table.recipe.list_sources() if name in published)
    return {name: published[name].content for name in names}
