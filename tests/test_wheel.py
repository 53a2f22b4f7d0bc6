"""The wheel holds both packages whole, and works where there is no checkout."""

import subprocess
import sys
import zipfile
from pathlib import Path

from tests.shell import ROOT, environment


def test_the_wheel_works_outside_the_checkout(tmp_path: Path) -> None:
    build = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "."]
    subprocess.run([sys.executable, *build, "-w", str(tmp_path)], cwd=ROOT, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as files:
        held = set(files.namelist())
        files.extractall(site)
    sources = {
        str(path.relative_to(ROOT))
        for package in ("pipeline", "queries")
        for path in (ROOT / package).rglob("*.*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in held if not name.startswith("puzzle_tablebase-")} == sources
    where = "import pipeline, queries; print(pipeline.__file__, queries.__file__)"
    for code, wanted in (
        (where, f"{site}/pipeline/__init__.py {site}/queries/__init__.py"),
        ("from pipeline.__main__ import main; main()", "eight_edge"),
    ):
        ended = subprocess.run(
            [sys.executable, "-c", code, "precompute", "eight", "--outputs", "made"],
            cwd=tmp_path,
            env=environment({"PYTHONPATH": str(site)}),
            capture_output=True,
            text=True,
            check=True,
        )
        assert wanted in ended.stdout
    assert (tmp_path / "made" / "manifest.json").is_file()
