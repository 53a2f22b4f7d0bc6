"""The command line as a module: `python -m puzzle_tablebase` is `pipeline`."""

from puzzle_tablebase.pipeline.run import main

if __name__ == "__main__":
    main()
