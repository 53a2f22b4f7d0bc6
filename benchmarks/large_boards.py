"""The cost of large boards in shards: measured, and estimated for larger boards.

    python -m benchmarks.large_boards measure 3x4 1 4 16 64   # a line of CSV for each
    python -m benchmarks.large_boards build sliding_2x7_14 3 1  # in memory, then with so many GB
    python -m benchmarks.large_boards                           # the tables of docs/clusters.md

The first compares the search in shards with the one in memory, by processor time, which other work
on the machine changes least. The second runs `pipeline precompute`. Their lines are in
docs/results/shards.csv and docs/results/large_builds.csv.
"""

from __future__ import annotations

import csv
import hashlib
import json
import resource
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG

import numpy as np

from benchmarks.measure import Row, format_table, measure_process
from puzzle_tablebase.formats.encoder import HiddenFile
from puzzle_tablebase.formats.index import read_records
from puzzle_tablebase.formats.index_writer import IndexWriter
from puzzle_tablebase.jit import Array
from puzzle_tablebase.pipeline.kinds import checkpoints
from puzzle_tablebase.pipeline.parallel import run_in_threads
from puzzle_tablebase.pipeline.recipes.board_shards import (
    STORED_BYTES_PER_STATE,
    Search,
    search_shards,
)
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.pipeline.workers import Workers
from puzzle_tablebase.puzzles.sliding import SlidingBoard, parse_board
from puzzle_tablebase.schema import BITS_INDEX, ROW_BYTES, Table
from puzzle_tablebase.stores import Folder
from puzzle_tablebase.two_bit_bfs.search import iter_word_records, search_words
from puzzle_tablebase.two_bit_bfs.shards import Shard, count_shards

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "shards.csv"
FIELDS = ("board", "shards", "memory_ns", "shards_ns", "disk", "written", "read", "files")
BUILDS = RESULTS.with_name("large_builds.csv")
BUILD_FIELDS = (
    *("table", "limit", "shards", "seconds", "processor", "peak_memory", "disk", "files"),
    *("read", "written"),
)
THREADS = 2
SAMPLE_SECONDS = 0.5
BLOCK_BYTES = 512
"""The bytes of a block of a file, as the system counts them."""
TASK_BYTES = 4 << 30
"""Bytes of memory for a task, in the table."""
GIGABYTE, HOUR = 1e9, 3600


def measure(name: str, counts: list[int]) -> None:
    """Search a board in memory, then in each number of shards; print nanoseconds and bytes."""
    board = parse_board(name)
    warm_up()
    begun = read_processor_seconds()
    layers, planes = search_words(board.make_words(board.example), THREADS, run_in_threads)
    in_memory = (read_processor_seconds() - begun) / board.size * 1e9
    known = np.concatenate([*iter_word_records(planes)])
    del planes
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(FIELDS)
    for count in counts:
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(THREADS) as pool:
            meter = Meter(Path(folder))
            store = checkpoints(Folder(folder), board.tables[0])
            tasks = Tasks(Workers(pool, THREADS), meter.sample, store)
            begun, (read, written) = read_processor_seconds(), read_bytes()
            found, search = search_shards(board, board.example, count, tasks)
            records = write_and_read(Folder(folder), board, search)
            seconds, ended = read_processor_seconds() - begun, read_bytes()
            if found != layers or not np.array_equal(records, known):
                raise SystemExit(f"{name} in {count} shards differs from the search in memory")
        amounts = (meter.disk, ended[1] - written, ended[0] - read)
        figures = [in_memory, seconds / board.size * 1e9, *(each / board.size for each in amounts)]
        writer.writerow([name, count, *(f"{each:.3f}" for each in figures), meter.files])
        sys.stdout.flush()


def write_and_read(store: Folder, board: SlidingBoard, search: Search) -> Array:
    """Write the shards' records to an index, as a build does, and read them."""
    space, small = board.make_words(board.example), board.tables[0]
    count = space.blocks * space.rows
    table = Table(small.name, "", "", (), small.recipe, BITS_INDEX, count)
    with store.write_files("index") as files:
        writer = IndexWriter(files[0], table, count)
        hidden = HiddenFile(store, files.get_hidden_name(0))
        for written in search.write_bits(table, hidden):
            writer.add(written)
        writer.finish()
        files.finish()
        with files.reopen(0) as file:
            records = np.concatenate([*read_records(file, table, count)])
    bits: Array = records["bits"].view(np.uint8).reshape(-1, ROW_BYTES)
    return bits


