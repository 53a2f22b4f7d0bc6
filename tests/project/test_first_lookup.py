"""Tests of `tools/first_lookup.py`, which checks the lookup that a first build makes possible."""

import sys
from pathlib import Path

import pytest

from tools import first_lookup

LAUNCHER = "import sys{}\nfrom pipeline.run import main\nsys.exit(main())\n"


def write_launcher(path: Path, modules: str = "") -> Path:
    path.write_text(LAUNCHER.format(modules))
    return path


@pytest.mark.parametrize("words", first_lookup.LOOKUPS.values(), ids=first_lookup.LOOKUPS)
def test_a_lookup_imports_nothing_slow(
    words: list[str], tmp_path: Path, outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIPELINE_OUTPUTS", str(outputs))
    launcher = write_launcher(tmp_path / "pipeline")
    assert first_lookup.find_slow_imports(launcher, words) == set()


def test_the_launcher_of_an_older_pip_is_noticed(
    tmp_path: Path,
    outputs: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PIPELINE_OUTPUTS", str(outputs))
    launcher = write_launcher(tmp_path / "pipeline", ", re")
    launcher.write_text(f"#!{sys.executable}\n{launcher.read_text()}")
    launcher.chmod(0o755)
    assert first_lookup.main(launcher, runs=1) == 1
    assert "query eight: imports re" in capsys.readouterr().err
