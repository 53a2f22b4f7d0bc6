"""The layout of the tests: what tests share is in `tests/support`."""

import ast
from pathlib import Path

import pytest

from tests.support.shell import ROOT

FILES = sorted((ROOT / "tests").rglob("*.py"))
WITH_TESTS = {
    # it runs kernels of others' tests by name, in a process without the compiler
    "tests/base/test_compiler_off.py",
}
"""The files that may import tests, each with its reason."""
WITH_BROWSERS = (
    "tests/explorer/",
    "tests/site/",
    "tests/javascript/test_javascript.py",
    "tests/support/browser.py",
)
"""Where a browser's driver is needed: nowhere else, or these tests would not run without it."""


def list_imports(path: Path) -> set[str]:
    """List the modules that a file imports anywhere, and the names that it takes from each."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_tests_import_no_tests_and_few_a_browser(path: Path) -> None:
    name = str(path.relative_to(ROOT))
    imports = list_imports(path)
    if name not in WITH_TESTS:
        parts = {(name, part) for name in imports for part in name.split(".")}
        assert [name for name, part in parts if part.startswith(("test_", "conftest"))] == []
    if not name.startswith(WITH_BROWSERS):
        assert [name for name in imports if name.startswith("playwright")] == []
