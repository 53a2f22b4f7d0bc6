"""The proof of state spaces without goals: a second search of the puzzle's own graph.

The graph, and the code that makes columns and records of a search, are the puzzle's own and are
trusted. That the depths, counts and smallest lines are those of the graph is proved. Of two lines
with equally many steps the smaller is the one whose labels' high four bits come first in dictionary
order, or whose low four bits do if the high ones are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import polars as pl
import pyarrow as pa

from puzzle_tablebase.formats.parquet import to_arrow
from puzzle_tablebase.graph import SearchResult
from puzzle_tablebase.jit import Array
from puzzle_tablebase.pipeline.proofs.claims import (
    Claim,
    Difference,
    ListedTable,
    Proof,
    compare,
    compare_records,
    require_equal,
)
from puzzle_tablebase.pipeline.proofs.verdicts import Proved, Verdict
from puzzle_tablebase.puzzle import StateSpace
from puzzle_tablebase.schema import UNREACHED

Edges = tuple[Array, Array, Array]
"""The sources, targets and labels of edges."""
HOW = (
    "a second search of the graph, all shortest lines at once, gave the same rows and records; the "
    "graph and the code that makes rows of a search are the puzzle's own, as in the build"
)


def prove_space(listed: ListedTable, proved: Mapping[str, ListedTable]) -> Proof:
    """Prove one table by a second search of the graph from each root."""
    puzzle, table = listed.puzzle, listed.definition
    assert isinstance(puzzle, StateSpace)
    graph = puzzle.make_graph()
    nodes = len(graph.offsets) - 1
    begins = np.repeat(np.arange(nodes), np.diff(graph.offsets))

    def list_edges(layer: Array) -> Edges:
        edges = np.flatnonzero(np.isin(begins, layer))
        return begins[edges], graph.targets[edges], graph.labels[edges]

    results = {
        name: search_graph(nodes, puzzle.rank(state), list_edges)
        for name, state in table.recipe.parameters["roots"].items()
    }
    columns = puzzle.fill_columns(table, graph, results)
    expected = {column.name: to_arrow(column, columns[column.name]) for column in table.columns}
    text = f"{puzzle.depth} and all other columns are as a second search of the graph finds them"
    yield Claim(text, _compare_columns(listed, expected))
    records: dict[str, Array] = {}
    if table.index:
        records = dict(puzzle.make_records(table, results))
        text = "each record is as a second search of the graph finds it"
        yield listed.claim_records(text, compare_records(listed, **records))
    return Proved(Verdict.RECOUNTED, HOW, [*expected], [*records])


def _compare_columns(listed: ListedTable, expected: dict[str, pa.Array]) -> Iterator[Difference]:
    rows = listed.read_rows()
    for values in expected.values():
        yield from require_equal("rows", len(rows), len(values))
    found = rows.with_columns(
        _to_series(f"{name}, expected", values) for name, values in expected.items()
    )
    yield from compare(found.lazy(), **{name: f"{name}, expected" for name in expected})


def _to_series(name: str, values: pa.Array) -> pl.Series:
    plain = values.cast(pa.string()) if pa.types.is_dictionary(values.type) else values
    return pl.Series(name, plain)


def search_graph(nodes: int, root: int, list_edges: Callable[[Array], Edges]) -> SearchResult:
    """Search a graph breadth first, extending all shortest lines one step at a time.

    `list_edges` returns every edge whose source is among the given nodes.
    """
    depth, ways = np.full(nodes, UNREACHED, dtype=np.uint8), np.zeros(nodes, dtype=np.uint64)
    parent, last = np.full(nodes, -1, dtype=np.int32), np.zeros(nodes, dtype=np.uint8)
    depth[root], ways[root], layers = 0, 1, [np.array([root], dtype=np.int32)]
    # the positions of a node's smallest line, and of its high labels, among lines of equal length
    place, highs = np.zeros((2, nodes), dtype=np.int64)
    least = np.full(nodes, np.iinfo(np.int64).max)
    for length, layer in enumerate(layers, start=1):
        sources, targets, labels = list_edges(layer)
        new = depth[targets] == UNREACHED
        if not new.any():
            break
        sources, targets, labels = sources[new], targets[new], labels[new]
        depth[targets] = length
        np.add.at(ways, targets, ways[sources])
        high, low = labels.astype(np.int64) >> 4, labels.astype(np.int64) & 15
        # compared in this order: the high labels so far, this one, all labels so far, this low one
        key = (highs[sources] << 4 | high) << 32 | place[sources] << 4 | low
        np.minimum.at(least, targets, key)
        smallest = np.flatnonzero(key == least[targets])
        smallest = smallest[np.argsort(key[smallest], kind="stable")]
        # of edges with equal keys the first one counts
        _, first = np.unique(targets[smallest], return_index=True)
        smallest = smallest[np.sort(first)]
        new_nodes, key = targets[smallest], key[smallest]
        parent[new_nodes], last[new_nodes] = sources[smallest], labels[smallest]
        place[new_nodes] = np.arange(len(new_nodes))
        highs[new_nodes] = np.cumsum(np.diff(key >> 32, prepend=key[:1] >> 32) > 0)
        layers.append(new_nodes)
    return SearchResult(depth, ways, parent, last, np.concatenate(layers).astype(np.int32))
