"""Tests of `pipeline precompute`: reproducible bytes, more boards, errors and progress."""

import json
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from puzzle_tablebase.pipeline.jobs import build
from puzzle_tablebase.pipeline.reporter import Reporter
from puzzle_tablebase.pipeline.searches import estimate_cost
from puzzle_tablebase.pipeline.tasks import open_tasks
from puzzle_tablebase.puzzles.knight.tables import PUZZLE
from puzzle_tablebase.stores.folder import Folder
from tests import first
from tests.support.build_recorder import COUNTS
from tests.support.default_tables import COUNT
from tests.support.shell import SCRIPT, Cli, with_a_disk


def test_a_build_that_needs_more_memory_is_refused(tmp_path: Path, cli: Cli) -> None:
    text = cli("precompute", "knight_closed_ranks_8x8", "--memory", "1", "--outputs", str(tmp_path))
    assert (text.code, text.out) == (3, "")
    (table,) = PUZZLE.find_tables("knight_closed_ranks_8x8")
    cost = estimate_cost(table)
    needed = f"{cost.memory / 1e9:.2f} GB of memory"
    assert f"knight_closed_ranks_8x8 needs {needed}; available: 1.00 GB" in text.err


UP_TO_DATE = "up to date: eight, eight_edge\n"
AMOUNTS: dict[str, dict[str, int]] = {
    "fifteen_123": {"records": 3_360},
    "sliding_2x3_5": {"rows": 360},
    "sliding_3x4_12": {"records": 665_280, "states": 239_500_800},
}
"""What each table has: only a table with a Parquet file has rows."""


@pytest.fixture
def cli(cli: Cli) -> Cli:
    """Return the command in this process: tests of signals and locks start real ones."""
    return cli


def list_amounts(found: dict[str, Any]) -> dict[str, int]:
    """Return the amounts that JSON names: rows, records and states, where they are known."""
    units = ("rows", "records", "states")
    return {unit: found[unit] for unit in units if found.get(unit) is not None}


@pytest.mark.parametrize("name", first(2, AMOUNTS))
def test_every_command_counts_what_a_table_has(name: str, tmp_path: Path, cli: Cli) -> None:
    """Build and list a table, for people and as JSON; 3x4 has 360 states a record."""
    amounts, folder = AMOUNTS[name], str(tmp_path)
    count = [*amounts.values()][-1]

    def ask(*words: str) -> str:
        text = cli(*words, "--outputs", folder)
        assert text.code == (3 if words[0] == "status" else 0), text.err  # other tables are missing
        lines = text.out.splitlines() + text.err.splitlines()
        return "".join(f"{line}\n" for line in lines if name in line) or text.out

    plan = "precompute", name, "--dry-run"
    build = "precompute", name, "--force"
    for words in (plan, build, ("status",), (*build, "--dry-run")):
        assert re.search(rf" {count:,}\b", ask(*words)), words
    (estimated,) = json.loads(ask(*plan, "--force", "--json"))["tables"]
    (built,) = json.loads(ask(*build, "--json", "--quiet"))["tables"]
    (row,) = (row for row in json.loads(ask("status", "--json")) if row["table"] == name)
    for found in (estimated, built, row):
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
    folder = ("--outputs", str(tmp_path))
    text = cli("precompute", "eight", *folder)
    assert text.code == 0
    # a busy machine has time for lines of progress, which are indented
    lines = [line.split()[:3] for line in text.err.splitlines() if not line.startswith("  ")]
    rows = [line.split() for line in text.out.splitlines()][1:-1]
    for name, count, row in zip(("eight", "eight_edge"), (362_880, 181_440), rows, strict=True):
        assert lines[:2] == [["building", name, "(missing)"], [f"{name}:", f"{count:,}", "rows"]]
        del lines[:2]
        assert row[:3] == [name, "missing", f"{count:,}"]
    following = f"pipeline query eight 123456780 --outputs {tmp_path}"
    assert text.out.splitlines()[-1] == f"The tables are in {tmp_path}. Next: {following}"
    assert cli("precompute", "eight", *folder) == (0, UP_TO_DATE, "")
    assert cli("precompute", "knight_tours_4x3", "--quiet", *folder) == (0, "", "")


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
    assert (result.stderr, first, first.count(",")) == ("", second, COUNT - 1)
    assert second.startswith("up to date: eight, ")


