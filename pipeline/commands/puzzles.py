"""The commands `query`, `sample` and `check`, each with a command for every puzzle.

Each takes the options that the puzzle's prober declares, and general ones.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from puzzle_tablebase.errors import (
    BadRequest,
    NoAnswer,
    make_printable,
    require_whole_number,
)
from puzzle_tablebase.pipeline.terminal import announcing, print_answer, print_error
from puzzle_tablebase.queries.prober import (
    BaseProber,
    Prober,
    answer_as_text,
    get_prober_class,
    judge_as_text,
    list_options,
    list_query_options,
    open_prober,
    parse_query,
)
from puzzle_tablebase.queries.questions import (
    ALL,
    BATCH,
    CHECK,
    FORMATS,
    INPUT_FORMATS,
    OUTPUTS,
    QUERY,
    SAMPLE,
    SHEET,
    Option,
    Options,
    format_count,
    format_json,
    is_keyless,
)
from puzzle_tablebase.registry import collect_from_each, get_puzzle, is_registered
from puzzle_tablebase.stores import Address, open_store

if TYPE_CHECKING:
    import polars as pl

    from puzzle_tablebase.queries.batch import Judging
    from puzzle_tablebase.queries.samples import SampleRequest

Values = dict[str, Any]
Opening = Callable[[], tuple[Prober, Options]]
"""A function that opens a puzzle's tables, and parses the options of a question."""

OUTPUT = Option("output", "File to write (default: standard output).", "FILE")
FORMAT = Option("format", f"{', '.join(FORMATS)} (default: by --output's name, or csv).", "NAME")
ROWS = (
    Option("input", "Read rows from this file (- for standard input).", "FILE"),
    Option("input_format", f"{', '.join(INPUT_FORMATS)} (default: by its name).", "NAME"),
    Option("column", "Column of the input with the keys.", "NAME"),
    Option("prefix", "Prefix for the names of the added columns.", "TEXT"),
    OUTPUT,
    FORMAT,
)
CHECK_ROWS = (
    *ROWS,
    Option("answer_column", "Column of the input with the answers (default: answer).", "NAME"),
)
"""The options of batches; the fast path does not answer them."""
CHECK_GENERAL = (
    Option("strict", "Exit with 1 if an answer is not shortest."),
    Option("json", "Print the judgement, or a batch's summary, as one JSON object."),
    OUTPUTS,
)
SAMPLE_GENERAL = (
    Option("size", "How many to draw (default: 1).", "N"),
    Option("seed", "Random seed (default: 0).", "N"),
    OUTPUT,
    FORMAT,
    Option("json", "Print one JSON object a row, as --format jsonl does."),
    OUTPUTS,
)


def make_puzzle_groups(arguments: list[str] | None) -> list[TyperGroup]:
    """Make the three commands, each a group with a command for each puzzle.

    If the arguments name a puzzle, make only its command: other readers are not loaded, and an
    error of another plugin does no harm.
    """
    is_for_all = arguments is None or "_PIPELINE_COMPLETE" in os.environ
    words, groups = arguments or [], list[TyperGroup]()
    for name, command in COMMANDS.items():
        puzzles = list[str]()
        if is_for_all or words[:1] == [name]:
            if len(words) > 1 and is_registered(words[1]):
                puzzles = [words[1]]
            else:
                loaded = collect_from_each(lambda each: (each.name, get_prober_class(each.name)))
                puzzles = [puzzle for puzzle, _ in loaded]
        commands = [
            make_command(command, puzzle)
            for puzzle in puzzles
            if name in get_prober_class(puzzle).commands
        ]
        groups.append(
            TyperGroup(
                name=name,
                commands=commands,
                help=command.help,
                no_args_is_help=True,
                rich_markup_mode=None,
            )
        )
    return groups


def make_command(command: Command, puzzle: str) -> TyperCommand:
    """Make the command of a puzzle."""
    prober, known = get_prober_class(puzzle), get_puzzle(puzzle)
    parameters: list[TyperArgument | TyperOption] = []
    if command.words:
        metavar, example = (command.words.format(key=key) for key in (prober.key, known.example))
        parameters.append(
            TyperArgument(
                param_decls=["words"],
                type_descriptor=WORDS,
                nargs=-1,
                metavar=metavar,
                help=f"Example: {example}",
                show_default=False,
            )
        )
    parameters += map(make_option, command.list_options(prober))

    def run(words: Sequence[str] | None = None, **values: Any) -> None:
        given = {name: value for name, value in values.items() if value not in (None, False)}
        command.run(puzzle, [*(words or ())], given)

    return TyperCommand(
        puzzle,
        params=[*parameters],
        callback=run,
        help=f"{known.title}: {command.text}",
        rich_markup_mode=None,
    )


def make_option(option: Option) -> TyperOption:
    """Make the option of the command line from a declared one."""
    return TyperOption(
        param_decls=[option.name, option.flag],
        type_descriptor=TEXT if option.metavar else FLAG,
        is_flag=not option.metavar,
        default=None if option.metavar else False,
        metavar=option.metavar or None,
        help=option.help,
    )


