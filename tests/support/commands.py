"""Command lines by kind: those that `tests/golden` holds with their output."""

import re
import shlex
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden"
GROUPS = ("eight", "senet", "knight", "no", "bad", "usage", "missing", "overview", "help")
EXITS = {"no": 1, "bad": 2, "usage": 2, "missing": 3}
"""The exit code of every command of a group; 0 where none is named."""


def lines(group: str) -> list[list[str]]:
    """List the words of each command of a group; each stands in a line `$ pipeline …`."""
    text = (GOLDEN / f"{group}.txt").read_text("utf-8")
    result = [shlex.split(line) for line in re.findall(r"^\$ pipeline (.+)", text, re.MULTILINE)]
    assert result, f"no command in {group}.txt"
    return result
