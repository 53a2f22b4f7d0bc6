"""Tests of output: every byte arrives or the exit code shows an error, and no file is spoilt."""

import fcntl
import os
import select
import stat
import subprocess
import time
from io import BufferedWriter
from pathlib import Path
from threading import Thread
from typing import Any

import polars as pl
import pytest

from puzzle_tablebase.process import RawOutput
from tests import first
from tests.support.shell import SCRIPT, Cli, environment, run, without_privileges

FULL = Path("/dev/full")
each_format = pytest.mark.parametrize("format", first(1, ["csv", "jsonl", "parquet"]))


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "keys.txt"
    path.write_text("378546201\n" * 20_001)
    return path


@pytest.fixture(
    params=[
        pytest.param("", id="buffered"),
        pytest.param("1", id="unbuffered", marks=pytest.mark.slow),
    ]
)
def streams(request: pytest.FixtureRequest) -> dict[str, str]:
    return {"PYTHONUNBUFFERED": request.param}


# ---- standard output -------------------------------------------------------------------------

COMMAND_LINES = [
    "query eight 378546201",
    "query eight --input KEYS",
    "histogram eight",
    "--help",
    *(
        pytest.param(line, marks=pytest.mark.slow)
        for line in (
            *("query eight --input KEYS --format parquet", "query eight 378546201 --svg -"),
            *("status", "verify --quick"),
        )
    ),
]


def split_line(line: str, keys: Path) -> list[str]:
    return line.replace("KEYS", str(keys)).split()


@pytest.mark.parametrize("line", COMMAND_LINES)
def test_standard_output_that_takes_nothing(line: str, workspace: Path, keys: Path) -> None:
    """Use a full disk, a closed stream, and a pipe that nobody reads, as when `head -1` ended."""
    command = [str(SCRIPT), *split_line(line, keys)]
    with FULL.open("wb") as full:
        assert run(command, cwd=workspace, stdout=full).code == 3
    assert run(command, cwd=workspace, stdout=None, preexec_fn=lambda: os.close(1)).code == 2
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as pipe:
        text = run(command, cwd=workspace, stdout=pipe)
    assert text.code == 141, "quietly, and with an error code"
    assert "pipeline:" not in text.err


@each_format
def test_a_disk_that_fills_up(
    format: str, streams: dict[str, str], workspace: Path, keys: Path, tmp_path: Path
) -> None:
    """Limit the size of files, so that the bytes beyond the limit cannot be written.

    The limit holds for bytecode too, so none is written: half a module would spoil later runs.
    """
    import resource

    with (tmp_path / "answers").open("wb") as file:
        text = run(
            [SCRIPT, "query", "eight", "--input", keys, "--format", format],
            cwd=workspace,
            env={**streams, "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=file,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
        )
    assert text.code == 3
    assert "standard output cannot be written: file too large" in text.err


def test_a_closed_standard_output_that_is_not_needed(workspace: Path, tmp_path: Path) -> None:
    words = [str(SCRIPT), "query", "eight", "--output", str(tmp_path / "a.csv")]
    options: dict[str, Any] = {"input": b"123456780", "preexec_fn": lambda: os.close(1)}
    assert run(words, cwd=workspace, stdout=None, **options) == (0, "", "")
    assert pl.read_csv(tmp_path / "a.csv").height == 1


def test_errors_that_cannot_be_written(workspace: Path) -> None:
    with FULL.open("wb") as full:
        text = run([SCRIPT, "query", "eight", "152703846", "--json"], cwd=workspace, stderr=full)
        assert (text.code, text.out[:20]) == (0, '{"state": "152703846')
        assert run([SCRIPT, "query", "eight", "9"], stderr=full).code == 2


@each_format
def test_a_slow_pipe_that_does_not_block(
    format: str, streams: dict[str, str], workspace: Path, keys: Path, cli: Cli, tmp_path: Path
) -> None:
    """Let nobody read until the pipe is full; every byte must arrive all the same."""
    words = [str(SCRIPT), "query", "eight", "--input", str(keys), "--format", format]
    usual: dict[str, Any] = {"cwd": workspace, "env": environment(streams)}
    path = tmp_path / "answers"
    assert cli(*words[1:], "--output", str(path), cwd=workspace) == (0, "", "")
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)  # a file of Parquet would fit the usual pipe
    os.set_blocking(writer, False)
    with subprocess.Popen(words, stdout=writer, stderr=subprocess.PIPE, **usual) as process:
        while select.select([], [writer], [], 0)[1]:
            assert process.poll() is None
            time.sleep(0.01)
        os.close(writer)
        with open(reader, "rb") as answers:
            result = answers.read()
        assert process.wait(60) == 0
    assert result == path.read_bytes()


def test_keys_from_a_closed_standard_input(workspace: Path) -> None:
    text = run([SCRIPT, "query", "eight"], cwd=workspace, preexec_fn=lambda: os.close(0))
    assert text == (2, "", "pipeline: Standard input cannot be read (it is closed).\n")


