"""Outputs beside the tables, in another program's process, and as the library writes them."""

import os
import stat
import threading
from pathlib import Path

import pytest

from tablebase.errors import NotWritten
from tablebase.output import write, writing
from tests.support.shell import Cli


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
    said = cli("explore", "--output", str(copy / "page.html"), "--outputs", str(copy))
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


def test_a_link_stays_a_link_and_a_mode_stays(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target = tmp_path / "folder" / "target"
    target.write_bytes(b"old")
    target.chmod(0o640)
    (tmp_path / "second").symlink_to("folder/target")
    (tmp_path / "first").symlink_to("second")
    write(str(tmp_path / "first"), b"new")
    assert (tmp_path / "first").is_symlink()
    assert (tmp_path / "second").is_symlink()
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    (tmp_path / "third").symlink_to("folder/none yet")
    write(str(tmp_path / "third"), b"made")
    assert (tmp_path / "folder" / "none yet").read_bytes() == b"made"
    assert {path.name for path in (tmp_path / "folder").iterdir()} == {"target", "none yet"}


def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write(str(tmp_path / "made"), b"")
    assert (tmp_path / "made").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "answers"
    path.write_bytes(b"old")

    def broken_off() -> None:
        with writing(str(path)) as file:
            file.write(b"new" * 10_000)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken_off()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
    write(str(tmp_path / ("n" * 255)), b"as long a name as there may be")


def test_two_writers_at_once_make_one_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "answers"
    with writing(str(path)) as one, writing(str(path)) as other:
        one.write(b"1" * 100_000)
        other.write(b"2" * 100_000)
    assert path.read_bytes() == b"1" * 100_000
    assert list(tmp_path.iterdir()) == [path]


def test_what_else_fails_within_is_not_the_outputs_fault(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), writing(str(tmp_path / "a")):
        (tmp_path / "none").open()
    with pytest.raises(NotWritten, match="null"), writing("a\0b"):
        pass
