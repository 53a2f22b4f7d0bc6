"""Recipe of the distances of a sliding board's states, searched from one goal in words of bits.

A small board has rows, and an index with a byte for each distance. A large board has only an index,
with one bit of each distance, 360 states in a record; it is searched in this process, or in shards
by the workers of a cluster.

In shards, a task makes a shard's layer, and the states that it sends to each other shard, and saves
both in the store; the tasks of the next layer read them there. A lost task is repeated from the
same files. All else follows from the layers, so these are synced; a build that lost files, of
whatever kind, makes these again when it resumes.

Between two layers a shard keeps no words, only its layers: a state's neighbours are in the next
layer or in the previous one, so the next layer of a shard follows from its last two and from the
states that other shards send. Shards are cut where only exchanges in the head lead from one to
another: these move whole rows, which are sent as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import factorial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.errors import MemoryShort
from puzzle_tablebase.formats.counts import Depth
from puzzle_tablebase.frontier.word_bfs import (
    Planes,
    find_layers,
    iter_word_records,
    pull_block,
    search_words,
)
from puzzle_tablebase.frontier.word_kernels import add_rows, pack_rows
from puzzle_tablebase.frontier.word_space import (
    BLOCK,
    CYCLE,
    IS_BORDER,
    RECORD_BYTES,
    ROW_STATES,
    START,
    WEIGHT,
    WordSpace,
)
from puzzle_tablebase.jit import Array
from puzzle_tablebase.notation.sliding import MOVE_SETS
from puzzle_tablebase.pipeline.tasks import Chunks, TableData, Tasks, name_result
from puzzle_tablebase.puzzle import Puzzle, list_parities
from puzzle_tablebase.puzzles.board_arrays import (
    Tiles,
    iter_moves,
    list_boards,
    make_numbering,
    sum_steps,
    write_states,
)
from puzzle_tablebase.puzzles.sliding import SlidingBoard, parse_board
from puzzle_tablebase.resources import get_free_memory
from puzzle_tablebase.schema import ROW_BYTES, UNREACHED, Table
from puzzle_tablebase.stores.checkpoints import Arrays, Checkpoints

if TYPE_CHECKING:
    from puzzle_tablebase.schema import Columns

Depths = npt.NDArray[np.uint8]


def make(table: Table, puzzle: Puzzle, tasks: Tasks) -> TableData:
    """Search the board; return rows and records of a small board, or records of a large one."""
    parameters, count = table.recipe.parameters, table.rows or 0
    board, (goal,) = parse_board(parameters["board"]), parameters["roots"]
    if tasks.is_remote and board.is_packed:
        layers, names = search_shards(board, goal, tasks)
        saved = tasks.checkpoints
        assert saved
        rows, records = (
            _iter_records((saved.require(name)[0] for name in names), count, tasks)
            for _ in range(2)
        )
    else:
        depth = None if board.is_packed else np.full(board.size, UNREACHED, dtype=np.uint8)
        # a search that is killed begins again, as it takes little time
        layers, planes = search_words(
            board.make_words(goal), tasks.jobs, tasks.run_in_threads, depth,
            lambda level: tasks.report("layers", level),
        )  # fmt: skip
        if depth is None:
            rows, records = (
                _iter_records(iter_word_records(planes), count, tasks) for _ in range(2)
            )
        else:
            rows = _iter_rows(board, goal, depth, tasks)
            records = _iter_depths(depth)
    depths: dict[Depth, int] = {(goal, at): states for at, states in enumerate(layers)}
    return TableData(rows, records, count, depths)


def _iter_depths(depth: Depths) -> Chunks:
    yield {"distance": depth}


def _iter_records(chunks: Iterator[Depths], count: int, tasks: Tasks) -> Chunks:
    """Iterate over an index's records, given rows of bits in chunks."""
    done = 0
    for chunk in chunks:
        tasks.report("records", done, count)
        yield {"bits": chunk.view(f"S{ROW_BYTES}").ravel()}
        done += len(chunk)


def _iter_rows(board: SlidingBoard, goal: str, depth: Depths, tasks: Tasks) -> Chunks:
    """Iterate over the rows of a small board, those with the blank on one place together."""
    states = [list_reached(board, goal, place) for place in range(board.cells)]
    by_number = np.full(factorial(board.cells) + 1, UNREACHED, dtype=np.uint8)
    by_number[make_numbering(board.cells)(np.hstack(states))] = depth
    for place, tiles in enumerate(states):
        first = place * board.orders
        tasks.report("rows", first, board.size)
        yield make_rows(board, goal, tiles, depth[first : first + board.orders], by_number)


