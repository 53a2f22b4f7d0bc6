"""The output of `verify`: a line and a verdict a table, totals, and nothing after a failure."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from puzzle_tablebase.errors import Unreachable
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline import proofs
from puzzle_tablebase.pipeline.commands.builds import FEW_BOARDS, ProofPrinter
from puzzle_tablebase.pipeline.proofs import TableResult, TableVerdict, Verdict
from puzzle_tablebase.pipeline.reporter import Reporter
from puzzle_tablebase.pipeline.run import run_command
from puzzle_tablebase.puzzles import list_puzzles
from puzzle_tablebase.puzzles.sliding import EIGHT
from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.stores.folder import Folder
from tests.support.build_recorder import build_tables
from tests.support.default_tables import COUNT
from tests.support.shell import Cli, Said
from tests.support.tampered import cell, replace_link, rewrite, write_manifest

LINE = re.compile(r"(\S+(?:, \.idx)?) +(?:([\d,]+) rows +)?(\d+) claims? +[\d.]+ s(?:  ([a-z]+))?")


def read_output(capsys: pytest.CaptureFixture[str], *words: str) -> Said:
    code = run_command(["verify", *words])
    return Said(code, *capsys.readouterr())


@pytest.fixture
def eight(copy: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the 8-puzzle's tables, and one of a puzzle that has no rules here."""
    monkeypatch.setattr(proofs, "list_puzzles", lambda: [EIGHT])
    keep_only(copy, "eight", "eight_edge", "knight_tours_5x5")
    return copy


def keep_only(folder: Path, *names: str) -> None:
    entries = read_manifest(Folder(folder))
    write_manifest(Folder(folder), {name: entries[name] for name in names})


def test_quick_reports_that_only_files_were_compared(copy: Path, cli: Cli) -> None:
    code, out, err = cli("verify", "--quick", "--outputs", str(copy))
    *lines, last = out.splitlines()
    assert (code, err) == (0, "")
    rows = [result.groups() for result in map(LINE.fullmatch, lines) if result]
    assert [(name, count, verdict) for name, count, _, verdict in rows] == [
        # by the bytes to be read, and counts last
        ("knight_tours_5x5.parquet", "1,728", "intact"),
        ("knight_tours_8x8.parquet, .idx", "2,048", "intact"),
        ("eight_edge.parquet, .idx", "181,440", "intact"),
        ("eight.parquet, .idx", "362,880", "intact"),
        ("senet.parquet, .idx", "756,756", "intact"),
        ("knight_tours_6x6.parquet", "6,637,920", "intact"),
        ("knight_counts.parquet", "1,066", "intact"),
    ]
    assert len(rows) == len(lines)
    claims = sum(int(row[2]) for row in rows)
    end = "only the files were compared with the manifest"
    assert re.fullmatch(rf"{COUNT} tables: {COUNT} intact; {claims} claims, [\d.]+ s; {end}", last)
    reported = json.loads(cli("verify", "--quick", "--json", "--outputs", str(copy)).out)
    assert {*reported} == {"tables", "unpublished", "unverified", "claims"}
    assert [(entry["table"], entry["board"], entry["verdict"]) for entry in reported["tables"]] == [
        (table.name, None, "intact") for known in list_puzzles() for table in known.tables
    ]
    assert {entry["how"] for entry in reported["tables"]} == {
        "only the bytes of the files were compared with the manifest"
    }
    assert len(reported["claims"]) == claims
    assert reported["unpublished"] == []


