"""Tests of `pt.precompute`: the command's tables, what it says, and what it says in a notebook."""

from collections.abc import Callable
from pathlib import Path

import pytest

import puzzle_tablebase as pt
from tests.support.build_recorder import contents
from tests.support.environments import make_environment, see_packages
from tests.support.shell import Cli, run

NAMES = ("sliding_2x2", "sliding_2x3_6")


def test_a_build_from_python_is_the_commands(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli("precompute", *NAMES, "--quiet", "--outputs", str(tmp_path / "shell")).code == 0
    monkeypatch.chdir(tmp_path)
    built = pt.precompute(*NAMES)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert [line for line in captured.err.splitlines() if line.startswith("building")] == [
        f"building {name} (missing)" for name in built
    ]
    assert captured.err.endswith(f"The tables are in {tmp_path / 'outputs'}\n")
    assert "up to date" not in captured.err
    assert contents(Path("outputs")) == contents(Path("shell"))
    assert pt.open_tables().sliding("2x3").distance("123450") == 0
    # nothing is due; then, by force, one table alone
    assert pt.precompute(*NAMES) == []
    assert f"up to date: {', '.join(built)}\n" in capsys.readouterr().err
    assert pt.precompute("sliding_2x3_6", force=True, quiet=True) == ["sliding_2x3_6"]
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("PIPELINE_OUTPUTS", "elsewhere")
    pt.precompute("sliding_2x3_6", quiet=True)
    pt.precompute("sliding_2x3_6", outputs=tmp_path / "named", quiet=True)
    for folder in ("elsewhere", "named"):
        assert pt.open_tables(folder).sliding("2x3").distance("123450") == 0


@pytest.mark.parametrize(
    ("build", "problem"),
    [
        (
            lambda: pt.precompute(["eight"]),  # type: ignore[arg-type]  # what a caller may do
            "it is of type list, not text. Example: eight",
        ),
        (lambda: pt.precompute("eigth"), "Did you mean eight?"),
        (
            lambda: pt.precompute("eight", outputs="s3://bucket/x"),
            "tables can only be built in folders",
        ),
    ],
)
def test_what_cannot_be_built_is_refused(build: Callable[[], object], problem: str) -> None:
    with pytest.raises(pt.TablebaseError, match=problem) as caught:
        build()
    assert caught.value.exit_code == 2


def test_a_location_without_tables_names_the_lines_to_type(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    copied = "pt.copy_tables(ADDRESS, {!r})"
    for location, build in ((None, ""), ("my tables", "outputs='my tables'")):
        with pytest.raises(pt.StoreEmpty) as caught:
            pt.open_tables(location)
        folder = location or "outputs"
        message = f"There are no tables in {folder}. Call: pt.precompute({build})"
        assert str(caught.value) == f"{message}, or: {copied.format(folder)}"
        assert len(str(caught.value)) <= 160
    completed = cli("diff", "my tables", "outputs", cwd=tmp_path)
    lines = "pipeline precompute --outputs 'my tables', or: pipeline copy ADDRESS 'my tables'"
    assert completed == (3, "", f"pipeline: There are no tables in my tables. Run: {lines}\n")


def test_a_lookup_in_another_folder_than_the_one_built_in_says_where_it_looked(
    tmp_path: Path, cli: Cli
) -> None:
    lookup = ("query", "eight", "378546201")
    missing = "pipeline: {}/eight.idx is not published. Run: pipeline precompute eight{}\n"
    options = "name another with --outputs or PIPELINE_OUTPUTS"
    note = f"pipeline: there is no folder outputs in {tmp_path}; {options}\n"
    usual, named = missing.format("outputs", ""), missing.format("x", " --outputs x")
    assert cli(*lookup, cwd=tmp_path) == (3, "", usual + note)
    assert cli(*lookup, "--outputs", "x", cwd=tmp_path) == (3, "", named)
    (tmp_path / "outputs").mkdir()
    assert cli(*lookup, cwd=tmp_path) == (3, "", usual)


NOTEBOOK = """
import nbformat
from nbclient import NotebookClient
code = "import puzzle_tablebase as pt; pt.precompute('eight', force=True)"
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
NotebookClient(notebook).execute()
(cell,) = notebook.cells
for output in cell.outputs:
    print(output.output_type, *output.get("data", {}), output.get("text", ""))
"""


@pytest.mark.nightly
def test_a_notebook_shows_bars_or_else_lines(tmp_path: Path) -> None:
    """Run a kernel without the package that draws bars in a notebook, then with it."""
    programs = make_environment(tmp_path / "env", "ipykernel", "nbclient")
    see_packages(programs)
    env = {"PATH": f"{programs}", "HOME": str(tmp_path), "PIPELINE_TRACEBACK": ""}
    shown = run([programs / "python", "-c", NOTEBOOK], cwd=tmp_path, env=env)
    assert shown.code == 0, shown.err
    assert "widget" not in shown.out
    assert "text/html" in shown.out
    make_environment(tmp_path / "env", "ipywidgets")
    shown = run([programs / "python", "-c", NOTEBOOK], cwd=tmp_path, env=env)
    assert shown.code == 0, shown.err
    assert "application/vnd.jupyter.widget-view+json" in shown.out
