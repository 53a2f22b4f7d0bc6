"""The commands `pipeline query NAME` and `pipeline sample NAME`: one of each for each puzzle.

They are made from the options that the puzzle's reader declares.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from typing import Annotated, Any, NoReturn, TypeVar

import typer
from typer.core import TyperGroup

from puzzle_tablebase.errors import BadRequest
from puzzle_tablebase.pipeline.commands.options import make_number_parser, make_query_completer
from puzzle_tablebase.pipeline.single_query import (
    OUTPUTS,
    OptionTexts,
    answer_as_text,
    list_options,
)
from puzzle_tablebase.pipeline.terminal import escape_control, print_answer, print_error
from puzzle_tablebase.puzzles import collect_from_each, get_puzzle, is_registered
from puzzle_tablebase.queries.answer import FORMATS, INPUT_FORMATS, Option, join_names, select_given
from puzzle_tablebase.queries.dispatch import get_reader_class, open_reader
from puzzle_tablebase.queries.judges import Judge
from puzzle_tablebase.queries.reader import Query
from puzzle_tablebase.stores.access import open_store

Command = Callable[..., None]
Asked = TypeVar("Asked", Query, Judge)
"""What a batch's rows are answered by."""

BATCH = (
    Option("input", "Read rows from this file (- for standard input).", "FILE"),
    Option(
        "input_format",
        f"Format of the input: {join_names(INPUT_FORMATS)} (default: by the file's name; "
        "text for standard input).",
        "NAME",
    ),
    Option("column", "Column of the input with the keys.", "NAME"),
    Option("prefix", "Prefix for the names of the added columns.", "TEXT"),
    Option("output", "File for a batch's answers (default: standard output).", "FILE"),
    Option(
        "format",
        f"Format of a batch's answers: {join_names(FORMATS)} (default: by the name of --output, or "
        "csv).",
        "NAME",
    ),
    Option("strict", "Stop a batch at the first invalid key."),
)
"""The options of batches; the fast path does not answer them."""
GENERAL = (
    Option("size", "How many to draw (default: 1).", "N"),
    Option("seed", "Random seed (default: 0).", "N"),
    Option("distinct", "Sample without replacement, as --spread and --split do."),
    Option("sorted", "Sort the rows by distance, then by key."),
    Option(
        "output",
        "File to write (default: standard output); compressed if its name ends in .gz or .zst.",
        "FILE",
    ),
    Option("format", f"{join_names(FORMATS)} (default: by the name of --output, or csv).", "NAME"),
    Option("json", "Print one JSON object a row, as --format jsonl does."),
    OUTPUTS,
)
"""The options of all samples."""
SHEET = Option("sheet", "Write a page to print: boards, and answers on the last page.", "FILE")
"""An option of samples of boards."""


class PuzzleGroup(TyperGroup):
    """The commands of all puzzles. Each is made when it is used, so no other reader is loaded.

    Typer does not export the types of contexts and commands.
    """

    make_function: Any
    """The function that makes the function of a puzzle's command."""
    declared: str
    """The attribute of readers with the command's options; None: there is no command."""

    def list_commands(self, ctx: Any) -> list[str]:
        """List the names of the puzzles whose readers can be loaded."""
        kinds = collect_from_each(lambda puzzle: (puzzle.name, get_reader_class(puzzle.name)))
        return [name for name, kind in kinds if getattr(kind, self.declared) is not None]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a puzzle's command, which is made the first time."""
        if not is_registered(cmd_name):
            for name in self.list_commands(ctx):  # Typer suggests those that are near
                self.get_command(ctx, name)
        elif (
            cmd_name not in self.commands
            and getattr(get_reader_class(cmd_name), self.declared) is not None
        ):
            app = typer.Typer(add_completion=False, rich_markup_mode=None)
            app.command(cmd_name)(self.make_function(cmd_name))
            self.add_command(typer.main.get_command(app))
        return super().get_command(ctx, cmd_name)


def make_app(help: str, make_function: Callable[[str], Command], declared: str) -> typer.Typer:
    """Make the group of the commands of all puzzles; the arguments are those of `PuzzleGroup`."""
    attributes = {"make_function": staticmethod(make_function), "declared": declared}
    group = type("Group", (PuzzleGroup,), attributes)
    return typer.Typer(help=help, cls=group, no_args_is_help=True)


