"""Numbers read from files: huge, negative and wrapped ones give an answer or an error of ours."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from puzzle_tablebase.errors import TableDamaged
from puzzle_tablebase.formats.manifest import File, Footer, read_manifest
from puzzle_tablebase.pipeline.searches import checkpoints
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import make_tour_table
from puzzle_tablebase.queries.row_groups import RowGroups
from puzzle_tablebase.stores.folder import Folder
from tests import usual_or_nightly
from tests.conftest import make_once
from tests.support.shell import SCRIPT, run
from tests.support.tampered import edit_manifest, link_copy

NAMES = ("knight_tours_5x5", "knight_ranks_5x4", "knight_closed_ranks_5x6", "sliding_2x4_8")
EXTREMES = (-1, -(1 << 63), 1 << 31, 1 << 40, 1 << 62, 1 << 63, 1 << 64, 10**30)


@pytest.fixture(scope="session")
def files_of_each_kind(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small store with a file of every kind, and the record of a run."""

    def build(folder: Path) -> None:
        words = ("precompute", *NAMES, "fifteen_5-5-5", "--quiet", "--outputs", str(folder))
        assert run([SCRIPT, *words]) == (0, "", "")

    return make_once(tmp_path_factory, "files_of_each_kind", build)


@pytest.mark.parametrize("kind", ["indexes", "manifests", "runs", "footers"])
def test_no_number_of_a_file_is_too_much_for_a_command(
    kind: str, files_of_each_kind: Path, tmp_path: Path
) -> None:
    """Put extreme numbers in the place of each other one; `tests.support.huge_numbers` says how."""
    # proofs read indexes, which takes longer
    count = usual_or_nightly(1, 250) if kind == "indexes" else usual_or_nightly(3, 1_000)
    words = kind, str(files_of_each_kind), str(tmp_path / "copy"), "1", str(count)
    command = [sys.executable, "-m", "tests.support.huge_numbers", *words]
    ended = run(command, env={**os.environ, "MALLOC_ARENA_MAX": "2"})  # each reserves address space
    assert ended[:2] == (0, ""), ended.err[-300:]


@pytest.mark.parametrize("number", [*EXTREMES, 2.5, True, None])
@pytest.mark.parametrize("others", [(), (0,), (3,)])
def test_a_checkpoint_of_another_size_is_none(
    number: object, others: tuple[int, ...], tmp_path: Path
) -> None:
    class Wrong(np.ndarray):
        shape = property(lambda _: (*others, number))

    store = checkpoints(Folder(tmp_path), make_tour_table(KnightBoard(3, 4)))
    store.save("task", [np.arange(7).view(Wrong)])
    assert store.load("task") is None


@pytest.mark.parametrize("at", [0, 5, *EXTREMES])
@pytest.mark.parametrize("size", EXTREMES)
def test_no_more_is_read_than_a_file_has(size: int, at: int, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    file = Folder(tmp_path).open_random_access("file")
    expected = b"0123456789"[at:] if at in (0, 5) and size > 0 else b""
    assert file.read(size, at) == expected
    file.close()


@pytest.mark.parametrize("number", EXTREMES)
def test_a_footer_of_another_length_is_damage(number: int, files_of_each_kind: Path) -> None:
    file = read_manifest(Folder(files_of_each_kind))["knight_tours_5x5"].parquet
    assert file
    wrong = File(file.file, file.bytes, file.sha256, Footer(number, file.footer.sha256))
    with pytest.raises(TableDamaged, match="its footer differs from the manifest"):
        RowGroups(Folder(files_of_each_kind), "knight_tours_5x5", [wrong])


def test_a_manifest_counts_no_more_states_than_fit_64_bits(
    files_of_each_kind: Path, tmp_path: Path
) -> None:
    """Expect rows and counts that agree with each other to be refused too."""
    folder = link_copy(files_of_each_kind, tmp_path)
    with edit_manifest(folder) as entries:
        entries["sliding_2x4_8"]["rows"] = 1 << 63
    with pytest.raises(TableDamaged, match=r"its list of tables is invalid|it is not a manifest"):
        read_manifest(Folder(folder))
