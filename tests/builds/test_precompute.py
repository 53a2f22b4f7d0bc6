"""Tests of `pipeline precompute`: reproducible bytes, more boards, errors and progress."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from puzzle_tablebase.formats.manifest import Entry, File, Footer
from puzzle_tablebase.pipeline.build import build
from puzzle_tablebase.pipeline.plan import Request
from puzzle_tablebase.pipeline.progress import BuildProgress, BuiltTable
from puzzle_tablebase.puzzles.knight.tables import PUZZLE, estimate_rank_cost
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores.folder import Folder
from tests import first
from tests.support.build_recorder import COUNTS, TOURS
from tests.support.default_tables import COUNT
from tests.support.shell import SCRIPT, Cli, with_a_disk


def test_a_build_that_needs_more_memory_is_refused(tmp_path: Path, cli: Cli) -> None:
    text = cli("precompute", "knight_closed_ranks_8x8", "--memory", "1", "--outputs", str(tmp_path))
    assert (text.code, text.out) == (3, "")
    needed = f"{estimate_rank_cost((8, 8), closed=True) / 1e9:.2f} GB of memory"
    assert f"knight_closed_ranks_8x8 needs {needed}; available: 1.00 GB" in text.err


AMOUNTS: dict[str, dict[str, int]] = {
    "fifteen_123": {"records": 3_360},
    "sliding_2x3_5": {"rows": 360},
    "sliding_3x4_12": {"records": 665_280, "states": 239_500_800},
}
"""What each table has: only a table with a Parquet file has rows."""


@pytest.fixture
def cli(cli_in_process: Cli) -> Cli:
    """Return the command in this process: tests of signals and locks start real ones."""
    return cli_in_process


def list_amounts(found: dict[str, Any]) -> dict[str, int]:
    """Return the amounts that JSON names: rows, records and states, where they are known."""
    units = ("rows", "records", "states")
    return {unit: found[unit] for unit in units if found.get(unit) is not None}


@pytest.mark.parametrize("name", first(2, AMOUNTS))
def test_every_command_counts_what_a_table_has(name: str, tmp_path: Path, cli: Cli) -> None:
    """Build and list a table, for people and as JSON; 3x4 has 360 states a record."""
    amounts, folder = AMOUNTS[name], str(tmp_path)
    unit, count = [*amounts.items()][-1]
    shown = f"{count:,}" if unit == "rows" else f"{count:,} {unit}"

    def ask(*words: str) -> str:
        text = cli(*words, "--outputs", folder)
        assert text.code == (3 if words[0] == "status" else 0), text.err  # other tables are missing
        lines = text.out.splitlines() + text.err.splitlines()
        return "".join(f"{line}\n" for line in lines if name in line) or text.out

    plan = "precompute", name, "--dry-run"
    build = "precompute", name, "--force"
    for words in (plan, build, ("status",), (*build, "--dry-run")):
        assert re.search(rf" {shown}\b", ask(*words)), words
    (estimated,) = json.loads(ask(*plan, "--force", "--json"))["tables"]
    (built,) = json.loads(ask(*build, "--json", "--quiet"))["tables"]
    (row,) = (row for row in json.loads(ask("status", "--json")) if row["table"] == name)
    for found in (estimated["estimate"], built, row):
        assert list_amounts(found) == amounts
    # a proof counts the rows of a table with some, else its records
    unit, count = next(iter(amounts.items()))
    assert f" {count:,} {unit} " in cli("verify", "--quick", "--outputs", folder).out
    found = json.loads(ask("verify", "--quick", "--json"))["claims"]
    assert all(claim["records"] == count for claim in found if claim["file"].endswith(".idx"))
    files = {claim["file"] for claim in found if "rows" in claim} - {"manifest.json"}
    assert files == ({f"{name}.parquet"} if unit == "rows" else set())


BUILT = [
    *("knight_tours_3x7", "sliding_2x3_5", "eight_edge", "knight_closed_counts_6x7"),
    *("fifteen_5-5-5", "knight_ranks_5x4", "knight_closed_ranks_5x6"),
]


@pytest.mark.parametrize("name", first(3, BUILT))
def test_what_follows_a_build_is_a_query_of_it(name: str, tmp_path: Path, cli: Cli) -> None:
    text = cli("precompute", name, "--outputs", str(tmp_path))
    assert text.code == 0
    following = text.out.partition("Next: pipeline ")[2]
    assert cli(*following.split()).code == 0, following


def test_each_table_is_printed_with_its_reason(tmp_path: Path, cli: Cli) -> None:
    text = cli("precompute", "eight", "--outputs", str(tmp_path))
    assert text.code == 0
    # a busy machine has time for lines of progress, which are indented
    lines = [line for line in text.err.splitlines() if not line.startswith("  ")]
    assert [re.sub(r"[\d.]+ s$", "0.0 s", line) for line in lines] == [
        "building eight (missing)",
        "eight: 362,880 rows in 0.0 s",
        "building eight_edge (missing)",
        "eight_edge: 181,440 rows in 0.0 s",
    ]
    rows = [line.split() for line in text.out.splitlines()]
    assert rows[0] == ["table", "reason", "rows", "bytes", "seconds", "per", "second"]
    for name, count, row in zip(("eight", "eight_edge"), (362880, 181440), rows[1:-1], strict=True):
        size = sum((tmp_path / f"{name}.{end}").stat().st_size for end in ("parquet", "idx"))
        assert row[:4] == [name, "missing", f"{count:,}", f"{size:,}"]
        seconds, rate = float(row[4]), float(row[5].replace(",", ""))
        assert seconds >= 0
        assert count / (seconds + 0.006) <= rate <= count / max(seconds - 0.006, 1e-9)
    following = f"pipeline query eight 123456780 --outputs {tmp_path}"
    assert text.out.splitlines()[-1] == f"The tables are in {tmp_path}. Next: {following}"
    assert cli(*following.split()[1:]).code == 0
    second = cli("precompute", "eight", "--outputs", str(tmp_path))
    assert second == (0, f"All 2 tables are up to date in {tmp_path}.\n", "")
    quiet = cli("precompute", "knight_tours_4x3", "--quiet", "--outputs", str(tmp_path))
    assert quiet == (0, "", "")


READ_ONLY = """
mount --bind {folder} {folder} && mount -o remount,ro,bind {folder} || exit 9
touch {folder}/probe 2>/dev/null && exit 9
{build}
"""


def test_up_to_date_tables_need_no_writable_disk(copy: Path) -> None:
    command = f"{SCRIPT} precompute --outputs {copy}"
    result = with_a_disk(READ_ONLY.format(folder=copy, build=f"{command} && {command} --dry-run"))
    assert result.returncode == 0, result.stderr
    first, second = result.stdout.splitlines()
    assert (result.stderr, first) == ("", f"All {COUNT} tables are up to date in {copy}.")
    assert second.startswith("up to date: eight, ")


def test_up_to_date_tables_take_no_lock(copy: Path, cli: Cli) -> None:
    assert cli("precompute", "--outputs", str(copy)).code == 0
    assert not (copy / ".lock").exists()


def test_checkpoints_are_removed_when_all_is_up_to_date(copy: Path, cli: Cli) -> None:
    saved = copy / ".work" / "eight.0123.a1.kept"
    saved.parent.mkdir()
    saved.write_bytes(b"")
    assert cli("precompute", "eight", "--outputs", str(copy)).code == 0
    assert not saved.exists()


def test_checkpoints_are_removed_on_request(copy: Path, cli: Cli) -> None:
    names = ("knight_tours_5x7", "fifteen_7-8_7")
    saved = [copy / ".work" / f"{name}.0123.a1.kept" for name in names]
    saved[0].parent.mkdir()
    for path in saved:
        path.write_bytes(b"")
    removed = cli("remove", "--checkpoints", "knight_tours_5x7", "--outputs", str(copy))
    assert (removed.code, removed.out) == (0, "removed 1 checkpoints\n")
    assert [path.exists() for path in saved] == [False, True]
    assert cli("remove", "--checkpoints", "--outputs", str(copy)).code == 0
    assert not saved[1].exists()
    assert cli("remove", "--outputs", str(copy)).code == 2


def read_progress(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], interval: float, *tables: Table
) -> list[str]:
    """Build tables; return the printed lines, of which none depends on how long the build takes."""
    with BuildProgress(quiet=False, line_interval=interval) as report:
        build(Request(Folder(tmp_path), [(PUZZLE, tables)]), report)
    return capsys.readouterr().err.splitlines()


def test_progress_is_printed_to_its_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    five, _, pairs, _ = PUZZLE.tables
    lines = read_progress(tmp_path, capsys, -1, five, pairs, COUNTS)
    for name, last in (
        ("knight_tours_5x5", "1,728 tours found, prefixes 13 of 13 (100%)"),
        ("knight_tours_8x8", "pairs 2,048 of 2,048 (100%)"),
        ("knight_counts", "3x4 open, steps back 3 of 3 (100%)"),
    ):
        end = next(at for at, line in enumerate(lines) if line.startswith(f"{name}: "))
        assert re.fullmatch(rf"  {name}: {re.escape(last)}(, [\d,.]+/s)?, \d+ s", lines[end - 1])
        assert f"building {name} (missing)" in lines[:end]


def test_a_short_build_prints_no_progress(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = read_progress(tmp_path, capsys, 3600, TOURS, COUNTS)
    assert [line.split()[0] for line in lines] == [
        *("building", "knight_tours_3x4:"),
        *("building", "knight_counts:"),
    ]


def test_printed_progress_ends_with_the_last_step(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Print the last step too: the last line could else be old, as in "starts 35 of 36"."""
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    with BuildProgress(quiet=False) as report:
        report.on_table(PUZZLE.tables[0], "missing")
        for done in range(37):
            now += 0.16
            report.on_step("knight_tours_5x5", "starts", done, 36)
    assert capsys.readouterr().err.splitlines() == [
        "building knight_tours_5x5 (missing)",
        "  knight_tours_5x5: starts 31 of 36 (86%), 6.2/s, 5 s",
        "  knight_tours_5x5: starts 36 of 36 (100%), 6.2/s, 6 s",
    ]


