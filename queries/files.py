"""The open files of a puzzle's tables: indexes, rows, and data made from them.

An index is read and checked by the block, one block for one record. Only light modules of the
standard library are imported. A file that is missing, short, damaged, not an index, of another
version, or not the one that the manifest lists never yields an answer.
"""

from __future__ import annotations

from _thread import RLock, allocate_lock  # `threading` takes longer to import

from puzzle_tablebase import FORMAT_VERSION
from puzzle_tablebase.errors import (
    FileChanged,
    TableDamaged,
    TableError,
    TableMissing,
    TableVersionError,
)
from puzzle_tablebase.formats.index import (
    BLOCK_BYTES,
    BLOCKS_PER_READ,
    BODY_BYTES,
    HEADER,
    INDEX_VERSION,
    Header,
    InvalidIndex,
    check_block,
    count_blocks,
    make_record_struct,
    parse_header,
)
from puzzle_tablebase.stores import ATTEMPTS, BACKUP, CHANGED, MANIFEST, MAX_WHOLE_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    import polars as pl

    from puzzle_tablebase.schema import Table
    from puzzle_tablebase.stores import RandomAccessFile, Store

    Read = TypeVar("Read")
    Kept = TypeVar("Kept")

MAX_CACHED_BLOCKS = 512
"""The most blocks in the cache: 2 MiB."""


