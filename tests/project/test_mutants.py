"""The tests that the mutation tool runs for each file exist."""

from pathlib import Path

import pytest

from tests.support.shell import ROOT
from tools.mutants import TESTS, find_tests


def test_every_file_that_is_mutated_exists_and_has_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for source, tests in TESTS.items():
        assert Path(source).is_file()
        for argument in find_tests(tests):
            file, _, test = argument.partition("::")
            name, _, _ = test.partition("[")
            assert f"def {name}" in Path(file).read_text("utf-8")
