"""Sessions of the pages: `console` and `pycon` blocks are run, and their output is filled in.

Each page has a working folder with the default tables in `outputs`, so that a session can build
others, and its own Python names. `…` in the output of a command, and `...` in that of Python, stand
for what varies: a line that matches the output stays as it is. A block below a comment
`<!-- not run: REASON -->` is left out.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
import traceback
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = Path(sys.executable).with_name("pipeline")
SESSION = re.compile(r"(<!-- not run: [^>]+ -->\n)?```(console|pycon)\n(.*?)```", re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
"""A command of a session, and the lines below it."""
STACK = re.compile("(?<=^Traceback \\(most recent call last\\):\n)(?: .*\n)+", re.MULTILINE)
"""The stack of a traceback, which varies."""


def list_pages_with(language: str) -> list[str]:
    """List the names of all pages that have a block in a language, such as `console`."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("queries/javascript/*.md")]
    return sorted(
        page.relative_to(ROOT).as_posix()
        for page in pages
        if f"\n```{language}\n" in page.read_text("utf-8")
    )


def fill_sessions(page: str) -> str:
    """Return a page with the current output of every session."""
    if not SESSION.search(page):
        return page
    with TemporaryDirectory() as folder:
        link_tables(Path(folder, "outputs"))
        names: dict[str, Any] = {}

        def fill(found: re.Match[str]) -> str:
            reason, language, block = found.groups()
            if reason:
                return found[0]
            filled = (
                fill_python(block, names, folder)
                if language == "pycon"
                else fill_commands(block, folder)
            )
            return f"```{language}\n{filled}```"

        return SESSION.sub(fill, page)


def fill_commands(block: str, folder: str) -> str:
    """Return a block of shell commands with what each prints in a folder."""
    return "".join(
        f"$ {command}\n{choose_output(shown, run_command(command, folder))}"
        for command, shown in COMMAND.findall(block)
    )


def fill_python(block: str, names: dict[str, Any], folder: str) -> str:
    """Return a block of Python with what each statement prints in a folder; `names` are defined."""
    session = doctest.DocTestParser().get_doctest(block, {}, "page", None, 0)
    session.globs = names
    recorder = Recorder()
    with chdir(folder):
        recorder.run(session, clear_globs=False)
    lines = block.splitlines(True)
    for example, printed in reversed(recorder.printed):
        first = example.lineno + example.source.count("\n")
        last = first + example.want.count("\n")
        lines[first:last] = choose_output(example.want, printed, "...")
    return "".join(lines)


class Recorder(doctest.DocTestRunner):
    """Runner of Python statements that keeps what each prints, errors included."""

    def __init__(self) -> None:
        super().__init__()
        self.printed: list[tuple[doctest.Example, str]] = []

    def report_start(self, *_: Any) -> None:
        """Say nothing."""

    def report_success(self, _out: Any, _test: Any, example: doctest.Example, got: str) -> None:
        """Keep the output that the page shows."""
        self.printed.append((example, STACK.sub("    ...\n", got)))

    def report_failure(self, _out: Any, _test: Any, example: doctest.Example, got: str) -> None:
        """Keep the output that the page does not show."""
        self.report_success(_out, _test, example, got)

    def report_unexpected_exception(
        self, _out: Any, _test: Any, example: doctest.Example, exc_info: Any
    ) -> None:
        """Keep the error that the page does not show."""
        self.report_success(_out, _test, example, "".join(traceback.format_exception(*exc_info)))


def link_tables(folder: Path) -> None:
    """Link the tables of `outputs` from a new folder, whose manifest is a file of its own."""
    folder.mkdir()
    for path in (ROOT / "outputs").iterdir():
        if path.suffix in (".parquet", ".idx"):
            (folder / path.name).symlink_to(path)
    shutil.copy(ROOT / "outputs" / "manifest.json", folder)


def choose_output(shown: str, printed: str, mark: str = "…") -> str:
    """Return what was printed, with the mark of what a page leaves out wherever it still fits."""
    texts = [shown, *(line for line in shown.splitlines(True) if mark in line)]
    patterns = {text: ".*?".join(map(re.escape, text.split(mark))) for text in texts}
    if re.fullmatch(patterns[shown], printed, re.DOTALL):
        return shown

    def choose_line(line: str) -> str:
        return next((text for text in texts[1:] if re.fullmatch(patterns[text], line)), line)

    return "".join(map(choose_line, printed.splitlines(True)))


def run_command(command: str, folder: str) -> str:
    """Run a shell command in a folder, and return what it prints on both streams."""
    env = {key: value for key, value in os.environ.items() if key != "PIPELINE_OUTPUTS"}
    env |= {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    env["PATH"] = os.pathsep.join(
        [str(PROGRAM.parent), os.path.dirname(sys.executable), env["PATH"]]
    )
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())
