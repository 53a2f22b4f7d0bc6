"""The output of `verify`: a line and a verdict a table, totals, and nothing after a failure."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pytest

from puzzle_tablebase.errors import Unreachable
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline.commands.builds import FEW_BOARDS, ProofPrinter
from puzzle_tablebase.pipeline.kinds import find_prover
from puzzle_tablebase.pipeline.proofs.claims import TableResult
from puzzle_tablebase.pipeline.proofs.verdicts import TableVerdict, Verdict
from puzzle_tablebase.pipeline.reporter import Reporter
from puzzle_tablebase.pipeline.run import run_command
from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.registry import list_puzzles
from puzzle_tablebase.stores import Folder
from tests.support.build_recorder import build_tables
from tests.support.default_tables import COUNT
from tests.support.pancakes import PUZZLE as PANCAKES
from tests.support.shell import Cli, Completed, python
from tests.support.tampered import cell, replace_link, rewrite, write_manifest

LINE = re.compile(r"(\S+(?:, \.idx)?) +(?:([\d,]+) rows +)?(\d+) claims? +[\d.]+ s(?:  ([a-z]+))?")
Verify = Callable[..., Completed]
VERIFY = "puzzle_tablebase.pipeline.verify"
BOARDS = "sliding_2x4_8", "sliding_2x4_7"


@pytest.fixture
def boards(copy: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a small board's tables, and one of a puzzle that has no rules here."""
    monkeypatch.setattr(f"{VERIFY}.list_puzzles", lambda: [SLIDING])
    build_tables(copy, SLIDING, *SLIDING.find_tables("sliding_2x4"))
    entries = read_manifest(Folder(copy))
    names = *BOARDS, "knight_tours_5x5"
    write_manifest(Folder(copy), {name: entries[name] for name in names})
    return copy


@pytest.fixture
def verify(boards: Path, capsys: pytest.CaptureFixture[str]) -> Verify:
    """Return a function that verifies the tables of `boards` in this process."""

    def run(*words: str) -> Completed:
        code = run_command(["verify", *words, "--outputs", str(boards)])
        return Completed(code, *capsys.readouterr())

    return run


def test_quick_reports_that_only_files_were_compared(copy: Path, cli: Cli) -> None:
    code, out, err = cli("verify", "--quick", "--outputs", str(copy))
    *lines, last = out.splitlines()
    assert (code, err) == (0, "")
    rows = [result.groups() for result in map(LINE.fullmatch, lines) if result]
    assert len(rows) == len(lines)
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
    claims = sum(int(row[2]) for row in rows)
    end = "only the files were compared with the manifest"
    assert re.fullmatch(rf"{COUNT} tables: {COUNT} intact; {claims} claims, [\d.]+ s; {end}", last)
    reported = json.loads(cli("verify", "--quick", "--json", "--outputs", str(copy)).out)
    assert {*reported} == {"tables", "unpublished", "unverified", "claims"}
    assert [(entry["table"], entry["board"], entry["verdict"]) for entry in reported["tables"]] == [
        (table.name, None, "intact") for known in list_puzzles() for table in known.tables
    ]
    assert sum(entry["seconds"] for entry in reported["tables"]) > 0
    assert (len(reported["claims"]), reported["unpublished"]) == (claims, [])


def test_a_table_that_no_rule_knows_is_intact(verify: Verify, boards: Path) -> None:
    reported = json.loads(verify("--json").out)
    verdicts = {entry["table"]: entry["verdict"] for entry in reported["tables"]}
    assert verdicts == {**dict.fromkeys(BOARDS, "proved"), "knight_tours_5x5": "intact"}
    code, out, err = verify("--verbose")
    *claims, last = out.splitlines()
    verdict_lines = [line for line in claims if not line.endswith((" tables", " rows", " records"))]
    assert (code, err, len(claims) - len(verdict_lines)) == (0, "", len(reported["claims"]))
    assert f"3 tables: 2 proved, 1 intact; {len(reported['claims'])} claims, " in last
    assert [line.partition(": ")[2].split(":")[0] for line in verdict_lines] == [
        *("intact", "proved", "proved")
    ]
    replace_link(boards / "knight_tours_5x5.parquet").write_bytes(b"")
    assert verify("--quick").code == 3


