"""The commands `pipeline query NAME`: one for each puzzle, made from its reader's options."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Annotated, Any, NoReturn

import typer

from pipeline.commands.puzzle_commands import PuzzleGroup, declare, make_parameter
from pipeline.single_query import OUTPUTS, OptionTexts, answer_as_text, list_options
from pipeline.terminal import escape_control, print_answer, print_error
from queries.dispatch import get_reader_class, open_reader
from queries.reader import Option, select_given
from tablebase.errors import BadRequest
from tablebase.puzzles import get_puzzle
from tablebase.tables.access import open_store

BATCH = (
    Option("input", "Answer every key in this file (- for standard input).", "FILE"),
    Option(
        "input_format",
        "Format of the input: text, csv, tsv, jsonl or parquet (default: by the file's name; "
        "text for standard input).",
        "NAME",
    ),
    Option("column", "Column of the input with the keys.", "NAME"),
    Option("prefix", "Prefix for the names of the added columns.", "TEXT"),
    Option("output", "File for a batch's answers (default: standard output).", "FILE"),
    Option(
        "format",
        "Format of a batch's answers: csv, jsonl or parquet (default: by the name of --output, or "
        "csv).",
        "NAME",
    ),
    Option("strict", "Stop a batch at the first invalid key."),
)
"""The options of batches; the fast path does not answer them."""


def _make_command(name: str) -> Callable[..., None]:
    """Make the function of `query NAME`, with the options that the fast path accepts, too."""
    kind = get_reader_class(name)
    options = (*list_options(kind), *BATCH)

    def command(**arguments: Any) -> None:
        key_words = arguments.pop("key") or []
        key = " ".join(key_words) if key_words else None
        values = select_given(arguments)
        batch = {option.name: values.pop(option.name) for option in BATCH if option.name in values}
        if key is None and {*kind.keyless} & {*values} and not batch:
            print_answer(answer_as_text(name, None, values))
        elif key in (None, "-") or "input" in batch:
            if key not in (None, "-"):
                raise BadRequest("--input cannot be combined with a key", "Use one of the two")
            _answer_batch(name, values, batch, is_batch=key == "-" or bool(batch))
        elif batch:
            from pipeline.key_hints import is_file_name, make_file_error

            if is_file_name(key):
                raise make_file_error(key, kind.key.lower())
            flags = [option.flag for option in BATCH if option.name in batch]
            raise BadRequest(f"{flags[0]} is for batches only", "Leave out the key")
        else:
            print_answer(answer_as_text(name, key, values))

    example = get_puzzle(name).example
    key_parameter = inspect.Parameter(
        "key",
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[
            list[str] | None,
            typer.Argument(metavar=kind.key, help=f"Example: {example}" if example else None),
        ],
    )
    parameters = [key_parameter, *(make_parameter(name, option) for option in options)]
    return declare(
        command, parameters, f"{get_puzzle(name).title}: answer one key, or a batch of keys."
    )


def _refuse_lone(option: Option, name: str, *, is_batch: bool) -> NoReturn:
    """Raise BadRequest for an option that batches do not have.

    `is_batch`: whether the arguments request a batch; otherwise the key may be missing by mistake.
    """
    if is_batch:
        raise BadRequest(f"{option.flag} works with a single key only", "Batches have --format")
    key = get_reader_class(name).key
    words = " ".join(filter(None, ("pipeline query", name, key, option.flag, option.metavar)))
    raise BadRequest(f"{option.flag} needs a {key}", f"Write: {words}")


def _answer_batch(name: str, values: OptionTexts, batch: dict[str, Any], *, is_batch: bool) -> None:
    """Answer the keys of the input; `is_batch`: the arguments request a batch explicitly."""
    from pipeline.progress import BatchProgress

    for option in list_options(get_reader_class(name)):
        if option.is_single and option.name in values:
            _refuse_lone(option, name, is_batch=is_batch)
    source, output = batch.get("input", "-"), batch.get("output")
    if source == "-" and sys.stdin and sys.stdin.isatty():
        print_error("reading keys from standard input (press Ctrl-D to finish)")
    with BatchProgress(output=output) as bar:
        if source != "-":
            bar.show(f"reading {escape_control(source)}", 0, None)
        # after the first line on the screen, because it takes a second
        from queries.batch import Batch, choose_output_format, run_batch

        request = Batch(
            source,
            choose_output_format(output, batch.get("format")),
            output,
            batch.get("strict", False),
            batch.get("column"),
            batch.get("prefix", ""),
            batch.get("input_format"),
        )
        reader = open_reader(name, open_store(values.pop(OUTPUTS.name, None)))
        query = reader.make_query(**values)
        invalid = run_batch(query, request, bar.on_rows, bar.printing)
    if invalid:
        subject = "key is" if invalid == 1 else "keys are"
        hint = f"See the column {request.prefix}error"
        raise BadRequest(f"{invalid:,} {subject} invalid", hint)


class QueryGroup(PuzzleGroup):
    """The commands `pipeline query NAME`."""

    @classmethod
    def make_function(cls, puzzle: str) -> Callable[..., None]:
        return _make_command(puzzle)


query_app = typer.Typer(
    help="Answer questions from the tables.", cls=QueryGroup, no_args_is_help=True
)
