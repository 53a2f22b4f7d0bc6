"""Tests of the docs: their sessions are run, and their links and names lead to what exists."""

from __future__ import annotations

import os
import re
import shlex
import sys
from contextlib import chdir
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from puzzle_tablebase.pipeline.commands import load_app
from tests.support.shell import ROOT, environment, run
from tools.generated_docs import BLOCKS, fill_hexdumps, main
from tools.sessions import choose_output, fill_sessions

FILE = re.compile(
    r"(?<![\w/])(?:tests|tools|queries|pipeline|puzzle_tablebase)/[a-z_0-9/]+(?:\.py|/)"
)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:]*)(?:#([^)]*))?\)")
MARKDOWN = [
    *(path for name in ("*.md", "docs/**/*.md", "examples/**/*.md") for path in ROOT.glob(name)),
    *(ROOT / name for name in ("outputs/README.md", "queries/javascript/README.md")),
]
PAGES = [pytest.param(page, id=str(page.relative_to(ROOT))) for page in MARKDOWN]
LONG = {"build.md", "clusters.md", "fifteen.md", "query.md", "sliding.md", "tour.md", "tours.md"}
LONG |= {"tables.md", "train.md"}
"""The pages whose commands take seconds."""
MADE = re.compile(f"^```(?:{'|'.join(BLOCKS)})$|<!-- made from the program -->", re.MULTILINE)


WRITTEN = [
    "docs/tour.svg docs/notebook-senet.svg docs/notebook-solution.svg",
    *(
        pytest.param(name, marks=[pytest.mark.slow] * (page.name in LONG))
        for page in MARKDOWN
        if MADE.search(page.read_text("utf-8")) and (name := page.relative_to(ROOT).as_posix())
    ),
]


@pytest.mark.parametrize("names", WRITTEN)
def test_pages_are_what_the_program_writes(names: str, outputs: Path) -> None:
    if any("```pycon\n" in (ROOT / name).read_text("utf-8") for name in names.split()):
        # what a page's Python imports and defines stays in its process
        assert run([sys.executable, "-m", "tools.generated_docs", *names.split()]) == (0, "", "")
        return
    with chdir(ROOT), patch.dict(os.environ, environment(), clear=True):
        main(names.split())


def test_what_varies_stays_left_out() -> None:
    """Change one line of a block: the others keep their `…`, and what changed is seen."""
    shown = "eight  2 rows  … s\nedge  … rows  … s\nbuilt in … s\n"
    assert choose_output(shown, "eight  2 rows  7 s\nedge  4 rows  1 s\nbuilt in 9 s\n") == shown
    printed = "eight  3 rows  7 s\nedge  4 rows  1 s\nremoved\nbuilt in 9 s\n"
    assert choose_output(shown, printed) == (
        "eight  3 rows  7 s\nedge  … rows  … s\nremoved\nbuilt in … s\n"
    )


def test_a_session_is_run_and_one_that_says_why_not_is_kept(outputs: Path) -> None:
    kept = "<!-- not run: it needs a network -->\n```console\n$ echo no\nyes\n```\n"
    page = "```console\n$ echo one\none\n$ echo two\nthree\n```\n"
    assert fill_sessions(f"{kept}text\n{page}") == f"{kept}text\n{page.replace('three', 'two')}"


def test_a_hexdump_has_the_bytes_of_the_file(outputs: Path) -> None:
    page = "```hexdump\n00000000: ff  ?\n```\n00000010: text\n"
    line = "50 54 49 58 03 00 00 00 02 00 00 00 00 10 00 00  PTIX............"
    assert fill_hexdumps(page) == page.replace("ff  ?", line)


def test_what_python_prints_is_filled_in(outputs: Path) -> None:
    """Change what three statements print: what the page leaves out with `...` stays."""
    loop = ">>> for name in os.listdir():\n...     print(name)\n"
    rest = ">>> print('in', 7, 's')\nin ... s\n>>> 1 / 0\n"
    page = f"```pycon\n>>> import os\n```\ntext\n```pycon\n{loop}old\n>>> 6 * 7\n41\n{rest}```\n"
    error = "Traceback (most recent call last):\n    ...\nZeroDivisionError: division by zero\n"
    filled = page.replace("old", "outputs").replace("41", "42").replace("0\n```", f"0\n{error}```")
    assert fill_sessions(page) == fill_sessions(filled) == filled


def list_sections(page: Path) -> set[str]:
    """List the names by which links lead to a page's headings."""
    text = re.sub("```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    headings = re.findall("^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_and_their_sections(page: Path) -> None:
    for name, section in LINK.findall(page.read_text("utf-8")):
        target = page.parent / name if name else page
        assert target.exists(), name
        assert not section or section in list_sections(target), (name, section)


def test_named_files_exist() -> None:
    """Look for the tests and the modules that pages name."""
    pages = [*MARKDOWN, ROOT / "Makefile", ROOT / ".ci/run"]
    names = {name for page in pages for name in FILE.findall(page.read_text("utf-8"))}
    assert len(names) > 20
    names.remove("queries/node_modules/")  # which `npm ci` makes
    assert {name for name in names if not (ROOT / name).exists()} == set()


def test_commands_are_run_or_their_options_exist() -> None:
    lines = list[str]()
    for page in MARKDOWN:
        for language, body in BLOCK.findall(page.read_text("utf-8")):
            # `console`: such blocks are run
            assert language == "console" or not re.search(r"^\$ ", body, re.MULTILINE), page
            if language in ("", "sh") and "examples" not in page.parts:
                lines += [line for line in body.splitlines() if line.startswith("pipeline ")]
    assert len(lines) > 20
    for line in lines:
        command: Any = load_app()
        rest = shlex.split(line, comments=True)[1:]
        while hasattr(command, "list_commands") and rest[0] in command.list_commands(None):
            command = command.get_command(None, rest.pop(0))
        command.make_parser(command.context_class(command)).parse_args(rest)
        assert not hasattr(command, "list_commands"), line


def test_as_many_modules_use_each_package_as_the_page_says() -> None:
    rooms = [ROOT / room for room in ("puzzle_tablebase", "queries", "pipeline")]
    modules = [path.read_text("utf-8") for room in rooms for path in room.rglob("*.py")]
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| (\w+)[^|]*\|[^|]+\| (\d+) modules", page, re.MULTILINE)
    used = {
        name: r"^@compiled\n" if name == "numba" else rf"^ *(import|from) {name}\b"
        for name, _ in rows
    }
    assert len(used) == 9
    for name, stated in rows:
        found = [module for module in modules if re.search(used[name], module, re.MULTILINE)]
        assert len(found) == int(stated), name