def test_progress_names_the_table_while_several_are_built(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("time.monotonic", lambda: 0.0)
    five, six = PUZZLE.tables[:2]
    with BuildProgress(quiet=False, line_interval=-1) as report:
        report.on_table(five, "missing")
        report.on_step(five.name, "starts", 1, 25)
        report.on_table(six, "missing")
        report.on_step(five.name, "starts", 2, 25)
        report.on_step(six.name, "starts", 1, 36)
        file = File(f"{five.name}.parquet", 1, "", Footer(0, ""))
        report.on_end(BuiltTable(five.name, "", 0.5, Entry(file, 7, "", "", "", {}, None)))
        report.on_step(six.name, "starts", 2, 36)
    assert capsys.readouterr().err.splitlines() == [
        "building knight_tours_5x5 (missing)",
        "  knight_tours_5x5: starts 1 of 25 (4%), 0 s",
        "building knight_tours_6x6 (missing)",
        "  knight_tours_5x5: starts 2 of 25 (8%), 0 s",
        "  knight_tours_6x6: starts 1 of 36 (3%), 0 s",
        "knight_tours_5x5: 7 rows in 0.5 s",
        "  knight_tours_6x6: starts 2 of 36 (6%), 0 s",
    ]


def test_an_interrupt_clears_every_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    monkeypatch.setattr("os.write", lambda number, data: written.append(data))
    report = BuildProgress(quiet=False)
    report._progress.disable = False
    for count, table in enumerate(PUZZLE.tables[:2]):
        report.on_table(table, "missing")
        report.on_step(table.name, "starts", 1, 25)
        report._clear()
        assert written.pop() == b"\x1b[1A" * count + b"\r\x1b[J\x1b[?25h"
