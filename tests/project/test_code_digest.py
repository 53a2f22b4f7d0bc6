"""Tests of code digests, which change with every module that the code imports, and no other."""

import sys
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from puzzle_tablebase.pipeline.builders import BUILDERS, checkpoints
from puzzle_tablebase.puzzles.sliding import parse_board
from puzzle_tablebase.schema import Table
from puzzle_tablebase.tables import checkpoints as code
from puzzle_tablebase.tables.store import Folder
from tests.support.build_recorder import TOURS

SOURCES = {
    "shelf/__init__.py": "",
    "shelf/maker.py": "from shelf import near\nimport json\ndef make():\n    import shelf.far\n",
    "shelf/near.py": "from .deep.down import NAME\n",
    "shelf/far.py": "from . import beside as other\n",
    "shelf/beside.py": "",
    "shelf/apart.py": "",
    "shelf/deep/__init__.py": "",
    "shelf/deep/down.py": "NAME = 1\n",
}


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], str]]:
    for name, source in SOURCES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(source)
    monkeypatch.syspath_prepend(tmp_path)

    def digest() -> str:
        code.digest_code.cache_clear()
        code._find.cache_clear()
        return code.digest_code("shelf.maker")

    yield digest
    code.digest_code.cache_clear()
    code._find.cache_clear()


@pytest.mark.parametrize("name", SOURCES)
def test_a_digest_changes_with_the_imported_modules(
    name: str, shelf: Callable[[], str], tmp_path: Path
) -> None:
    before = shelf()
    assert shelf() == before
    (tmp_path / name).write_text(f"{SOURCES[name]}# another kernel\n")
    assert (shelf() == before) == (name == "shelf/apart.py")
    assert "shelf" not in sys.modules, "nothing is imported for it"


@pytest.mark.parametrize("module", sorted({where.partition(":")[0] for where in BUILDERS.values()}))
def test_the_digest_of_a_builder_covers_all_packages(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names_read, read_source = set[str](), code._read_source

    def record(spec: ModuleSpec) -> bytes:
        names_read.add(spec.name)
        return read_source(spec)

    monkeypatch.setattr(code, "_read_source", record)
    code.digest_code.__wrapped__(module)
    assert {module, "puzzle_tablebase.pipeline.builders", "puzzle_tablebase.schema"} <= names_read


@pytest.mark.parametrize(
    ("table", "module"),
    [
        (TOURS, BUILDERS[TOURS.recipe.search].partition(":")[0]),
        (parse_board("3x4").tables[0], type(parse_board("3x4")).__module__),
    ],
    ids=["another kernel", "other rules"],
)
def test_results_of_other_code_are_not_used(
    table: Table, module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numpy as np

    before = checkpoints(Folder(tmp_path), table)
    before.save("part", [np.arange(3)])
    assert checkpoints(Folder(tmp_path), table).load("part") is not None
    digest_code = code.digest_code
    monkeypatch.setattr(
        "puzzle_tablebase.tables.checkpoints.digest_code",
        lambda name: "another" if name == module else digest_code(name),
    )
    after = checkpoints(Folder(tmp_path), table)
    assert after.load("part") is None
    after.clear_others()
    assert before.load("part") is None
