"""The manifest, `manifest.json`: the list of published tables, with what belongs to them.

A table that it does not list is not published. An entry of a table with distances has the number of
its states at each distance of each goal. No output replaces a file of a table.
"""

from __future__ import annotations

import errno
import hashlib
import json
import re
import struct
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, Struct, ValidationError, convert, to_builtins

from puzzle_tablebase.errors import (
    BadRequest,
    NotAFile,
    SearchError,
    TableDamaged,
    TableError,
    TableVersionError,
    quote,
)
from puzzle_tablebase.puzzles import MODULES, get_puzzle
from puzzle_tablebase.schema import KIND_LETTERS, ROW_BYTES, Table
from puzzle_tablebase.tables import BACKUP, FORMAT_VERSION, MADE_BY, MANIFEST, REPLACED
from puzzle_tablebase.tables.access import format_rebuild_command, make_open_error
from puzzle_tablebase.tables.index_format import HEADER, MAGIC, Header
from puzzle_tablebase.tables.store import LOCK, Store

if TYPE_CHECKING:
    import pyarrow as pa


Depth = tuple[str | None, int | None]
"""A goal and a distance; None for a puzzle without goals, and for states never reached."""
MAX_DEPTH = 1 << 15
"""Distances that are counted are smaller."""

Number = Annotated[int, Meta(ge=0, le=1 << 53)]
"""Rows, bytes or states: 360 times as many are still less than 2^63, and JSON has all of them."""

PARQUET = b"PAR1"
FOOTER_END = struct.Struct("<I4s")
"""The last bytes of a Parquet file: the length of its metadata, and `PAR1`."""
TABLE_FILE = re.compile(r"(\w+)\.(parquet|idx)")
"""The name of a file of a table's rows or index, with the name of the table."""