def test_a_proof_by_the_rules_of_a_plugin_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(f"{VERIFY}.list_puzzles", lambda: [PANCAKES, SLIDING])
    build_tables(tmp_path, PANCAKES)
    build_tables(tmp_path, SLIDING, *SLIDING.find_tables("sliding_2x2_4"))
    assert run_command(["verify", "--outputs", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == [
        "pancakes.parquet",
        "  proved: by the plugin's own rules",
        "sliding_2x2_4.parquet",
        "2 tables: 2 proved; 28 claims",
    ]
    assert run_command(["verify", "--json", "--outputs", str(tmp_path)]) == 0
    reported = json.loads(capsys.readouterr().out)["tables"]
    by_plugin = {entry["table"]: entry["by_plugin"] for entry in reported}
    assert by_plugin == {"pancakes": True, "sliding_2x2_4": False}


def test_nothing_is_claimed_after_a_failure(verify: Verify, boards: Path) -> None:
    rewrite(boards, "sliding_2x4_8", cell("distance", 7, 30))
    code, out, err = verify()
    assert code == 3
    assert "sliding_2x4_8.parquet fails a proof" in err
    # the tables verified before are printed, without totals
    assert [line.split(",")[0] for line in out.splitlines()][2:] == ["sliding_2x4_7.parquet"]
    reported = json.loads(verify("--json").out)
    assert {*reported} == {"failure"}
    assert reported["failure"]["file"] == "sliding_2x4_8.parquet"


def test_boards_with_the_same_verdict_share_a_line() -> None:
    lines = list[str]()
    reported = ProofPrinter(Reporter(quiet=True), lines.append)
    claim = {"file": "counts.parquet", "claim": "all is well", "rows": 5}
    boards = [(f"3x{ranks}", Verdict.RECOUNTED, "again") for ranks in range(3, 3 + FEW_BOARDS)]
    boards += [("5x8", Verdict.PUBLISHED, "as OEIS"), ("5x5", Verdict.PROVED, "listed")]
    for further in ([], [("4x9", Verdict.RECOUNTED, "again")]):
        verdicts = [TableVerdict("counts", *board) for board in boards + further]
        reported.on_result(TableResult("counts", [claim], verdicts))
    assert re.sub(r"[\d.]+ s ", "- ", lines[0]).split() == [
        *("counts.parquet", "5", "rows", "1", "claim", "-", "published")
    ]
    assert lines[1:4] == [
        "  proved: 5x5: listed",
        "  recounted: 3x3, 3x4, 3x5, 3x6, 3x7, 3x8: again",
        "  published: 5x8: as OEIS",
    ]
    assert lines[6] == "  recounted: 7 boards: again"


def test_a_folder_with_optional_tables_alone_is_verified(tmp_path: Path, cli: Cli) -> None:
    build_tables(tmp_path, SLIDING, *SLIDING.find_tables("sliding_2x3"))
    code, out, err = cli("verify", "--outputs", str(tmp_path))
    assert code == 0
    assert re.search(r"\n2 tables: 2 proved; \d+ claims, [\d.]+ s\n$", out)
    defaults = (table.name for stage in list_puzzles() for table in stage.tables)
    assert err == f"note: not published, so not verified: {', '.join(defaults)}\n"


@pytest.mark.parametrize("folder", [".", "missing"])
def test_a_folder_without_tables_is_an_error(folder: str, tmp_path: Path, cli: Cli) -> None:
    code, out, _ = cli("verify", "--json", "--outputs", str(tmp_path / folder))
    assert (code, out) == (3, "")


# ---- tables without a verdict ----------------------------------------------------------------


def lose_connection(_: Path, patch: pytest.MonkeyPatch) -> None:
    def open_file(self: Folder, name: str) -> IO[bytes]:
        if name == "sliding_2x4_7.idx":
            raise Unreachable("the connection was lost")
        return whole(self, name)

    whole = Folder.open
    patch.setattr(Folder, "open", open_file)


@pytest.mark.parametrize(
    ("change", "words", "reason"),
    [
        (lose_connection, ["--quick"], "the connection was lost"),
        (lambda boards, _: (boards / "sliding_2x4_7.parquet").unlink(), [], "is not published"),
        (lambda _, patch: patch.setattr(f"{VERIFY}.get_free_memory", lambda: 10**6), [], " 0."),
    ],
)
def test_a_table_that_cannot_be_verified_leaves_the_other_verdicts(
    verify: Verify,
    boards: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path, pytest.MonkeyPatch], None],
    words: list[str],
    reason: str,
) -> None:
    change(boards, monkeypatch)
    code, out, err = verify(*words)
    assert code == 3
    assert reason in err
    assert "fails a proof" not in err
    assert "--force" not in err
    assert "\n  no verdict: " in out
    assert " without a verdict;" in out.splitlines()[-1]
    code, out, _ = verify(*words, "--json")
    reported: dict[str, Any] = json.loads(out)
    assert code == 3
    verdicts = {table["table"] for table in reported["tables"]}
    assert "sliding_2x4_7" in reported["unverified"]
    assert "knight_tours_5x5" in verdicts
    assert verdicts | {*reported["unverified"]} == {*BOARDS, "knight_tours_5x5"}


