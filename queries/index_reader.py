"""The reader of a table's index: it reads and checks one block for one record.

Only light modules of the standard library are imported. A file that is missing, short, damaged, not
an index, of another version, or of another table than the manifest lists never yields an answer.
"""

from __future__ import annotations

from _thread import allocate_lock

from puzzle_tablebase.errors import (
    TablebaseError,
    TableDamaged,
    TableError,
    TableMissing,
    TableVersionError,
)
from puzzle_tablebase.formats import FORMAT_VERSION, INDEX_VERSION
from puzzle_tablebase.formats.index import (
    BLOCK_BYTES,
    BLOCKS_PER_READ,
    BODY_BYTES,
    HEADER,
    IndexProblem,
    check_block,
    count_blocks,
    make_record_struct,
    parse_header,
)
from puzzle_tablebase.stores import BACKUP, MANIFEST
from puzzle_tablebase.stores.folder import ATTEMPTS, MAX_WHOLE_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from puzzle_tablebase.schema import Table
    from puzzle_tablebase.stores.folder import RandomAccessFile, Store

MAX_CACHED_BLOCKS = 512
"""The most blocks in the cache: 2 MiB."""


class IndexReader:
    """An open index of a table; many threads may read it.

    `request`: the name that builds it, if it is not its own.
    """

    def __init__(self, store: Store, table: Table, request: str = "") -> None:
        self._store, self._table, self._request = store, table, request or table.name
        self._file: RandomAccessFile | None = None
        self._cache: dict[int, bytes] = {}
        self._lock = allocate_lock()
        self._open()

    def _open(self) -> None:
        """Open the file that the manifest lists, and check its header.

        If they do not match, read both again: the table may have been published anew meanwhile.
        """
        for attempt in range(1, ATTEMPTS):
            try:
                self._open_once(is_first=attempt == 1)
            except (TableDamaged, TableMissing, TableVersionError):
                self._store.refresh()
            else:
                return
        self._open_once(is_first=False)

    def _open_once(self, *, is_first: bool) -> None:
        store, table = self._store, self._table
        contents = _search_contents(store, table) if is_first else _read_contents(store, table)
        if not contents:
            raise TableMissing(store, table.index_file, self._request)
        try:
            file = store.open_random_access(table.index_file)
            data = file.read(BLOCK_BYTES, 0)
        except OSError as error:
            raise self._make_open_error(error) from error
        try:
            header = parse_header(data, file.size, table)
        except IndexProblem as problem:
            if problem.version is None:
                raise self.make_error(str(problem)) from None
            raise TableVersionError(
                store, table.index_file, problem.version, INDEX_VERSION, self._request
            ) from None
        # an index alone has a record for each row, and kernels read it without a check of their own
        if not table.columns and table.rows not in (None, header.count):
            raise self.make_error(f"it has {header.count:,} records, not {table.rows:,}")
        if header.content.hex() not in contents:
            raise self.make_error("it was made from a different table than the published one")
        self.width = width = header.width
        self.count = header.count
        self._records_per_block = BODY_BYTES // width
        self._blocks = count_blocks(width, header.count) - 1
        self._unpack = make_record_struct(table).unpack_from
        # threads that read the earlier file finish with it, and then read again
        self._content, self._cache, self._file = header.content, {}, file
        self._header = data[: HEADER.size]

    def read_record(self, rank: int) -> tuple[Any, ...]:
        """Return the fields of a rank's record."""
        if not 0 <= rank < self.count:
            raise self.make_error(f"it has no record {rank:,}")
        number, at = divmod(rank, self._records_per_block)
        cache = self._cache  # of the file that is open now: another may replace it meanwhile
        body = cache.get(number)
        if body is None:
            if len(cache) >= MAX_CACHED_BLOCKS:
                cache.clear()
            cache[number] = body = self.read_blocks(number, 1)
        return self._unpack(body, at * self.width)

    @property
    def is_remote(self) -> bool:
        """Whether each block is a request, so that several are better read together."""
        return self._file is not None and self._file.is_remote

    def prefetch(self, ranks: Iterable[int]) -> None:
        """Read the blocks of several records together."""
        numbers = {rank // self._records_per_block for rank in ranks if 0 <= rank < self.count}
        cache, file = self._cache, self._file
        missing = sorted(numbers.difference(cache))
        if not missing or not file:
            return
        if len(cache) + len(missing) > MAX_CACHED_BLOCKS:
            cache.clear()
        parts = [(BLOCK_BYTES, (number + 1) * BLOCK_BYTES) for number in missing]
        try:
            blocks = file.read_parts(parts)
            for number, data in zip(missing, blocks, strict=True):
                cache[number] = self._check_block(number + 1, data, self._content)
        except (OSError, TablebaseError):
            return  # the block that is needed is read again, and then the error is reported

    def read_records(self) -> bytearray:
        """Return all records, one after the other."""
        return self.read_build()[1]

    def read_build(self) -> tuple[bytes, bytearray]:
        """Return the header and all records of one build, whatever is published meanwhile."""
        for _ in range(ATTEMPTS):
            with self._lock:  # another thread may open a newer file
                header = self._header
            records = bytearray()
            for first in range(0, self._blocks, BLOCKS_PER_READ):
                records += self.read_blocks(first, BLOCKS_PER_READ)
            with self._lock:
                if header == self._header:
                    return header, records
        raise self.make_error("it was published anew while it was read")

    def close(self) -> None:
        """Close the file; later reads raise ValueError."""
        self._cache = {}
        if self._file:
            self._file.close()
            self._file = None

    def read_blocks(self, first: int, count: int) -> bytes:
        """Read the records of consecutive blocks, and keep nothing; blocks count from 0.

        If that fails, read them once more: the table may have been published anew since its index
        was opened.
        """
        file = self._file
        try:
            return self._read_blocks(first, count)
        except TablebaseError:
            with self._lock:
                if self._file is file:  # no other thread has opened it anew since
                    self._store.refresh()
                    self._open()
        return self._read_blocks(first, count)

    def _read_blocks(self, first: int, count: int) -> bytes:
        file, content, last = self._file, self._content, min(first + count, self._blocks)
        if not file:
            raise ValueError(f"{self._store.locate(self._table.index_file)} is closed")
        try:
            data = file.read((last - first) * BLOCK_BYTES, (first + 1) * BLOCK_BYTES)
        except OSError as error:
            raise self._make_open_error(error) from error
        size, bodies = self._records_per_block * self.width, []
        for number in range(first, last):
            block = data[(number - first) * BLOCK_BYTES : (number - first + 1) * BLOCK_BYTES]
            bodies.append(self._check_block(number + 1, block, content)[:size])
        return b"".join(bodies)[: self.count * self.width - first * size]

    def _check_block(self, number: int, data: bytes, content: bytes) -> bytes:
        try:
            return check_block(content, number, data)
        except IndexProblem as problem:
            raise self.make_error(str(problem)) from None

    def make_error(self, problem: str) -> TableDamaged:
        """Make the error for an index that is not as it should be."""
        return TableDamaged(self._store, self._table.index_file, problem, self._request)

    def _make_open_error(self, error: OSError) -> TableError:
        from puzzle_tablebase.stores.access import make_open_error

        return make_open_error(self._store, self._table.index_file, error, self._request)


def _search_contents(store: Store, table: Table, name: str = MANIFEST) -> list[str]:
    """Return the content hashes that a manifest has for a table's index; [] if none is found.

    The manifest is searched as text: importing a JSON parser takes longer than an answer.
    """
    try:
        text = store.read(name, MAX_WHOLE_BYTES)
    except FileNotFoundError:
        return []
    except OSError as error:
        from puzzle_tablebase.stores.access import make_open_error

        raise make_open_error(store, name, error) from error
    head = b'{\n "format_version": %d,\n' % FORMAT_VERSION
    begin, key, rest = text.partition(b'\n  "%s": [\n' % table.index_file.encode())
    if not (begin.startswith(head) and key and rest.endswith(b'"\n}\n')):
        return []
    return [word.decode("ascii", "replace") for word in rest.partition(b"]")[0].split(b'"')[1::2]]


def _read_contents(store: Store, table: Table) -> list[str]:
    """Return the same hashes of a manifest that is whole, or of its copy."""
    try:
        from puzzle_tablebase.formats.manifest import read_versions
    except ModuleNotFoundError:  # installed without dependencies
        return _search_contents(store, table) or _search_contents(store, table, BACKUP)
    return [entry.content for entry in read_versions(store).get(table.name, []) if entry.index]
