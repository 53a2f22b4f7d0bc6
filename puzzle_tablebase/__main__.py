"""The command line as a module: `python -m puzzle_tablebase` is `pipeline`."""

import sys

from pipeline.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
