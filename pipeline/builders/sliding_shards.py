"""A search of a sliding board in words of bits by shards and layers, on any number of machines.

A task saves its result in the store: a shard's layer, and the states that it sends to each other
shard. The tasks of the next layer read them there. A lost task is repeated from the same files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.search.sharded_bfs import Layer, Shard, StateRows, count_max_shards
from pipeline.tasks import TaskRunner
from tablebase.errors import MemoryShort, SearchError
from tablebase.graph import UNREACHED
from tablebase.puzzles.sliding import BoardWithTables
from tablebase.resources import get_free_memory
from tablebase.tables.checkpoints import Arrays, Checkpoints
from tablebase.word_space import WordSpace

MAX_SHARD_BYTES = 1 << 30
"""Most bytes of memory for a shard, if no limit is given: a worker then needs less than 2 GB."""
BYTES_PER_STATE = 0.5
"""Bytes of memory for each state of a shard: two bits, in words of 60 states, and its layers; as
measured on 3x4, with one to eight shards."""

STORED_BYTES_PER_STATE = 0.65
"""Most bytes in the store for each state: all layers, what is sent for one, and the bits of all
states; measured on 3x4. Distances take more."""

Blocks = Iterator[npt.NDArray[Any]]

_spaces_by_name: dict[str, WordSpace] = {}
"""Cache of the space that this process searched last: making its moves takes longer than searching
a small layer."""


def count_shards(space: WordSpace, jobs: int, memory: int | None) -> int:
    """Count the shards of a search: as many for each job, and none with more than the memory."""
    rounds = -(-space.size * BYTES_PER_STATE // (jobs * (memory or MAX_SHARD_BYTES)))
    return min(count_max_shards(space), jobs * int(rounds))


class ShardedSearch:
    """A search of all states in shards; `memory`: the bytes that a shard may use."""

    def __init__(
        self, board: BoardWithTables, root: str, runner: TaskRunner, memory: int | None = None
    ) -> None:
        assert runner.checkpoints
        self._runner, self._checkpoints = runner, runner.checkpoints
        words = board.make_words(root)
        self._states, self._blocks = words.size, words.blocks
        self._checkpoints.require_space(int(words.size * STORED_BYTES_PER_STATE))
        self._shards = count_shards(words, runner.jobs, memory)
        self.layers: list[int] = []
        """The number of states at each depth, once they are counted."""
        self._arguments = [
            (self._checkpoints, board, root, number, self._shards) for number in range(self._shards)
        ]

    def count_layers(self) -> list[int]:
        """Search all layers; return the number of states at each depth."""
        layers: list[int] = []
        self.layers = layers
        while states := self._search_layer(len(layers)):
            self._runner.report_progress("layers", len(layers))
            layers.append(states)
            if len(layers) == UNREACHED:
                raise SearchError(f"A state lies {len(layers) - 1} or more moves from the root.")
        if sum(layers) != self._states:
            raise SearchError(f"{sum(layers):,} of {self._states:,} states were reached.")
        return layers

    def _search_layer(self, level: int) -> int:
        """Find a layer in all shards; return its number of states."""
        tasks = [(*shard, level) for shard in self._arguments]
        return sum(int(counts[0][0]) for counts in self._runner.run_tasks(search_layer, tasks))

    def collect_results(self, *, has_bits: bool) -> Callable[[], Blocks]:
        """Search all layers; return a function that iterates over the results by rank, in chunks.

        `has_bits`: the results have bit 1 of every distance, 45 bytes a row, else a byte each.
        """
        levels = len(self.count_layers())
        tasks = [(*shard, levels, has_bits) for shard in self._arguments]
        for _ in self._runner.run_tasks(collect_results, tasks):
            pass

        def iter_results() -> Blocks:
            for block in range(self._blocks):
                for number in range(self._shards):
                    name = _name_results(number, self._shards, block)
                    yield self._checkpoints.require(name)[0]

        return iter_results


def search_layer(
    checkpoints: Checkpoints,
    board: BoardWithTables,
    root: str,
    number: int,
    shards: int,
    level: int,
) -> Arrays:
    """Find a shard's layer, as a task; save it and the states that it sends.

    Returns the layer's number of states. States that were sent for the layer before are removed.
    """
    shard = Shard(_get_words(board, root), number, shards)
    needed, free = int(shard.states * BYTES_PER_STATE), get_free_memory()
    if free is not None and free < needed:
        hint = "Use more workers, or limit the memory of a shard (--memory)"
        raise MemoryShort(f"A shard of the {board}", needed, free, hint)
    if level == 0:
        layer = shard.make_root_layer()
    else:
        layers = (
            _load_layer(checkpoints, number, shards, back)
            for back in range(level - 1, max(-1, level - 3), -1)
        )
        incoming = (
            _load_message(checkpoints, sender, number, shards, level) for sender in shard.partners
        )
        layer = shard.find_next_layer(level, layers, incoming)
    for receiver, rows in zip(shard.partners, shard.iter_outgoing(layer, level), strict=True):
        checkpoints.save(_name_message(number, receiver, shards, level + 1), rows)
    checkpoints.save(_name_layer(number, shards, level), layer)
    if level > 1:
        for sender in shard.partners:
            checkpoints.remove(_name_message(sender, number, shards, level - 1))
    return [np.array([np.bitwise_count(layer[1]).sum(dtype=np.int64)])]


def collect_results(
    checkpoints: Checkpoints,
    board: BoardWithTables,
    root: str,
    number: int,
    shards: int,
    levels: int,
    has_bits: bool,
) -> Arrays:
    """Save a shard's distances, or bit 1 of each, block by block, as a task."""
    shard = Shard(_get_words(board, root), number, shards)
    layers = (_load_layer(checkpoints, number, shards, level) for level in range(levels))
    results = shard.collect_bits(layers) if has_bits else shard.collect_depths(layers)
    for block, block_results in enumerate(results):
        checkpoints.save(_name_results(number, shards, block), [block_results])
    return []


def _get_words(board: BoardWithTables, root: str) -> WordSpace:
    name = f"{board!r} {root}"
    words = _spaces_by_name.get(name)
    if words is None:
        words = board.make_words(root)
        _spaces_by_name.clear()
        _spaces_by_name[name] = words
    return words


def _load_layer(checkpoints: Checkpoints, number: int, shards: int, level: int) -> Layer:
    return checkpoints.require(_name_layer(number, shards, level))


def _load_message(
    checkpoints: Checkpoints, sender: int, number: int, shards: int, level: int
) -> StateRows:
    return checkpoints.require(_name_message(sender, number, shards, level))


def _name_layer(number: int, shards: int, level: int) -> str:
    return f"layer {level} of shard {number} of {shards}"


def _name_message(sender: int, number: int, shards: int, level: int) -> str:
    return f"from shard {sender} to {number} of {shards} for layer {level}"


def _name_results(number: int, shards: int, block: int) -> str:
    return f"results of block {block} of shard {number} of {shards}"
