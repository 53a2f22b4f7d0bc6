"""What a release needs before it is made: one version, and a workflow that names what is there."""

import re
import tomllib

import pytest

from tests.support.shell import ROOT
from tools import release

WORKFLOW = ROOT / ".github/workflows/release.yml"


def test_the_version_stands_in_one_place_and_is_repeated_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "puzzle_tablebase/__init__.py"
    assert release.find_other_versions() == {}
    monkeypatch.setattr(release, "__version__", "9.9.9")
    assert {*release.find_other_versions()} == {*release.PLACES}
    assert not release.is_dated()


def test_the_workflow_tries_each_python_and_needs_jobs_that_exist() -> None:
    text = WORKFLOW.read_text("utf-8")
    assert "//" not in text, "no address: clients know the indexes by name"
    (listed,) = re.findall(r"^ +python: \[(.*)\]$", text, re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    stated = [line.rpartition(" ")[2] for line in project["classifiers"] if " 3." in line]
    assert re.findall(r"[\d.]+", listed) == stated
    jobs = re.findall(r"^  ([a-z-]+):$", text.partition("\njobs:\n")[2], re.MULTILINE)
    needed = re.findall(r"needs: \[?([a-z, -]+)\]?$", text, re.MULTILINE)
    assert {name for names in needed for name in names.split(", ")} < {*jobs}
    for target in re.findall(r"run: make ([a-z-]+)", text):
        assert f"\n{target}:" in (ROOT / "Makefile").read_text("utf-8")
    for name in re.findall(r"tools/\S+\.py", text):
        assert (ROOT / name).exists()
