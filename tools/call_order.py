"""The modules that a command calls, in the order of their first calls, as measured in a run of it.

A module counts when one of its functions is called, except while a module is imported.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import subprocess
import sys
import threading
from types import FrameType
from typing import NoReturn

from tests.support.shell import ROOT, environment
from tools.import_graph import PACKAGES

MARK = "-- modules --\n"


def list_called_modules(*arguments: str) -> list[str]:
    """Run a command of the program in a process of its own, and list the modules that it calls."""
    command = [sys.executable, "-m", "tools.call_order", *arguments]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return done.stdout.decode().partition(MARK)[2].splitlines()


def main() -> None:
    """Run a command with the process's arguments, and print the modules that it calls."""
    prefixes = tuple(f"{ROOT / package}{os.sep}" for package in PACKAGES)
    modules: dict[str, None] = {}
    others: set[str] = set()

    def record(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        if event != "call" or name in modules or name in others:
            return
        if not name.startswith(prefixes):
            others.add(name)
        elif frame.f_code.co_flags & inspect.CO_OPTIMIZED and not is_import(frame):
            modules[name] = None

    os._exit = leave  # the program ends a lookup without shutting Python down
    from puzzle_tablebase.pipeline.run import main as run_program

    output = sys.stdout
    threading.setprofile(record)
    sys.setprofile(record)
    with contextlib.suppress(SystemExit):
        run_program()
    sys.setprofile(None)
    output.writelines([MARK, *(f"{os.path.relpath(name, ROOT)}\n" for name in modules)])
    output.flush()


def is_import(frame: FrameType) -> bool:
    """Return whether a call is made while a module is imported."""
    caller: FrameType | None = frame
    while caller and caller.f_code is not main.__code__:
        if caller.f_code.co_name == "<module>":
            return True
        caller = caller.f_back
    return False


def leave(status: int) -> NoReturn:
    raise SystemExit(status)


if __name__ == "__main__":
    main()
