"""Tests of files that may not be read: they are reported so, not as missing or damaged."""

from pathlib import Path

import pytest

from tests.support.default_tables import COUNT
from tests.support.shell import Said, without_privileges
from tests.support.tampered import replace_link


def run_unprivileged(*words: str, folder: Path) -> Said:
    """Run the program as a user who is bound by permissions."""
    return without_privileges(*words, "--outputs", str(folder))


FILES = {
    "eight.idx": ("eight", "query eight 123456780", "verify --quick"),
    "senet.parquet": ("senet", "verify --quick"),
    "knight_counts.parquet": ("knight_counts", "query knight a1 --board 5x5 --count"),
    "manifest.json": (
        "",
        "query eight 123456780",
        "histogram eight",
        "query knight a1 --board 5x5",
        "verify --quick",
        "status",
        "precompute eight",
    ),
}


@pytest.mark.parametrize(
    ("file", "words"),
    [(file, words) for file, (_, *commands) in FILES.items() for words in commands],
)
def test_a_file_without_permission(copy: Path, file: str, words: str) -> None:
    path = copy / file
    (replace_link(path) if path.is_symlink() else path).chmod(0)
    stage = FILES[file][0]
    rebuild = f", or rebuild it. Run: pipeline precompute {stage} --outputs {copy}"
    rebuild = rebuild if stage else "."
    message = f"{path} cannot be read: permission denied. Change its permissions{rebuild}\n"
    said = run_unprivileged(*words.split(), folder=copy)
    assert (said.code, said.err) == (3, f"pipeline: {message}")
    if stage and words == "verify --quick":  # the other tables have their verdicts
        assert f"  no verdict: {message}" in said.out
        assert f" {COUNT - 1} intact, 1 without a verdict;" in said.out
    else:
        assert said.out == ""


def test_a_folder_without_permission(copy: Path) -> None:
    copy.chmod(0)
    try:
        text = run_unprivileged("query", "eight", "123456780", folder=copy)
    finally:
        copy.chmod(0o755)
    assert (text.code, text.out) == (3, "")
    assert f"{copy}/manifest.json cannot be read: permission denied." in text.err


def test_status_and_a_build_report_it_too(copy: Path) -> None:
    replace_link(copy / "eight.parquet").chmod(0)
    text = run_unprivileged("status", folder=copy)
    command = f"pipeline precompute eight --outputs {copy}"
    assert text.code == 3
    assert f"unreadable: {command}\n" in text.out
    summary = f"1 of {COUNT} tables cannot be used (1 unreadable)"
    assert text.err == f"pipeline: {summary}. Run: {command}\n"
    text = run_unprivileged("precompute", "eight", folder=copy)
    assert text.code == 0
    assert "building eight (eight.parquet cannot be read)" in text.err.splitlines()
    assert run_unprivileged("status", folder=copy).code == 0
