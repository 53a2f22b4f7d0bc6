"""The commands `pipeline query NAME`: one for each puzzle, made from its reader's options."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from pipeline.commands import completion
from pipeline.terminal import print_answer, print_error
from queries.dispatch import answer_query, get_reader_class, list_options, open_reader
from queries.query_options import BATCH, Option, OptionValues
from tablebase.errors import BadRequest
from tablebase.puzzles import MODULES, collect_from_each, get_puzzle, list_names
from tablebase.tables.store_factory import open_store


class QueryGroup(TyperGroup):
    """The commands of built-in puzzles, and those of plugins, which are made when they are used.

    Typer does not export the types of contexts and commands.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """List the names of the puzzles whose readers can be loaded."""
        kinds = collect_from_each(lambda puzzle: (puzzle.name, get_reader_class(puzzle.name)))
        return [name for name, _ in kinds]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a puzzle's command; that of a plugin is made first."""
        if cmd_name not in self.commands and cmd_name in list_names():
            self.add_command(_make_single_command(cmd_name))
        return super().get_command(ctx, cmd_name)


query = typer.Typer(help="Answer questions from the tables.", cls=QueryGroup, no_args_is_help=True)


def _make_single_command(name: str) -> Any:
    """Make the command of one puzzle, to be added to the group."""
    app = typer.Typer(add_completion=False)
    app.command(name)(_make_command(name))
    return typer.main.get_command(app)


def _make_command(name: str) -> Callable[..., None]:
    """Make the function of `query NAME`, with the options that the fast path accepts, too."""
    options = (*list_options(name), *BATCH)
    kind = get_reader_class(name)

    def command(**arguments: Any) -> None:
        key_words = arguments.pop("key") or []
        key = " ".join(key_words)
        values = {name: value for name, value in arguments.items() if value not in (None, False)}
        batch = {option.name: values.pop(option.name) for option in BATCH if option.name in values}
        if not key_words and {*kind.keyless} & {*values} and not batch:
            print_answer(answer_query(name, None, values))
        elif key in ("", "-") or "input" in batch:
            if key not in ("", "-"):
                raise BadRequest("--input cannot be combined with a key", "Use one of the two")
            _answer_batch(name, values, batch, is_batch=key == "-" or bool(batch))
        elif batch:
            from queries.key_hints import is_file_name, make_file_error

            if is_file_name(key):
                raise make_file_error(key, kind.key.lower())
            flags = [option.flag for option in BATCH if option.name in batch]
            raise BadRequest(f"{flags[0]} is for batches only", "Leave out the key")
        else:
            print_answer(answer_query(name, key, values))

    parameters = [
        inspect.Parameter(
            "key",
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[list[str] | None, typer.Argument(metavar=kind.key)],
        )
    ]
    for option in options:
        declared = typer.Option(
            option.flag,
            help=option.help,
            metavar=option.metavar or None,
            show_default=False,
            autocompletion=completion.make_query_completer(name, option.name)
            if option.metavar
            else None,
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
    command.__doc__ = f"{get_puzzle(name).title}: answer one key, or a batch of keys."
    return command


def _refuse_lone(option: Option, name: str, *, is_batch: bool) -> NoReturn:
    """Raise BadRequest for an option that batches do not have.

    `is_batch`: whether the arguments request a batch; otherwise the key may be missing by mistake.
    """
    if is_batch:
        raise BadRequest(f"{option.flag} works with a single key only", "Batches have --format")
    key = get_reader_class(name).key
    words = " ".join(filter(None, ("pipeline query", name, key, option.flag, option.metavar)))
    raise BadRequest(f"{option.flag} needs a {key}", f"Write: {words}")


def _answer_batch(
    name: str, values: OptionValues, batch: dict[str, Any], *, is_batch: bool
) -> None:
    """Answer the keys of the input; `is_batch`: the arguments request a batch explicitly."""
    from pipeline.progress import BatchProgress
    from queries.batch import Batch, choose_output_format, run_batch

    for option in list_options(name):
        if option.is_single and values.get(option.name):
            _refuse_lone(option, name, is_batch=is_batch)
    source, output = batch.get("input", "-"), batch.get("output")
    if source == "-" and sys.stdin and sys.stdin.isatty():
        print_error("reading keys from standard input (press Ctrl-D to finish)")
    request = Batch(
        source,
        choose_output_format(output, batch.get("format")),
        output,
        batch.get("strict", False),
        batch.get("column"),
        batch.get("prefix", ""),
        batch.get("input_format"),
    )
    reader = open_reader(name, open_store(values.get("outputs"))).select_reader(values)
    with BatchProgress(output=output) as bar:
        invalid = run_batch(reader, values, request, bar.on_rows, bar.printing)
    if invalid:
        subject = "key is" if invalid == 1 else "keys are"
        hint = f"See the column {request.prefix}error"
        raise BadRequest(f"{invalid:,} {subject} invalid", hint)


for _name in MODULES:
    query.command(_name)(_make_command(_name))
