"""Repair commands can be typed as printed; errors name what a file lacks."""

import errno
import os
import shlex

import pytest

from puzzle_tablebase.errors import TableError, TableMissing, TableUnreadable
from puzzle_tablebase.queries.status import format_repair_command
from puzzle_tablebase.stores.access import (
    format_rebuild_command,
    make_open_error,
)
from puzzle_tablebase.stores.folder import Folder


@pytest.mark.parametrize("folder", ["/data/tables-8_x.old", "my tables", "$HOME", "it's 'here'"])
def test_repair_commands_name_other_folders_than_the_default(folder: str) -> None:
    store = Folder(folder)
    assert format_rebuild_command("", Folder("outputs")) == "pipeline precompute"
    assert format_repair_command("foreign", store).startswith("pipeline remove foreign --outputs ")
    words = shlex.split(format_rebuild_command("eight", store, force=True))
    assert words == ["pipeline", "precompute", "eight", "--force", "--outputs", folder]


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        (errno.ENOENT, TableMissing, "is not published"),
        (errno.EISDIR, TableUnreadable, "is a directory"),
        (errno.EACCES, TableUnreadable, "permission denied"),
        (errno.EIO, TableUnreadable, "input/output error"),
    ],
)
def test_a_file_that_does_not_open_is_missing_or_unreadable(
    code: int, kind: type[TableError], message: str
) -> None:
    result = make_open_error("there/eight.idx", OSError(code, os.strerror(code)), "make it")
    assert type(result) is kind
    assert (result.file, result.command) == ("there/eight.idx", "make it")
    assert message in str(result)
