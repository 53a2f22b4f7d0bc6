"""`pipeline query`: a command for each puzzle, made from the list of its reader's options."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from pipeline.commands import completion
from pipeline.terminal import complain, say
from queries.dispatch import options, reader, reader_class, respond
from queries.query_options import BATCH, Asked, Option
from tablebase.errors import BadRequest
from tablebase.puzzles import MODULES, names, of_each, puzzle
from tablebase.tables.store_factory import tables_store


class Queries(TyperGroup):
    """Our puzzles' commands, and those of other packages where one of ours will not do.

    Typer exports no name for the types of contexts and commands.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        kinds = of_each(lambda asked: (asked.name, reader_class(asked.name)))
        return [name for name, _ in kinds]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands and cmd_name in names():
            self.add_command(_one(cmd_name))
        return super().get_command(ctx, cmd_name)


query = typer.Typer(help="Answer questions from the tables.", cls=Queries, no_args_is_help=True)


def _one(name: str) -> Any:
    """The command of a puzzle alone."""
    alone = typer.Typer(add_completion=False)
    alone.command(name)(_command(name))
    return typer.main.get_command(alone)


def _command(name: str) -> Callable[..., None]:
    """`query NAME`, declared from the one list of its options, which the quick door reads too."""
    asked_of = (*options(name), *BATCH)
    kind = reader_class(name)

    def command(**given: Any) -> None:
        words = given.pop("key") or []
        key = " ".join(words)
        asked = {option: value for option, value in given.items() if value not in (None, False)}
        batch = {option.name: asked.pop(option.name) for option in BATCH if option.name in asked}
        if not words and {*kind.keyless} & {*asked} and not batch:
            say(respond(name, None, asked))
        elif key in ("", "-") or "input" in batch:
            if key not in ("", "-"):
                raise BadRequest("--input cannot be combined with a key", "Use one of the two")
            _answer_batch(name, asked, batch, is_batch=key == "-" or bool(batch))
        elif batch:
            flags = [option.flag for option in BATCH if option.name in batch]
            raise BadRequest(f"{flags[0]} is for batches only", "Leave out the key")
        else:
            say(respond(name, key, asked))

    parameters = [
        inspect.Parameter(
            "key",
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[list[str] | None, typer.Argument(metavar=kind.key)],
        )
    ]
    for option in asked_of:
        declared = typer.Option(
            option.flag,
            help=option.help,
            metavar=option.metavar or None,
            show_default=False,
            autocompletion=completion.of_query(name, option.name) if option.metavar else None,
        )
        parameters.append(
            inspect.Parameter(
                option.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=None if option.metavar else False,
                annotation=Annotated[str | None if option.metavar else bool, declared],
            )
        )
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__doc__ = f"{puzzle(name).title}: answer one key, or a batch of keys."
    return command


def _refuse_lone(option: Option, name: str, *, is_batch: bool) -> NoReturn:
    """BadRequest for an option that batches do not have, whether a batch was meant or not."""
    if is_batch:
        raise BadRequest(f"{option.flag} works with a single key only", "Batches have --format")
    key = reader_class(name).key
    words = " ".join(filter(None, ("pipeline query", name, key, option.flag, option.metavar)))
    raise BadRequest(f"{option.flag} needs a {key}", f"Write: {words}")


def _answer_batch(name: str, asked: Asked, batch: dict[str, Any], *, is_batch: bool) -> None:
    """Answer the keys of the input; `is_batch`: more than the lack of a key says so."""
    from pipeline.progress import BatchTold
    from queries.batch import Batch, answer_all, output_format

    for option in options(name):
        if option.lone and asked.get(option.name):
            _refuse_lone(option, name, is_batch=is_batch)
    source, output = batch.get("input", "-"), batch.get("output")
    if source == "-" and sys.stdin and sys.stdin.isatty():
        complain("reading keys from standard input (press Ctrl-D to finish)")
    request = Batch(
        source,
        output_format(output, batch.get("format")),
        output,
        batch.get("strict", False),
        batch.get("column"),
        batch.get("prefix", ""),
        batch.get("input_format"),
    )
    asks = reader(name, tables_store(asked.get("outputs"))).meant(asked)
    with BatchTold(output=output) as bar:
        refused = answer_all(asks, asked, request, bar.rows, bar.printing)
    if refused:
        many = "key is" if refused == 1 else "keys are"
        hint = f"See the column {request.prefix}error"
        raise BadRequest(f"{refused:,} {many} invalid", hint)


for _name in MODULES:
    query.command(_name)(_command(_name))
