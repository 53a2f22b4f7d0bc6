"""The house on three floors: no import goes up, and none goes round in a circle."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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
def known() -> Imports:
    return read_imports()


def test_every_module_is_seen(known: Imports) -> None:
    assert {name.partition(".")[0] for name in known} == set(PACKAGES)
    assert "tablebase.errors" in find_dependencies(known, "pipeline.verify.claims")
    assert known["tablebase.errors"] == set()


def test_no_import_goes_up_a_floor(known: Imports) -> None:
    for name, targets in known.items():
        for target in targets:
            lower, upper = (PACKAGES.index(of.partition(".")[0]) for of in (target, name))
            assert lower <= upper, f"{name} imports {target}"


def test_no_modules_know_each_other_even_round_about(known: Imports) -> None:
    assert find_cycle(known) == []
    floors = {name: targets for name, targets in group_by_layer(known).items() if "." in name}
    between = {name: {of for of in targets if "." in of} for name, targets in floors.items()}
    assert find_cycle(between) == []


def test_a_proof_stands_on_the_ground_alone(known: Imports) -> None:
    floor = ("tablebase", "pipeline.verify", "pipeline.tasks")
    for name in known:
        if name.startswith("pipeline.verify"):
            assert all(target.startswith(floor) for target in find_dependencies(known, name)), name
            assert name == "pipeline.verify" or "pipeline.verify.proofs" not in known[name]


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
def test_an_import_of_any_form_is_seen(tmp_path: Path, line: str) -> None:
    for name in ("tablebase/ground.py", "queries/inner.py", "queries/room.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        (path.parent / "__init__.py").touch()
        path.touch()
    (tmp_path / "queries" / "room.py").write_text(f"{line}\n", "utf-8")
    result = read_imports(tmp_path)["queries.room"]
    assert result & {"tablebase.ground", "queries.inner"}
    assert "queries.room" not in result


def test_circles_are_found() -> None:
    assert find_cycle({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert set(find_cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})) == {"a", "b", "c"}


def test_the_picture_leaves_out_what_follows_from_the_rest(known: Imports) -> None:
    assert reduce_transitively({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == {
        "a": {"b"},
        "b": {"c"},
        "c": set(),
    }
    drawn = re.findall(r">([^<]+)</text>", draw_import_graph())
    for name in group_by_layer(known):
        assert "." not in name or name.partition(".")[2] in drawn
    assert (ROOT / "docs" / "architecture.md").read_text("utf-8").count("(import-layers.svg)") == 1


def test_what_passes_through_the_house_passes_each_room_once(known: Imports) -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    there = {name.replace(".", "/") for name in group_by_layer(known)}
    for command in ("precompute eight", "query eight 378546201"):
        _, _, after = text.partition(f"`pipeline {command}`, from")
        passed = re.findall(r"^\| `(\S+)` \|", after.partition("\n\n`")[0], re.MULTILINE)
        assert len(passed) >= 7
        assert sorted({*passed}) == sorted(passed)
        assert {*passed} <= there
