"""The program's entry point: a simple query takes the fast path, any other command loads Typer.

Every error becomes a message and an exit code.
"""

from __future__ import annotations

import gc
import os
import sys

from puzzle_tablebase import process
from puzzle_tablebase.errors import (
    FileChanged,
    OutputError,
    TablebaseError,
    TableMissing,
    TableUnreadable,
    Unreachable,
    name_packages,
    quote,
)
from puzzle_tablebase.process import (
    cleanup_lock,
    take_over_signals,
    watch_signals,
    wrap_standard_outputs,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run `pipeline` with the process's arguments, and end the process with its exit code."""
    gc.disable()  # it would take a tenth of a lookup's time; `_dispatch` enables it
    take_over_signals()  # before all other imports: an interrupt may come at any moment
    answers = wrap_standard_outputs()
    code = run_command(sys.argv[1:])
    # a library may have swallowed the write error
    code = code or (answers.failure.exit_code if answers.failure else 0)
    # all output is written; shutting Python down would take a third of a lookup's time, and a
    # thread of a library that reads ahead would abort it
    os._exit(code)


def run_command(arguments: list[str]) -> int:
    """Run the command with these arguments and return its exit code; print errors as messages."""
    try:
        code = name_packages(_dispatch)(arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return 130
    except (SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # polars raises a BaseException when it panics
        with cleanup_lock:  # after a signal, wait for the end: its cleanup removes files
            pass
        # a lone lookup does not need these
        from puzzle_tablebase.pipeline.terminal import format_error, print_error

        if isinstance(error, Unreachable | FileChanged):  # while a table was being read
            hint = "Check the address, the network and the credentials."
            if isinstance(error, FileChanged):
                hint = "Run the command again."
            print_error(f"The store of the tables cannot be read: {error}. {hint}")
            return TableUnreadable.exit_code
        if isinstance(error, TablebaseError):
            if not (isinstance(error, OutputError) and error.is_gone):
                print_error(format_error(error))
            is_default = isinstance(error, TableMissing) and error.file.startswith("outputs/")
            if is_default and not os.path.exists("outputs"):  # a build would make a second store
                where = f"there is no folder outputs in {os.getcwd()}"
                print_error(f"{where}; name another with --outputs or PIPELINE_OUTPUTS")
            return error.exit_code
        if isinstance(error, MemoryError):
            print_error("There is not enough memory. Close other programs, or raise the limit.")
            return 3
        # a bug: print one sentence, and the traceback only on request
        if os.environ.get("PIPELINE_TRACEBACK"):
            raise
        print_error(
            f"internal error ({type(error).__name__}: {quote(str(error), 200)}). "
            "Please report it; PIPELINE_TRACEBACK=1 shows where."
        )
        return 3


def _dispatch(arguments: list[str]) -> int:
    if arguments[:1] in (["query"], ["check"]):
        from puzzle_tablebase.pipeline.single_query import answer_fast, judge_fast

        answer_or_judge = answer_fast if arguments[0] == "query" else judge_fast
        process.is_lone = True
        answer = answer_or_judge(arguments[1:])
        process.is_lone = False
        if answer is not None:
            sys.stdout.write(answer)
            return 0
    gc.enable()
    watch_signals()
    from puzzle_tablebase.resources import require_room_for_libraries

    require_room_for_libraries()
    try:
        from puzzle_tablebase.pipeline.commands import run_app
    except ModuleNotFoundError as error:  # Typer would print the help
        from puzzle_tablebase.pipeline.plain_help import print_plain_help

        if print_plain_help(arguments, error):
            return 0
        raise
    return run_app(arguments)
