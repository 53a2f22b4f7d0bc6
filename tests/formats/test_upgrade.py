"""A folder of the release before, of format 4: what each command does with it.

`tests/reference/format_4` has the tables sliding_2x3_all and knight_tours_3x4, as that release
wrote them.
"""

import json
import shutil
from pathlib import Path
from runpy import run_path

import polars as pl
import pytest

from puzzle_tablebase import FORMAT_VERSION
from puzzle_tablebase.errors import TableVersionError
from puzzle_tablebase.queries.tables import open_tables
from puzzle_tablebase.stores import MANIFEST
from tests.support.build_recorder import contents
from tests.support.hosts import serve
from tests.support.reader_programs import EXAMPLES, run, tool
from tests.support.shell import ROOT, Cli
from tests.support.tampered import seal_values

JAVASCRIPT = ROOT / "tests" / "support" / "query_javascript.mjs"
OLDER = ROOT / "tests" / "reference" / "format_4"
NAMES = ["knight_tours_3x4", "sliding_2x3_5", "sliding_2x3_6"]
QUESTION = "sliding 120453 --board 2x3"
READING = [
    f"query {QUESTION}",
    "query knight a1 --board 3x4",
    "query senet ABABABABAB.....",
    "check sliding 120453 UL --board 2x3",
    "sample sliding --board 2x3",
    "histogram sliding --board 2x3",
    "histogram --output {new}/counts.csv",
    "status",
    "verify",
    "verify --quick",
    "report --output {new}/page.html",
    "explore --output {new}/page.html",
    "remove sliding_2x3_all",
]
"""Commands that read the tables; `{new}` is another folder."""
PLACED = ["copy {folder} {new}", "diff {folder} {folder}", "site {new}/site --outputs {folder}"]
"""Others, which name the folder in a way of their own."""


@pytest.fixture
def older(tmp_path: Path) -> Path:
    return Path(shutil.copytree(OLDER, tmp_path / "older"))


def test_the_folder_is_of_the_version_before() -> None:
    manifest = json.loads((OLDER / MANIFEST).read_bytes())
    assert manifest["format_version"] == FORMAT_VERSION - 1
    assert sorted(manifest["tables"]) == NAMES


def read_refusal(older: Path) -> str:
    """Return the sentence with which a command refuses the folder."""
    rebuild = f"pipeline precompute {' '.join(NAMES)} --outputs {older}"
    return (
        f"pipeline: {older / MANIFEST} has format version 4; this program reads version 5. "
        f"Run: {rebuild}\n"
    )


@pytest.mark.parametrize("words", [*READING, *PLACED])
def test_a_command_that_reads_it_says_what_to_type(
    words: str, older: Path, tmp_path: Path, cli: Cli
) -> None:
    new, before = tmp_path / "new", {**contents(older)}
    new.mkdir()
    filled = [word.format(folder=older, new=new) for word in words.split()]
    outputs = [] if words in PLACED else ["--outputs", str(older)]
    completed = cli(*filled, *outputs)
    assert (completed.code, completed.out, completed.err) == (3, "", read_refusal(older))
    assert contents(older) == before
    assert [*new.iterdir()] == []


def test_other_readers_refuse_it_too(older: Path) -> None:
    with open_tables(str(older)) as tables:
        reader = tables.sliding("2x3")
        for read in (lambda: reader.scan("sliding_2x3_6"), lambda: reader.probe("120453")):
            with pytest.raises(TableVersionError) as caught:
                read()
            assert (caught.value.version, caught.value.supported) == (4, 5)
    question = json.dumps(["sliding", "2x3", "120453"])
    for location in (str(older), None):
        with serve(older) as host:
            completed = run(tool("node"), JAVASCRIPT, location or host.url, stdin=question)
        code, message, _ = json.loads(completed.out)["error"]
        assert (code, "it is of format version 4, not 5" in message) == (3, True)
    open_index = run_path(str(EXAMPLES / "reader.py"))["Index"]
    path = older / "sliding_2x3_6.idx"
    with path.open("rb") as file, pytest.raises(ValueError, match="is not of format version 3"):
        open_index(file, "sliding_2x3_6", 1)


def test_a_host_with_it_is_refused_without_a_command(older: Path, cli: Cli, tmp_path: Path) -> None:
    with serve(older) as host:
        for words in (f"query {QUESTION} --outputs", "verify --outputs"):
            completed = cli(*words.split(), host.url)
            assert (completed.code, completed.out) == (3, "")
            assert "has format version 4; this program reads version 5." in completed.err
            assert "precompute" not in completed.err
        completed = cli("copy", host.url, str(tmp_path / "new"))
        assert (completed.code, "has format version 4" in completed.err) == (3, True)


def test_the_command_rebuilds_what_the_folder_lists(older: Path, cli: Cli) -> None:
    """With the cost first; before, nothing is written."""
    before, command = contents(older), read_refusal(older).partition("Run: pipeline ")[2].split()
    note = f"{older / MANIFEST} has format version 4, not 5\n"
    planned = cli(*command, "--dry-run")
    assert (planned.code, planned.err) == (0, f"pipeline: note: {note}")
    rows = [line.split("  ")[0:1] + line.split()[1:4] for line in planned.out.splitlines()[1:]]
    assert [row[0] for row in rows] == NAMES
    assert all(row[1:3] == ["format", "changed"] for row in rows)
    assert "340.0 MB" in planned.out
    assert contents(older) == before
    completed = cli(*command)
    assert completed.code == 0
    assert completed.err.count("(format changed)") == len(NAMES)
    assert contents(older).keys() == before.keys()
    assert cli("query", *QUESTION.split(), "--outputs", str(older)).code == 0
    assert cli(*command).out == f"up to date: {', '.join(NAMES)}\n"
    verified = cli("verify", "--outputs", str(older))
    assert verified.out.count("proved") == len(NAMES) + 1
    for name in NAMES:  # the values are those of the release before
        new, old = (pl.read_parquet(each / f"{name}.parquet") for each in (older, OLDER))
        assert new.equals(old)


def test_what_is_not_named_is_no_longer_listed_and_stays(older: Path, cli: Cli) -> None:
    completed = cli("precompute", "knight_tours_3x4", "--outputs", str(older))
    others = [f"{name}.{suffix}" for name in NAMES[1:] for suffix in ("idx", "parquet")]
    assert f"the new one does not list {', '.join(others)}\n" in completed.err
    assert all((older / other).read_bytes() == (OLDER / other).read_bytes() for other in others)


def test_a_folder_of_many_tables_is_refused_with_the_command_for_the_default_ones(
    older: Path, cli: Cli
) -> None:
    """A list of more than three names would fill the message."""
    manifest = json.loads((older / MANIFEST).read_bytes())
    del manifest["checksum"]
    manifest["tables"]["eight"] = manifest["tables"].pop("knight_tours_3x4")
    manifest["tables"]["senet"] = []
    (older / MANIFEST).write_bytes(seal_values(manifest))
    completed = cli("query", *QUESTION.split(), "--outputs", str(older))
    assert completed.err.endswith(f"Run: pipeline precompute --outputs {older}\n")
