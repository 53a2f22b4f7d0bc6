"""A state space in blocks searched shard by shard, layer by layer, wherever the parts are done.

What a part finds stays in the store: a shard's layer, and what it sends to each other shard. Parts
read there what others left. A part that is lost is done again from the same files.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from pipeline.search.sharded_bfs import Rows, Shard
from pipeline.tasks import Work
from tablebase.block_space import BlockSpace
from tablebase.errors import SearchError
from tablebase.graph import UNREACHED, Blocks
from tablebase.tables.checkpoints import Arrays, Kept

STATES = 1 << 26
"""States of a shard, at most: a byte each while a layer is found."""
SHARDS, EVERY = 4, 6
"""How many shards there are where one is measured, and which of its layers are."""

Depths = Iterator[npt.NDArray[np.uint8]]

_space: dict[str, Blocks] = {}
"""The space that this process searched last: its moves take longer to make than a small layer."""


def search(space: BlockSpace, root: str, work: Work) -> Callable[[], Depths]:
    """Every state's distance is found; gives what reads them, by rank, in stretches."""
    assert work.kept
    kept, blocks = work.kept, space.blocks(root)
    of = max(work.at_once, -(-space.size // STATES))
    of = min(of, len(blocks.row_kinds) // blocks.stretch)
    every = [(kept, space, root, number, of) for number in range(of)]
    level = 0
    while sum(int(states[0][0]) for states in work.each(layer, [(*s, level) for s in every])):
        work.told("layers", level)
        level += 1
        if level == UNREACHED:
            raise SearchError(f"A state lies {level - 1} or more moves from the root.")
    for _ in work.each(depths, [(*shard, level) for shard in every]):
        pass

    def found() -> Depths:
        for block in range(len(blocks.sides)):
            for number in range(of):
                yield kept.required(_depths(number, of, block))[0]

    return found


def layer(kept: Kept, space: BlockSpace, root: str, number: int, of: int, level: int) -> Arrays:
    """A part: find a shard's layer, and leave it and what it sends; gives its number of states."""
    shard = Shard(_blocks(space, root), number, of)
    if level == 0:
        found = shard.root()
    else:
        back = _read(kept, number, of, level - 2) if level > 1 else shard.none()
        arrived = [rows for sender in range(of) for rows in _sent(kept, sender, number, of, level)]
        found = shard.next(back, _read(kept, number, of, level - 1), arrived)
    for to, sent in enumerate(shard.leaving(found)):
        kept.store(_message(number, to, of, level + 1), [array for rows in sent for array in rows])
    kept.store(_layer(number, of, level), found)
    return [np.array([np.bitwise_count(found[1]).sum()])]


def depths(kept: Kept, space: BlockSpace, root: str, number: int, of: int, levels: int) -> Arrays:
    """A part: leave a shard's distances, block by block."""
    shard = Shard(_blocks(space, root), number, of)

    def layers() -> Iterator[Rows]:
        for level in range(levels):
            yield _read(kept, number, of, level)

    for block, found in enumerate(shard.depths(layers)):
        kept.store(_depths(number, of, block), [found])
    return []


def measured(
    space: BlockSpace, root: str, depth: npt.NDArray[np.uint8], levels: int, work: Work
) -> tuple[list[float], list[float], float]:
    """States and processor seconds of some layers of one shard, in two estimates, and how many
    bytes a state a search leaves in the store; from the depths of all."""
    assert work.kept
    kept, of = work.kept, min(SHARDS, space.stretches())
    shards = [Shard(_blocks(space, root), number, of) for number in range(of)]
    for level in range(levels):
        kept.store(_layer(0, of, level), shards[0].layer(depth, level))
    begun = time.thread_time()
    depths(kept, space, root, 0, of, levels)
    own = len(depth) / of
    reading, left = (time.thread_time() - begun) / own, kept.bytes() / own
    states, seconds, sent = [0.0, 0.0], [0.0, 0.0], 0
    for level in range(1, levels, EVERY):
        for shard, sender in enumerate(shards):
            coming = sender.leaving(sender.layer(depth, level - 1))[0]
            kept.store(_message(shard, 0, of, level), [array for rows in coming for array in rows])
        before, begun = kept.bytes(), time.thread_time()
        (found,) = layer(kept, space, root, 0, of, level)
        which = level // EVERY % 2
        seconds[which] += time.thread_time() - begun + int(found[0]) * reading
        states[which] += int(found[0])
        sent += kept.bytes() - before
    return states, seconds, left + sent / sum(states)


def _blocks(space: BlockSpace, root: str) -> Blocks:
    name = f"{space!r} {root}"
    if name not in _space:
        _space.clear()
        _space[name] = space.blocks(root)
    return _space[name]


def _read(kept: Kept, number: int, of: int, level: int) -> Rows:
    return kept.required(_layer(number, of, level))


def _sent(kept: Kept, sender: int, number: int, of: int, level: int) -> list[Rows]:
    arrays = kept.required(_message(sender, number, of, level))
    return [arrays[at : at + 2] for at in range(0, len(arrays), 2)]


def _layer(number: int, of: int, level: int) -> str:
    return f"layer {level} of shard {number} of {of}"


def _message(sender: int, number: int, of: int, level: int) -> str:
    return f"from shard {sender} to {number} of {of} for layer {level}"


def _depths(number: int, of: int, block: int) -> str:
    return f"distances of block {block} of shard {number} of {of}"
