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
    from contextlib import AbstractContextManager
    from typing import NoReturn

    from puzzle_tablebase.queries.questions import Option


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
        # a single lookup does not need these
        from puzzle_tablebase.pipeline.terminal import format_error, print_answer, print_error

        if isinstance(error, Unreachable | FileChanged):  # while a table was being read
            hint = "Check the address, the network and the credentials."
            if isinstance(error, FileChanged):
                hint = "Run the command again."
            print_error(f"The store of the tables cannot be read: {error}. {hint}")
            return TableUnreadable.exit_code
        if isinstance(error, TablebaseError):
            if error.known and "--json" in arguments:
                from puzzle_tablebase.queries.questions import format_json

                print_answer(f"{format_json(error.known)}\n")
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
        process.is_single_query = True
        answer = answer_fast(*arguments)
        process.is_single_query = False
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


# ---- the fast path: a query or a check whose arguments need no Typer -----------------------------


def answer_fast(command: str, *arguments: str) -> str | None:
    """Answer a query or a check of one key; None for arguments that need Typer."""
    from puzzle_tablebase.queries import prober as probers
    from puzzle_tablebase.queries.questions import is_keyless
    from puzzle_tablebase.registry import is_registered

    if not arguments or arguments[0].startswith("-") or not is_registered(arguments[0]):
        return None
    name, *rest = arguments
    prober, is_check = probers.get_prober_class(name), command == "check"
    list_options = probers.list_check_options if is_check else probers.list_query_options
    parsed = parse_simple_words(rest, list_options(prober))
    if parsed is None:
        return None
    words, given = parsed
    if is_check:
        can_judge = "check" in prober.commands and len(words) > 1
        return probers.judge_as_text(name, words, given)[0] if can_judge else None
    if not words and not is_keyless(prober.options, given):
        return None
    return probers.answer_as_text(name, " ".join(words) if words else None, given, _announcing)


def _announcing(work: str) -> AbstractContextManager[None]:
    from puzzle_tablebase.pipeline.terminal import announcing  # most lookups do not need it

    return announcing(work)


def parse_simple_words(
    arguments: list[str], options: tuple[Option, ...]
) -> tuple[list[str], dict[str, str | bool]] | None:
    """Parse arguments to words and options, a flag's value being True; None for others.

    >>> from puzzle_tablebase.queries.questions import Option
    >>> parse_simple_words(["b1", "--to", "c3"], (Option("to", "Where the tour ends.", "SQUARE"),))
    (['b1'], {'to': 'c3'})
    >>> parse_simple_words(["b1", "--help"], ()) is None
    True
    """
    options_by_flag = {option.flag: option for option in options}
    words, values = list[str](), dict[str, str | bool]()
    rest = iter(arguments)
    for argument in rest:
        option = options_by_flag.get(argument)
        if option is None:
            if argument.startswith("-"):
                return None
            words.append(argument)
        elif option.metavar:
            values[option.name] = value = next(rest, "-")
            if value.startswith("-"):
                return None
        else:
            values[option.name] = True
    return words, values