def list_reached(board: SlidingBoard, goal: str, place: int) -> Tiles:
    """List the states that reach a goal with the blank on a place, by rank, one in each column."""
    tiles = board.cells - 1
    is_odd = board.is_odd(board.unrank(place * board.orders, goal))
    orders = list_boards(tiles)[:, np.array(list_parities(tiles, tiles)) == is_odd] + np.uint8(1)
    return np.insert(orders, place, 0, axis=0)[board.place]


def make_rows(
    board: SlidingBoard, goal: str, tiles: Tiles, distance: Depths, depth_by_number: Depths
) -> Columns:
    """Make a table's columns for some states."""
    best = np.zeros(len(distance), dtype=np.uint8)
    for letter, sources, numbers in iter_moves(board, tiles):
        best[sources] |= (depth_by_number[numbers] < distance[sources]).astype(np.uint8) << letter
    return {
        "state": write_states(tiles),
        "goal": np.full(len(distance), [*board.goals].index(goal), dtype=np.uint8),
        "distance": distance,
        "best_moves": np.array(MOVE_SETS, dtype=np.bytes_)[best],
        "manhattan": sum_steps(board, goal, tiles),
    }


# ---- the search in shards ---------------------------------------------------------------------

MAX_SHARD_BYTES = 1 << 30
"""Most bytes of memory for a shard, if no limit is given: a worker then needs less than 2 GB."""
BYTES_PER_STATE = 0.5
"""Bytes of memory for each state of a shard: two bits, in words of 60 states, and its layers; as
measured on 3x4, with one to eight shards."""
STORED_BYTES_PER_STATE = 0.7
"""Most bytes in the store for each state: all layers, what is sent for one, and the bits of all
states; measured on 3x4."""
LAYER = "layer {} of shard {} of {}"
MESSAGE = "from shard {} to {} of {} for layer {}"
RESULTS = "results of block {} of shard {} of {}"
"""The names of what tasks save."""
SHARDS = "number of shards"
"""The name of what a search is cut into, whatever cores and memory it gets when it resumes."""
ShardArguments = tuple[Checkpoints, str, str, int, int]
"""What tasks get first: checkpoints, board, root, number of the shard, number of shards."""


def search_shards(board: SlidingBoard, root: str, tasks: Tasks) -> tuple[list[int], list[str]]:
    """Search all states in shards; return the number of states at each depth, and the names of the
    checkpoints with bit 1 of every distance, by rank."""
    assert tasks.checkpoints
    checkpoints, words = tasks.checkpoints, board.make_words(root)
    size, blocks, shards = words.size, words.blocks, choose_shards(words, tasks)
    del words  # large, and the tasks make their own
    checkpoints.require_space(int(size * STORED_BYTES_PER_STATE))
    arguments = [(checkpoints, str(board), root, number, shards) for number in range(shards)]
    forget_lost(tasks, arguments, blocks)

    def find_layer(level: int) -> int:
        found = tasks.run(search_layer, [(*shard, level) for shard in arguments])
        return sum(int(counts[0][0]) for counts in found)

    layers = find_layers(find_layer, size, lambda level: tasks.report("layers", level))
    for _ in tasks.run(collect_results, [(*shard, len(layers)) for shard in arguments]):
        pass
    places = ((block, number) for block in range(blocks) for number in range(shards))
    return layers, [RESULTS.format(*place, shards) for place in places]


def choose_shards(space: WordSpace, tasks: Tasks) -> int:
    """Return the number of shards of a search: that with which it began, if it resumes."""
    assert tasks.checkpoints
    saved = tasks.checkpoints.load(SHARDS)
    if saved is None:
        saved = [np.array([count_shards(space, tasks.jobs, tasks.memory)])]
        tasks.checkpoints.clear()  # of another number of shards
        tasks.checkpoints.save(SHARDS, saved, is_synced=True)
    return int(saved[0][0])


def forget_lost(tasks: Tasks, shards: list[ShardArguments], blocks: int) -> None:
    """Let the tasks run again that have ended, and whose files were lost since."""
    assert tasks.checkpoints
    checkpoints, level = tasks.checkpoints, 0
    files = {*checkpoints.list_files()}

    def has(name: str) -> bool:
        return checkpoints.format_file_name(name) in files

    while True:
        ended = [each for each in shards if has(name_result(search_layer, (*each, level)))]
        lost = [each for each in shards if not has(LAYER.format(level, *each[3:]))]
        tasks.forget(search_layer, [(*each, level) for each in lost if each in ended])
        if len(lost) == len(shards) and not ended:
            break
        level += 1
    for each in shards:
        if not all(has(RESULTS.format(block, *each[3:])) for block in range(blocks)):
            tasks.forget(collect_results, [(*each, level - 1)])