def test_a_table_that_no_rule_knows_is_intact(
    eight: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = read_output(capsys, "--outputs", str(eight))
    *lines, last = out.splitlines()
    why = lines.pop(1)
    assert (code, err) == (0, "")
    rows = [result.groups() for result in map(LINE.fullmatch, lines) if result]
    assert [(name, verdict) for name, _, _, verdict in rows] == [
        ("knight_tours_5x5.parquet", "intact"),
        ("eight_edge.parquet, .idx", "proved"),
        ("eight.parquet, .idx", "proved"),
    ]
    assert why == (
        "  intact: the files match the manifest; no puzzle here has a table of that name"
    )
    claims = sum(int(row[2]) for row in rows)
    assert re.fullmatch(rf"3 tables: 2 proved, 1 intact; {claims} claims, [\d.]+ s", last)
    reported = json.loads(read_output(capsys, "--json", "--outputs", str(eight)).out)
    result = {entry["table"]: entry["verdict"] for entry in reported["tables"]}
    assert result == {"eight": "proved", "eight_edge": "proved", "knight_tours_5x5": "intact"}
    replace_link(eight / "knight_tours_5x5.parquet").write_bytes(b"")
    assert read_output(capsys, "--quick", "--outputs", str(eight)).code == 3


def test_verbose_lists_every_claim(eight: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = read_output(capsys, "--verbose", "--outputs", str(eight)).out
    *claims, last = out.splitlines()
    verdicts = [line for line in claims if not line.endswith((" tables", " rows", " records"))]
    count = len(claims) - len(verdicts)
    assert count > 30
    assert re.fullmatch(rf"3 tables: 2 proved, 1 intact; {count} claims, [\d.]+ s", last)
    assert [line.split("; ")[0] for line in verdicts] == [
        "knight_tours_5x5: intact: the files match the manifest",
        "eight_edge: proved: every state was compared with its neighbours",
        "eight: proved: every state was compared with its neighbours",
    ]


def test_nothing_is_claimed_after_a_failure(
    eight: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rewrite(eight, "eight", cell("solutions", 7, 99))
    code, out, err = read_output(capsys, "--outputs", str(eight))
    assert code == 3
    assert "eight.parquet fails a proof" in err
    # the tables verified before are printed, without totals
    assert [line.split(",")[0] for line in out.splitlines()][2:] == ["eight_edge.parquet"]
    assert "tables:" not in out
    reported = json.loads(read_output(capsys, "--json", "--outputs", str(eight)).out)
    assert {*reported} == {"failure"}
    assert reported["failure"]["file"] == "eight.parquet"


def test_boards_with_the_same_verdict_share_a_line() -> None:
    lines = list[str]()
    reported = ProofPrinter(Reporter(quiet=True), lines.append)
    boards = [(f"3x{ranks}", Verdict.RECOUNTED, "again") for ranks in range(3, 3 + FEW_BOARDS)]
    boards += [("5x8", Verdict.PUBLISHED, "as OEIS"), ("5x5", Verdict.PROVED, "listed")]
    reported.on_result(make_result("counts", boards))
    assert re.sub(r"[\d.]+ s ", "- ", lines[0]).split() == [
        *("counts.parquet", "5", "rows", "1", "claim", "-", "published")
    ]
    assert lines[1:] == [
        "  proved: 5x5: listed",
        "  recounted: 3x3, 3x4, 3x5, 3x6, 3x7, 3x8: again",
        "  published: 5x8: as OEIS",
    ]
    boards = [(f"3x{ranks}", Verdict.RECOUNTED, "again") for ranks in range(3, 4 + FEW_BOARDS)]
    reported.on_result(make_result("more", boards))
    assert lines[-1] == "  recounted: 7 boards: again"


def make_result(table: str, boards: list[tuple[str, Verdict, str]]) -> TableResult:
    """Return a table's result with one claim, and verdicts on its boards."""
    claim = {"file": f"{table}.parquet", "claim": "all is well", "rows": 5}
    return TableResult(table, [claim], [TableVerdict(table, *board) for board in boards])


def test_a_folder_with_optional_tables_alone_is_verified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build_tables(tmp_path, SLIDING, *SLIDING.find_tables("sliding_2x3"))
    code, out, err = read_output(capsys, "--outputs", str(tmp_path))
    assert code == 0
    assert re.search(r"\n2 tables: 2 proved; \d+ claims, [\d.]+ s\n$", out)
    defaults = (table.name for stage in list_puzzles() for table in stage.tables)
    assert err == f"note: not published, so not verified: {', '.join(defaults)}\n"


@pytest.mark.parametrize("words", [(), ("--quick",), ("--json",)])
def test_a_folder_without_tables_is_an_error(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        code, out, err = read_output(capsys, *words, "--outputs", str(folder))
        assert (code, out) == (3, "")
        assert "manifest.json is not published. Run: pipeline precompute --outputs" in err


# ---- tables without a verdict ----------------------------------------------------------------


def test_a_table_that_cannot_be_read_has_no_verdict_and_the_others_have_theirs(
    eight: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_file(self: Folder, name: str) -> IO[bytes]:
        if name == "eight_edge.idx":
            raise Unreachable("the connection was cut")
        return whole(self, name)

    whole = Folder.open
    monkeypatch.setattr(Folder, "open", open_file)
    code, out, err = read_output(capsys, "--quick", "--outputs", str(eight))
    assert code == 3
    assert "fails a proof" not in err
    assert "--force" not in err
    assert err.startswith(f"pipeline: {eight / 'eight_edge.idx'} cannot be read: the connection")
    lines = out.splitlines()
    assert lines[2].startswith("  no verdict: ")
    assert "3 tables: 2 intact, 1 without a verdict;" in lines[-1]
    code, out, _ = read_output(capsys, "--quick", "--json", "--outputs", str(eight))
    reported = json.loads(out)
    assert code == 3
    assert {table["table"] for table in reported["tables"]} == {"eight", "knight_tours_5x5"}
    assert {*reported["unverified"]} == {"eight_edge"}
    assert "the connection was cut" in reported["unverified"]["eight_edge"]


def test_a_missing_file_leaves_the_other_verdicts(
    eight: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (eight / "eight_edge.parquet").unlink()
    code, out, err = read_output(capsys, "--outputs", str(eight))
    assert code == 3
    assert f"{eight / 'eight_edge.parquet'} is not published. Run: pipeline precompute" in err
    assert "--force" not in err
    assert "3 tables: 1 proved, 1 intact, 1 without a verdict;" in out.splitlines()[-1]


def test_a_proof_that_needs_too_much_memory_does_not_begin(
    eight: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proofs, "get_free_memory", lambda: 800_000_000)
    code, out, err = read_output(capsys, "--outputs", str(eight))
    assert code == 3
    assert err.startswith("pipeline: The proof of eight needs 0.")
    assert "GB of memory; available: 0.80 GB. Verify the other tables by name" in err
    assert "2 tables" not in out
    assert "1 proved, 1 intact, 1 without a verdict;" in out.splitlines()[-1]


def test_memory_of_large_boards_is_estimated_before(tmp_path: Path) -> None:
    for name, least, most in (("sliding_2x7_14", 11e9, 13e9), ("sliding_3x5_15", 170e9, 180e9)):
        (table,) = SLIDING.find_tables(name)
        assert least < proofs.estimate_memory(table) < most


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system has no affinity")
def test_jobs_limit_the_cores(outputs: Path) -> None:
    code = "import os; from puzzle_tablebase.pipeline import run; "
    code += "run.run_command(['verify', '--quick', '--jobs', '1', 'knight_tours_5x5']); "
    code += "print(len(os.sched_getaffinity(0)))"
    environment = {**os.environ, "PUZZLE_TABLEBASE_OUTPUTS": str(outputs)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=outputs.parent, env=environment, capture_output=True,
        check=True, text=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "1"


# ---- names -----------------------------------------------------------------------------------


def read_names(text: Said) -> list[str]:
    """Return the files of the tables that a proof printed lines of."""
    return [line.split()[0].strip(",") for line in text.out.splitlines() if " claim" in line][:-1]


def test_names_are_those_of_puzzles_and_tables(outputs: Path, cli: Cli) -> None:
    def ask(*names: str) -> Said:
        return cli("verify", *names, "--quick", "--outputs", str(outputs))

    assert read_names(ask("eight")) == ["eight_edge.parquet", "eight.parquet"]
    assert read_names(ask("eight_edge")) == ["eight_edge.parquet"]
    assert read_names(ask("knight_counts", "senet")) == ["senet.parquet", "knight_counts.parquet"]
    assert len(read_names(ask("knight"))) == 4
    text = ask("eigth")
    assert (text.code, text.out) == (2, "")
    assert text.err.startswith("pipeline: There is no table 'eigth'. Did you mean eight?")
    text = ask("sliding_3x4")
    assert (text.code, text.out) == (3, "")
    assert f"Run: pipeline precompute sliding_3x4 --outputs {outputs}" in text.err


def test_a_puzzle_stands_for_its_published_tables_on_request(small_boards: Path, cli: Cli) -> None:
    text = cli("verify", "sliding", "--quick", "--json", "--outputs", str(small_boards))
    verified = {table["table"] for table in json.loads(text.out)["tables"]}
    assert verified == {*read_manifest(Folder(small_boards))}


def test_a_group_is_verified_as_far_as_it_is_published(large_boards: Path, cli: Cli) -> None:
    """A group has the same tables for a board and its mirror image, as in a build."""

    def ask(*words: str) -> Said:
        return cli("verify", *words, "--outputs", str(large_boards))

    for name in ("sliding_3x4", "sliding_4x3", "sliding_3x4_12"):
        text = ask(name, "--quick")
        assert (text.code, read_names(text), text.err) == (0, ["sliding_3x4_12.idx"], "")
    text = ask("sliding_4x3_all", "--quick", "--json")
    assert json.loads(text.out)["unpublished"] == [f"sliding_3x4_{cell}" for cell in (11, 8, 7)]


def test_a_damaged_table_is_found_only_if_it_is_named(copy: Path, cli: Cli) -> None:
    path = replace_link(copy / "senet.idx")
    path.write_bytes(path.read_bytes()[:-1])
    assert cli("verify", "senet", "--quick", "--outputs", str(copy)).code == 3
    text = cli("verify", "knight_tours_5x5", "--outputs", str(copy))
    assert (text.code, read_names(text)) == (0, ["knight_tours_5x5.parquet"])
    assert "proved" in text.out
