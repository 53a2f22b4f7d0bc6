"""The generated parts of README.md: what is claimed, and other ways to the answers.

Numbers come from the manifest, from `docs/benchmarks.md`, which `make bench` writes, and from the
verdicts of `docs/trust.md`, which the tests compare with those of `pipeline verify`.
"""

from __future__ import annotations

import re
from pathlib import Path

from puzzle_tablebase.puzzles import list_puzzles
from puzzle_tablebase.tables.manifest import Entry, read_manifest
from puzzle_tablebase.tables.store import Folder
from tests.support.trust_page import rows
from tools.format_tables import format_table

CLAIMS = """\
- **Complete**: all {eight:,} states of the 8-puzzle, all {senet:,} positions of Senet (those
  that never arise are marked), all {tours:,} tours of the 6x6 board.
- **Fast**: a lookup takes {seconds} on the machine of the [benchmarks](docs/benchmarks.md),
  {ratio} times as long as starting Python.
- **Open**: {tables} Parquet tables of {size:.0f} MB in all, and [indexes](docs/format/index.md)
  that a short program in any language can read.
- **Checked**: `pipeline verify` proves {proved} of the {tables} tables from the rules, with code
  that shares only the rules, the file formats and the task runner, and recounts
  `knight_counts`. [Guarantees](docs/trust.md) says what holds for each.
"""
PEERS = {
    "`pipeline query eight`": "look up one state of the 8-puzzle",
    "a polars scan of eight.parquet": "the same with a scan of the table in polars",
    "`pipeline query senet`": "look up one position of Senet",
    "`python -c pass`": "start Python",
}
"""Processes of the benchmarks, each with what it does."""


def make_parts(root: Path) -> dict[str, str]:
    """Make the generated parts of README.md, by their marks."""
    entries = read_manifest(Folder(root / "outputs"))
    benchmarks = (root / "docs" / "benchmarks.md").read_text("utf-8")
    return {
        "claims": format_claims(entries, benchmarks),
        "peers": format_table("what, time", list_peers(benchmarks)),
    }


def find_cells(benchmarks: str, name: str) -> list[str]:
    """Find a row of the benchmarks by its first cell, and return the others."""
    (row,) = re.findall(rf"^\| {re.escape(name)} \| (.*) \|$", benchmarks, re.MULTILINE)
    return [str(cell) for cell in row.split(" | ")]


def format_claims(entries: dict[str, Entry], benchmarks: str) -> str:
    """Format what README claims, with the numbers that support it."""
    seconds, ratio = find_cells(benchmarks, "`pipeline query eight`")
    default = [table.name for puzzle in list_puzzles() for table in puzzle.tables]
    proved = [row for row in rows("Default tables") if row.verdict == "proved" and not row.boards]
    return CLAIMS.format(
        eight=entries["eight"].rows,
        senet=entries["senet"].rows,
        tours=entries["knight_tours_6x6"].rows,
        seconds=seconds,
        ratio=ratio,
        tables=len(default),
        size=sum(entries[name].bytes for name in default) / 1e6,
        proved=sum(any(f"`{name}`" in row.tables for row in proved) for name in default),
    )


def list_peers(benchmarks: str) -> list[tuple[str, str]]:
    """List measured processes beside ours, then searches beside plain C."""
    looked_up = [
        (f"{what} (whole process)", find_cells(benchmarks, name)[0]) for name, what in PEERS.items()
    ]
    korf = re.findall(r"Korf's hundred boards took ([\d.]+ s) of processor time", benchmarks)[0]
    here, plain_c, _ = find_cells(benchmarks, "8-puzzle, its three goals")
    return [
        *looked_up,
        ("search the whole 8-puzzle for three goals (search alone, one core)", here),
        ("the same in plain C (search alone, one core)", plain_c),
        (
            "solve Korf's hundred boards of the 15-puzzle, with tables of 577 MB, built on request",
            f"{korf} of processor time",
        ),
    ]
