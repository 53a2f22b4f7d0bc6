"""A plain question goes through the quick door, all else through the command line proper."""

from __future__ import annotations

import os
import sys

from pipeline.limits import find_shortage, guard_libraries
from pipeline.terminal import complain, say
from tablebase.errors import ReaderGone, TablebaseError, TableUnreadable, quoted
from tablebase.tables.repair import unopened
from tablebase.tables.store import Unreachable


def told(words: list[str]) -> int:
    """Do what the words say; every error becomes a sentence and an exit code."""
    try:
        code = _run(words)
        sys.stdout.flush()
        return code
    except Unreachable as error:  # while it was read on and on
        complain(unopened("The store of the tables", error, ""))
        return TableUnreadable.exit_code
    except KeyboardInterrupt:
        return 130
    except (SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # polars panics with one that is no Exception
        known = find_shortage(error) or error
        if isinstance(known, TablebaseError):
            if not isinstance(known, ReaderGone):
                complain(known)
            return known.exit_code
        # a bug: say so in a sentence, with the traceback for who asks for it
        if os.environ.get("PIPELINE_TRACEBACK"):
            raise
        complain(
            f"this should not happen ({type(error).__name__}: {quoted(str(error), 200)}). "
            "Please report it; PIPELINE_TRACEBACK=1 shows where."
        )
        return 3


def _run(words: list[str]) -> int:
    if words[:1] == ["query"]:
        from queries.dispatch import quick_answer

        if (answer := quick_answer(words[1:])) is not None:
            say(answer)
            return 0
    guard_libraries()
    from pipeline.commands.app import run

    return run(words)
