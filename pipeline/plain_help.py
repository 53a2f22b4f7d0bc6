"""The help and the version that the command line prints when Typer is not installed."""

from __future__ import annotations

from puzzle_tablebase import __version__
from puzzle_tablebase.errors import PackageMissing, raise_missing
from puzzle_tablebase.pipeline.terminal import print_answer
from puzzle_tablebase.queries.prober import (
    get_prober_class,
    list_check_options,
    list_query_options,
)
from puzzle_tablebase.registry import MODULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from puzzle_tablebase.queries.questions import Option

LOOKUPS = {"query": "Answer a key.", "check": "Judge an answer to a key: its moves."}
"""The commands that need no package, for one key."""


def print_plain_help(arguments: list[str], error: ModuleNotFoundError) -> bool:
    """Print the help or the version if the arguments ask for it; return whether they do."""
    if {"-V", "--version"} & {*arguments[:1]}:
        print_answer(f"puzzle-tablebase {__version__}\n")
        return True
    if not {"-h", "--help"} & {*(arguments or ["-h"])}:
        return False
    command, puzzle = ([word for word in arguments if word[:1] != "-"] + ["", ""])[:2]
    if command in LOOKUPS and puzzle in MODULES:
        prober = get_prober_class(puzzle)
        answer = " ANSWER" if command == "check" else ""
        listed = list_check_options(prober) if answer else list_query_options(prober)
        usage, rows = f"{command} {puzzle} {prober.key}{answer} [OPTION]...", list_texts(listed)
        title = LOOKUPS[command]
    else:
        title, rows = (
            "Build, query and verify puzzle tablebases.",
            {
                f"{name} PUZZLE {'KEY ANSWER' if name == 'check' else 'KEY'}": text
                for name, text in LOOKUPS.items()
            },
        )
        rows |= {"PUZZLE": ", ".join(MODULES)}
        usage = "COMMAND [OPTION]..."
    width = max(map(len, rows))
    lines = "".join(f"  {name:<{width}}  {text}\n" for name, text in rows.items())
    try:
        raise_missing(error)
    except PackageMissing as missing:
        end = f"All else needs packages that are not installed. Run: {missing.command}"
    print_answer(f"Usage: pipeline {usage}\n\n{title}\n\n{lines}\n{end}\n")
    return True


def list_texts(options: tuple[Option, ...]) -> dict[str, str]:
    """Return the help of options by their flags and values."""
    return {f"{option.flag} {option.metavar}".rstrip(): option.help for option in options}