def make_parameter(puzzle: str, option: Option) -> inspect.Parameter:
    """Make the parameter of a puzzle's option, from which Typer makes its own."""
    declared = typer.Option(
        option.flag,
        help=option.help,
        metavar=option.metavar or None,
        show_default=False,
        autocompletion=make_query_completer(puzzle, option.name) if option.metavar else None,
    )
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None if option.metavar else False,
        annotation=Annotated[str | None if option.metavar else bool, declared],
    )


def declare(
    command: Command, name: str, help: str, options: Iterable[Option], words: Any = None
) -> Command:
    """Give a puzzle's function the parameters and the help that Typer reads.

    `words`: Typer's argument for the words that are no options; None: there are none.
    """
    parameters = [make_parameter(name, option) for option in options]
    if words is not None:
        kind, annotation = inspect.Parameter.KEYWORD_ONLY, Annotated[list[str] | None, words]
        parameters.insert(0, inspect.Parameter("words", kind, default=None, annotation=annotation))
    signature = inspect.Signature(parameters)
    command.__signature__ = signature  # type: ignore[attr-defined]  # typer reads it
    command.__annotations__ = {
        name: parameter.annotation for name, parameter in signature.parameters.items()
    }
    command.__doc__ = f"{get_puzzle(name).title}: {help}"
    return command


def take_options(values: dict[str, Any], options: Iterable[Option]) -> dict[str, Any]:
    """Remove from values by name those of some options, and return them."""
    return {option.name: values.pop(option.name) for option in options if option.name in values}


def _make_query(name: str) -> Callable[..., None]:
    """Make the function of `query NAME`, with the options that the fast path accepts, too."""
    kind = get_reader_class(name)

    def command(**arguments: Any) -> None:
        words = arguments.pop("words") or []
        key = " ".join(words) if words else None
        values = select_given(arguments)
        batch = take_options(values, BATCH)
        if key is None and {*kind.keyless} & {*values} and not batch:
            print_answer(answer_as_text(name, None, values))
        elif key in (None, "-") or "input" in batch:
            if key not in (None, "-"):
                raise BadRequest("--input cannot be combined with a key", "Use one of the two")
            _answer_batch(name, values, batch, is_batch=key == "-" or bool(batch))
        elif batch:
            from puzzle_tablebase.pipeline.single_query import is_file_name, make_file_error

            if is_file_name(key):
                raise make_file_error(key, kind.key.lower())
            flags = [option.flag for option in BATCH if option.name in batch]
            step = "Leave out the key" + (", or ask for --json" if "format" in batch else "")
            raise BadRequest(f"{flags[0]} is for batches only", step)
        else:
            print_answer(answer_as_text(name, key, values))

    example = get_puzzle(name).example
    words = typer.Argument(metavar=kind.key, help=f"Example: {example}" if example else None)
    options = (*list_options(kind), *BATCH)
    return declare(command, name, "answer one key, or a batch of keys.", options, words)


def _refuse_lone(option: Option, name: str, *, is_batch: bool) -> NoReturn:
    """Raise BadRequest for an option that batches do not have.

    `is_batch`: whether the arguments request a batch; otherwise the key may be missing by mistake.
    """
    kind = get_reader_class(name)
    if is_batch:
        if option.name in kind.keyless:
            raise BadRequest(
                f"{option.flag} cannot be combined with a batch", "Leave out one of them"
            )
        step = "Batches have --format" if option.name == "json" else f"Leave out {option.flag}"
        raise BadRequest(f"{option.flag} works with a single key only", step)
    key = kind.key
    words = " ".join(filter(None, ("pipeline query", name, key, option.flag, option.metavar)))
    raise BadRequest(f"{option.flag} needs a {key}", f"Write: {words}")


def _answer_batch(name: str, values: OptionTexts, batch: dict[str, Any], *, is_batch: bool) -> None:
    """Answer the keys of the input; `is_batch`: the arguments request a batch explicitly."""
    for option in list_options(get_reader_class(name)):
        if option.is_single and option.name in values:
            _refuse_lone(option, name, is_batch=is_batch)
    outputs = values.pop(OUTPUTS.name, None)
    _, invalid = answer_rows(
        batch, lambda: open_reader(name, open_store(outputs)).make_query(**values)
    )
    require_valid(invalid, batch)


