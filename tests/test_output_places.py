"""Outputs that must not harm the tables, and those of another program's process."""

import os
import threading
from pathlib import Path

import pytest

from tablebase.output import write
from tests.shell import Cli


@pytest.mark.parametrize("name", ["eight.parquet", "eight.idx", "manifest.json", ".lock"])
@pytest.mark.parametrize(
    "words",
    [
        "query eight --format csv --output",
        "query eight 123456780 --svg",
        "histogram eight --svg",
        "report --output",
    ],
)
def test_the_tables_own_files_are_not_replaced(words: str, name: str, cli: Cli, copy: Path) -> None:
    (copy / ".lock").touch()
    (copy / "link").symlink_to(name)
    before = {path.name: path.read_bytes() for path in copy.iterdir()}
    for target in (copy / name, copy / "link"):
        said = cli(*words.split(), str(target), "--outputs", str(copy), stdin="123456780")
        assert said.code == 2
        assert said.err.endswith("cannot be written: it belongs to the tables in that folder.\n")
    assert {path.name: path.read_bytes() for path in copy.iterdir()} == before


def test_other_names_beside_the_tables_are_free(cli: Cli, copy: Path) -> None:
    target = copy / "answers.parquet"
    assert cli("query", "eight", "--output", str(target), stdin="123456780").code == 0
    assert target.stat().st_size > 0


def test_a_manifest_of_another_program_protects_nothing(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"name": "a web page"}')
    write(str(tmp_path / "manifest.json"), b"{}")
    assert (tmp_path / "manifest.json").read_bytes() == b"{}"


def test_a_pipe_beside_the_tables_is_no_page(cli: Cli, copy: Path) -> None:
    os.mkfifo(copy / "page.html")
    found: list[bytes] = []
    reader = threading.Thread(
        target=lambda: found.append((copy / "page.html").read_bytes()), daemon=True
    )
    reader.start()
    said = cli("report", "--output", str(copy / "page.html"), "--outputs", str(copy))
    reader.join(60)
    assert said.code == 0
    assert found[0].startswith(b"<!doctype html>")
    assert "page.html" not in (copy / "manifest.json").read_text()


def test_python_s_own_streams_are_written_whole(
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    """In another program's process, where standard output is whatever that program made of it."""
    write("-", b"all of it")
    assert capsysbinary.readouterr().out == b"all of it"
