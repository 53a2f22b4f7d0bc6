"""Tests of the commands in the pages: those with output are run, the others have real options."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from puzzle_tablebase.pipeline.commands.app import load_app
from tests.support.shell import ROOT

PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("queries/javascript/*.md")]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_with_their_output_stand_in_blocks_that_are_run(page: Path) -> None:
    """`make docs` runs the blocks of the kind `console`."""
    blocks = BLOCK.findall(page.read_text("utf-8"))
    assert {kind for kind, body in blocks if re.search(r"^\$ ", body, re.M)} <= {"console"}


def test_commands_without_output_have_options_that_exist() -> None:
    commands = [
        (page.name, shlex.split(line, comments=True))
        for page in PAGES
        for kind, body in BLOCK.findall(page.read_text("utf-8"))
        if kind in ("", "sh")
        for line in body.splitlines()
        if line.startswith("pipeline ")
    ]
    assert len(commands) > 20
    for page, words in commands:
        command: Any = get_command(load_app())
        rest = words[1:]
        while hasattr(command, "list_commands") and rest[0] in command.list_commands(None):
            command = command.get_command(None, rest.pop(0))
        command.make_parser(command.context_class(command)).parse_args(rest)
        assert not hasattr(command, "list_commands"), (page, words)
