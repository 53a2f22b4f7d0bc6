"""Tests of output files: beside the tables, through links and streams, and over the input."""

import os
import stat
from pathlib import Path

import pytest

from puzzle_tablebase.output import open_output, write_output
from puzzle_tablebase.pipeline.run import run_command
from tests.support.shell import SCRIPT, Cli, run


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("query eight --format csv --output", "eight.parquet"),
        ("query eight --format csv --output", ".lock"),
        ("query eight 123456780 --svg", "eight.idx"),
        ("report --output", "manifest.json"),
    ],
)
def test_the_tables_own_files_are_not_replaced(words: str, name: str, cli: Cli, copy: Path) -> None:
    (copy / ".lock").touch()
    (copy / "link").symlink_to(name)
    before = {path.name: path.read_bytes() for path in copy.iterdir()}
    for target in (copy / name, copy / "link"):
        text = cli(*words.split(), str(target), "--outputs", str(copy), stdin="123456780")
        assert text.code == 2
        assert "it belongs to the tables" in text.err
    assert {path.name: path.read_bytes() for path in copy.iterdir()} == before


def test_a_link_stays_a_link_and_a_mode_stays(tmp_path: Path) -> None:
    folder, first, second, third = (tmp_path / name for name in ("folder", "1", "2", "3"))
    folder.mkdir()
    target = folder / "target"
    target.touch()
    target.chmod(0o640)
    second.symlink_to(target)
    first.symlink_to("2")
    write_output(str(first), b"new")
    assert first.is_symlink()
    assert second.is_symlink()
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    third.symlink_to("folder/none yet")
    write_output(str(third), b"made")
    assert (folder / "none yet").read_bytes() == b"made"
    assert {path.name for path in folder.iterdir()} == {"target", "none yet"}
    (tmp_path / "plain").touch()
    assert third.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_file_is_replaced_completely_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "answers"
    path.write_bytes(b"old")

    def write_and_fail() -> None:
        with open_output(str(path)) as file:
            file.write(b"new" * 10_000)
            (tmp_path / "none").open()  # this is no error of the output

    with pytest.raises(FileNotFoundError):
        write_and_fail()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
    write_output(str(tmp_path / ("n" * 255)), b"as long a name as there may be")


@pytest.mark.parametrize(
    "name", ["keys.txt", "./keys.txt", "there/../keys.txt", "link", "hardlink"]
)
def test_an_input_is_not_overwritten(
    name: str, tmp_path: Path, outputs: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    keys = tmp_path / "keys.txt"
    keys.write_text("123456780\n")
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(keys)
    (tmp_path / "hardlink").hardlink_to(keys)
    alias = os.path.join(tmp_path, name)
    words = f"query eight --format csv --outputs {outputs}".split()
    for source, target in ((str(keys), alias), (alias, str(keys))):
        assert run_command([*words, "--input", source, "--output", target]) == 2
        assert "it is the input" in capfd.readouterr().err
    assert keys.read_text() == "123456780\n"


def test_an_input_that_is_a_stream_is_not_overwritten(tmp_path: Path, outputs: Path) -> None:
    keys = tmp_path / "keys.txt"
    keys.write_text("123456780\n")
    script = f"{SCRIPT} query eight --format csv --outputs {outputs}"
    for streams in (f"<{keys} --output {keys}", f"--input {keys} >>{keys}", f"<{keys} >>{keys}"):
        result = run(["sh", "-c", f"{script} {streams}"])
        assert result.code == 2
        assert "it is the input" in result.err
        assert keys.read_text() == "123456780\n"


def test_a_tilde_stands_for_the_home_folder(
    tmp_path: Path, outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "keys.txt").write_text("123456780\n")
    (tmp_path / "tables").symlink_to(outputs)
    line = "query eight --input ~/keys.txt --output ~/answers.csv --outputs ~/tables"
    assert run_command(line.split()) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"answers.csv", "keys.txt", "tables"}


@pytest.mark.parametrize("url", ["s3://bucket/answers.csv", "https://example.org/answers.csv"])
def test_an_address_is_no_output(url: str, cli: Cli, outputs: Path, tmp_path: Path) -> None:
    """Ask for pages of no tables, as an output is refused before any is read."""
    for words in ("query eight 123456780 --svg", "sample eight --output"):
        completed = cli(*words.split(), url, "--outputs", str(outputs))
        assert (completed.code, "it is an address" in completed.err) == (2, True)
    for page in ("report", "explore"):
        completed = cli(page, "--output", url, "--outputs", str(tmp_path))
        assert (completed.code, "it is an address" in completed.err) == (2, True)


@pytest.mark.parametrize("url", ["s3://bucket/tables", "https://example.org/tables"])
@pytest.mark.parametrize("words", ["precompute", "precompute eight --dry-run", "remove x"])
def test_only_folders_are_built_in(words: str, url: str, cli: Cli) -> None:
    for environment in ({"PIPELINE_OUTPUTS": url}, {}):
        completed = cli(
            *words.split(), *(() if environment else ("--outputs", url)), env=environment
        )
        assert (completed.code, completed.out) == (2, "")
        assert f"run: pipeline copy FOLDER {url}" in completed.err


def test_a_question_in_another_folder_says_where_it_looked(cli: Cli, tmp_path: Path) -> None:
    completed = cli("query", "eight", "378546201", cwd=tmp_path)
    assert (completed.code, completed.out) == (3, "")
    for word in (str(tmp_path), "--outputs", "PIPELINE_OUTPUTS"):
        assert word in completed.err
