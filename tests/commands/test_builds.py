"""Tests of `pipeline precompute`: what it plans, prints, logs and leaves."""

import calendar
import json
import time
from pathlib import Path

import numpy as np
import pytest

from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline.kinds import checkpoints
from puzzle_tablebase.pipeline.log import COMPLETED
from puzzle_tablebase.pipeline.select import find_request
from puzzle_tablebase.stores import Folder
from tests import first
from tests.support.build_recorder import contents, read_log
from tests.support.shell import Cli

AMOUNTS: dict[str, dict[str, int | None]] = {
    "fifteen_123": {"rows": None, "records": 3_360, "states": None},
    "sliding_2x3_5": {"rows": 360, "records": None, "states": None},
    "sliding_3x4_12": {"rows": None, "records": 665_280, "states": 239_500_800},
}
"""What each table has: only a table with a Parquet file has rows."""


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


FOLLOWED = [
    *("sliding_2x3_5", "eight_edge", "fifteen_5-5-5", "knight_counts_13x3", "knight_tours_5x5"),
    *("knight_ranks_4x5", "knight_closed_ranks_5x6", "knight_closed_counts_14x3"),
    *("knight_tours_3x4", "knight_counts"),
]


@pytest.mark.parametrize("name", first(8, FOLLOWED))
def test_what_follows_a_build_is_a_query_of_it(name: str, tmp_path: Path, cli: Cli) -> None:
    text = cli("precompute", name, "--outputs", str(tmp_path))
    assert text.code == 0
    following = text.out.partition("Next: pipeline ")[2]
    assert following.startswith("query ")
    assert cli(*following.split()).code == 0, following
    assert cli("precompute", name, "--quiet", "--outputs", str(tmp_path)) == (0, "", "")


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


NAMES = ("eight", "eight_edge", "knight_tours_5x5")


def test_the_command_builds_what_its_dry_run_printed(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    words = ("precompute", "eight", NAMES[-1], "--outputs", str(folder))
    planned = cli(*words, "--dry-run", "--json")
    assert (planned.code, planned.err) == (0, "")
    assert not folder.exists()
    tables = json.loads(planned.out)["tables"]
    assert [(row["table"], row["reason"]) for row in tables] == [(n, "missing") for n in NAMES]
    began = time.time()
    assert cli(*words).code == 0
    before, runs = contents(folder), read_log(folder)
    assert {*read_manifest(Folder(folder))} == {*NAMES}
    assert sorted(each["table"] for each in runs) == sorted(NAMES), "one line a table"
    for each in runs:
        assert [*each] == ["when", "table", "reason", "seconds", "peak_memory", "outcome"]
        assert (each["reason"], each["outcome"]) == ("missing", COMPLETED)
        ended = calendar.timegm(time.strptime(each["when"], "%Y-%m-%dT%H:%M:%SZ"))
        assert began - 1 <= ended <= time.time()
        assert 0 < each["seconds"] <= time.time() - began
        assert 50 << 20 < each["peak_memory"] < 4 << 30
    up_to_date = json.loads(cli(*words, "--dry-run", "--json").out)
    assert up_to_date == {"tables": [], "up_to_date": [*NAMES]}
    assert cli(*words).code == 0
    forced = json.loads(cli(*words, "--dry-run", "--json", "--force").out)
    assert forced["tables"] == [{**row, "reason": "forced"} for row in tables]
    assert (contents(folder), read_log(folder)) == (before, runs)


def test_a_dry_run_says_what_a_build_resumes_from(cli: Cli, tmp_path: Path) -> None:
    _, (table,) = find_request("knight_tours_5x5")
    checkpoints(Folder(tmp_path), table).save("a task", [np.arange(9)])
    words = ("precompute", table.name, "--outputs", str(tmp_path), "--dry-run", "--json")
    for more, saved in (((), 1), (("--jobs", "3"), 1), (("--force",), None)):
        (row,) = json.loads(cli(*words, *more).out)["tables"]
        assert row["checkpoints"] == saved
