"""Digest of the code that a result depends on: a module and the project modules it imports."""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec

PROJECT = frozenset("tablebase queries pipeline".split())  # noqa: SIM905  names, not imports
"""The packages of this project."""


@functools.cache
def digest_code(module: str) -> str:
    """Return a digest of the source of a module and of the project's modules that it imports.

    Imports inside functions count as well. For a module of another package, the modules of that
    package count too.

    >>> digest_code("tablebase.errors") == digest_code("tablebase.code_digest")
    False
    """
    packages = {*PROJECT, module.partition(".")[0]}
    sources: dict[str, bytes] = {}
    pending_names = [module]
    while pending_names:
        name = pending_names.pop()
        if name in sources or name.partition(".")[0] not in packages:
            continue
        spec = _find(name)
        if spec is None:  # it names an object in a module
            continue
        sources[name] = _read_source(spec)
        pending_names += _list_imports(sources[name], spec)
        pending_names.append(name.rpartition(".")[0])  # importing a module runs its package first
    digest = hashlib.sha256()
    for name, source in sorted(sources.items()):
        digest.update(f"{name} {len(source)}\n".encode() + source)
    return digest.hexdigest()


@functools.cache
def _find(name: str) -> ModuleSpec | None:
    """Find a module without importing its package, which may take seconds."""
    package, _, _ = name.rpartition(".")
    if not package:
        try:
            return find_spec(name) if name else None
        except ValueError:  # it has no file: `__main__`, in a notebook
            return None
    parent = _find(package)
    if parent is None or parent.submodule_search_locations is None:
        return None
    return PathFinder.find_spec(name, parent.submodule_search_locations)


def _read_source(spec: ModuleSpec) -> bytes:
    if not spec.has_location or not str(spec.origin).endswith(".py"):
        return b""
    with open(str(spec.origin), "rb") as file:
        return file.read()


def _list_imports(source: bytes, spec: ModuleSpec) -> Iterator[str]:
    """List the names that a source imports: modules, or objects in modules."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                package = spec.name if spec.submodule_search_locations else spec.parent or ""
                parent_names = package.split(".")[: len(package.split(".")) - node.level + 1]
                module = ".".join([*parent_names, *([module] if module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)
