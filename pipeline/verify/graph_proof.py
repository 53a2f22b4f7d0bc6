"""The proofs of tables without one of their own: by a second search of a graph, or of order alone.

The graph, and the code that makes columns and records of a search, are the puzzle's own and are
trusted. That the depths, counts and smallest lines are those of the graph is proved. Of two lines
with equally many steps the smaller is the one whose labels' high four bits come first in dictionary
order, or whose low four bits do if the high ones are equal.

Of a table without a graph, the order of the rows is proved, and its index against its rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow.compute as pc

from pipeline.verify.claims import Array, Proof, PublishedTable, Seen, Verdict
from pipeline.verify.files import check_records, iter_records, read_rows
from tablebase.graph import UNREACHED, SearchResult
from tablebase.puzzle import StateSpace
from tablebase.schema import KIND_LETTERS, BreadthFirst
from tablebase.tables.parquet import to_arrow

Edges = tuple[Array, Array, Array]
"""The sources, targets and labels of edges."""
HOW = (
    "a second search of the graph, all shortest lines at once, gave the same rows and records; the "
    "graph and the code that makes rows of a search are the puzzle's own, as in the build"
)

HOW_WITHOUT_RULES = (
    "the files match the manifest and the table's own definition; no proof knows the rules of its "
    "rows and records"
)


def prove_graph(published: PublishedTable, earlier: Seen) -> Proof:
    """Prove one table by a second search of the graph from each root."""
    puzzle, table = published.puzzle, published.definition
    assert isinstance(puzzle, StateSpace)
    assert isinstance(table.recipe, BreadthFirst)
    rows, graph = read_rows(published), puzzle.make_graph()
    nodes = len(graph.offsets) - 1
    begins = np.repeat(np.arange(nodes), np.diff(graph.offsets))

    def list_edges(layer: Array) -> Edges:
        edges = np.flatnonzero(np.isin(begins, layer))
        return begins[edges], graph.targets[edges], graph.labels[edges]

    roots = table.recipe.roots.items()
    results = {
        name: search_graph(nodes, puzzle.find_node(state), list_edges) for name, state in roots
    }
    text = f"{puzzle.depth} and all other columns are as a second search of the graph finds them"
    with published.begin_claim(text) as check:
        columns = puzzle.fill_columns(table, graph, results)
        for column in table.columns:
            expected = to_arrow(column, columns[column.name])
            check.require_equal("rows", len(rows), len(expected))
            rows.require_column(check, column.name, expected)
    if table.index:
        text = "each record is as a second search of the graph finds it"
        records = dict(puzzle.make_records(table, results))
        check_records(published, text, records)
        published.note_missing_proofs([column.name for column in table.columns], records)
    return published.make_proof(Verdict.RECOUNTED, HOW, depths=rows.count_depths(puzzle.depth))


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


def prove_generic(published: PublishedTable, earlier: Seen) -> Proof:
    """Prove what a table's definition states about its rows, and report what is not proved."""
    if published.definition.columns:
        _prove_rows(published)
    else:
        _prove_content(published)
    return published.make_proof(Verdict.INTACT, HOW_WITHOUT_RULES)


def _prove_content(published: PublishedTable) -> None:
    """Prove that the records of a table without rows are those that the manifest lists."""
    text = "every record decodes, and the content hash matches the manifest"
    with published.begin_claim(text, index=True) as check:
        for begin, records in iter_records(published, check):
            check.report_progress(begin + len(records))
    published.note_missing_proofs(())


def _prove_rows(published: PublishedTable) -> None:
    table, rows = published.definition, read_rows(published)
    if table.sorted_by:
        with published.begin_claim(f"the rows ascend by {', '.join(table.sorted_by)}") as check:
            sort_keys = [(name, "ascending") for name in table.sorted_by]
            order = pc.sort_indices(rows.batch, sort_keys=sort_keys)
            for name in table.sorted_by:
                rows.require_column(check, name, rows.column(name).take(order))
    if table.index:
        numeric = {c.name for c in table.columns if c.kind in KIND_LETTERS and not c.nullable}
        has_record_per_row = published.index.records == len(rows)
        names = [name for name, _ in table.index]
        fields = [name for name in names if has_record_per_row and name in numeric]
        if fields:
            text = f"{', '.join(fields)}: each record matches its row"
            check_records(published, text, {name: rows.read_numbers(name) for name in fields})
        unproved = (name for name in names if name not in fields)
        published.note_missing_proof(unproved, "no column holds the same numbers", index=True)
