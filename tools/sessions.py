"""Sessions of the pages: the commands in `console` blocks are run, and their output is filled in.

Each page has a working folder of its own, with the default tables in `outputs`, so that a session
can build others. `…` stands for figures that vary: a line that matches the output stays as it is. A
block below a comment `<!-- not run: REASON -->` is left out.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = Path(sys.executable).with_name("pipeline")
SESSION = re.compile(r"(<!-- not run: [^>]+ -->\n)?```console\n(.*?)```", re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
"""A command of a session, and the lines below it."""


def list_pages_with(kind: str) -> list[str]:
    """List the names of all pages that have a block of this kind, such as `console`."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("queries/javascript/*.md")]
    return sorted(
        page.relative_to(ROOT).as_posix()
        for page in pages
        if f"\n```{kind}\n" in page.read_text("utf-8")
    )


def fill_sessions(page: str) -> str:
    """Return a page with the current output of every session."""
    if not SESSION.search(page):
        return page
    with TemporaryDirectory() as folder:
        link_tables(Path(folder, "outputs"))

        def fill(found: re.Match[str]) -> str:
            if found[1]:
                return found[0]
            filled = [
                f"$ {command}\n{choose_output(shown, run_command(command, folder))}"
                for command, shown in COMMAND.findall(found[2])
            ]
            return "".join(["```console\n", *filled, "```"])

        return SESSION.sub(fill, page)


def link_tables(folder: Path) -> None:
    """Link the tables of `outputs` from a new folder, whose manifest is a file of its own."""
    folder.mkdir()
    for path in (ROOT / "outputs").iterdir():
        if path.suffix in (".parquet", ".idx"):
            (folder / path.name).symlink_to(path)
    shutil.copy(ROOT / "outputs" / "manifest.json", folder)


def choose_output(shown: str, printed: str) -> str:
    """Return what a command printed, with the `…` of what a page shows wherever it still fits."""
    texts = [shown, *(line for line in shown.splitlines(True) if "…" in line)]
    patterns = {text: ".*?".join(map(re.escape, text.split("…"))) for text in texts}
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