def answer_rows(
    options: dict[str, Any], make_query: Callable[[], Asked], **more: Any
) -> tuple[Asked, int]:
    """Answer the rows of the input that the options of a batch name.

    Return the query, which is made when all options are read, and the number of invalid keys.
    """
    from puzzle_tablebase.pipeline.reporter import Reporter

    source, output = options.get("input", "-"), options.get("output")
    if source == "-" and sys.stdin and sys.stdin.isatty():
        print_error("reading keys from standard input (press Ctrl-D to finish)")
    with Reporter() as bar:
        if source != "-" or not (sys.stdin and sys.stdin.isatty()):
            name_read = "standard input" if source == "-" else escape_control(source)
            bar.update(f"reading {name_read}")
        # after the first line on the screen, because it takes a second
        from puzzle_tablebase.queries.batch import Batch, choose_output_format, run_batch
        from puzzle_tablebase.queries.reader import make_batch_query

        chosen = choose_output_format(output, options.get("format"))
        request = Batch(**{**options, "input": source, "format": chosen}, **more)
        query = make_query()
        on_rows = partial(bar.update, "rows")
        return query, run_batch(make_batch_query(query), request, on_rows, bar.printing)


def require_valid(invalid: int, options: dict[str, Any]) -> None:
    """Raise BadRequest if a batch had invalid keys."""
    if invalid:
        subject = "key is" if invalid == 1 else "keys are"
        hint = f"See the column {options.get('prefix', '')}error"
        raise BadRequest(f"{invalid:,} {subject} invalid", hint)


query_app = make_app("Answer questions from the tables.", _make_query, "options")


def _make_sample(name: str) -> Callable[..., None]:
    """Make the function of `sample NAME`."""
    kind = get_reader_class(name)

    def command(**arguments: Any) -> None:
        values = select_given(arguments)
        _write_sample(name, values, take_options(values, (*GENERAL, SHEET)))

    sheets = () if kind.sheet_options is None else (SHEET,)
    options = (*(kind.sample_options or ()), *sheets, *GENERAL)
    return declare(command, name, "draw a uniform random sample.", options)


def _write_sample(name: str, values: dict[str, Any], general: dict[str, Any]) -> None:
    """Draw a sample with a puzzle's own options, and write it with the general ones."""
    import polars as pl

    from puzzle_tablebase.pipeline.reporter import Reporter
    from puzzle_tablebase.queries.batch import choose_output_format, open_row_writer
    from puzzle_tablebase.queries.sampling import MAX_SIZE, SampleRequest, draw_set

    output, requested, as_json = general.get("output"), general.get("format"), "json" in general
    if as_json and requested is not None:
        raise BadRequest("--json cannot be combined with --format", "Leave out one of them")
    sheet = general.get("sheet")
    if sheet is not None and (
        used := [each for each in ("output", "format", "json") if each in general]
    ):
        raise BadRequest(f"--sheet cannot be combined with --{used[0]}", "Leave out one of them")
    if sheet is not None:
        values = {**(get_reader_class(name).sheet_options or {}), **values}
    output_as = choose_output_format(output, "jsonl" if as_json else requested)
    size = general.get("size")
    request = SampleRequest(
        None if size is None else make_number_parser("--size", 1, MAX_SIZE)(size),
        make_number_parser("--seed", 0)(general.get("seed", 0)),
        False if {"distinct", "sheet"} & {*general} else None,
        "sorted" in general,
    )
    query = open_reader(name, open_store(general.get("outputs"))).make_query(**values)
    with Reporter() as bar, contextlib.ExitStack() as stack:
        on_progress, done = partial(bar.update, "steps to the next rows", of="steps"), 0

        def note(text: str) -> None:
            with bar.printing():
                print_error(text)

        samples = draw_set(query, request, on_progress, note)
        if sheet is not None:
            from puzzle_tablebase.queries.sheet import write_sheet

            write_sheet(query, pl.concat(samples), sheet)
            return
        first = next(samples)  # before the file is opened: a failed draw leaves no file
        write = stack.enter_context(open_row_writer(output, output_as))
        for rows in chain([first], samples):
            with bar.printing():
                write(rows)
            done += len(rows)
            bar.update("rows", done)


sample_app = make_app(
    "Draw a uniform random sample of states, positions or tours.", _make_sample, "sample_options"
)