class Meter:
    """The peak number of bytes and files in a folder, by samples."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.disk, self.files = folder, 0, 0

    def sample(self, *_: object) -> None:
        sizes = list[int]()
        for path in self._folder.rglob("*"):
            with suppress(FileNotFoundError):  # it is removed meanwhile
                status = path.stat()
                if S_ISREG(status.st_mode):
                    sizes.append(status.st_blocks * BLOCK_BYTES)
        self.disk, self.files = max(self.disk, sum(sizes)), max(self.files, len(sizes))


def build(table: str, limits: list[str]) -> None:
    """Build a table in memory, then with each limit of memory in GB; print the cost of each.

    Each build is a process of its own, whose kernels are compiled before.
    """
    warm_up()
    program, first = str(Path(sys.executable).with_name("pipeline")), b""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(BUILD_FIELDS)
    for limit in ["", *limits]:
        with tempfile.TemporaryDirectory() as folder:
            meter, command = Meter(Path(folder)), [program, "precompute", table, "--quiet"]
            command += ["--jobs", str(THREADS), "--outputs", folder]
            command += ["--memory", limit] if limit else []
            (plan,) = json.loads(measure_process([*command, "--dry-run", "--json"]).output)[
                "tables"
            ]
            if bool(plan["shards"]) != bool(limit):
                raise SystemExit(f"with {limit or 'the free memory'}: {plan['shards']} shards")
            with ThreadPoolExecutor(1) as pool:
                running = pool.submit(measure_process, command)
                while not wait([running], SAMPLE_SECONDS).done:
                    meter.sample()
            done, index = running.result(), Path(folder, f"{table}.idx")
            with index.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").digest()
            if digest != (first := first or digest):
                raise SystemExit(f"with {limit} GB, {table} differs from the one built in memory")
        amounts = meter.disk, meter.files, done.read, done.written
        seconds = (f"{each:.1f}" for each in (done.seconds, done.processor_seconds))
        row = [table, limit, plan["shards"], *seconds]
        writer.writerow([*row, round(done.peak_mib * (1 << 20)), *amounts])
        sys.stdout.flush()


def warm_up() -> None:
    """Compile all kernels, on a small board."""
    board = parse_board("2x5")
    search_words(board.make_words(board.example), THREADS, run_in_threads)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(THREADS) as pool:
        store = checkpoints(Folder(folder), board.tables[0])
        tasks = Tasks(Workers(pool, THREADS), checkpoints=store)
        _, search = search_shards(board, board.example, 2, tasks)
        write_and_read(Folder(folder), board, search)


def read_processor_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def read_bytes() -> tuple[int, int]:
    """Return the bytes that this process has read and written so far, from caches too."""
    lines = Path("/proc/self/io").read_text().splitlines()
    fields = dict(line.split(": ") for line in lines)
    return int(fields["rchar"]), int(fields["wchar"])


def format_builds() -> str:
    """Make the table of the measured builds of a board, in memory and in shards."""
    with BUILDS.open() as file:
        lines = [*csv.DictReader(file)]
    rows, whole, states = list[Row](), float(lines[0]["processor"]), parse_board("2x7").size
    for line in lines:
        limit, seconds, disk = line["limit"], float(line["processor"]), int(line["disk"])
        rows.append(
            (
                f"`--memory {limit}`" if limit else "in memory",
                line["shards"] if limit else "",
                f"{float(line['seconds']) / 60:.1f} min",
                f"{seconds:.0f} s",
                f"{seconds / whole:.2f}",
                f"{int(line['peak_memory']) / GIGABYTE:.1f} GB",
                f"{disk / GIGABYTE:.1f} GB",
                f"{disk / states:.2f}",
                f"{int(line['read']) / GIGABYTE:.0f} GB",
                f"{int(line['written']) / GIGABYTE:.0f} GB",
            )
        )
    head = (
        *("build", "shards", "time", "processor", "ratio", "peak memory", "disk", "bytes a state"),
        *("read", "written"),
    )
    return format_table(head, rows)


def format_estimates() -> str:
    """Make the table of estimates for larger boards, from the largest measured figures."""
    with RESULTS.open() as file:
        # in many shards, a small board's tasks spend most of their time on starting
        lines = [line for line in csv.DictReader(file) if int(line["shards"]) <= 4]
    most = {name: max(float(line[name]) for line in lines) for name in FIELDS[3:]}
    moved = most["written"] + most["read"]
    rows: list[Row] = []
    for name in ("2x7", "3x5", "4x4"):
        board = parse_board(name)
        space = board.make_words(board.example)
        shards = count_shards(space, TASK_BYTES, 1)
        files = round(shards * most["files"] / 4)
        hours = most["shards_ns"] * board.size / 1e9 / HOUR
        rows.append(
            (
                name,
                f"{board.size:,}",
                f"{shards:,}",
                f"{Shard(space, 0, shards).estimate_bytes() / GIGABYTE:.1f} GB",
                f"{files:,}",
                f"{STORED_BYTES_PER_STATE * board.size / GIGABYTE:,.0f} GB",
                f"{hours:,.1f}" if hours < 10 else f"{hours:,.0f}",
                f"{moved * board.size / GIGABYTE:,.0f} GB",
            )
        )
    head = ("board", "states", "shards", "a task's memory", "files", "disk", "core hours", "moved")
    return format_table(head, rows)


def format_shards() -> str:
    """Make the table of the measured searches by number of shards."""
    with RESULTS.open() as file:
        lines = [*csv.DictReader(file)]
    rows = [
        (
            line["board"],
            line["shards"],
            *(f"{float(line[name]):.1f} ns" for name in ("memory_ns", "shards_ns")),
            *(f"{float(line[name]):.2f}" for name in ("disk", "read", "written")),
        )
        for line in lines
    ]
    head = ("board", "shards", "in memory, a state", "in shards", "bytes on disk, a state")
    return format_table((*head, "read", "written"), rows)


def format_tables() -> str:
    """Make the part of docs/clusters.md that has measured figures."""
    words = (
        f"Estimates, with {TASK_BYTES >> 30} GiB for each task, from the most that a state took:"
    )
    return "\n".join(
        (
            f"{THREADS} threads built 2x7, the same bytes each time:\n",
            format_builds(),
            f"Processor time and bytes of searches of small boards, by {THREADS} threads:\n",
            format_shards(),
            f"{words}\n",
            format_estimates(),
        )
    )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["measure", board, *counts]:
            measure(board, [int(count) for count in counts])
        case ["build", table, *limits]:
            build(table, limits)
        case _:
            print(format_tables())