def count_shards(space: WordSpace, jobs: int, memory: int | None) -> int:
    """Count the shards of a search: as many for each job, and none with more than the memory."""
    rounds = -(-space.size * BYTES_PER_STATE // (jobs * (memory or MAX_SHARD_BYTES)))
    # units of rows may be as small as can be
    return min(space.rows // min(_list_units(space)), jobs * int(rounds))


# ---- tasks ------------------------------------------------------------------------------------


def search_layer(
    checkpoints: Checkpoints, board: str, root: str, number: int, shards: int, level: int
) -> Arrays:
    """Find a shard's layer, as a task; save it and the states that it sends.

    Returns the layer's number of states. States that were sent for the layer before are removed.
    """
    words = _get_words(board, root)
    shard = Shard(words, number, shards)
    needed, free = int(shard.states * BYTES_PER_STATE), get_free_memory()
    if free is not None and free < needed:
        hint = "Use workers with more memory, or start again: pipeline remove --checkpoints"
        raise MemoryShort(f"A shard of the {board}", needed, free, hint)
    if level == 0:
        layer = shard.make_root_layer()
    else:
        layers = (
            checkpoints.require(LAYER.format(back, number, shards))
            for back in range(level - 1, max(-1, level - 3), -1)
        )
        incoming = (
            _receive(checkpoints, Shard(words, sender, shards), number, level)
            for sender in shard.partners
        )
        layer = shard.find_next_layer(level, layers, incoming)
    for receiver, rows in shard.iter_outgoing(layer, level):
        checkpoints.save(MESSAGE.format(number, receiver, shards, level + 1), rows)
    checkpoints.save(LAYER.format(level, number, shards), layer, is_synced=True)
    if level > 1:
        for sender in shard.partners:
            checkpoints.remove(MESSAGE.format(sender, number, shards, level - 1))
    return [np.array([np.bitwise_count(layer[1]).sum(dtype=np.int64)])]


def _receive(checkpoints: Checkpoints, sender: Shard, receiver: int, level: int) -> StateRows:
    """Load the states that a shard sent for a layer; if they were lost, list them once more."""
    number, shards = sender.number, sender.count
    sent = checkpoints.load(MESSAGE.format(number, receiver, shards, level))
    if sent is None:
        layer = checkpoints.require(LAYER.format(level - 1, number, shards))
        sent = next(sent for to, sent in sender.iter_outgoing(layer, level - 1) if to == receiver)
    return sent


def collect_results(
    checkpoints: Checkpoints, board: str, root: str, number: int, shards: int, levels: int
) -> Arrays:
    """Save bit 1 of the distances of a shard's states, block by block, as a task."""
    shard = Shard(_get_words(board, root), number, shards)
    names = (LAYER.format(level, number, shards) for level in range(levels))
    for block, bits in enumerate(shard.collect_bits(map(checkpoints.require, names))):
        checkpoints.save(RESULTS.format(block, number, shards), [bits], is_synced=True)
    return []


@lru_cache(maxsize=1)
def _get_words(board: str, root: str) -> WordSpace:
    """Return a board's states in words, and keep the last: making them takes longer than layers."""
    return parse_board(board).make_words(root)


# ---- shards -----------------------------------------------------------------------------------

StateRows = list[Array]
"""States as two arrays: the numbers of their rows, and for each of these rows 45 bytes."""
UNITS_PER_SHARD = 8
"""Units of rows that a shard has, if possible: so that shards differ little in size."""
ROWS_PER_STEP = 1 << 12
"""Rows that are copied together."""


class Shard:
    """One of `count` shards: consecutive rows of every block, cut where a unit of rows ends."""

    def __init__(self, space: WordSpace, number: int, count: int) -> None:
        self.space, self.number, self.count = space, number, count
        unit = _choose_unit(space, count)
        units = space.rows // unit
        self.bounds = np.array([units * shard // count * unit for shard in range(count + 1)])
        self.first, self.last = (int(bound) for bound in self.bounds[number : number + 2])
        self.rows = self.last - self.first
        spans = [moves[:, WEIGHT] * moves[:, CYCLE] for moves in space.moves]
        self.inner, self.outer = (
            [moves[(span <= unit) == stays] for moves, span in zip(space.moves, spans, strict=True)]
            for stays in (True, False)
        )
        """For each block the moves to it that stay in a unit, and the others."""
        self.partners = self._list_partners(unit)
        """The shards that this one gets states from, which are also those that it sends any to."""
        self.states = space.blocks * self.rows * ROW_STATES

    def _list_partners(self, unit: int) -> list[int]:
        shards = [np.zeros(0, dtype=np.int64)]
        for move in (move for moves in self.outer for move in moves):
            rows = np.arange(self.first, self.last, min(unit, move[WEIGHT]))
            shards.append(self._find_shards(self._find_rows(move, rows)))
        return [int(shard) for shard in np.unique(np.concatenate(shards))]

    def _find_rows(self, move: Array, rows: Array) -> Array:
        """Find the rows that a move leads from to these, or that the one back leads to."""
        runs = move[START] + rows // move[WEIGHT] % move[CYCLE]
        source_rows: Array = rows + self.space.tables.offsets[runs, 0]
        return source_rows

    def _find_shards(self, rows: Array) -> Array:
        shards: Array = np.searchsorted(self.bounds, rows, side="right") - 1
        return shards

    def _list_blocks(self, level: int) -> Array:
        """List the blocks of a layer's side."""
        root_side = self.space.sides[self.space.root // self.space.states]
        blocks: Array = np.flatnonzero(self.space.sides == root_side ^ level % 2)
        return blocks

    def make_root_layer(self) -> StateRows:
        """Return the layer of the root, which is empty if the root is in another shard."""
        planes = Planes(self.space, self.first, self.last)
        planes.add_root(self.space)
        return self._collect_layer(planes, 0)

    def find_next_layer(
        self, level: int, layers: Iterable[StateRows], incoming: Iterable[StateRows]
    ) -> StateRows:
        """Find the layer `level`, from the last one, the one before, and what others sent."""
        planes = Planes(self.space, self.first, self.last)
        for back, (numbers, records) in enumerate(layers, start=1):
            add_rows(planes.words, planes.fresh, numbers, records, back == 1)
        for block in self._list_blocks(level):
            bounds = np.array([block * self.rows, 0, self.rows, self.space.kinds[block]])
            pull_block(planes, self.inner[block], self.space.tables, bounds)
        for numbers, records in incoming:
            add_rows(planes.words, planes.fresh, numbers, records, True)
        return self._collect_layer(planes, level)

    def _collect_layer(self, planes: Planes, level: int) -> StateRows:
        is_fresh, blocks = planes.fresh.reshape(-1, self.rows), self._list_blocks(level)
        found = [block * self.rows + np.flatnonzero(is_fresh[block]) for block in blocks]
        numbers = np.concatenate(found).astype(np.uint32)
        records = np.empty((len(numbers), RECORD_BYTES), dtype=np.uint8)
        for first in range(0, len(numbers), ROWS_PER_STEP):
            last = first + ROWS_PER_STEP
            pack_rows(planes.words[numbers[first:last]], records[first:last])
        return [numbers, records]

    def iter_outgoing(self, layer: StateRows, level: int) -> Iterator[tuple[int, StateRows]]:
        """Yield each partner, and the states to send there: the rows, with their states."""
        numbers, records = layer
        blocks, rows = np.divmod(numbers.astype(np.int64), self.rows)
        places, targets, target_blocks = ([np.zeros(0, dtype=np.int64)] for _ in range(3))
        for block in self._list_blocks(level):
            here = np.flatnonzero(blocks == block)
            for move in self.outer[block]:
                places.append(here)
                targets.append(self._find_rows(move, rows[here] + self.first))
                target_blocks.append(np.full(len(here), move[BLOCK]))
        place, target, block = map(np.concatenate, (places, targets, target_blocks))
        shards = self._find_shards(target)
        for number in self.partners:
            is_sent = shards == number
            first, last = self.bounds[number : number + 2]
            sent_rows = block[is_sent] * (last - first) + target[is_sent] - first
            yield number, [sent_rows.astype(np.uint32), records[place[is_sent]]]

    def collect_bits(self, layers: Iterable[StateRows]) -> Array:
        """Collect bit 1 of every depth from all layers: 45 bytes a row, by block."""
        bits = np.zeros((self.space.blocks * self.rows, RECORD_BYTES), dtype=np.uint8)
        for level, (numbers, records) in enumerate(layers):
            if level & 2:
                bits[numbers] |= records
        return bits.reshape(self.space.blocks, self.rows, RECORD_BYTES)


def _choose_unit(space: WordSpace, count: int) -> int:
    """Return the number of rows of a unit, the largest of which there are enough."""
    wanted = UNITS_PER_SHARD * count if count > 1 else 1
    units = _list_units(space)
    return next((unit for unit in units if space.rows // unit >= wanted), units[-1])


def _list_units(space: WordSpace) -> list[int]:
    """List the numbers of rows whose orders begin alike, from all rows to as few as can be.

    Moves that exchange tiles of head and tail stay in a unit.
    """
    border_moves = [move for moves in space.moves for move in moves if move[IS_BORDER]]
    least = max((int(move[WEIGHT] * move[CYCLE]) for move in border_moves), default=1)
    units = [space.rows]
    for radix in space.radices:
        if units[-1] // radix >= least:
            units.append(units[-1] // radix)
    return units
