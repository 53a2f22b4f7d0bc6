"""Groups of commands with one for each puzzle, made from the options that its reader declares."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from pipeline.commands import completion
from queries.dispatch import get_reader_class
from queries.reader import Option, Reader
from tablebase.puzzles import collect_from_each, is_registered

Command = Callable[..., None]


class PuzzleGroup(TyperGroup):
    """The commands of all puzzles. Each is made when it is used, so no other reader is loaded.

    Typer does not export the types of contexts and commands.
    """

    @classmethod
    def make_function(cls, puzzle: str) -> Command:
        """Make the function of a puzzle's command."""
        raise NotImplementedError

    @classmethod
    def has_command(cls, reader: type[Reader]) -> bool:
        """Return whether there is a command for a reader's puzzle."""
        return True

    def list_commands(self, ctx: Any) -> list[str]:
        """List the names of the puzzles whose readers can be loaded."""
        kinds = collect_from_each(lambda puzzle: (puzzle.name, get_reader_class(puzzle.name)))
        return [name for name, kind in kinds if self.has_command(kind)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a puzzle's command, which is made the first time."""
        is_known = cmd_name in self.commands or not is_registered(cmd_name)
        if not is_known and self.has_command(get_reader_class(cmd_name)):
            app = typer.Typer(add_completion=False)
            app.command(cmd_name)(self.make_function(cmd_name))
            self.add_command(typer.main.get_command(app))
        return super().get_command(ctx, cmd_name)


def make_parameter(puzzle: str, option: Option) -> inspect.Parameter:
    """Make the parameter of a puzzle's option, from which Typer makes its own."""
    declared = typer.Option(
        option.flag,
        help=option.help,
        metavar=option.metavar or None,
        show_default=False,
        autocompletion=completion.make_query_completer(puzzle, option.name)
        if option.metavar
        else None,
    )
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None if option.metavar else False,
        annotation=Annotated[str | None if option.metavar else bool, declared],
    )


def declare(command: Command, parameters: Iterable[inspect.Parameter], help: str) -> Command:
    """Give a function the parameters and the help that Typer reads."""
    signature = inspect.Signature([*parameters])
    command.__signature__ = signature  # type: ignore[attr-defined]  # typer reads it
    command.__annotations__ = {
        name: parameter.annotation for name, parameter in signature.parameters.items()
    }
    command.__doc__ = help
    return command
