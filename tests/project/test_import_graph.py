"""No cycle of imports, also within a layer; `make check` holds the layers."""

from tools.import_graph import find_cycle, group_by_layer, read_imports


def test_there_is_no_import_cycle() -> None:
    imports = read_imports()
    assert find_cycle(imports) == []
    layers = {name: targets for name, targets in group_by_layer(imports).items() if "." in name}
    between = {
        name: {target for target in targets if "." in target} for name, targets in layers.items()
    }
    assert find_cycle(between) == []
