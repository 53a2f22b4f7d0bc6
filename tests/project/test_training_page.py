"""All blocks of `docs/train.md` are run: sessions by `test_docs.py`, and here what is left.

The packages of others are in `test_harnesses.py`, the wheel is in `test_wheel.py`.
"""

import re
import sys
from pathlib import Path

from tests.support.shell import ROOT, run

PAGE = (ROOT / "docs" / "train.md").read_text("utf-8")
RUN_ELSEWHERE = ("pip install ", "pipeline precompute eight", "vf-validate ", "vf-eval ", "    --")


def test_a_contest_judges_an_answer(outputs: Path, tmp_path: Path) -> None:
    shell = "".join(re.findall(r"^```sh\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
    (command,) = [line for line in shell.splitlines() if not line.startswith(RUN_ELSEWHERE)]
    (tmp_path / "input.txt").write_text("152703846\n")
    (tmp_path / "output.txt").write_text("DLURURDD\n")
    (tmp_path / "answer.txt").touch()
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    python, *words = command.split()
    assert python == "python"
    env = {"PIPELINE_OUTPUTS": str(outputs)}
    ended = run([sys.executable, *words], cwd=tmp_path, env=env)
    assert (ended.code, ended.out) == (0, "ok shortest: length 8, shortest 8\n")
