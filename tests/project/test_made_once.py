"""Tests of folders that tests share: made once in a run, whole, and never of another run."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from time import sleep
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.made_once import make_once


def start_run(base: Path, number: int = 0) -> Any:
    """Return what makes folders for a process of a run, whose own folder is in that of the run."""
    own = base / f"process {number}"
    own.mkdir(parents=True)

    def make_folder(name: str) -> Path:
        folder = own / f"{name}0"
        folder.mkdir()
        return folder

    return SimpleNamespace(getbasetemp=lambda: own, mktemp=make_folder)


def write_file(folder: Path, text: str) -> None:
    (folder / "file").write_text(text)


def test_processes_of_a_run_make_a_folder_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    runs, made = [start_run(tmp_path, number) for number in range(4)], list[Path]()

    def make(folder: Path) -> None:
        made.append(folder)
        sleep(0.1)  # the others wait meanwhile
        write_file(folder, "whole")

    with ThreadPoolExecutor(4) as pool:
        folders = [*pool.map(lambda run: make_once(run, "tables", make), runs)]
    assert {*folders} == {tmp_path / "tables"}
    assert (len(made), (tmp_path / "tables" / "file").read_text()) == (1, "whole")
    assert make_once(runs[0], "others", make) == tmp_path / "others"
    assert len(made) == 2


@pytest.mark.parametrize("worker", ["gw0", None])
def test_each_run_makes_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, worker: str | None
) -> None:
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    if worker:
        monkeypatch.setenv("PYTEST_XDIST_WORKER", worker)
    for text in ("before", "after"):
        make = partial(write_file, text=text)
        folder = make_once(start_run(tmp_path / text), "tables", make)
        assert (folder / "file").read_text() == text
        assert folder.is_relative_to(tmp_path / text)


def test_what_failed_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    runs = [start_run(tmp_path, number) for number in range(2)]

    def fail(folder: Path) -> None:
        write_file(folder, "half")
        raise InterruptedError

    with pytest.raises(InterruptedError):
        make_once(runs[0], "tables", fail)
    folder = make_once(runs[1], "tables", partial(write_file, text="whole"))
    assert (folder / "file").read_text() == "whole"