def test_memory_of_large_boards_is_estimated_before() -> None:
    for name, least, most in (("sliding_2x7_14", 11e9, 13e9), ("sliding_3x5_15", 170e9, 180e9)):
        (table,) = SLIDING.find_tables(name)
        prover = find_prover(table)
        assert prover
        assert least < prover.estimate_memory(table) < most


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system has no affinity")
def test_jobs_limit_the_cores(outputs: Path) -> None:
    code = "import os, sys; from puzzle_tablebase.pipeline import run; "
    code += "run.run_command(['verify', '--quick', '--jobs', '1', *sys.argv[1:]]); "
    code += "print(len(os.sched_getaffinity(0)))"
    printed = python(code, "knight_tours_5x5", "--outputs", str(outputs)).out.splitlines()
    assert (printed[0].split()[0], printed[-1]) == ("knight_tours_5x5.parquet", "1")


# ---- names -----------------------------------------------------------------------------------


def read_names(text: Completed) -> list[str]:
    """Return the files of the tables that a proof printed lines of."""
    return [line.split()[0].strip(",") for line in text.out.splitlines() if " claim" in line][:-1]


@pytest.mark.parametrize(
    ("words", "files"),
    [
        ("eight", ["eight_edge.parquet", "eight.parquet"]),
        ("eight_edge", ["eight_edge.parquet"]),
        ("knight_counts senet", ["senet.parquet", "knight_counts.parquet"]),
    ],
)
def test_names_are_those_of_puzzles_and_tables(
    outputs: Path, cli: Cli, words: str, files: list[str]
) -> None:
    text = cli("verify", *words.split(), "--quick", "--outputs", str(outputs))
    assert (text.code, read_names(text)) == (0, files)


@pytest.mark.parametrize(("name", "code"), [("eigth", 2), ("sliding_3x4", 3)])
def test_other_names_are_refused(outputs: Path, cli: Cli, name: str, code: int) -> None:
    text = cli("verify", name, "--quick", "--outputs", str(outputs))
    assert (text.code, text.out) == (code, "")


def test_a_group_is_verified_as_far_as_it_is_published(large_boards: Path, cli: Cli) -> None:
    """A group has the same tables for a board and its mirror image, as in a build."""
    for name in ("sliding_3x4", "sliding_4x3", "sliding_3x4_12"):
        text = cli("verify", name, "--quick", "--outputs", str(large_boards))
        assert (text.code, read_names(text), text.err) == (0, ["sliding_3x4_12.idx"], "")
    text = cli("verify", "sliding_4x3_all", "--quick", "--json", "--outputs", str(large_boards))
    assert json.loads(text.out)["unpublished"] == [f"sliding_3x4_{cell}" for cell in (11, 8, 7)]
