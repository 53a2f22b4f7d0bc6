"""The import graph: which module of the three packages imports which, read from their source."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("tablebase", "queries", "pipeline")
"""The packages, lowest import layer first: a module imports its own layer and lower ones only."""

Imports = dict[str, set[str]]


def read_imports(root: Path = ROOT) -> Imports:
    """Return the modules that each one imports or names in a string, lazy and type imports too."""
    modules = {}
    for package in PACKAGES:
        for path in (root / package).rglob("*.py"):
            dotted = ".".join(path.relative_to(root).with_suffix("").parts)
            modules[dotted.removesuffix(".__init__")] = path
    return {
        name: {
            result for result in _find_imports(name, path) if result in modules and result != name
        }
        for name, path in modules.items()
    }


def _find_imports(name: str, path: Path) -> set[str]:
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    result = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Import():
                result |= {alias.name for alias in node.names}
            case ast.ImportFrom(module=module, level=level):
                above = package.split(".")[: 1 - level or None] if level else []
                base = ".".join([*above, *([module] if module else [])])
                result |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
            case ast.Constant(value=str(text)):
                result.add(text.partition(":")[0])
    return {module for module in result if "." in module or module in PACKAGES}


def get_layer(module: str) -> str:
    """Return the package or top module that a module belongs to."""
    return ".".join(module.split(".")[:2])


def group_by_layer(modules: Imports) -> Imports:
    """Return the imports between packages and top modules."""
    grouped: Imports = {}
    for module, targets in modules.items():
        others = {get_layer(target) for target in targets} - {get_layer(module)}
        grouped.setdefault(get_layer(module), set()).update(others)
    return grouped
