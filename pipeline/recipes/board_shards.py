"""The search of a large sliding board in shards, on the disk of its folder.

    for level in 0, 1, 2, …:
        for each shard, at the same time:          search_layer
            read its last two layers, and the groups of other shards' last layer that lead to it
            write the next layer
        forget the layer before the last, unless its states have the bit of the result
        if the layers that are kept for the result are too large, for each shard:    collect_bits
            write their states together, and forget them
    for each shard:                                write_bits
        write its records to the index of the table

Threads of this process run these tasks, or the workers of a cluster. A task takes names and returns
numbers; large data is in files. The rules alone decide a file's states: so a repeated task writes
the same bytes, and a task whose file exists need not run. Files are synced before they get their
names, so a file with its name is complete, even after a crash.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from functools import lru_cache
from threading import local
from typing import NamedTuple

import numpy as np

from puzzle_tablebase.formats.encoder import HiddenFile
from puzzle_tablebase.formats.index_writer import BlockEncoder, WrittenRecords, write_records
from puzzle_tablebase.jit import Array
from puzzle_tablebase.pipeline.costs import IN_MEMORY, Shards
from puzzle_tablebase.pipeline.recipes.row_files import SavedRows, open_rows, write_rows
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.pipeline.workers import Workers
from puzzle_tablebase.puzzles.sliding import SlidingBoard, parse_board
from puzzle_tablebase.schema import UNREACHABLE, Table
from puzzle_tablebase.stores.checkpoints import Checkpoints
from puzzle_tablebase.two_bit_bfs.codec import SEGMENT_ROWS, encode_groups
from puzzle_tablebase.two_bit_bfs.kernels import pack_rows
from puzzle_tablebase.two_bit_bfs.search import find_layers
from puzzle_tablebase.two_bit_bfs.shards import OPEN_FILES, Encoded, Rows, Shard, count_shards
from puzzle_tablebase.two_bit_bfs.space import RECORD_BYTES, WORDS, WordSpace

STORED_BYTES_PER_STATE = 0.4
"""Most bytes of the folder for each state, the finished index included; measured."""
KEPT_BYTES_PER_STATE = 0.06
"""Bytes of layers for each state from which their bits are collected."""
SHARDS = "number of shards"
"""The checkpoint with the number of shards, which stays when a search resumes with other memory."""
FOLDER_SHARDS = 100
"""Shards whose files of a level share a folder."""


class Part(NamedTuple):
    """A shard of a search, as tasks get it."""

    checkpoints: Checkpoints
    board: str
    root: str
    number: int
    shards: int

    def name_layer(self, level: int) -> str:
        return self._name(f"{level:03}", f"layer {level}")

    def name_bits(self, end: int) -> str:
        """Name the file of the bits of all layers before one."""
        return self._name("bits", f"bits before layer {end}")

    def _name(self, folder: str, what: str) -> str:
        subfolder = f"{folder}-{self.number // FOLDER_SHARDS:03}"
        return f"{subfolder}/{what}, shard {self.number} of {self.shards}"

    def open_shard(self) -> Shard:
        return Shard(_get_words(self.board, self.root), self.number, self.shards)

    def require_layer(self, level: int) -> SavedRows:
        return SavedRows(self.checkpoints, self.name_layer(level))


class Found(NamedTuple):
    """The result of a task: the states of each layer in the shard so far, and a file's bytes."""

    states: list[int]
    size: int


# ---- the plan ---------------------------------------------------------------------------------


