"""The program's entry point."""

from __future__ import annotations

import os
import sys

from tablebase.signals import watch_signals


def main() -> int:
    """Run `pipeline` with the process's arguments and return the exit code."""
    try:
        watch_signals()  # before all other imports: an interrupt may come at any moment
    except RuntimeError as error:
        from pipeline.limits import find_shortage
        from pipeline.terminal import print_error

        print_error(find_shortage(error) or error)
        return 3
    from pipeline.run import run_command
    from tablebase.stdio import wrap_standard_streams

    answers = wrap_standard_streams()
    code = run_command(sys.argv[1:])
    # a library may have swallowed the write error
    code = code or (answers.failure.exit_code if answers.failure else 0)
    if "pipeline.commands.app" not in sys.modules:
        # all output is written, and shutting Python down would take a third of a lookup's time
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
