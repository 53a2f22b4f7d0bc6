"""Tests of the pages' sessions: every command with its output is run, but for those that say why.

`test_docs.py` runs them, since they are part of the generated pages.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from puzzle_tablebase.pipeline.commands.app import load_app
from tests.support.shell import ROOT
from tools.generated_docs import MADE
from tools.sessions import SESSION, fill_sessions

PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("queries/**/*.md")]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_with_its_output_is_in_a_session_that_is_run(page: Path) -> None:
    text = page.read_text("utf-8")
    shown = [body for kind, body in BLOCK.findall(text) if re.search(r"^\$ ", body, re.MULTILINE)]
    assert len(shown) == len(SESSION.findall(text)), "a block with `$ ` that is not a `console` one"
    if shown:
        assert page.relative_to(ROOT).as_posix() in MADE


def test_a_session_writes_nothing_into_the_tables_that_others_read() -> None:
    page = "```console\n$ touch outputs/made_by_a_session; ls outputs | grep made\n\n```\n"
    assert "\nmade_by_a_session\n" in fill_sessions(page)
    assert not (ROOT / "outputs" / "made_by_a_session").exists()


def list_typed_commands() -> list[tuple[str, list[str]]]:
    """List the words of each command of this program in a block without output, by page."""
    return [
        (page.name, shlex.split(line, comments=True))
        for page in PAGES
        for kind, body in BLOCK.findall(page.read_text("utf-8"))
        if kind in ("", "sh")
        for line in body.splitlines()
        if line.startswith("pipeline ")
    ]


def test_commands_without_output_have_options_that_exist() -> None:
    commands = list_typed_commands()
    assert len(commands) > 20
    for page, words in commands:
        command: Any = get_command(load_app())
        rest = words[1:]
        while hasattr(command, "list_commands") and rest[0] in command.list_commands(None):
            command = command.get_command(None, rest.pop(0))
        context = command.context_class(command)
        command.make_parser(context).parse_args(rest)
        assert not hasattr(command, "list_commands"), (page, words)