def _declare(
    words: Annotated[list[str] | None, typer.Argument()] = None,
    text: Annotated[str | None, typer.Option()] = None,
    flag: Annotated[bool, typer.Option("--flag")] = False,
) -> None:
    pass


def _list_types() -> list[Any]:
    """List the types of words, texts and flags; only Typer can make them, and from a function."""
    app = typer.Typer(add_completion=False)
    app.command()(_declare)
    declared: Any = typer.main.get_command(app)
    return [parameter.type_descriptor for parameter in declared.params]


WORDS, TEXT, FLAG = _list_types()


def take_options(values: Values, options: Iterable[Option]) -> Values:
    """Remove the values of some options from a dictionary, and return them."""
    return {option.name: values.pop(option.name) for option in options if option.name in values}


def require_batch(rows: Values) -> None:
    """Raise BadRequest if options of batches are given together with a key."""
    for name in rows:
        flag = f"--{name.replace('_', '-')}"
        raise BadRequest(f"{flag} cannot be combined with a key", "Leave out one of them")


def run_query(name: str, words: list[str], values: Values) -> None:
    """Answer one key, an option without a key, or a batch."""
    prober, key, rows = get_prober_class(name), " ".join(words), take_options(values, ROWS)
    is_alone = not words and is_keyless(prober.options, values) and not rows
    if is_alone or words == [""] or key not in ("", "-"):
        require_batch(rows)
        print_answer(answer_as_text(name, None if is_alone else key, values, announcing))
        return
    outputs = values.pop(OUTPUTS.name, None)
    if values.pop("json", False):
        rows.setdefault("format", "jsonl")

    def open_batch() -> tuple[Prober, Options]:
        return parse_query(open_prober(name, open_store(outputs)), BATCH, values)

    require_valid(answer_rows(rows, open_batch), rows)


def answer_rows(rows: Values, opening: Opening, judging: Judging | None = None) -> int:
    """Answer the rows of an input, or judge their answers; return the number of invalid keys.

    `opening` is called when all options are read.
    """
    from puzzle_tablebase.pipeline.reporter import Reporter

    source, output = rows.get("input", "-"), rows.get("output")
    is_typed = source == "-" and sys.stdin.isatty()
    if is_typed:
        print_error("reading keys from standard input (press Ctrl-D to finish)")
    with Reporter(quiet=is_typed) as bar:  # a bar would wipe away what is typed
        if not is_typed:
            name_read = "standard input" if source == "-" else make_printable(str(Address(source)))
            bar.update(f"reading {name_read}")
        # after the first line on the screen, because it takes a second
        from puzzle_tablebase.queries.batch import choose_output_format, run_batch

        chosen = choose_output_format(output, rows.get("format"))
        given = {**rows, "input": source, "format": chosen, "judging": judging}
        return run_batch(*opening(), partial(bar.update, "rows"), bar.printing, **given)


def require_valid(invalid: int, options: Values) -> None:
    """Raise BadRequest if a batch had invalid keys."""
    if invalid:
        subject = "key is" if invalid == 1 else "keys are"
        hint = f"See the column {options.get('prefix', '')}error"
        raise BadRequest(f"{invalid:,} {subject} invalid", hint)


def run_sample(name: str, words: list[str], values: Values) -> None:
    """Draw a sample with a puzzle's own options, and write it with the general ones."""
    import polars as pl

    from puzzle_tablebase.pipeline.reporter import Reporter
    from puzzle_tablebase.queries.batch import choose_output_format, open_row_writer
    from puzzle_tablebase.queries.samples import SampleRequest, draw_set

    general, page = take_options(values, SAMPLE_GENERAL), values.pop("sheet", None)
    output, requested = general.get("output"), general.get("format")
    is_listed = page is None or bool({"output", "format", "json"} & {*general})
    output_as = choose_output_format(output, requested or ("jsonl" if "json" in general else None))
    size, seed = (_read_number(general.get(each)) for each in ("size", "seed"))
    request = SampleRequest(size, seed or 0)
    if page is not None:
        _check_sheet(name, page, request, output, values)
    store = open_store(general.get("outputs"))
    prober, options = parse_query(open_prober(name, store), SAMPLE, values)
    with Reporter() as bar:

        def note(text: str) -> None:
            with bar.printing():
                print_error(text)

        total = request.count_rows(options)
        bar.update("rows")
        on_rows = partial(bar.update, "rows", total=total)
        samples = draw_set(prober, options, request, note, on_rows)
        first, done = next(samples), 0  # before the file is opened: a failed draw leaves no file
        if page is not None:
            first = pl.concat([first, *samples])
            first, samples = _write_sheet(prober, options, request, first, page, note), iter(())
        if not is_listed:
            return
        with open_row_writer(output, output_as) as write:
            for rows in chain([first], samples):
                with bar.printing():
                    write(rows)
                done += len(rows)
                bar.update("rows", done, total)


