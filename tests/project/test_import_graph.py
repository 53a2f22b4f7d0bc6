"""Tests of the import layers: imports go downward only, and there is no cycle."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.call_order import list_called_modules
from tests.support.import_graph import (
    PACKAGES,
    ROOT,
    Imports,
    find_cycle,
    find_dependencies,
    group_by_layer,
    read_imports,
    reduce_transitively,
)
from tools.import_graph_picture import draw_import_graph


@pytest.fixture(scope="module")
def imports() -> Imports:
    return read_imports()


def test_every_module_is_read(imports: Imports) -> None:
    assert {name.partition(".")[0] for name in imports} == set(PACKAGES)
    assert "tablebase.errors" in find_dependencies(imports, "pipeline.verify.claims")
    assert imports["tablebase.errors"] == set()


def test_imports_between_packages_go_downward(imports: Imports) -> None:
    for name, targets in imports.items():
        for target in targets:
            lower, upper = (PACKAGES.index(module.partition(".")[0]) for module in (target, name))
            assert lower <= upper, f"{name} imports {target}"


def test_there_is_no_import_cycle(imports: Imports) -> None:
    assert find_cycle(imports) == []
    layers = {name: targets for name, targets in group_by_layer(imports).items() if "." in name}
    between = {
        name: {target for target in targets if "." in target} for name, targets in layers.items()
    }
    assert find_cycle(between) == []


def test_proofs_import_only_the_lowest_package_and_tasks(imports: Imports) -> None:
    allowed = ("tablebase", "pipeline.verify", "pipeline.tasks")
    for name in imports:
        if name.startswith("pipeline.verify"):
            assert all(target.startswith(allowed) for target in find_dependencies(imports, name)), (
                name
            )
            assert name == "pipeline.verify" or "pipeline.verify.proofs" not in imports[name]


@pytest.mark.parametrize(
    "line",
    [
        "import tablebase.ground",
        "from tablebase import ground",
        "from tablebase.ground import LEVEL",
        "def later():\n    from tablebase.ground import LEVEL",
        "if TYPE_CHECKING:\n    import tablebase.ground as below",
        "from .inner import near",
        "from ..queries.inner import near",
        "from . import inner",
        "ROOM = 'tablebase.ground:Door'",
    ],
)
def test_imports_of_any_form_are_read(tmp_path: Path, line: str) -> None:
    for name in ("tablebase/ground.py", "queries/inner.py", "queries/room.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        (path.parent / "__init__.py").touch()
        path.touch()
    (tmp_path / "queries" / "room.py").write_text(f"{line}\n", "utf-8")
    result = read_imports(tmp_path)["queries.room"]
    assert result & {"tablebase.ground", "queries.inner"}
    assert "queries.room" not in result


def test_cycles_are_found() -> None:
    assert find_cycle({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert set(find_cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})) == {"a", "b", "c"}


def test_the_picture_leaves_out_indirect_imports(imports: Imports) -> None:
    assert reduce_transitively({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == {
        "a": {"b"},
        "b": {"c"},
        "c": set(),
    }
    drawn = re.findall(r">([^<]+)</text>", draw_import_graph())
    for name in group_by_layer(imports):
        assert "." not in name or name.partition(".")[2] in drawn
    assert (ROOT / "docs" / "architecture.md").read_text("utf-8").count("(import-layers.svg)") == 1


def test_calls_of_a_lookup_are_measured() -> None:
    called = list_called_modules("query", "senet", "ABAAABBB.B...A.")
    assert "queries/senet/reader.py" in called
    assert "queries/eight/reader.py" not in called, "a lookup loads only the reader that it needs"
    assert called.index("queries/dispatch.py") < called.index("queries/index_reader.py")
