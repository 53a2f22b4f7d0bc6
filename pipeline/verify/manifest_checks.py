"""Quick checks of the files against the manifest: they read bytes and decode no table."""

from __future__ import annotations

import struct

from pipeline.verify.claims import Claim, ClaimCheck, ListedTable, Listener
from tablebase.errors import TableMissing
from tablebase.puzzles import list_puzzles
from tablebase.tables import COMMAND, INDEX_VERSION, MANIFEST
from tablebase.tables.access import format_rebuild_command, list_files, make_open_error
from tablebase.tables.index_format import (
    BLOCK_BYTES,
    BODY_BYTES,
    CHECKSUM,
    HEADER,
    MAGIC,
    Header,
    compute_checksum,
    count_blocks,
)
from tablebase.tables.manifest import (
    File,
    IndexEntry,
    Page,
    compute_sha256,
    list_parameters,
    read_manifest,
    read_pages,
)
from tablebase.tables.parquet import compute_description
from tablebase.tables.store import Store


def list_tables(store: Store, listener: Listener) -> list[ListedTable]:
    """Return every listed table, those of known puzzles first.

    Raise TableMissing if none is listed.
    """
    entries = read_manifest(store)
    if not entries:
        raise TableMissing(store.locate(MANIFEST), format_rebuild_command("", store))
    parameters = list_parameters(entries)
    text = "every known table is listed with the files that its definition names"
    claim = Claim("manifest", MANIFEST, text, len(entries))
    with ClaimCheck(claim, store, format_rebuild_command("", store, force=True), listener) as check:
        listed = []
        for puzzle in list_puzzles():
            for table in puzzle.list_published(parameters):
                entry = entries.pop(table.name, None)
                if entry is None:
                    continue
                check.require_equal(
                    f"rows of {table.name}:", bool(entry.parquet), bool(table.columns)
                )
                check.require_equal(f"index of {table.name}:", bool(entry.index), bool(table.index))
                listed.append(ListedTable(store, table.name, entry, puzzle, table, listener))
    unknown = sorted(entries.items())
    return listed + [
        ListedTable(store, name, entry, None, None, listener) for name, entry in unknown
    ]


def check_files(listed: ListedTable) -> None:
    """Check sizes, SHA-256 and the index's header and blocks, without decoding any row."""
    entry = listed.entry
    unknown = "" if listed.table else " (no rules for this table here: its rows are not proved)"
    text = f"size and SHA-256 match the manifest{unknown}"
    if entry.parquet:
        with listed.begin_claim(text, force=False) as check:
            _check_bytes(check, entry.parquet)
    if entry.index:
        with listed.begin_claim(text, index=True, force=False) as check:
            _check_bytes(check, entry.index)
        _check_index(listed)


def check_entry(listed: ListedTable) -> None:
    """Compare the manifest's entry of a table without rows with the table's definition.

    For a table with rows, `decode_rows` does this.
    """
    table, entry = listed.definition, listed.entry
    text = "parameters, description and number of rows match the definition of the table"
    with listed.begin_claim(text, index=True) as check:
        check.require_equal("rows", entry.rows, listed.index.records)
        check.require_equal("parameters", entry.parameters, table.recipe.list_parameters())
        check.require_equal("description", entry.description, compute_description(table))


def check_pages(store: Store, listener: Listener) -> None:
    """Check size and SHA-256 of every listed page that exists."""
    for name, page in read_pages(store).items():
        if name in list_files(store):
            command = format_rebuild_command("", store).replace(COMMAND, f"pipeline {page.command}")
            text = "size and SHA-256 match the manifest"
            claim = Claim(name.rpartition(".")[0], name, text, 0)
            with ClaimCheck(claim, store, command, listener) as check:
                _check_bytes(check, page)


def _check_bytes(check: ClaimCheck, entry: File | IndexEntry | Page) -> None:
    store, file = check.store, check.claim.file
    try:
        check.require_equal("bytes", store.get_size(file), entry.bytes)
        check.require_equal("SHA-256", compute_sha256(store, file), entry.sha256)
    except OSError as error:
        raise make_open_error(store.locate(file), error, check.command) from error


def _check_index(listed: ListedTable) -> None:
    entry, store = listed.index, listed.store
    text = "the header matches the table: version, name, records, content hash"
    with listed.begin_claim(text, index=True) as check, store.open(entry.file) as file:
        header = file.read(BLOCK_BYTES)
        if len(header) < BLOCK_BYTES:
            check.refute(f"bytes {len(header)}", f"a header of {BLOCK_BYTES} bytes")
        fields = Header(header)
        # an unknown table's records may have any width that fits a block
        unknown_width = min(max(fields.width, 1), BODY_BYTES)
        width = struct.calcsize(listed.table.record_format) if listed.table else unknown_width
        check.require_equal("magic", fields.magic, MAGIC)
        check.require_equal("version", fields.version, INDEX_VERSION)
        check.require_equal("zero", fields.zero, 0)
        check.require_equal("width", fields.width, width)
        check.require_equal("block size", fields.block, BLOCK_BYTES)
        check.require_equal("records", fields.count, entry.records)
        check.require_equal("content hash", fields.content.hex(), listed.entry.content)
        check.require_equal("name", fields.name, listed.name.encode())
        check.require_equal(
            "bytes", store.get_size(entry.file), BLOCK_BYTES * count_blocks(width, entry.records)
        )
    records_per_block = BODY_BYTES // width
    text = "every block has the right checksum, and zeros after its records"
    with listed.begin_claim(text, index=True) as check, store.open(entry.file) as file:
        for number in range(count_blocks(width, entry.records)):
            block = file.read(BLOCK_BYTES)
            checksum = CHECKSUM.pack(compute_checksum(fields.content, number, block[:BODY_BYTES]))
            check.require_equal(
                f"block {number}: checksum", block[BODY_BYTES:].hex(), checksum.hex()
            )
            remaining = entry.records - (number - 1) * records_per_block
            used = min(records_per_block, remaining) * width if number else HEADER.size
            zeros = block[used:BODY_BYTES].count(0)
            check.require_equal(
                f"block {number}: zeros after its records", zeros, BODY_BYTES - used
            )