class _Build:
    """One build of an index: an open file, its header, and the blocks read from it.

    Blocks of two builds have the same seed, so blocks of two files are never kept together.
    """

    __slots__ = ("blocks", "cache", "count", "data", "file", "per_block", "seed", "width")

    def __init__(self, file: RandomAccessFile, data: bytes, header: Header) -> None:
        self.file, self.data, self.seed = file, data, header.seed
        self.count, self.width = header.count, header.width
        self.per_block = BODY_BYTES // header.width
        self.blocks = count_blocks(header.width, header.count) - 1
        self.cache: dict[int, bytes] = {}

    def read_block(self, number: int) -> bytes:
        """Read the records of a block, and keep them."""
        if len(self.cache) >= MAX_CACHED_BLOCKS:
            self.cache.clear()
        self.cache[number] = records = self.read_blocks(number, 1)
        return records

    def prefetch(self, ranks: Iterable[int]) -> None:
        """Read the blocks of several records together, and keep them."""
        numbers = {rank // self.per_block for rank in ranks if 0 <= rank < self.count}
        missing = sorted(numbers.difference(self.cache))
        if not missing:
            return
        if len(self.cache) + len(missing) > MAX_CACHED_BLOCKS:
            self.cache.clear()
        blocks = self._read_parts([(number, 1) for number in missing])
        self.cache.update(zip(missing, blocks, strict=True))

    def read_blocks(self, first: int, count: int) -> bytes:
        """Read the records of consecutive blocks."""
        (records,) = self._read_parts([(first, min(count, self.blocks - first))])
        return records

    def read_all(self) -> bytearray:
        """Read all records."""
        records = bytearray()
        for first in range(0, self.blocks, BLOCKS_PER_READ):
            records += self.read_blocks(first, BLOCKS_PER_READ)
        return records

    def _read_parts(self, parts: list[tuple[int, int]]) -> list[bytes]:
        """Read the records of several parts, each given by its first block and their number.

        Raise OSError, or InvalidIndex for a wrong checksum.
        """
        spans = [(count * BLOCK_BYTES, (first + 1) * BLOCK_BYTES) for first, count in parts]
        read = self.file.read_parts(spans)
        # a host may say nothing that tells two builds apart
        if not self.file.is_pinned and self.file.read(BLOCK_BYTES, 0) != self.data:
            raise FileChanged(CHANGED)
        size, records = self.per_block * self.width, list[bytes]()
        for (first, count), data in zip(parts, read, strict=True):
            blocks = (data[at * BLOCK_BYTES : (at + 1) * BLOCK_BYTES] for at in range(count))
            bodies = [
                check_block(self.seed, number, block)[:size]
                for number, block in enumerate(blocks, first + 1)
            ]
            records.append(b"".join(bodies)[: self.count * self.width - first * size])
        return records


class IndexReader:
    """An open index of a table, which several threads may read.

    `request`: the name that builds the table, if not its own. `manifest`: the manifest's text, if
    it has been read.
    """

    def __init__(
        self, store: Store, table: Table, request: str = "", manifest: bytes | None = None
    ) -> None:
        self._store, self._table, self._request = store, table, request or table.name
        self._build: _Build | None = None
        self._lock = allocate_lock()
        self._open(manifest)

    def _open(self, manifest: bytes | None = None) -> None:
        """Open the file that the manifest lists, and check its header.

        If they do not match, read both again, as the table may have been replaced meanwhile.
        """
        for attempt in range(1, ATTEMPTS):
            try:
                if attempt == 1:
                    text = read_manifest_text(self._store) if manifest is None else manifest
                    self._open_listed(_find_digests(text, self._table))
                else:
                    self._open_listed(_read_digests(self._store, self._table))
            except (TableDamaged, TableMissing, TableVersionError):
                self._store.refresh()
            else:
                return
        self._open_listed(_read_digests(self._store, self._table))

    def _open_listed(self, digests: list[str]) -> None:
        """Open the index if it has one of the digests that a manifest lists."""
        store, table = self._store, self._table
        if not digests:
            raise TableMissing(store, table.index_file, self._request)
        try:
            file = store.open_random_access(table.index_file)
            data = file.read(BLOCK_BYTES, 0)
        except OSError as error:
            raise self._make_open_error(error) from error
        try:
            header = parse_header(data, file.size, table)
        except InvalidIndex as problem:
            if problem.version is None:
                raise self.make_error(str(problem)) from None
            raise TableVersionError(
                store, table.index_file, problem.version, INDEX_VERSION, self._request
            ) from None
        # an index alone has a record for each row, and kernels read it without a check of their own
        if not table.columns and table.rows not in (None, header.count):
            raise self.make_error(f"it has {header.count:,} records, not {table.rows:,}")
        if header.digest.hex() not in digests:
            raise self.make_error("it is of another build than the published one")
        self.width, self.count = header.width, header.count
        self._records_per_block = BODY_BYTES // header.width
        self._unpack = make_record_struct(table).unpack_from
        # threads that read the earlier file finish with it
        self._build = _Build(file, data, header)

    def read_record(self, rank: int) -> tuple[Any, ...]:
        """Return the fields of a rank's record."""
        if not 0 <= rank < self.count:
            raise self.make_error(f"it has no record {rank:,}")
        number, at = divmod(rank, self._records_per_block)
        build = self._build
        records = build.cache.get(number) if build else None
        if records is None:
            records = self._read(lambda build: build.read_block(number))
        return self._unpack(records, at * self.width)

    @property
    def is_remote(self) -> bool:
        """Whether each read is a request, so that blocks should be read together."""
        return self._build is not None and self._build.file.is_remote

    def prefetch(self, ranks: Iterable[int]) -> None:
        """Read the blocks of several records together."""
        try:
            if self._build:
                self._build.prefetch(ranks)
        except (OSError, InvalidIndex):
            return  # the block that is needed is read again, and then the error is reported

    def read_records(self) -> bytearray:
        """Return all records, one after the other."""
        return self.read_build()[1]

    def read_build(self) -> tuple[bytes, bytearray]:
        """Return the header and all records of one build, even if the table is replaced."""
        return self._read(lambda build: (build.data[: HEADER.size], build.read_all()))

    def read_blocks(self, first: int, count: int) -> bytes:
        """Read the records of consecutive blocks, counted from 0, and keep none."""
        return self._read(lambda build: build.read_blocks(first, count))

    def close(self) -> None:
        """Close the file; later reads raise ValueError."""
        build, self._build = self._build, None
        if build:
            build.file.close()

    def _read(self, read: Callable[[_Build], Read]) -> Read:
        """Read from the open build.

        If that fails, reopen the index and try again, as the table may have been replaced.
        """
        build = self._build
        if not build:
            raise self._make_closed_error()
        try:
            return read(build)
        except (OSError, InvalidIndex):
            with self._lock:
                if self._build is build:  # no other thread has reopened it since
                    self._store.refresh()
                    self._open()
        build = self._build
        if not build:
            raise self._make_closed_error()
        try:
            return read(build)
        except OSError as error:
            raise self._make_open_error(error) from error
        except InvalidIndex as problem:
            raise self.make_error(str(problem)) from None

    def _make_closed_error(self) -> ValueError:
        return ValueError(f"{self._store.locate(self._table.index_file)} is closed")

    def make_error(self, problem: str) -> TableDamaged:
        """Make the error for a faulty index."""
        return TableDamaged(self._store, self._table.index_file, problem, self._request)

    def _make_open_error(self, error: OSError) -> TableError:
        from puzzle_tablebase.stores import make_open_error

        return make_open_error(self._store, self._table.index_file, error, self._request)


def read_manifest_text(store: Store, name: str = MANIFEST) -> bytes:
    """Read a manifest; b"" if there is none."""
    try:
        return store.read(name, MAX_WHOLE_BYTES)
    except FileNotFoundError:
        return b""
    except OSError as error:
        from puzzle_tablebase.stores import make_open_error

        raise make_open_error(store, name, error) from error


def _find_digests(text: bytes, table: Table) -> list[str]:
    """Return the digests of a table's index in a manifest's text; [] if there are none.

    The text is searched, because importing a JSON parser takes longer than an answer.
    """
    head = b'{\n "format_version": %d,\n' % FORMAT_VERSION
    begin, key, rest = text.partition(b'\n  "%s": [\n' % table.index_file.encode())
    if not (begin.startswith(head) and key and rest.endswith(b'"\n}\n')):
        return []
    return [word.decode("ascii", "replace") for word in rest.partition(b"]")[0].split(b'"')[1::2]]


def _read_digests(store: Store, table: Table) -> list[str]:
    """Return the same digests of a manifest that is whole, or of its copy."""
    try:
        from puzzle_tablebase.formats.manifest import read_versions
    except ModuleNotFoundError:  # installed without dependencies
        texts = (read_manifest_text(store, name) for name in (MANIFEST, BACKUP))
        return next(filter(None, (_find_digests(text, table) for text in texts)), [])
    versions = read_versions(store).get(table.name, [])
    return [entry.index.digest for entry in versions if entry.index]


class TableFiles:
    """The tables of a puzzle in a store; each file is opened when it is first needed."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._kept: dict[Any, Any] = {}
        """The cache of what was made from the tables, by name, for all threads."""
        self._making: dict[Any, Any] = {}
        """A lock for each name that something is being made for."""
        self._lock = RLock()
        """The lock of these dictionaries: it is never held while something is read or made."""
        self._closed = False

    def __reduce__(self) -> tuple[object, ...]:
        # another process opens the files when it needs them
        return type(self), (self.store,), {"_closed": self._closed}

    def open_index(self, table: Table, request: str = "") -> IndexReader:
        """Return the index of a table; `request` is the name that builds it, if not its own."""
        index: IndexReader | None = self._kept.get(("index", table.name))
        if index is not None:
            return index
        return self.keep(
            ("index", table.name),
            lambda: IndexReader(self.store, table, request, self._read_manifest()),
        )

    def has_index(self, table: Table) -> bool:
        """Return whether a table's index is published, without opening it."""
        return bool(_find_digests(self._read_manifest(), table))

    def _read_manifest(self) -> bytes:
        """Return the manifest's text, read once, or again by an index that it does not match."""
        return self.keep("manifest", lambda: read_manifest_text(self.store))

    def scan(self, table: Table) -> pl.LazyFrame:
        """Return a table's rows; its files are checked against the manifest the first time."""
        from puzzle_tablebase.queries.scans import scan_table

        return self.keep(("scan", table.name), lambda: scan_table(self.store, table))

    def collect(self, table: Table, rows: pl.LazyFrame) -> pl.DataFrame:
        """Collect rows of a table's scan; TableDamaged if they cannot be decoded."""
        from puzzle_tablebase.queries.scans import collect_rows

        return collect_rows(self.store, table.name, rows)

    def make_error(self, table: str, problem: str, suffix: str = "idx") -> TableDamaged:
        """Make the error for a file that is as published, but contradicts itself."""
        from puzzle_tablebase.stores import make_damage_error

        return make_damage_error(self.store, table, problem, suffix)

    def keep(self, name: object, make: Callable[[], Kept], most: int | None = None) -> Kept:
        """Return a value made from the tables, which is kept until they are closed.

        Only threads that ask for the same value wait for it. With `most`, the name is a tuple that
        begins with a group, and only the most recently used values of that group are kept.
        """
        kept: Kept | None = self._kept.get(name)
        if kept is None:
            kept = self._make(name, make)
        if most is not None:
            self._forget_others(name, most)
        return kept

    def has(self, name: object) -> bool:
        """Return whether a value of that name is kept."""
        return name in self._kept

    def _make(self, name: object, make: Callable[[], Kept]) -> Kept:
        with self._lock:
            making = self._making.setdefault(name, allocate_lock())
        with making:
            kept: Kept | None = self._kept.get(name)  # another thread may have made it meanwhile
            try:
                if kept is None:
                    self.require_open()
                    kept = make()
                    with self._lock:
                        self.require_open()  # closed tables keep nothing
                        self._kept[name] = kept
            finally:
                self._making.pop(name, None)
        return kept

    def _forget_others(self, name: Any, most: int) -> None:
        """Forget all but the most recently used values of a name's group."""
        with self._lock:
            if name in self._kept:  # another thread may have asked for others since
                self._kept[name] = self._kept.pop(name)  # the last is the one asked for last
            of_group = [
                each for each in self._kept if isinstance(each, tuple) and each[0] == name[0]
            ]
            for old in of_group[:-most]:
                del self._kept[old]

    def require_open(self) -> None:
        """Raise ValueError if the tables are closed."""
        if self._closed:
            raise ValueError(f"the tables in {self.store} are closed")

    def close(self) -> None:
        """Close all files and drop what was read; later questions raise ValueError."""
        with self._lock:
            self._closed = True
            for kept in self._kept.values():
                if close := getattr(kept, "close", None):
                    close()
            self._kept.clear()
