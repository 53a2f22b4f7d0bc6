"""Files of encoded rows of states: block after block in groups, each with its size and checksum.

    the groups of all blocks, one after the other
    the size and the checksum of each group       32 bits each
    the states of each layer so far               64 bits each
    the numbers of groups and of layers, and the checksum of this table   64 bits each

All numbers are little-endian. Checksums begin with the name of the file.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from puzzle_tablebase.jit import Array
from puzzle_tablebase.stores.checkpoints import Checkpoints
from puzzle_tablebase.two_bit_bfs.codec import WORD, WORD_BYTES, check_groups, decode_groups
from puzzle_tablebase.two_bit_bfs.shards import Encoded, Rows, Shard, Source

TRAILER_BYTES = 3 * 8
"""Bytes of the three numbers at the end, which also follow the last group as it is decoded."""


class DamagedRows(Exception):
    """A file of rows that contradicts its checksums."""


def write_rows(
    checkpoints: Checkpoints,
    name: str,
    blocks: Iterable[tuple[int, Encoded]],
    states: list[int],
) -> None:
    """Save the rows of some blocks, each with its number of states.

    `states`: those of the layers before; the states of the blocks are those of the next one.
    """
    seed, total = checkpoints.compute_seed(name), 0
    sizes, checks = list[Array](), list[Array]()
    with checkpoints.write(name) as file:
        for number, (count, (data, starts)) in enumerate(blocks):
            file.write(data[: starts[-1]].data)
            groups = len(starts) - 1
            numbers = np.arange(number * groups, (number + 1) * groups)
            checks.append(np.zeros(groups, np.uint32))
            check_groups(data, starts, numbers, WORD(seed), checks[-1], True)
            sizes.append(np.diff(starts).astype(np.uint32))
            total += count
        table = b"".join(part.tobytes() for part in (*sizes, *checks))
        counts = np.array([*states, total], dtype=np.int64)
        table += counts.tobytes()
        groups = sum(map(len, sizes))
        numbers = np.array([groups, len(counts), zlib.crc32(table, seed)], dtype=np.int64)
        file.write(table + numbers.tobytes())


def open_rows(checkpoints: Checkpoints, name: str) -> SavedRows | None:
    """Open a file of rows; None if it is missing or damaged at its end."""
    try:
        return SavedRows(checkpoints, name, is_required=False)
    except (FileNotFoundError, DamagedRows):
        return None


class SavedRows:
    """A file of rows; reading raises StoreError if it is missing or damaged."""

    def __init__(self, checkpoints: Checkpoints, name: str, *, is_required: bool = True) -> None:
        self._checkpoints, self._name = checkpoints, name
        self._seed = checkpoints.compute_seed(name)
        try:
            self._open()
        except (OSError, DamagedRows) as error:
            if is_required:
                raise checkpoints.make_damage_error(name) from error
            raise

    def _open(self) -> None:
        self._file = self._checkpoints.open(self._name)
        self.size = self._file.size
        end = max(0, self.size - TRAILER_BYTES)
        trailer = self._file.read(TRAILER_BYTES, end)
        if len(trailer) < TRAILER_BYTES:
            raise DamagedRows
        groups, layers, checksum = np.frombuffer(trailer, dtype=np.int64).tolist()
        table_bytes = 8 * (groups + layers)
        if min(groups, layers) < 0 or table_bytes > end:
            raise DamagedRows
        table = self._file.read(table_bytes, end - table_bytes)
        if zlib.crc32(table, self._seed) != checksum:
            raise DamagedRows
        self.sizes, self._checks = np.frombuffer(table[: 8 * groups], dtype=np.uint32).reshape(
            2, -1
        )
        self._starts = np.concatenate([[0], np.cumsum(self.sizes, dtype=np.int64)])
        self.states: list[int] = np.frombuffer(table[8 * groups :], dtype=np.int64).tolist()
        if self._starts[-1] + table_bytes != end:
            raise DamagedRows

    def load(self, slot: int, shard: Shard) -> Encoded:
        """Load all groups of a block."""
        return self.load_groups(slot * shard.groups + np.arange(shard.groups))

    def load_groups(self, numbers: Array) -> Encoded:
        """Load some groups, in ascending order, and compare their checksums."""
        begins, ends = self._starts[numbers], self._starts[numbers + 1]
        starts = np.concatenate([[0], np.cumsum(ends - begins)])
        firsts = np.flatnonzero(np.diff(numbers, prepend=-2) != 1)
        spans = [*pairwise([*firsts, len(numbers)])]
        if len(spans) == 1:  # with what follows, which the decoder may look at
            read = self._file.read(int(starts[-1]) + WORD_BYTES, int(begins[0]))
            data = np.frombuffer(read, dtype=np.uint8)
        else:
            data = np.zeros(int(starts[-1]) + WORD_BYTES, dtype=np.uint8)
            for first, last in spans:
                begin, end = int(begins[first]), int(ends[last - 1])
                read = self._file.read(end - begin, begin)
                data[starts[first] : starts[first] + len(read)] = np.frombuffer(read, np.uint8)
        is_whole = len(data) == starts[-1] + WORD_BYTES
        checks = self._checks[numbers]
        if (
            not is_whole
            or check_groups(data, starts, numbers, WORD(self._seed), checks, False) >= 0
        ):
            raise self._checkpoints.make_damage_error(self._name)
        return Encoded(data, starts)

    def read(
        self, slot: int, shard: Shard, rows: Rows, first: int = 0, *, is_added: bool = False
    ) -> None:
        """Read all rows of a block into those from `first` on, or add their states to these."""
        data, starts = self.load(slot, shard)
        targets = first + np.arange(0, shard.rows, shard.group)
        decode_groups(data, starts, targets, shard.group, rows.words, rows.frontier, is_added)

    def add_groups(self, source: Source, shard: Shard, rows: Rows) -> None:
        """Add the states of groups that lead to another shard."""
        data, starts = self.load_groups(source.numbers)
        decode_groups(data, starts, source.rows, shard.group, rows.words, rows.frontier, True)
