"""A search of a state space in state blocks by shards and layers, on any number of machines.

A task saves its result in the store: a shard's layer, and the states that it sends to each other
shard. The tasks of the next layer read them there. A lost task is repeated from the same files.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from pipeline.search.sharded_bfs import Shard, StateRows
from pipeline.tasks import TaskRunner
from tablebase.block_space import BlockSpace
from tablebase.errors import SearchError
from tablebase.graph import UNREACHED, Blocks
from tablebase.tables.checkpoints import Arrays, Checkpoints

MAX_SHARD_STATES = 1 << 26
"""Maximum number of states of a shard: a byte each while a layer is computed."""
MEASURED_SHARDS, MEASURED_EVERY = 4, 6
"""Number of shards when one is measured for an estimate, and the step between measured layers."""

Depths = Iterator[npt.NDArray[np.uint8]]

_blocks_by_name: dict[str, Blocks] = {}
"""Cache of the space that this process searched last: making its moves takes longer than searching
a small layer."""


def search_shards(space: BlockSpace, root: str, runner: TaskRunner) -> Callable[[], Depths]:
    """Find every state's distance; return a function that iterates over them by rank, in chunks."""
    assert runner.checkpoints
    checkpoints, blocks = runner.checkpoints, space.make_blocks(root)
    shards = max(runner.jobs, -(-space.size // MAX_SHARD_STATES))
    shards = min(shards, len(blocks.row_kinds) // blocks.rows_per_prefix)
    arguments = [(checkpoints, space, root, number, shards) for number in range(shards)]
    level = 0
    while sum(
        int(states[0][0])
        for states in runner.run_tasks(search_layer, [(*s, level) for s in arguments])
    ):
        runner.report_progress("layers", level)
        level += 1
        if level == UNREACHED:
            raise SearchError(f"A state lies {level - 1} or more moves from the root.")
    for _ in runner.run_tasks(collect_depths, [(*shard, level) for shard in arguments]):
        pass

    def iter_depths() -> Depths:
        for block in range(len(blocks.sides)):
            for number in range(shards):
                yield checkpoints.require(_name_depths(number, shards, block))[0]

    return iter_depths


def search_layer(
    checkpoints: Checkpoints, space: BlockSpace, root: str, number: int, shards: int, level: int
) -> Arrays:
    """Find a shard's layer, as a task; save it and the states that it sends.

    Returns the layer's number of states.
    """
    shard = Shard(_get_blocks(space, root), number, shards)
    if level == 0:
        states = shard.make_root_layer()
    else:
        back = (
            _load_layer(checkpoints, number, shards, level - 2)
            if level > 1
            else shard.make_empty_layer()
        )
        incoming = [
            rows
            for sender in range(shards)
            for rows in _load_message(checkpoints, sender, number, shards, level)
        ]
        states = shard.find_next_layer(
            back, _load_layer(checkpoints, number, shards, level - 1), incoming
        )
    for receiver, messages in enumerate(shard.list_outgoing(states)):
        checkpoints.save(
            _name_message(number, receiver, shards, level + 1),
            [array for rows in messages for array in rows],
        )
    checkpoints.save(_name_layer(number, shards, level), states)
    return [np.array([np.bitwise_count(states[1]).sum()])]


def collect_depths(
    checkpoints: Checkpoints, space: BlockSpace, root: str, number: int, shards: int, levels: int
) -> Arrays:
    """Save a shard's distances, block by block, as a task."""
    shard = Shard(_get_blocks(space, root), number, shards)

    def iter_layers() -> Iterator[StateRows]:
        for level in range(levels):
            yield _load_layer(checkpoints, number, shards, level)

    for block, block_depths in enumerate(shard.iter_depths(iter_layers)):
        checkpoints.save(_name_depths(number, shards, block), [block_depths])
    return []


def measure_shard(
    space: BlockSpace, root: str, depth: npt.NDArray[np.uint8], levels: int, runner: TaskRunner
) -> tuple[list[float], list[float], float]:
    """Measure some layers of one shard, given the depths of all states.

    Returns the numbers of states and the processor seconds, two estimates of each, and the bytes
    that a search stores for each state.
    """
    assert runner.checkpoints
    checkpoints, shard_count = runner.checkpoints, min(MEASURED_SHARDS, space.count_max_shards())
    shards = [Shard(_get_blocks(space, root), number, shard_count) for number in range(shard_count)]
    for level in range(levels):
        checkpoints.save(_name_layer(0, shard_count, level), shards[0].extract_layer(depth, level))
    start_time = time.thread_time()
    collect_depths(checkpoints, space, root, 0, shard_count, levels)
    states_per_shard = len(depth) / shard_count
    reading, stored = (
        (time.thread_time() - start_time) / states_per_shard,
        checkpoints.count_bytes() / states_per_shard,
    )
    states, seconds, sent = [0.0, 0.0], [0.0, 0.0], 0
    for level in range(1, levels, MEASURED_EVERY):
        for shard, sender in enumerate(shards):
            messages = sender.list_outgoing(sender.extract_layer(depth, level - 1))[0]
            checkpoints.save(
                _name_message(shard, 0, shard_count, level),
                [array for rows in messages for array in rows],
            )
        before, start_time = checkpoints.count_bytes(), time.thread_time()
        (counts,) = search_layer(checkpoints, space, root, 0, shard_count, level)
        estimate = level // MEASURED_EVERY % 2
        seconds[estimate] += time.thread_time() - start_time + int(counts[0]) * reading
        states[estimate] += int(counts[0])
        sent += checkpoints.count_bytes() - before
    return states, seconds, stored + sent / sum(states)


def _get_blocks(space: BlockSpace, root: str) -> Blocks:
    name = f"{space!r} {root}"
    if name not in _blocks_by_name:
        _blocks_by_name.clear()
        _blocks_by_name[name] = space.make_blocks(root)
    return _blocks_by_name[name]


def _load_layer(checkpoints: Checkpoints, number: int, shards: int, level: int) -> StateRows:
    return checkpoints.require(_name_layer(number, shards, level))


def _load_message(
    checkpoints: Checkpoints, sender: int, number: int, shards: int, level: int
) -> list[StateRows]:
    arrays = checkpoints.require(_name_message(sender, number, shards, level))
    return [arrays[first : first + 2] for first in range(0, len(arrays), 2)]


def _name_layer(number: int, shards: int, level: int) -> str:
    return f"layer {level} of shard {number} of {shards}"


def _name_message(sender: int, number: int, shards: int, level: int) -> str:
    return f"from shard {sender} to {number} of {shards} for layer {level}"


def _name_depths(number: int, shards: int, block: int) -> str:
    return f"distances of block {block} of shard {number} of {shards}"
