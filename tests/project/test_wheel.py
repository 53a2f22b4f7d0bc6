"""Test that the wheel holds the packages completely, and works without a checkout."""

import subprocess
import sys
import zipfile
from pathlib import Path

from tests import long_run
from tests.support.shell import ROOT, environment


@long_run
def test_the_wheel_works_outside_the_checkout(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip"]
    build = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "."]
    subprocess.run([*pip, *build, "-w", str(tmp_path)], cwd=ROOT, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        names = set(files.namelist())
    sources = {
        str(path.relative_to(ROOT))
        for package in ("tablebase", "queries", "pipeline", "puzzle_tablebase")
        for path in (ROOT / package).rglob("*.*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if not name.startswith("puzzle_tablebase-")} == sources
    site, place = tmp_path / "site", tmp_path / "place"
    install = ["install", "--quiet", "--no-deps", "--no-index", "--target", str(site), str(wheel)]
    subprocess.run([*pip, *install], check=True)
    place.mkdir()
    show_paths = "import pipeline, queries; print(pipeline.__file__, queries.__file__)"
    script = str(site / "bin" / "pipeline")
    for command, expected in (
        (
            [sys.executable, "-c", show_paths],
            f"{site}/pipeline/__init__.py {site}/queries/__init__.py",
        ),
        ([script, "precompute", "eight"], "eight_edge"),
        ([sys.executable, "-m", "puzzle_tablebase", "query", "eight", "378546201"], "27 moves"),
        ([script, "query", "eight", "378546201"], "27 moves"),
    ):
        result = subprocess.run(
            command,
            cwd=place,
            env=environment({"PYTHONPATH": str(site)}),
            capture_output=True,
            text=True,
            check=True,
        )
        assert expected in result.stdout
    assert [path.name for path in place.iterdir()] == ["outputs"], "in the current folder"
    assert (place / "outputs" / "manifest.json").is_file()
