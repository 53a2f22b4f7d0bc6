"""Tests of the import layers: imports go downward only, and there is no cycle."""

from __future__ import annotations

import pytest

from tests.support.import_graph import (
    PACKAGES,
    Imports,
    find_cycle,
    find_dependencies,
    group_by_layer,
    read_imports,
)


@pytest.fixture(scope="module")
def imports() -> Imports:
    return read_imports()


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
