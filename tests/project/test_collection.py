"""Every test file is collected, and every one that the pages and the Makefile name exists."""

import re
from fnmatch import fnmatch

import pytest

from tests.support.shell import ROOT


def test_no_folder_of_tests_is_skipped(pytestconfig: pytest.Config) -> None:
    """Expect no name that pytest skips: it leaves out folders named build or dist, for example."""
    patterns = pytestconfig.getini("norecursedirs")
    folders = {folder for path in ROOT.glob("tests/**/test_*.py") for folder in path.parents}
    names = {folder.name for folder in folders if folder.is_relative_to(ROOT / "tests")}
    assert "build" in patterns
    assert {name for name in names if any(fnmatch(name, each) for each in patterns)} == set()


def test_named_test_files_exist() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "Makefile", ROOT / ".ci/run"]
    names = {
        name
        for page in pages
        for name in re.findall(r"\btests/[a-z_0-9/]+(?:\.py|/)", page.read_text("utf-8"))
    }
    assert len(names) > 20
    assert {name for name in names if not (ROOT / name).exists()} == set()
