"""The program: a plain question takes the quick door, all else the command line proper."""

from __future__ import annotations

import os
import sys

from pipeline.errors import TablebaseError, quoted
from pipeline.terminal import complain, say


def main() -> int:
    """Run `pipeline` with the process's arguments; returns the exit code."""
    words = sys.argv[1:]
    try:
        if words[:1] == ["query"]:
            from queries.answers import quick_answer

            answer = quick_answer(words[1:])
            if answer is not None:
                say(answer)
                return 0
        from pipeline.cli import run

        code = run()
        if code == 130:  # Typer says nothing of an interrupt
            complain("interrupted")
        return code
    except TablebaseError as error:
        complain(error)
        return error.exit_code
    except KeyboardInterrupt:
        complain("interrupted")
        return 130
    except (
        Exception
    ) as error:  # a bug: say so in a sentence, with the traceback for who asks for it
        if os.environ.get("PIPELINE_TRACEBACK"):
            raise
        complain(
            f"this should not happen ({type(error).__name__}: {quoted(str(error), 200)}). "
            "Please report it; PIPELINE_TRACEBACK=1 shows where."
        )
        return 3


if __name__ == "__main__":
    sys.exit(main())
