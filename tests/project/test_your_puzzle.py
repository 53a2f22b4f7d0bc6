"""Tests of `docs/your-puzzle.md`: its commands, run in an empty folder, print what it shows."""

import doctest
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.support.shell import ROOT, SCRIPT, run

PAGE = (ROOT / "docs" / "your-puzzle.md").read_text("utf-8")
EXAMPLE = ROOT / "examples" / "pocket-cube"
SESSION = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PIP = f"""#!/bin/sh
# without network, and into a folder of the test
exec {sys.executable} -m pip "$@" --quiet --no-deps --no-build-isolation --no-index --target "$SITE"
"""
PIPELINE = f"""#!/bin/sh
exec {SCRIPT} "$@"
"""


def find_code_blocks(language: str) -> list[str]:
    return [text for result, text in BLOCK.findall(PAGE) if result == language]


def run_commands(session: list[tuple[str, str]], folder: Path, env: dict[str, str]) -> list[str]:
    """Run the commands of a session in one shell; return the output of each."""
    script = "".join(f"{{ {command}; }} 2>&1; printf '\\0'\n" for command, _ in session)
    return run(["sh", "-c", script], cwd=folder, env=env).out.split("\0")[:-1]


def test_the_files_in_the_page_are_those_of_the_example() -> None:
    assert find_code_blocks("toml") == [(EXAMPLE / "pyproject.toml").read_text()]
    module = (EXAMPLE / "pocket_cube" / "__init__.py").read_text()
    for block in find_code_blocks("py"):
        assert all(part.strip() in module for part in block.split("\n\n"))


@pytest.mark.slow
def test_the_tests_of_the_example_pass() -> None:
    folders = [str(EXAMPLE / "tests"), str(EXAMPLE / "pocket_cube")]
    # not with the options of this project
    options = ("-q", "--doctest-modules", "-p", "no:cacheprovider", "-o", "filterwarnings=")
    env = {"PYTHONPATH": f"{EXAMPLE}:{ROOT}"}
    completed = run([sys.executable, "-m", "pytest", *options, *folders], cwd=EXAMPLE, env=env)
    assert "16 passed in " in completed.out


@pytest.mark.nightly
@pytest.mark.long
def test_the_commands_print_what_the_page_shows(tmp_path: Path) -> None:
    """Type every command of the page, where `pip` and `pipeline` are stand-ins."""
    tools, site, cube = (tmp_path / name for name in ("bin", "site", "pocket-cube"))
    tools.mkdir()
    for name, text in (("pip", PIP), ("pipeline", PIPELINE)):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    path = f"{tools}:{os.environ['PATH']}"
    env = {"SITE": str(site), "PYTHONPATH": str(site), "PATH": path}
    first, *others = (SESSION.findall(text) for text in find_code_blocks("console"))
    later = [entry for session in others for entry in session]
    printed = run_commands(first, tmp_path, env)
    (cube / "pyproject.toml").write_text(find_code_blocks("toml")[0])
    shutil.copy(EXAMPLE / "pocket_cube" / "__init__.py", cube / "pocket_cube")
    printed += run_commands(later, cube, env)
    matches = doctest.OutputChecker().check_output
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for (command, expected), text in zip([*first, *later], printed, strict=True):
        any_time = expected.replace("... s", "...")  # minutes, on a busy machine
        assert matches(any_time, text, flags), f"{command}:\n{text}"
