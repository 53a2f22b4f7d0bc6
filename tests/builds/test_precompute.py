"""Tests of `pipeline precompute`: what it prints, what follows it, and what it leaves."""

import json
import re
from contextlib import nullcontext
from pathlib import Path

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

UP_TO_DATE = "up to date: eight, eight_edge\n"
AMOUNTS: dict[str, dict[str, int | None]] = {
    "fifteen_123": {"rows": None, "records": 3_360, "states": None},
    "sliding_2x3_5": {"rows": 360, "records": None, "states": None},
    "sliding_3x4_12": {"rows": None, "records": 665_280, "states": 239_500_800},
}
"""What each table has: only a table with a Parquet file has rows."""


def test_a_build_that_needs_more_memory_is_refused(tmp_path: Path, cli: Cli) -> None:
    name = "knight_closed_ranks_8x8"
    text = cli("precompute", name, "--memory", "1", "--outputs", str(tmp_path))
    assert (text.code, text.out) == (3, "")
    needed = estimate_cost(PUZZLE.find_tables(name)[0]).memory
    assert f"{name} needs {needed / 1e9:.2f} GB of memory; available: 1.00 GB" in text.err


@pytest.mark.parametrize("name", first(2, AMOUNTS))
def test_every_command_counts_what_a_table_has(name: str, tmp_path: Path, cli: Cli) -> None:
    words, folder = ("precompute", name, "--force", "--json"), ("--outputs", str(tmp_path))
    (planned,) = json.loads(cli(*words, "--dry-run", *folder).out)["tables"]
    (built,) = json.loads(cli(*words, *folder).out)["tables"]
    status = json.loads(cli("status", "--json", *folder).out)
    for row in (planned, built, *(row for row in status if row["table"] == name)):
        assert AMOUNTS[name].items() <= row.items()
    # a proof counts the rows of a table with some, else its records
    count = next(filter(None, AMOUNTS[name].values()))
    claims = json.loads(cli("verify", "--quick", "--json", *folder).out)["claims"]
    assert count in [claim.get("rows", claim.get("records")) for claim in claims]


@pytest.mark.parametrize("name", ["sliding_2x3_5", "eight_edge", "fifteen_5-5-5"])
def test_what_follows_a_build_is_a_query_of_it(name: str, tmp_path: Path, cli: Cli) -> None:
    text = cli("precompute", name, "--outputs", str(tmp_path))
    assert text.code == 0
    following = text.out.partition("Next: pipeline ")[2]
    assert cli(*following.split()).code == 0, following
    assert cli("precompute", name, "--quiet", "--outputs", str(tmp_path)) == (0, "", "")


READ_ONLY = """
mount --bind {folder} {folder} && mount -o remount,ro,bind {folder} || exit 9
touch {folder}/probe 2>/dev/null && exit 9
{build}
"""


def test_only_tables_that_are_up_to_date_need_no_writable_disk(copy: Path) -> None:
    command = f"{SCRIPT} precompute --outputs {copy}"
    build = f"{command} && {command} --dry-run && {command} --force"
    result = with_a_disk(READ_ONLY.format(folder=copy, build=build))
    assert (result.returncode, "read-only file system" in result.stderr) == (3, True)
    first, second = result.stdout.splitlines()
    assert first == second
    assert first.count(",") == COUNT - 1


def test_up_to_date_tables_take_no_lock_unless_a_kill_left_something(copy: Path, cli: Cli) -> None:
    words = ("precompute", "eight", "--outputs", str(copy))
    assert cli(*words) == (0, UP_TO_DATE, "")
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
    for words, left in (
        ("--checkpoints knight_tours_5x7", [False, True]),
        ("knight_tours_3x8", [True, False]),
        ("--checkpoints", [False, False]),
    ):
        saved[0].parent.mkdir(exist_ok=True)
        for path in saved:
            path.write_bytes(b"")
        assert cli("remove", *words.split(), "--outputs", str(copy)).code == 0
        assert [path.exists() for path in saved] == left
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
        steps = {re.sub(r", \d+ s$", "", line) for line in lines if line.startswith("  ")}
        assert not steps or interval < 0
        assert interval > 0 or steps >= {
            "  knight_tours_5x5: 1,728 tours found, prefixes 168 of 168 (100%)",
            "  knight_counts: 3x4 open, steps back 3 of 3 (100%)",
        }
        for _, table in tables:
            assert any(line.startswith(f"{table.name}: ") for line in lines)
            assert f"building {table.name} (missing)" in lines
