"""The program's entry point."""

from __future__ import annotations

import gc
import os
import sys

from tablebase.signals import take_over_signals


def main() -> int:
    """Run `pipeline` with the process's arguments and return the exit code."""
    gc.disable()  # it would take a tenth of a lookup's time; `run_command` enables it
    take_over_signals()  # before all other imports: an interrupt may come at any moment
    from pipeline.run import run_command
    from tablebase.stdio import wrap_standard_outputs

    answers = wrap_standard_outputs()
    code = run_command(sys.argv[1:])
    # a library may have swallowed the write error
    code = code or (answers.failure.exit_code if answers.failure else 0)
    if "pipeline.commands.app" not in sys.modules:
        # all output is written, and shutting Python down would take a third of a lookup's time
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
