"""The Typer application: its groups and commands, and how a command line runs.

This module and all others that declare options evaluate annotations when they are defined: Typer
would otherwise evaluate each one, as text, at every start.
"""

from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

from puzzle_tablebase import __version__
from puzzle_tablebase.errors import hide_login, make_printable
from puzzle_tablebase.pipeline.commands.builds import precompute, remove, verify
from puzzle_tablebase.pipeline.commands.puzzles import make_puzzle_groups
from puzzle_tablebase.pipeline.commands.sheets import sheet
from puzzle_tablebase.pipeline.commands.stores import (
    copy,
    diff,
    explore,
    histogram,
    report,
    site,
    status,
)
from puzzle_tablebase.pipeline.terminal import print_answer, print_error
from puzzle_tablebase.registry import get_load_errors

app = typer.Typer(
    name="pipeline",
    help="Build, query and verify puzzle tablebases.",
    no_args_is_help=True,
    rich_markup_mode=None,  # plain text, which is the same in a pipe and in CI
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        print_answer(f"puzzle-tablebase {__version__}\n")
        raise typer.Exit


UsageError: Any = typer.BadParameter.__mro__[1]
"""Typer's base class of errors of arguments, which it does not export."""


def show_words(line: str) -> str:
    """Return a line with a user's words safe to print."""
    return make_printable(" ".join(map(hide_login, line.split(" "))))


def load_app(arguments: list[str] | None = None) -> TyperGroup:
    """Load the application with the puzzles that the arguments need; None: with all."""
    for group in make_puzzle_groups(arguments):
        program.add_command(group)
    return program


def run_app(arguments: list[str]) -> int:
    """Run the command with these arguments and return its exit code.

    Puzzles that could not be loaded are reported at the end; they do not prevent a command for all
    puzzles from working on the others.
    """
    code = 0
    try:
        code = load_app(arguments)(arguments, prog_name="pipeline", standalone_mode=False) or 0
    except SystemExit as ended:  # Typer has printed the help
        code = int(ended.code or 0)
    except UsageError as error:
        # an argument that is wrong may be an address
        error.message = "\n".join(map(show_words, error.message.split("\n")))
        error.show()
        code = error.exit_code
    finally:
        for refusal in get_load_errors():
            print_error(refusal)
            code = max(code, refusal.exit_code)
    return code


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


for command in (
    precompute,
    remove,
    copy,
    status,
    histogram,
    verify,
    report,
    explore,
    sheet,
    site,
    diff,
):
    app.command()(command)
program = cast(TyperGroup, typer.main.get_command(app))
"""The commands that no puzzle declares; `load_app` adds the others."""