class GoalCounts(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The number of states at each distance from a goal, from 0 on, and of those never reached.

    `goal`: None for a puzzle without goals.
    """

    goal: str | None
    states: list[Number]
    never: Number = 0


class StateCounts(Struct, frozen=True, forbid_unknown_fields=True):
    """The counts of all goals of a table, with a checksum of them and of the table's content."""

    goals: list[GoalCounts]
    checksum: str

    @property
    def total(self) -> int:
        return sum(sum(counts.states) + counts.never for counts in self.goals)

    def list_depths(self) -> Iterator[tuple[str | None, int | None, int]]:
        """Yield goal, distance and number of states in order; those never reached come last."""
        for counts in self.goals:
            for distance, states in enumerate(counts.states):
                if states:
                    yield counts.goal, distance, states
            if counts.never:
                yield counts.goal, None, counts.never


def compute_count_checksum(goals: list[GoalCounts], content: str) -> str:
    """Compute the checksum of counts, which holds for one content hash of the table alone."""
    text = json.dumps([content, to_builtins(goals)], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def sum_up_depths(depths: Mapping[Depth, int], content: str) -> StateCounts | None:
    """Sum up the states at each depth as an entry's counts; None if there are none."""
    goals = []
    for goal in dict.fromkeys(goal for goal, _ in depths):
        of_goal = {distance: states for (name, distance), states in depths.items() if name == goal}
        never = of_goal.pop(None, 0)
        reached = {distance: states for distance, states in of_goal.items() if distance is not None}
        wrong = [distance for distance in reached if not 0 <= distance < MAX_DEPTH]
        if wrong:
            raise SearchError(f"A distance of {wrong[0]} cannot be counted.")
        states = [reached.get(distance, 0) for distance in range(max(reached, default=-1) + 1)]
        goals.append(GoalCounts(goal, states, never))
    return StateCounts(goals, compute_count_checksum(goals, content)) if goals else None


class StateCounter:
    """A counter of the rows of a table by their goal and depth, as they are written or read."""

    def __init__(self, table: Table, depth: str) -> None:
        columns = {column.name: column for column in table.columns}
        has_depth = depth in columns and columns[depth].kind in KIND_LETTERS
        self._names = [name for name in ("goal", depth) if name in columns] if has_depth else []
        self._goals = columns["goal"].values if "goal" in columns else ()
        self._counts = Counter[Depth]()

    def update(self, rows: pa.RecordBatch) -> None:
        """Count some rows; without a column of depths there is nothing to count."""
        if not self._names:
            return
        import pyarrow as pa

        groups = pa.Table.from_batches([rows.select(self._names)]).group_by(self._names)
        for group in groups.aggregate([([], "count_all")]).to_pylist():
            goal, depth = group.get("goal"), group[self._names[-1]]
            self._counts[goal, depth] += group["count_all"]

    def list_depths(self) -> dict[Depth, int]:
        """Return the states at each depth; goals come in the order that the column defines."""

        def find_place(item: tuple[Depth, int]) -> tuple[int, str]:
            goal = item[0][0]
            return self._goals.index(goal) if goal in self._goals else 0, goal or ""

        return dict(sorted(self._counts.items(), key=find_place))


class Footer(Struct, frozen=True, forbid_unknown_fields=True):
    """Size and hash of a Parquet file's footer, which describes the rows and where they are.

    With its hash a reader of one row group can check the footer without reading the whole file.
    """

    bytes: Number
    sha256: str


class File(Struct, frozen=True, forbid_unknown_fields=True):
    """An entry for the Parquet file of a table's rows."""

    file: str
    bytes: Number
    sha256: str
    footer: Footer


class IndexEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """An entry for a table's index."""

    file: str
    records: Number
    bytes: Number
    sha256: str


class Entry(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An entry for a table; `counts`: of a table with distances, its states at each of them."""

    parquet: File | None
    rows: Number
    content: str
    made_by: str
    parameters: dict[str, Any]
    description: str
    index: IndexEntry | None
    counts: StateCounts | None = None

    @property
    def states(self) -> int | None:
        """The states of an index alone, a record of which may hold many of them."""
        return self.counts.total if self.counts and not self.parquet else None

    def list_amounts(self) -> dict[str, int]:
        """List how much the table has: rows; of an index alone, records and, if known, states.

        >>> index = IndexEntry("a.idx", 2, 12288, "")
        >>> Entry(None, 2, "", "", {}, "", index).list_amounts()
        {'records': 2}
        """
        if self.parquet:
            return {"rows": self.rows}
        return {"records": self.rows} | ({} if self.states is None else {"states": self.states})

    @property
    def all_files(self) -> list[File | IndexEntry]:
        """The file of its rows and its index, as far as it has them."""
        return [file for file in (self.parquet, self.index) if file]

    @property
    def bytes(self) -> int:
        """The bytes of the file of rows; those of the index, if there are no rows."""
        return self.all_files[0].bytes

    @property
    def total_bytes(self) -> int:
        """The bytes of all its files."""
        return sum(file.bytes for file in self.all_files)


def read_manifest(store: Store) -> dict[str, Entry]:
    """Read the published tables by name; none if there is no manifest."""
    data = _read_data(store)
    return {} if data is None else parse_manifest(data, store)


def _read_data(store: Store) -> bytes | None:
    """Read a store's manifest, damaged or not; None if there is none, or a link to nothing."""
    try:
        return store.read(MANIFEST)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise make_open_error(store.locate(MANIFEST), error, "") from error


def has_manifest(store: Store) -> bool:
    """Return whether a store has a manifest, damaged or not."""
    return _read_data(store) is not None


def read_backup(store: Store) -> dict[str, Entry]:
    """Read the tables that the backup lists; none if it is missing or damaged.

    Raise TableUnreadable if it cannot be read, and TableVersionError if a newer program wrote it.
    """
    try:
        return parse_manifest(store.read(BACKUP), store)
    except (FileNotFoundError, NotAFile, TableDamaged):
        return {}
    except OSError as error:
        raise make_open_error(store.locate(BACKUP), error, "") from error
    except TableVersionError as error:
        if error.version > error.supported:
            raise
        return {}


def find_mismatch(store: Store, entry: File | IndexEntry) -> str:
    """Describe how a file differs from its entry; "" if it does not.

    Raise OSError if it cannot be opened.
    """
    size = store.get_size(entry.file)
    if size != entry.bytes:
        return f"it has {size:,} bytes, the manifest says {entry.bytes:,}"
    is_equal = compute_sha256(store, entry.file) == entry.sha256
    return "" if is_equal else "its SHA-256 differs from the manifest"


def compute_sha256(store: Store, name: str) -> str:
    """Compute the SHA-256 of a file's bytes."""
    digest = hashlib.sha256()
    with store.open(name) as file:
        while data := file.read(1 << 20):
            digest.update(data)
    return digest.hexdigest()


def measure_file(store: Store, name: str) -> dict[str, Any]:
    """Measure a file as every entry of the manifest lists it: size and SHA-256."""
    written = store.find_written(name)
    if written and store.get_version(name) == written[:2]:
        return {"bytes": written[0], "sha256": written[2]}
    return {"bytes": store.get_size(name), "sha256": compute_sha256(store, name)}


def facts_of_rows(store: Store, name: str) -> dict[str, Any]:
    """Measure a Parquet file as the manifest lists it: size, SHA-256 and footer."""
    return {**measure_file(store, name), "footer": measure_footer(store, name)}


def measure_footer(store: Store, name: str) -> Footer:
    """Measure the footer of a Parquet file: the metadata, its length and the closing magic."""
    file = store.open_random_access(name)
    size = min(FOOTER_END.size, file.size)
    end = file.read(size, file.size - size)
    if len(end) < FOOTER_END.size or not end.endswith(PARQUET):
        raise OSError(errno.EINVAL, "it is no Parquet file")
    size += FOOTER_END.unpack(end)[0]
    if size > file.size:
        raise OSError(errno.EINVAL, "it is shorter than its footer")
    return Footer(size, hashlib.sha256(file.read(size, file.size - size)).hexdigest())


def parse_manifest(data: bytes, store: Store) -> dict[str, Entry]:
    """Return the tables that a manifest lists.

    Raise TableDamaged unless it is exactly as it was written, and TableVersionError if it has
    another format version.
    """
    path, command = store.locate(MANIFEST), format_rebuild_command("", store)
    try:
        text = data.decode()
        manifest = json.loads(text)
        version = manifest["format_version"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise TableDamaged(path, "it is not a manifest", command) from error
    if not _has_own_checksum(manifest, text):  # first: the damage may be in the version
        raise TableDamaged(path, "its text or checksum was changed", command)
    if type(version) is not int:
        problem = f"its format version is {quote(json.dumps(version))}, not a whole number"
        raise TableDamaged(path, problem, command)
    if version != FORMAT_VERSION:
        # without --force no command replaces tables of a newer program
        command = format_rebuild_command("", store, force=version > FORMAT_VERSION)
        raise TableVersionError(path, version, FORMAT_VERSION, command)
    try:
        tables = convert(manifest.get("tables"), dict[str, Entry])
        if not all(map(_is_consistent, tables, tables.values())):
            raise ValidationError
    except ValidationError as error:
        raise TableDamaged(path, "its list of tables is invalid", command) from error
    if manifest.get("indexes") != _list_contents(manifest["tables"]):
        raise TableDamaged(path, "its list of indexes is invalid", command)
    return tables


def _has_own_checksum(manifest: Any, text: str) -> bool:
    """Return whether a manifest's last value is the checksum of the others, as in every version.

    The checksum is removed from the manifest.
    """
    if not isinstance(manifest, dict) or "checksum" not in manifest:
        return False
    checksum = manifest.pop("checksum")
    return text == seal(manifest) and text.rstrip().endswith(f'"{checksum}"\n}}')


def is_table_name(name: str) -> bool:
    """Return whether a table may have a name."""
    return name.isidentifier() and name.isascii()


def _is_consistent(name: str, entry: Entry) -> bool:
    """Return whether a table has files, and they have its name."""
    return (
        is_table_name(name)
        and bool(entry.all_files)
        and (entry.parquet is None or entry.parquet.file == f"{name}.parquet")
        and (entry.index is None or entry.index.file == f"{name}.idx")
        and entry.rows >= 0
        and (entry.counts is None or _add_up(entry, entry.counts))
    )


def _add_up(entry: Entry, counts: StateCounts) -> bool:
    """Return whether a table's counts are those of its content, and add up to all its states."""
    goals, states = {each.goal for each in counts.goals}, [entry.rows]
    if entry.parquet is None:  # a record may be a row of bits
        states.append(8 * ROW_BYTES * entry.rows)
    is_sealed = counts.checksum == compute_count_checksum(counts.goals, entry.content)
    return is_sealed and counts.total in states and len(goals) == len(counts.goals)


def amend_manifest(
    store: Store, tables: Mapping[str, Entry] | None = None, without: Collection[str] = ()
) -> None:
    """Add tables to the manifest and remove others, keeping what other builds list."""
    for name in tables or {}:
        if not is_table_name(name):
            raise BadRequest(f"No manifest can list {quote(name)}", "Choose a plainer name")

    def add_entries(old_data: bytes | None) -> bytes:
        # a manifest that was lost since it was read is in the backup
        listed = read_backup(store) if old_data is None else parse_manifest(old_data, store)
        new_tables = {**listed, **(tables or {})}
        remaining = {name: entry for name, entry in new_tables.items() if name not in without}
        return format_manifest(remaining, MADE_BY).encode()

    store.update(MANIFEST, add_entries)
    _back_up(store)


def replace_manifest(store: Store, tables: Mapping[str, Entry]) -> None:
    """Write a manifest of these tables; the old one may be damaged, and is saved.

    If the old one is whole by now, another build has repaired it: what it lists stays listed.
    """
    replaced: list[bytes] = []

    def merge_entries(old_data: bytes | None) -> bytes:
        replaced[:] = [] if old_data is None else [old_data]
        try:
            other_tables = parse_manifest(old_data or b"", store)
        except TableError:
            other_tables = {}
        return format_manifest({**tables, **other_tables}, MADE_BY).encode()

    store.update(MANIFEST, merge_entries)
    for data in replaced:
        with store.write_atomically(REPLACED) as (file,):
            file.write(data)
    _back_up(store)


def _back_up(store: Store) -> None:
    """Copy the manifest to its backup, so that damage to one file loses nothing listed."""
    text = store.read(MANIFEST)
    with store.write_atomically(BACKUP) as (file,):
        file.write(text)


def format_manifest(tables: dict[str, Entry], made_by: str) -> str:
    """Format a manifest; equal contents give equal text, which ends with a checksum."""
    listed = to_builtins(dict(sorted(tables.items())))
    manifest = {"format_version": FORMAT_VERSION, "made_by": made_by}
    return seal({**manifest, "indexes": _list_contents(listed), "tables": listed})


def _list_contents(tables: dict[str, Any]) -> dict[str, str]:
    """List the content hash of each table with an index, by the name of the index's file."""
    return {entry["index"]["file"]: entry["content"] for entry in tables.values() if entry["index"]}


def seal(manifest: dict[str, Any]) -> str:
    """Write a manifest as text, with the checksum of everything in it."""
    body = json.dumps(manifest, indent=1)
    checksum = hashlib.sha256(body.encode()).hexdigest()
    return json.dumps({**manifest, "checksum": checksum}, indent=1) + "\n"


def is_own_file(store: Store, name: str) -> bool:
    """Return whether a file of that name belongs to a store's tables.

    Where the manifest does not say, because it is lost or damaged, the file itself does.
    """
    try:
        tables = read_manifest(store) or read_backup(store)
    except TableError as error:
        if name == MANIFEST and isinstance(error, TableVersionError):
            return True  # it has this program's checksum
        try:
            tables = read_backup(store)
        except TableError:
            tables = {}
    if name in (MANIFEST, BACKUP, LOCK):  # the manifest may be that of another program
        return bool(tables) or any(bears_table(store, other) for other in _list_names(store))
    listed = {file.file for entry in tables.values() for file in entry.all_files}
    return name in listed or bears_table(store, name) or (bool(tables) and _may_be_built(name))


def _may_be_built(name: str) -> bool:
    """Return whether a file has the name of a table's file of a built-in puzzle."""
    match = TABLE_FILE.fullmatch(name)
    return match is not None and any(get_puzzle(each).find_table(match[1]) for each in MODULES)


def bears_table(store: Store, name: str) -> bool:
    """Return whether this program wrote a file as one of the table that its name says.

    The magic and the name in an index's header say so, or the metadata of a Parquet file.
    """
    match = TABLE_FILE.fullmatch(name)
    if match is None:
        return False
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = match[1].encode()
    try:
        with store.open(name) as file:  # pyarrow would wait for a named pipe
            header = Header(file.read(HEADER.size))
        if match[2] == "idx":
            return (header.magic, header.name) == (MAGIC, table)
        with pq.ParquetFile(store.get_source(name)) as rows:
            return bool((rows.metadata.metadata or {}).get(b"table") == table)
    except (OSError, pa.ArrowException):
        return False


def _list_names(store: Store) -> list[str]:
    try:
        return store.list_names()
    except OSError:
        return []
