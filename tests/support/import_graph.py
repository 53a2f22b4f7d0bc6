"""The house: which module of the three packages imports which, read from their source."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLOORS = ("tablebase", "queries", "pipeline")
"""From the ground up: a module may import those of its own floor and of the floors below."""

Imports = dict[str, set[str]]


def imports(root: Path = ROOT) -> Imports:
    """The modules that each one imports or names in a string, lazily and for types too."""
    modules = {}
    for floor in FLOORS:
        for path in (root / floor).rglob("*.py"):
            dotted = ".".join(path.relative_to(root).with_suffix("").parts)
            modules[dotted.removesuffix(".__init__")] = path
    return {
        name: {found for found in _named(name, path) if found in modules and found != name}
        for name, path in modules.items()
    }


def _named(name: str, path: Path) -> set[str]:
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Import():
                found |= {alias.name for alias in node.names}
            case ast.ImportFrom(module=module, level=level):
                above = package.split(".")[: 1 - level or None] if level else []
                base = ".".join([*above, *([module] if module else [])])
                found |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
            case ast.Constant(value=str(text)):
                found.add(text.partition(":")[0])
    return {module for module in found if "." in module or module in FLOORS}


def room(module: str) -> str:
    """A floor's package or top module that a module belongs to."""
    return ".".join(module.split(".")[:2])


def rooms(modules: Imports) -> Imports:
    """Which room imports which."""
    found: Imports = {}
    for module, targets in modules.items():
        others = {room(target) for target in targets} - {room(module)}
        found.setdefault(room(module), set()).update(others)
    return found


def circle(known: Imports) -> list[str]:
    """Some that import each other, directly or round about; none where there are none."""
    try:
        TopologicalSorter(known).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def below(known: Imports, name: str) -> set[str]:
    """All that something stands on."""
    found: set[str] = set()
    waiting = [*known[name]]
    while waiting:
        other = waiting.pop()
        if other not in found:
            found.add(other)
            waiting += known[other]
    return found


def needed(known: Imports) -> Imports:
    """The same without what follows from the rest: where a longer way leads there too."""
    return {
        name: {
            target
            for target in targets
            if not any(target in below(known, other) for other in targets - {target})
        }
        for name, targets in known.items()
    }