def plan_shards(
    table: Table, workers: Workers, memory: int, saved: Checkpoints | None, is_whole: bool
) -> Shards:
    """Plan the shards of a board's search; none if it fits the memory (`is_whole`).

    A search that resumes keeps its shards, and runs fewer of them at a time if it must.
    `memory`: the bytes for all tasks together, or on a cluster for each.
    """
    count = load_shard_count(saved) if saved else None
    if is_whole and count is None:
        return IN_MEMORY
    board = parse_board(table.recipe.parameters["board"])
    space, jobs = board.make_words(board.example), workers.jobs
    together = 1 if workers.is_remote else jobs
    if count is None:
        count = count_shards(space, memory // together, jobs)
    task = Shard(space, 0, count).estimate_bytes()
    jobs = min(jobs, memory // task * (jobs // together))
    return Shards(count, jobs, task, int(STORED_BYTES_PER_STATE * board.size))


def load_shard_count(checkpoints: Checkpoints) -> int | None:
    """Load the number of shards with which a search began; None if none has begun."""
    saved = checkpoints.load(SHARDS)
    return int(saved[0][0]) if saved else None


# ---- the search -------------------------------------------------------------------------------


def search_shards(
    board: SlidingBoard, root: str, shards: int, tasks: Tasks
) -> tuple[list[int], Search]:
    """Search all states in shards; return the number of states at each depth, and the search.

    The search then writes bit 1 of every distance.
    """
    checkpoints = tasks.checkpoints
    assert checkpoints
    checkpoints.require_space(tasks.shards.disk)
    if load_shard_count(checkpoints) != shards:
        checkpoints.clear_except(())  # of another number of shards
        checkpoints.save(SHARDS, [np.array([shards])], is_synced=True)
    parts = [Part(checkpoints, str(board), root, at, shards) for at in range(shards)]
    search = Search(parts, board.size, tasks)
    return find_layers(search.find_layer, board.size, lambda level: None), search


def list_needed(level: int, end: int) -> set[int]:
    """List the layers whose files a search needs to go on after a level, or to end there.

    These are the last two, and from `end` on those with the result's bit set, whose bits are not
    yet collected.
    """
    return {level, max(0, level - 1), *(at for at in range(end, level) if at & 2)}


class Search:
    """The layers of a search, found one by one, and their files.

    A killed search resumes after the last level whose files are complete.
    """

    def __init__(self, parts: list[Part], size: int, tasks: Tasks) -> None:
        self._parts, self._size, self._tasks = parts, size, tasks
        self._ends = [0 for _ in parts]
        """For each shard the level before which its bits are collected."""
        self._counts: list[int] = []
        """The states of the layers that were found before the search was killed."""
        self._sizes = dict[int, int]()
        """The bytes of each layer whose files are kept."""
        self._resume()

    def find_layer(self, level: int) -> int:
        """Find a layer, count its states, and remove the files that no later layer needs."""
        if level < len(self._counts):
            return self._counts[level]
        count = size = 0
        arguments = [(*part, level) for part in self._parts]
        for done, found in enumerate(self._tasks.run(search_layer, arguments, is_saved=False)):
            count, size = count + found.states[level], size + found.size
            self._tasks.report(f"layer {level}: shards", done + 1, len(arguments))
        self._sizes[level] = size
        self._forget_layers(self._parts)
        kept = [size for layer, size in self._sizes.items() if layer < level - 1]
        if level % 4 == 1 and sum(kept) > KEPT_BYTES_PER_STATE * self._size:
            self.collect_bits(level - 1)
        return count

    def collect_bits(self, end: int) -> None:
        """Collect the bits of all layers before a level, and remove these, shard after shard.

        The last two layers stay, because a killed search resumes from them.
        """
        due = [part for part in self._parts if self._ends[part.number] < end]
        arguments = [(*part, *self._list_bits(part, end), end) for part in due]
        results = self._tasks.run(collect_bits, arguments, is_saved=False)
        for part, _ in zip(due, results, strict=True):
            if begin := self._ends[part.number]:
                part.checkpoints.remove(part.name_bits(begin))
            self._ends[part.number] = end
            self._forget_layers([part])
            self._tasks.report("bits: shards", part.number + 1, len(self._parts))

    def write_bits(self, table: Table, hidden: HiddenFile) -> Generator[WrittenRecords, None, None]:
        """Write the records of a table to the file of its index, shard after shard."""
        end = max(self._sizes) + 1
        arguments = [(*part, *self._list_bits(part, end), table, hidden) for part in self._parts]
        results = self._tasks.run(write_bits, arguments, is_saved=False)
        for done, written in enumerate(results):
            self._tasks.report("records: shards", done + 1, len(arguments))
            yield from written

    def _list_bits(self, part: Part, end: int) -> tuple[int, list[int]]:
        """List where the bits of a shard's layers before a level are.

        Return the level before which they are collected, and the other layers.
        """
        begin = self._ends[part.number]
        return begin, [at for at in sorted(self._sizes) if at & 2 and begin <= at < end]

    def _forget_layers(self, parts: list[Part]) -> None:
        """Remove the layers of some shards that the search no longer needs."""
        last, needed = max(self._sizes), set[int]()
        for part, end in zip(self._parts, self._ends, strict=True):
            needed |= (own := list_needed(last, end))
            if part in parts:
                for level in self._sizes.keys() - own:
                    part.checkpoints.remove(part.name_layer(level))
        self._sizes = {level: size for level, size in self._sizes.items() if level in needed}

    def _resume(self) -> None:
        """Find the last level whose files are complete, and remove all other files."""
        checkpoints = self._parts[0].checkpoints
        files = {*checkpoints.list_files()}

        def has(name: str) -> bool:
            return checkpoints.format_file_name(name) in files

        ends = [
            max((end for end in range(1, UNREACHABLE + 1) if has(part.name_bits(end))), default=0)
            for part in self._parts
        ]
        there = [
            {level for level in range(UNREACHABLE) if has(part.name_layer(level))}
            for part in self._parts
        ]
        last = -1
        for level in sorted(set.intersection(*there)):
            if all(list_needed(level, end) <= own for own, end in zip(there, ends, strict=True)):
                last = level
        if last < 0:
            checkpoints.clear_except([SHARDS])
            return
        self._ends = ends
        names = {SHARDS, *map(Part.name_bits, self._parts, ends)}
        for part, own, end in zip(self._parts, there, ends, strict=True):
            for level in list_needed(last, end):
                names.add(name := part.name_layer(level))
                size = checkpoints.get_size(name)
                self._sizes[level] = self._sizes.get(level, 0) + size
            if last + 1 in own:  # some shards may have made the next layer
                names.add(part.name_layer(last + 1))
        checkpoints.clear_except(names)
        states = [part.require_layer(last).states for part in self._parts]
        self._counts = [sum(counts) for counts in zip(*states, strict=True)]


# ---- tasks ------------------------------------------------------------------------------------


def search_layer(
    checkpoints: Checkpoints, board: str, root: str, number: int, shards: int, level: int
) -> Found:
    """Find a shard's layer, as a task, and save it."""
    part = Part(checkpoints, board, root, number, shards)
    saved = open_rows(checkpoints, part.name_layer(level))
    if saved is None:
        shard = part.open_shard()
        layers = [part.require_layer(at) for at in range(max(0, level - 2), level)]
        states = layers[-1].states if layers else []
        blocks = _iter_next_layer(part, shard, level, layers)
        write_rows(checkpoints, part.name_layer(level), blocks, states)
        saved = part.require_layer(level)
    return Found(saved.states, saved.size)


def _iter_next_layer(
    part: Part, shard: Shard, level: int, layers: list[SavedRows]
) -> Iterator[tuple[int, Encoded]]:
    """Yield each block of a shard's next layer, with its number of states."""
    memory = _get_memory(shard)
    last, blocks = Rows(0), shard.list_blocks(level)
    is_inner = np.zeros(shard.groups, dtype=bool)
    if layers:
        last, is_inner = memory.last, shard.find_reachable_groups(layers[-1].sizes)
        for slot, _ in enumerate(shard.list_blocks(level - 1)):
            layers[-1].read(slot, shard, last, first=slot * shard.rows)
    open_sender = lru_cache(OPEN_FILES)(
        lambda number: part._replace(number=number).require_layer(level - 1)
    )
    for slot, block in enumerate(blocks):
        incoming = memory.incoming
        incoming.frontier[:] = 0
        is_added = level == 0 and shard.add_root(block, incoming)
        reachable = is_inner | is_added
        for source in shard.list_sources(block) if level else ():
            sender = open_sender(source.shard)
            if sender.sizes[source.numbers].any():
                sender.add_groups(source, shard, incoming)
                reachable[source.rows // shard.group] = is_added = True
        earlier = Encoded.make_empty(shard.groups)
        if level > 1:
            earlier = layers[0].load(slot, shard)
        count, starts = shard.find_rows(
            block, last, reachable, incoming if is_added else None, earlier, memory.data
        )
        yield count, Encoded(memory.data, starts)


def collect_bits(
    checkpoints: Checkpoints, board: str, root: str, number: int, shards: int,
    begin: int, layers: list[int], end: int,
) -> int:  # fmt: skip
    """Save the bits of a shard's layers before a level, as a task; return the file's size.

    They are read from the file of the layers before `begin`, and from some layers.
    """
    part = Part(checkpoints, board, root, number, shards)
    saved = open_rows(checkpoints, part.name_bits(end))
    if saved is None:
        blocks = _encode_bits(part, part.open_shard(), begin, layers)
        write_rows(checkpoints, part.name_bits(end), blocks, [])
        saved = SavedRows(checkpoints, part.name_bits(end))
    return saved.size


def write_bits(
    checkpoints: Checkpoints, board: str, root: str, number: int, shards: int,
    begin: int, layers: list[int], table: Table, hidden: HiddenFile,
) -> list[WrittenRecords]:  # fmt: skip
    """Write the records of a shard's states to the index of a table, as a task.

    Their bits are where `collect_bits` reads them.
    """
    part = Part(checkpoints, board, root, number, shards)
    shard, done = part.open_shard(), list[WrittenRecords]()
    encoder = BlockEncoder(table, shard.space.blocks * shard.space.rows)
    with hidden.store.reopen_for_writing(hidden.name) as file:
        buffer = _get_memory(shard).incoming.words.view(np.uint8).ravel()
        for block, words, frontier in _iter_bits(part, shard, begin, layers):
            words[frontier == 0] = 0
            records = buffer[: len(words) * RECORD_BYTES].reshape(-1, RECORD_BYTES)
            pack_rows(words, records)
            first = block * shard.space.rows + shard.first
            bits = {"bits": records.view(f"S{RECORD_BYTES}").ravel()}
            done.append(write_records(file, encoder, first, bits))
    return done


def _encode_bits(
    part: Part, shard: Shard, begin: int, layers: list[int]
) -> Iterator[tuple[int, Encoded]]:
    """Yield each block of the bits of a shard as bytes."""
    memory, scratch = _get_memory(shard), np.empty((WORDS, SEGMENT_ROWS), dtype=np.uint64)
    for _, words, frontier in _iter_bits(part, shard, begin, layers):
        starts = np.zeros(shard.groups + 1, dtype=np.int64)
        encode_groups(words, frontier, shard.group, memory.data, starts[1:], scratch)
        yield 0, Encoded(memory.data, starts)


def _iter_bits(
    part: Part, shard: Shard, begin: int, layers: list[int]
) -> Iterator[tuple[int, Array, Array]]:
    """Yield each block with the bits of a shard: their words, and which of its rows have any.

    The blocks of one colour follow those of the other.
    """
    rows = _get_memory(shard).last
    for colour in range(2):
        blocks = shard.list_blocks(colour)
        rows.frontier[:] = 0
        # one file at a time is open
        if begin:
            before = SavedRows(part.checkpoints, part.name_bits(begin))
            for slot, block in enumerate(blocks):
                position = shard.list_all_blocks().index(block)
                before.read(position, shard, rows, slot * shard.rows, is_added=True)
        for level in layers:
            if level % 2 == colour:
                layer = part.require_layer(level)
                for slot, _ in enumerate(blocks):
                    layer.read(slot, shard, rows, slot * shard.rows, is_added=True)
        for slot, block in enumerate(blocks):
            span = slice(slot * shard.rows, (slot + 1) * shard.rows)
            yield block, rows.words[span], rows.frontier[span]


# ---- memory -----------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _get_words(board: str, root: str) -> WordSpace:
    """Return a board's states in words; cached for the last board."""
    return parse_board(board).make_words(root)


class _Memory:
    """The memory of a task: the last layer in a shard, states from other shards, and output."""

    def __init__(self, shard: Shard) -> None:
        self.size = shard.estimate_bytes()
        self.last = Rows(shard.most_rows * shard.most_blocks)
        self.incoming = Rows(shard.most_rows)
        self.data = np.empty(shard.estimate_data_bytes(), dtype=np.uint8)


_kept = local()
"""The memory of this thread's last task, kept so that its pages are reused."""


def _get_memory(shard: Shard) -> _Memory:
    if getattr(_kept, "memory", None) is None or _kept.memory.size != shard.estimate_bytes():
        _kept.memory = None
        _kept.memory = _Memory(shard)
    memory: _Memory = _kept.memory
    return memory
