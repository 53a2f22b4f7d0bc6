"""Repair commands can be typed as printed; errors name what a file lacks."""

import errno
import os
import shlex

import pytest

from tablebase.errors import TableError, TableMissing, TableUnreadable
from tablebase.tables.repair import format_rebuild_command, format_remove_command, make_open_error
from tablebase.tables.store import Folder

FOLDERS = {
    "outputs": "",
    "/data/tables-8_x.old": " --outputs /data/tables-8_x.old",
    "my tables": " --outputs 'my tables'",
    "$HOME": " --outputs '$HOME'",
    "it's 'here'": r" --outputs 'it'\''s '\''here'\'''",
}


@pytest.mark.parametrize("folder", FOLDERS)
def test_repair_commands_name_other_folders_than_the_default(folder: str) -> None:
    store, there = Folder(folder), FOLDERS[folder]
    assert format_rebuild_command("", store) == f"pipeline precompute{there}"
    assert format_rebuild_command("eight", store) == f"pipeline precompute eight{there}"
    assert (
        format_rebuild_command("senet", store, force=True)
        == f"pipeline precompute senet --force{there}"
    )
    assert format_remove_command("eight", store) == f"pipeline remove eight{there}"
    words = shlex.split(format_rebuild_command("", store, force=True))
    assert words == ["pipeline", "precompute", "--force", *(["--outputs", folder] if there else [])]


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [
        (errno.ENOENT, TableMissing, "is not published"),
        (errno.ENOTDIR, TableMissing, "is not published"),
        (errno.EISDIR, TableMissing, "is not published"),
        (errno.EACCES, TableUnreadable, "permission denied"),
        (errno.EIO, TableUnreadable, "input/output error"),
    ],
)
def test_a_file_that_does_not_open_is_missing_or_unreadable(
    code: int, kind: type[TableError], said: str
) -> None:
    result = make_open_error("there/eight.idx", OSError(code, os.strerror(code)), "make it")
    assert type(result) is kind
    assert (result.file, result.command) == ("there/eight.idx", "make it")
    assert said in str(result)