def test_keys_from_a_pipe_that_does_not_block(workspace: Path) -> None:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    options: dict[str, Any] = {"cwd": workspace, "env": environment(), "stdout": subprocess.PIPE}
    with subprocess.Popen([SCRIPT, "query", "eight"], stdin=reader, **options) as process:
        for _ in range(3):
            os.write(writer, b"123456780\n")
            while select.select([reader], [], [], 0)[0]:
                assert process.poll() is None
                time.sleep(0.01)
        os.close(writer)
        answers, _ = process.communicate(timeout=60)
    os.close(reader)
    assert len(answers.splitlines()) == 4


# ---- files, devices, pipes -------------------------------------------------------------------

BATCH = "query eight --input KEYS --output"
FILE_COMMANDS = [BATCH, "query eight 378546201 --svg"]
UNWRITABLE = ["", ".", "nowhere/answers", "keys.txt/answers", "full", "closed"]
UNWRITABLE += ["/dev/fd/99999999999", "a\0b"]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        # a process of its own for the batch takes longer than for a picture
        pytest.param(line, name, marks=[pytest.mark.slow] * ((line, name) == (BATCH, "closed")))
        for name in UNWRITABLE
        for line in FILE_COMMANDS
    ],
)
def test_files_that_cannot_be_written(
    line: str, name: str, cli: Cli, workspace: Path, keys: Path, tmp_path: Path
) -> None:
    (tmp_path / "keys.txt").touch()
    (tmp_path / "full").symlink_to(FULL)
    (tmp_path / "closed").touch(0o444)
    before = sorted(tmp_path.iterdir())
    words = [*split_line(line, keys), name]
    if name == "closed":  # to all but root
        target = str(tmp_path / name)
        text = without_privileges(*words[:-1], target, "--outputs", str(workspace / "outputs"))
    else:
        text = cli(*words, cwd=tmp_path, env={"PIPELINE_OUTPUTS": str(workspace / "outputs")})
    assert text.code == (3 if name == "full" else 2)
    assert len(text.err.splitlines()) == 1
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "line", [*FILE_COMMANDS, pytest.param("report --output", marks=pytest.mark.slow)]
)
def test_a_pipe_is_written_into(
    line: str, tmp_path: Path, cli: Cli, outputs: Path, keys: Path
) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("fifo")
    words = (*split_line(line, keys), str(tmp_path / "link"), "--outputs", str(outputs))
    read = (tmp_path / "fifo").read_bytes
    content = list[bytes]()
    reader = Thread(target=lambda: content.append(read()), daemon=True)
    reader.start()
    assert cli(*words).code == 0
    reader.join(60)
    assert len(content[0]) > 10_000
    assert stat.S_ISFIFO((tmp_path / "fifo").stat().st_mode)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fifo", "link"]


def test_a_device_is_written_into(cli: Cli, workspace: Path, keys: Path, tmp_path: Path) -> None:
    """Use a null device of the test's own, as root could destroy that of the machine."""
    device = tmp_path / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        device.write_bytes(b"can it be opened?")
    except PermissionError:
        pytest.skip("only root makes devices, and only where the folder allows them")
    for line in FILE_COMMANDS:
        assert cli(*split_line(line, keys), str(device), cwd=workspace).code == 0
        assert stat.S_ISCHR(device.stat().st_mode)
    assert sorted(tmp_path.iterdir()) == [device]


@pytest.mark.parametrize("name", first(1, ["/dev/stdout", "-"]))
def test_standard_output_by_its_names(
    name: str, workspace: Path, keys: Path, tmp_path: Path
) -> None:
    """Append to the file that the shell opened, whatever it holds."""
    (tmp_path / "log").write_bytes(b"before\n")
    for line in FILE_COMMANDS:
        with (tmp_path / "log").open("ab") as log:
            command = [str(SCRIPT), *split_line(line, keys), name]
            assert run(command, cwd=workspace, stdout=log)[::2] == (0, "")
    text = (tmp_path / "log").read_text()
    assert text.startswith("before\nstate,goal,distance,best_moves,solutions,error\n")
    assert text.count("\n378546201,corner,27,") == 20_001
    assert text.count("<svg") == text.count("</svg>\n") == 1


def test_a_short_write_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, data, write = tmp_path / "new", bytes(range(200)), os.write
    monkeypatch.setattr(os, "write", lambda file, part: write(file, part[:3]))
    with BufferedWriter(RawOutput(str(path), None), 64) as file:
        file.write(data)
    monkeypatch.undo()
    assert path.read_bytes() == data


def test_a_new_file_replaces_none(tmp_path: Path) -> None:
    path = tmp_path / "there"
    path.write_bytes(b"kept")
    with pytest.raises(FileExistsError):
        RawOutput(str(path), None)
    assert path.read_bytes() == b"kept"