def _write_sheet(
    prober: Prober,
    options: Options,
    request: SampleRequest,
    rows: pl.DataFrame,
    page: str,
    on_note: Callable[[str], None],
) -> pl.DataFrame:
    """Write the sheet of a sample; return the rows that it shows, in their order there."""
    import polars as pl

    from puzzle_tablebase.queries.samples import SEEDS, draw_set
    from puzzle_tablebase.queries.sheet import draw_sheet_rows, make_sheet, write_sheet

    def draw_more(number: int) -> pl.DataFrame:
        other = request._replace(seed=request.seed * SEEDS + number)
        return pl.concat(draw_set(prober, options, other, on_note))

    shown = draw_sheet_rows(prober, rows, draw_more)
    if len(shown) < len(rows):
        on_note(f"The sheet has {format_count(len(shown), 'board')}: no more starts were found.")
    write_sheet(make_sheet(prober, options, shown), page)
    return shown


def _check_sheet(
    name: str, page: str, request: SampleRequest, output: str | None, values: Values
) -> None:
    """Check the options of a sample with a sheet, and choose its goal."""
    from puzzle_tablebase.queries.sheet import MAX_BOARDS, require_page_name

    require_page_name(page)
    if request.size is not None:
        require_whole_number(request.size, "The number of boards of a sheet", 1, MAX_BOARDS)
    if "split" in values:
        raise BadRequest("--sheet cannot be combined with --split", "Leave out one of them")
    if output is not None and os.path.realpath(output) == os.path.realpath(page):
        raise BadRequest("--sheet and --output name the same file", "Choose another name")
    if any(option.name == "goal" for option in get_prober_class(name).options):
        values.setdefault("goal", "corner")


def _read_number(text: str | None) -> Any:
    """Return the whole number in a text, or the text itself, which the sample refuses."""
    return int(text) if text and text.isdecimal() and len(text) < 1_000 else text


def run_check(name: str, words: list[str], values: Values) -> None:
    """Judge an answer, or a batch of them."""
    from puzzle_tablebase.queries.judging import GOOD

    rows, general = take_options(values, CHECK_ROWS), take_options(values, CHECK_GENERAL)
    if words in ([], ["-"]):

        def open_check() -> tuple[Prober, Options]:
            return parse_query(
                open_prober(name, open_store(general.get(OUTPUTS.name))), CHECK, values
            )

        bad = _judge_rows(open_check, rows, as_json="json" in general)
    elif len(words) == 1:
        step = f"Write: pipeline check {name} {get_prober_class(name).key} ANSWER"
        raise BadRequest("The answer is missing", step)
    else:
        require_batch(rows)
        printed = {option: given for option, given in general.items() if option != "strict"}
        text, judged = judge_as_text(name, words, {**values, **printed})
        print_answer(text)
        bad = int(judged.result not in GOOD)
    if bad and "strict" in general:
        raise NoAnswer(f"Not shortest: {format_count(bad, 'answer')}.")


def _judge_rows(opening: Opening, rows: Values, *, as_json: bool) -> int:
    """Judge the rows of the input and print their summary; return how many are not shortest."""
    from puzzle_tablebase.queries.batch import Judging
    from puzzle_tablebase.queries.judged_columns import JUDGED, Summary, judge_rows
    from puzzle_tablebase.queries.judging import GOOD

    answer_column, summary = rows.pop("answer_column", None) or "answer", Summary()

    def judge(prober: Prober, keys: pl.Series, answers: pl.Series, options: Options) -> Any:
        judged = judge_rows(prober, keys, answers, options)
        summary.add(judged)
        return judged

    invalid = answer_rows(rows, opening, Judging(judge, answer_column, JUDGED))
    text = format_json(summary.to_dict()) if as_json else summary.to_text()
    print_error(text, mark="" if as_json else "pipeline: ")
    require_valid(invalid, rows)
    return summary.answers - summary.count(*GOOD)


class Command(NamedTuple):
    """A command: its help, that for a puzzle, its arguments, its options, and its function."""

    help: str
    text: str
    words: str
    list_options: Callable[[type[BaseProber]], tuple[Option, ...]]
    run: Callable[[str, list[str], Values], None]


def list_batch_options(prober: type[BaseProber]) -> list[Option]:
    """List the options of a puzzle that only batches take."""
    return [option for option in list_options(prober, BATCH) if not {QUERY, ALL} & {*option.verbs}]


COMMANDS = {
    "query": Command(
        "Answer questions from the tables.",
        "answer one key, or a batch of keys.",
        "{key}",
        lambda prober: (*list_query_options(prober), *list_batch_options(prober), *ROWS),
        run_query,
    ),
    "check": Command(
        "Judge answers: legal, shortest, and where they lost ground.",
        "judge one answer, or a batch of answers.",
        "{key} ANSWER",
        lambda prober: (*list_options(prober, CHECK), *CHECK_ROWS, *CHECK_GENERAL),
        run_check,
    ),
    "sample": Command(
        "Draw a uniform random sample of states, positions or tours.",
        "draw a uniform random sample.",
        "",
        lambda prober: (*list_options(prober, SAMPLE, SHEET), *SAMPLE_GENERAL),
        run_sample,
    ),
}
