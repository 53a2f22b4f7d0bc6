"""The program: a plain question goes through the quick door, all else to the command line proper."""

from __future__ import annotations

import os
import sys

from pipeline.errors import TablebaseError


def main() -> int:
    """Run `pipeline` with the process's arguments; returns the exit code."""
    words = sys.argv[1:]
    try:
        if words[:1] == ["query"]:
            from queries.answers import quick_answer

            answer = quick_answer(words[1:])
            if answer is not None:
                sys.stdout.write(answer)
                sys.stdout.flush()
                return 0
        from pipeline.cli import run

        code = run()
        sys.stdout.flush()
        return code
    except TablebaseError as error:
        sys.stderr.write(f"pipeline: {error}\n")
        return error.exit_code
    except BrokenPipeError:
        # whoever read the answer has closed it; nothing more is to be said, not even at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        sys.stderr.write("pipeline: interrupted\n")
        return 130


if __name__ == "__main__":
    sys.exit(main())
