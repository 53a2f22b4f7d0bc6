"""No cycle of imports, also within a layer; `make check` holds the layers."""

from graphlib import TopologicalSorter

from tools.import_graph import group_by_layer, read_imports


def test_there_is_no_import_cycle() -> None:
    imports = read_imports()
    TopologicalSorter(imports).prepare()  # raises CycleError with the modules of a cycle
    layers = {name: targets for name, targets in group_by_layer(imports).items() if "." in name}
    between = {
        name: {target for target in targets if "." in target} for name, targets in layers.items()
    }
    TopologicalSorter(between).prepare()
