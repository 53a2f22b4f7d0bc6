"""A first user's minute with a wheel: `python tools/try_wheel.py WHEEL [FOLDER]`.

The wheel is installed with its dependencies in an empty environment of the Python that runs this,
apart from the checkout. It builds all default tables in FOLDER, compares their files with its
manifest, and answers at the shell, from Python and with a lookup by packages' absence.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

STATE = "378546201"
BUILD = """
import sys
import puzzle_tablebase as pt
print(pt.precompute(outputs=sys.argv[1], quiet=True))
tables = pt.open_tables(sys.argv[1])
assert tables.eight.distance("378546201") == 27
assert tables.eight.annotate(["378546201"])["solutions"].to_list() == [15]
assert tables.senet.check("ABAAABBB.B...A.", "9-14 4x7").result == "shortest"
assert tables.knight.probe("b1", to="a3").closed
assert len(tables.eight.sample(10, seed=1)) == 10
"""


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command in a folder, without the checkout's packages; return its output."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ended = subprocess.run(command, cwd=cwd, env=env, check=True, capture_output=True, text=True)
    return ended.stdout


def try_wheel(wheel: Path, tables: Path) -> None:
    """Install a wheel, build in a folder and ask; raise an error if anything is not as expected."""
    with tempfile.TemporaryDirectory() as name:
        temporary = Path(name)
        for environment, options in (("bare", ["--no-deps"]), ("full", [])):
            venv.create(temporary / environment, with_pip=True)
            pip = (temporary / environment / "bin" / "python", "-m", "pip", "install", "--quiet")
            run(*pip, *options, wheel, cwd=temporary)
        full, bare = temporary / "full" / "bin", temporary / "bare" / "bin"
        sys.stdout.write(run(full / "python", "-c", BUILD, tables, cwd=temporary))
        where = ("--outputs", tables)
        sys.stdout.write(run(full / "pipeline", "verify", "--quick", *where, cwd=temporary))
        for programs in (full, bare):  # with and without packages
            answer = run(programs / "pipeline", "query", "eight", STATE, *where, cwd=temporary)
            assert "27 moves" in answer, answer
        assert "query PUZZLE KEY" in run(bare / "pipeline", "--help", cwd=temporary)
    sys.stdout.write(f"{wheel.name} works on Python {sys.version.split()[0]}, {sys.platform}\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        built = Path(sys.argv[2] if len(sys.argv) > 2 else folder).absolute()
        try_wheel(Path(sys.argv[1]).absolute(), built)