def test_up_to_date_tables_take_no_lock_unless_a_kill_left_something(copy: Path, cli: Cli) -> None:
    words = ("precompute", "eight", "--outputs", str(copy))
    assert cli(*words).code == 0
    assert not (copy / ".lock").exists()
    work = copy / ".work"
    for name in ("eight.0123.a1.kept", ".0123.unpublished"):
        work.mkdir()
        (work / name).write_bytes(b"")
        with Folder(copy).lock() if name.startswith("eight") else nullcontext():
            assert cli(*words).code == 0  # beside another build, too
        assert cli(*words) == (0, UP_TO_DATE, "")
        assert not work.exists()


def test_checkpoints_are_removed_on_request(copy: Path, cli: Cli) -> None:
    names = ("knight_tours_5x7", "knight_tours_3x8")
    saved = [copy / ".work" / f"{name}.0123.a1.kept" for name in names]
    saved[0].parent.mkdir()
    for path in saved:
        path.write_bytes(b"")
    removed = cli("remove", "--checkpoints", "knight_tours_5x7", "--outputs", str(copy))
    assert (removed.code, removed.out) == (0, "removed 1 checkpoints\n")
    assert [path.exists() for path in saved] == [False, True]
    assert cli("remove", "knight_tours_3x8", "--outputs", str(copy)).code == 0
    assert not saved[1].exists()
    saved[0].parent.mkdir(exist_ok=True)
    saved[0].write_bytes(b"")
    assert cli("remove", "--checkpoints", "--outputs", str(copy)).code == 0
    assert not saved[0].exists()
    assert cli("remove", "--outputs", str(copy)).code == 2


def test_progress_is_printed_now_and_then(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Print every step, and none but the tables themselves."""
    tables = [(PUZZLE, table) for table in (PUZZLE.tables[0], COUNTS)]
    for interval in (-1, 3600):
        monkeypatch.setattr("puzzle_tablebase.pipeline.reporter.LINE_INTERVAL", interval)
        with Reporter() as reporter, open_tasks(jobs=1) as tasks:
            build(Folder(tmp_path / str(interval)), tables, tasks, reporter)
        lines = capsys.readouterr().err.splitlines()
        steps = [line for line in lines if line.startswith("  ")]
        if interval < 0:
            last = [
                "knight_tours_5x5: 1,728 tours found, prefixes 13 of 13 (100%)",
                "knight_counts: 3x4 open, steps back 3 of 3 (100%)",
            ]
            assert [
                re.sub(r", \d+ s$", "", line).strip()
                for line in steps
                if line[2:].startswith(
                    ("knight_tours_5x5: 1,728", "knight_counts: 3x4 open, steps back 3")
                )
            ] == last
        else:
            assert steps == []
        for _, table in tables:
            at = lines.index(f"building {table.name} (missing)")
            assert any(line.startswith(f"{table.name}: ") for line in lines[at:])


def test_an_interrupt_clears_every_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    monkeypatch.setattr("os.write", lambda number, data: written.append(data))
    reporter = Reporter()
    reporter._bars.disable = False
    for count, table in enumerate(PUZZLE.tables[:2]):
        reporter.update("starts", 1, 25, of=table.name)
        reporter._clear()
        assert written.pop() == b"\x1b[1A" * count + b"\r\x1b[J\x1b[?25h"


def test_names_that_can_be_built_are_listed(cli: Cli) -> None:
    everything = cli("precompute", "--list").out
    for name in ("eight_edge", "senet", "sliding_3x4_all", "fifteen_7-8", "knight_counts_8x8"):
        assert f"\n{name} " in everything
    listed = cli("precompute", "--list", "eight", "senet").out
    assert listed.split("\n")[0] == "Built by eight:"
    assert "knight" not in listed
    assert cli("precompute", "--list", "nothing").code == 2
