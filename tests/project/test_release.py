"""What a release needs before it is made: one version, and a workflow that names what is there."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from puzzle_tablebase import __version__
from tests.support.shell import ROOT
from tools import release, try_wheel

WORKFLOW = ROOT / ".github/workflows/release.yml"


def test_the_version_stands_in_one_file_and_is_repeated_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "puzzle_tablebase/__init__.py"
    assert release.find_other_versions() == {}
    monkeypatch.setattr(release, "__version__", "9.9.9")
    files = {"CITATION.cff", "CHANGELOG.md", "queries/javascript/package.json"}
    assert {*release.find_other_versions()} == files
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


def read_jobs() -> dict[str, str]:
    """Read the jobs of the workflow: their lines by name."""
    text = WORKFLOW.read_text("utf-8").partition("\njobs:\n")[2]
    _, *parts = re.split(r"^  ([a-z-]+):\n", text, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_nothing_is_uploaded_untried_and_everything_is_uploaded() -> None:
    jobs = read_jobs()
    begun = WORKFLOW.read_text("utf-8").partition("\non:\n")[2].partition("\n\n")[0]
    assert begun == '  push:\n    tags: ["v*"]', "by a tag alone"
    assert "    needs: build\n" in jobs["try"]
    published = {name for name, lines in jobs.items() if "    environment: release\n" in lines}
    assert published == {"publish-python", "publish-npm", "publish-data"}
    for name in published:
        assert "    needs: try\n" in jobs[name]
    for name in ("publish-python", "publish-npm"):  # by trusted publishing
        assert "      id-token: write  #" in jobs[name]
    assert "packages-dir: dist/python\n" in jobs["publish-python"]
    assert re.search(r"npm publish --provenance .*\./dist/npm/\*\.tgz$", jobs["publish-npm"], re.M)
    assert "        if: env.HF_TOKEN != ''\n" in jobs["publish-data"]
    assert 'hf upload "$DATA_SET" dist/site/v* . --repo-type dataset' in jobs["publish-data"]
    assert "    needs: [publish-python, publish-npm]\n" in jobs["attach"]
    assert "dist/python/* dist/npm/* dist/tables/*\n" in jobs["attach"]


@pytest.mark.parametrize(
    ("heading", "is_dated"), [("", False), (" (soon)", False), (" (2026-12-01)", True)]
)
def test_a_release_has_its_day(
    heading: str, is_dated: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "CHANGELOG.md").write_text(f"# Changes\n\n## {__version__}{heading}\n")
    monkeypatch.setattr(release, "ROOT", tmp_path)
    assert release.is_dated() == is_dated


TAG = f"v{__version__}"


@pytest.mark.parametrize(
    ("changed", "tags", "is_dated", "problem"),
    [
        (" M README.md", "", True, "Commit first"),
        ("", "v0.0.1", True, f"v0.0.1: expected {TAG}"),
        ("", f"{TAG}\nv0.0.1", True, f"expected {TAG}"),
        ("", TAG, False, "its day in CHANGELOG.md"),
        ("", TAG, True, "begun"),
        ("", "", False, "begun"),
    ],
)
def test_a_release_is_of_a_commit_and_its_tag(
    changed: str, tags: str, is_dated: bool, problem: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def begin() -> Path:
        raise SystemExit("begun")

    monkeypatch.setattr(release, "DIST", tmp_path / "dist")
    monkeypatch.setattr(release, "git", lambda first, *_: changed if first == "status" else tags)
    monkeypatch.setattr(release, "is_dated", lambda: is_dated)
    monkeypatch.setattr(release, "write_packages", begin)
    with pytest.raises(SystemExit, match=re.escape(problem)):
        release.main()


def test_a_release_has_the_tables_without_a_lock_and_a_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tables, commands = tmp_path / "tables", list[list[str | Path]]()

    def build(_: Path, folder: Path) -> None:
        folder.mkdir()
        for name in (".lock", ".runs.jsonl", "manifest.json"):
            (folder / name).touch()

    monkeypatch.setattr(release, "DIST", tmp_path)
    monkeypatch.setattr(release, "git", lambda *_: "")
    monkeypatch.setattr(release, "write_packages", lambda: Path("a.whl"))
    monkeypatch.setattr(release, "try_wheel", build)
    monkeypatch.setattr("shutil.rmtree", lambda *_, **__: None)
    monkeypatch.setattr("subprocess.run", lambda command, **_: commands.append(command))
    release.main()
    monkeypatch.undo()
    assert [path.name for path in tables.iterdir()] == ["manifest.json"]
    site, sums = commands
    assert (site[1], site[2], site[-1]) == ("site", tmp_path / "site", tables)
    assert sums[0] == "sha256sum"
    lines = capsys.readouterr().out.splitlines()
    assert "dist/tables: 1 files, 0.0 MB" in lines
    assert lines[-1].startswith(f"Ready for {TAG}; nothing was uploaded.")


@pytest.mark.parametrize(
    ("wheel", "archive", "differ"),
    [("same", "same", ""), ("$$", "same", "a.whl"), ("same", "$(umask)", "a.tgz")],
)
def test_packages_that_two_builds_make_differently_are_refused(
    wheel: str, archive: str, differ: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Build a small repository with programs that write a word, or what varies."""
    programs, root, packages = (tmp_path / name for name in ("programs", "root", "packages"))
    for folder in (programs, root / "queries" / "javascript", packages):
        folder.mkdir(parents=True)
    for name, script in {
        "python": f'mkdir -p "$4" && echo {wheel} > "$4/a.whl"',
        "npm": f'echo {archive} > "$4/a.tgz"',
    }.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    (root / "queries" / "javascript" / "index.js").touch()
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    for words in (["init", "-q"], ["add", "."], [*author, "commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", "-C", root, *words], check=True)
    monkeypatch.setattr(release, "ROOT", root)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    if differ:
        with pytest.raises(SystemExit, match=f"Two builds differ: {differ}$"):
            release.build_packages(packages, programs / "python")
    else:
        assert release.build_packages(packages, programs / "python") == {
            "a.tgz": b"same\n",
            "a.whl": b"same\n",
        }


def test_a_wheel_is_tried_without_the_packages_of_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    shown = "import os; print(os.getcwd(), os.environ.get('PYTHONPATH'))"
    assert try_wheel.run(sys.executable, "-c", shown, cwd=tmp_path) == f"{tmp_path} None\n"
