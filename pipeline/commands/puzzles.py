"""The commands `query`, `sample` and `check`, each with a command for every puzzle.

Their options are those that the puzzle's reader declares, and general ones.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from puzzle_tablebase.errors import BadRequest, NoAnswer, TablebaseError, Undecided, quote
from puzzle_tablebase.pipeline.single_query import (
    JSON,
    OUTPUTS,
    answer_as_text,
    is_file_name,
    list_options,
    make_file_error,
)
from puzzle_tablebase.pipeline.terminal import escape_control, print_answer, print_error
from puzzle_tablebase.puzzles import collect_from_each, get_puzzle, is_registered
from puzzle_tablebase.queries.answer import (
    FORMATS,
    INPUT_FORMATS,
    Judgement,
    format_count,
    format_json,
)
from puzzle_tablebase.queries.dispatch import (
    get_reader_class,
    make_batch_query,
    open_reader,
    pose,
)
from puzzle_tablebase.queries.options import BATCH, CHECK, SAMPLE, SHEET, Option, is_keyless
from puzzle_tablebase.stores.access import open_store

if TYPE_CHECKING:
    from puzzle_tablebase.queries.options import Options
    from puzzle_tablebase.queries.reader import Reader

Values = dict[str, Any]
Run = Callable[[str, list[str], Values], None]
"""What a command does, given a puzzle's name, the words that are no options, and the options."""

ROWS = (
    Option("input", "Read rows from this file (- for standard input).", "FILE"),
    Option(
        "input_format",
        f"Format of the input: {', '.join(INPUT_FORMATS)} (default: by the file's name; "
        "text for standard input).",
        "NAME",
    ),
    Option("column", "Column of the input with the keys.", "NAME"),
    Option("prefix", "Prefix for the names of the added columns.", "TEXT"),
    Option("output", "File for a batch's answers (default: standard output).", "FILE"),
    Option(
        "format",
        f"Format of a batch's answers: {', '.join(FORMATS)} (default: by the name of --output, or "
        "csv).",
        "NAME",
    ),
)
QUERY_ROWS = (*ROWS, Option("strict", "Stop a batch at the first invalid key."))
CHECK_ROWS = (
    *ROWS,
    Option("answer_column", "Column of the input with the answers (default: answer).", "NAME"),
)
"""The options of batches; the fast path does not answer them."""
CHECK_GENERAL = (
    Option("strict", "Exit with 1 if an answer is not shortest."),
    Option("json", "Print the judgement, or a batch's summary, as one JSON object."),
    Option("testlib", "Judge a contest's files: INPUT OUTPUT ANSWER; exit as its checkers do."),
    OUTPUTS,
)
SAMPLE_GENERAL = (
    Option("size", "How many to draw (default: 1).", "N"),
    Option("seed", "Random seed (default: 0).", "N"),
    Option(
        "output",
        "File to write (default: standard output); compressed if its name ends in .gz or .zst.",
        "FILE",
    ),
    Option("format", f"{', '.join(FORMATS)} (default: by the name of --output, or csv).", "NAME"),
    Option("json", "Print one JSON object a row, as --format jsonl does."),
    OUTPUTS,
)


def add_puzzle_commands(app: typer.Typer, arguments: list[str] | None) -> None:
    """Add the three commands to an application, with the puzzles that a command line may name.

    Readers of other puzzles are not loaded, and no plugin that is not asked for can fail.
    """
    app.registered_groups.clear()  # those of an earlier command line in this process
    is_for_all = arguments is None or "_PIPELINE_COMPLETE" in os.environ
    words = arguments or []
    for command, (text, add) in COMMANDS.items():
        group = typer.Typer(help=text, no_args_is_help=True)
        names = list[str]()
        if is_for_all or words[:1] == [command]:
            is_named = len(words) > 1 and is_registered(words[1])
            names = [words[1]] if is_named else list_puzzles_with(command)
        for name in names:
            if command in get_reader_class(name).commands:
                add(group, name)
        app.add_typer(group, name=command)


def list_puzzles_with(command: str) -> list[str]:
    """List the names of the puzzles that have a command and whose readers can be loaded."""
    kinds = collect_from_each(lambda puzzle: (puzzle.name, get_reader_class(puzzle.name)))
    return [name for name, kind in kinds if command in kind.commands]


def add_command(
    group: typer.Typer, name: str, help: str, options: Iterable[Option], words: Any, run: Run
) -> None:
    """Add a puzzle's command to a group; `words`: Typer's argument beside the options, if any."""
    parameters = [make_parameter(name, option) for option in options]
    if words is not None:
        kind, annotation = inspect.Parameter.KEYWORD_ONLY, Annotated[list[str] | None, words]
        parameters.insert(0, inspect.Parameter("words", kind, default=None, annotation=annotation))

    def command(**arguments: Any) -> None:
        given = {name: value for name, value in arguments.items() if value not in (None, False)}
        run(name, given.pop("words", []), given)

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # for Typer
    group.command(name, help=f"{get_puzzle(name).title}: {help}")(command)


def make_parameter(puzzle: str, option: Option) -> inspect.Parameter:
    """Make the parameter of a puzzle's option, from which Typer makes its own."""
    declared = typer.Option(
        option.flag,
        help=option.help,
        metavar=option.metavar or None,
        show_default=False,
    )
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None if option.metavar else False,
        annotation=Annotated[str | None if option.metavar else bool, declared],
    )


def take_options(values: Values, options: Iterable[Option]) -> Values:
    """Remove from values by name those of some options, and return them."""
    return {option.name: values.pop(option.name) for option in options if option.name in values}


def add_query(group: typer.Typer, name: str) -> None:
    """Add `query NAME`, with the options that the fast path accepts, too."""
    kind, example = get_reader_class(name), get_puzzle(name).example
    words = typer.Argument(metavar=kind.key, help=f"Example: {example}" if example else None)
    options = (*list_options(kind), *QUERY_ROWS)
    add_command(group, name, "answer one key, or a batch of keys.", options, words, run_query)


def run_query(name: str, words: list[str], values: Values) -> None:
    """Answer one key, an option without a key, or a batch."""
    kind, key, rows = get_reader_class(name), " ".join(words), take_options(values, QUERY_ROWS)
    if not words and is_keyless(kind, values) and not rows:
        print_answer(answer_as_text(name, None, values))
    elif key in ("", "-") and (words != [""]):
        _answer_batch(name, values, rows)
    elif "input" in rows:
        raise BadRequest("--input cannot be combined with a key", "Use one of the two")
    elif rows:
        if is_file_name(key):
            raise make_file_error(key, kind.key.lower())
        flag = next(option.flag for option in QUERY_ROWS if option.name in rows)
        step = "Leave out the key" + (", or ask for --json" if "format" in rows else "")
        raise BadRequest(f"{flag} is for batches only", step)
    else:
        print_answer(answer_as_text(name, key, values))


def _answer_batch(name: str, values: Values, rows: Values) -> None:
    kind = get_reader_class(name)
    own = {option.name for option in kind.options}
    for option in list_options(kind):
        if option.name in values and option.name not in own and option is not OUTPUTS:
            step = "Batches have --format" if option is JSON else f"Leave out {option.flag}"
            raise BadRequest(f"{option.flag} works with a single key only", step)
    outputs = values.pop(OUTPUTS.name, None)

    def make() -> Any:
        return make_batch_query(*pose(open_reader(name, open_store(outputs)), BATCH, values))

    require_valid(answer_rows(rows, make), rows)


def answer_rows(options: Values, make: Callable[[], Any]) -> int:
    """Answer the rows of the input that the options of a batch name.

    `make` makes what is asked, when all options are read. Return the number of invalid keys.
    """
    from puzzle_tablebase.pipeline.reporter import Reporter

    source, output = options.get("input", "-"), options.get("output")
    is_typed = source == "-" and bool(sys.stdin) and sys.stdin.isatty()
    if is_typed:
        print_error("reading keys from standard input (press Ctrl-D to finish)")
    with Reporter(quiet=is_typed) as bar:  # a bar would wipe away what is typed
        if not is_typed:
            name_read = "standard input" if source == "-" else escape_control(source)
            bar.update(f"reading {name_read}")
        # after the first line on the screen, because it takes a second
        from puzzle_tablebase.queries.batch import choose_output_format, run_batch

        chosen = choose_output_format(output, options.get("format"))
        given = {**options, "input": source, "format": chosen}
        return run_batch(make(), partial(bar.update, "rows"), bar.printing, **given)


def require_valid(invalid: int, options: Values) -> None:
    """Raise BadRequest if a batch had invalid keys."""
    if invalid:
        subject = "key is" if invalid == 1 else "keys are"
        hint = f"See the column {options.get('prefix', '')}error"
        raise BadRequest(f"{invalid:,} {subject} invalid", hint)


def add_sample(group: typer.Typer, name: str) -> None:
    """Add `sample NAME`."""
    own = [option for option in get_reader_class(name).options if {SAMPLE, SHEET} & {*option.verbs}]
    options = (*own, *SAMPLE_GENERAL)
    add_command(group, name, "draw a uniform random sample.", options, None, run_sample)


def run_sample(name: str, words: list[str], values: Values) -> None:
    """Draw a sample with a puzzle's own options, and write it with the general ones."""
    import polars as pl

    from puzzle_tablebase.pipeline.reporter import Reporter
    from puzzle_tablebase.queries.batch import choose_output_format, open_row_writer
    from puzzle_tablebase.queries.samples import SampleRequest, draw_set

    general, sheet = take_options(values, SAMPLE_GENERAL), values.pop("sheet", None)
    if "json" in general and "format" in general:
        raise BadRequest("--json cannot be combined with --format", "Leave out one of them")
    used = [each for each in ("output", "format", "json") if each in general]
    if sheet is not None and used:
        raise BadRequest(f"--sheet cannot be combined with --{used[0]}", "Leave out one of them")
    if sheet is not None:
        values.setdefault("goal", "corner")
    output, requested = general.get("output"), general.get("format")
    output_as = choose_output_format(output, "jsonl" if "json" in general else requested)
    size, seed = (_parse_number(general, each) for each in ("size", "seed"))
    request = SampleRequest(size, seed or 0, replacement=sheet is None)
    store = open_store(general.get("outputs"))
    reader, options = pose(open_reader(name, store), SAMPLE, values)
    with Reporter() as bar, contextlib.ExitStack() as stack:
        done = 0

        def note(text: str) -> None:
            with bar.printing():
                print_error(text)

        samples = draw_set(reader, options, request, note)
        if sheet is not None:
            from puzzle_tablebase.queries.boards import BoardReader
            from puzzle_tablebase.queries.sheet import write_sheet

            assert isinstance(reader, BoardReader)
            write_sheet(reader, options, pl.concat(samples), sheet)
            return
        first = next(samples)  # before the file is opened: a failed draw leaves no file
        write = stack.enter_context(open_row_writer(output, output_as))
        for rows in chain([first], samples):
            with bar.printing():
                write(rows)
            done += len(rows)
            bar.update("rows", done)


def _parse_number(values: Values, name: str) -> int | None:
    """Return the whole number that an option names, if it is given."""
    text = values.get(name)
    if text is None or (text.isascii() and text.isdigit() and len(text) < MAX_DIGITS):
        return None if text is None else int(text)
    problem = f"--{name} needs a whole number, not {quote(text)}"
    raise BadRequest(problem, f"Example: --{name} 1")


MAX_DIGITS = 30
MAX_FILE_BYTES = 1 << 24
"""The most bytes of a contest's file that are read."""


def add_check(group: typer.Typer, name: str) -> None:
    """Add `check NAME`."""
    kind = get_reader_class(name)
    words = typer.Argument(metavar=f"{kind.key} ANSWER", help="What is answered, and how.")
    own = [option for option in kind.options if CHECK in option.verbs]
    options = (*own, *CHECK_ROWS, *CHECK_GENERAL)
    add_command(group, name, "judge one answer, or a batch of answers.", options, words, run_check)


def run_check(name: str, words: list[str], values: Values) -> None:
    """Judge an answer, a batch of them, or a contest's files."""
    from puzzle_tablebase.queries.judging import GOOD, judge

    rows, general = take_options(values, CHECK_ROWS), take_options(values, CHECK_GENERAL)
    as_json, key = "json" in general, get_reader_class(name).key

    def open_judge() -> tuple[Reader, Options]:
        return pose(open_reader(name, open_store(general.get(OUTPUTS.name))), CHECK, values)

    if "testlib" in general:
        raise typer.Exit(judge_files(open_judge, words))
    if words in ([], ["-"]):
        bad = _judge_rows(open_judge, rows, as_json=as_json)
    elif rows:
        flag = next(option.flag for option in CHECK_ROWS if option.name in rows)
        raise BadRequest(f"{flag} is for batches only", f"Leave out the {key}")
    elif len(words) == 1:
        problem = f"{quote(words[0])} has no answer to judge"
        raise BadRequest(problem, f"Write: pipeline check {name} {key} ANSWER")
    else:
        reader, options = open_judge()
        try:
            judged = judge(reader, words[0], " ".join(words[1:]), options)
        except Undecided as error:
            print_answer(f"{format_json(error.known)}\n" if as_json else "")
            raise
        print_answer(f"{judged.to_json()}\n" if as_json else judged.to_text())
        bad = int(judged.result not in GOOD)
    if bad and "strict" in general:
        verb = "is" if bad == 1 else "are"
        raise NoAnswer(f"{format_count(bad, 'answer')} {verb} not shortest.")


def _judge_rows(
    open_judge: Callable[[], tuple[Reader, Options]], rows: Values, *, as_json: bool
) -> int:
    """Judge the rows of the input and print their summary; return how many are not shortest."""
    from puzzle_tablebase.queries.judging import GOOD, JUDGED, Summary, judge_rows

    answer_column, summary = rows.pop("answer_column", None) or "answer", Summary()

    def make() -> Any:
        reader, options = open_judge()

        def judge_keys(keys: Any, answers: Any) -> Any:
            judged = judge_rows(reader, keys, answers, options)
            summary.add(judged)
            return judged

        return make_batch_query(reader, options)._replace(
            answer=judge_keys,
            columns=(reader.columns[0], answer_column),
            schema=JUDGED,
            stream=None,
        )

    invalid = answer_rows(rows, make)
    text = format_json(summary.to_dict()) if as_json else summary.to_text()
    print_error(text, mark="" if as_json else "pipeline: ")
    require_valid(invalid, rows)
    return summary.answers - summary.count(*GOOD)


def judge_files(open_judge: Callable[[], tuple[Reader, Options]], names: list[str]) -> int:
    """Judge a contestant's output for an input as a contest's checker does; return its exit code.

    The input may have several keys. The jury's answer is not read: the tables know it. All that is
    no fault of the contestant's fails.
    """
    try:
        if len(names) not in (2, 3):
            raise BadRequest("--testlib needs the files INPUT, OUTPUT and ANSWER")
        text, output = map(_read_file, names[:2])
        reader, options = open_judge()
        keys = _split_keys(partial(reader.has_key, options=options), text)
        code, line = _judge_output(reader, options, keys, _split_answers(output, len(keys)))
    except (TablebaseError, OSError) as error:
        code, line = 3, f"fail {error}"
    print_answer(f"{line}\n")
    return code


def _judge_output(
    reader: Reader, options: Options, keys: list[str], answers: list[str]
) -> tuple[int, str]:
    """Judge the answers to some keys; return the code and the line of the first bad one, or all."""
    from puzzle_tablebase.queries.judging import GOOD

    if len(answers) > len(keys):
        least = f"{format_count(len(answers), 'answer')} to {format_count(len(keys), 'key')}"
        return 2, f"presentation error {least}"
    verdicts = {**dict.fromkeys(GOOD, (0, "ok")), "unreadable": (2, "presentation error")}
    code, line = 0, ""
    for number, (key, answer) in enumerate(zip(keys, answers, strict=True), 1):
        judged = _judge_counted(reader, options, key, answer)
        code, verdict = verdicts.get(judged.result, (1, "wrong answer"))
        facts = ", ".join(
            f"{name} {fact:.4f}" if isinstance(fact, float) else f"{name} {fact}"
            for name, fact in judged.to_dict().items()
            if name != "result"
        )
        place = f"case {number}: " if len(keys) > 1 else ""
        line = f"{verdict} {place}{judged.problem or f'{judged.result}: {facts}'}"
        if code:
            return code, line
    return code, f"ok {format_count(len(keys), 'answer')}" if len(keys) > 1 else line


def _judge_counted(reader: Reader, options: Options, key: str, answer: str) -> Judgement:
    """Judge an answer as it is, or without a first line that has the number of its moves."""
    from puzzle_tablebase.queries.judging import GOOD, has_moves, judge

    judged = judge(reader, key, answer, options)
    count, _, moves = answer.partition("\n")
    if has_moves(options) and judged.result not in GOOD and count.strip().isdecimal():
        counted = judge(reader, key, moves, options)
        if counted.length is not None and str(counted.length) == count.strip():
            return counted
    return judged


def _split_keys(is_key: Callable[[str], bool], text: str) -> list[str]:
    """Return the keys of an input, each on a line or on several, after their number or not."""
    if is_key(text):
        return [text]
    count, _, rest = text.strip().partition("\n")
    for given in (text, rest):
        keys, lines = list[str](), list[str]()
        for line in filter(str.strip, given.splitlines()):
            lines.append(line)
            if is_key("\n".join(lines)):
                keys.append("\n".join(lines))
                lines = []
        if keys and not lines and (given is text or count.strip() == str(len(keys))):
            return keys
    return [text]


def _split_answers(output: str, count: int) -> list[str]:
    """Return the answers of an output: each on a line, or on two, the first with their number."""
    if count == 1:
        return [output]
    lines = output.rstrip().split("\n")
    if count < len(lines) <= 2 * count:
        lines += [""] * (2 * count - len(lines))
        return [f"{first}\n{second}" for first, second in zip(lines[::2], lines[1::2], strict=True)]
    return lines + [""] * (count - len(lines))


def _read_file(name: str) -> str:
    """Return the text of a contest's file; what is not UTF-8 in it becomes a character of its own.

    Only the beginning of a file is read that is too large to be an answer.
    """
    with open(name, "rb") as file:
        return file.read(MAX_FILE_BYTES).decode(errors="replace")


COMMANDS: dict[str, tuple[str, Callable[[typer.Typer, str], None]]] = {
    "query": ("Answer questions from the tables.", add_query),
    "check": ("Judge answers: legal, shortest, and where they lost ground.", add_check),
    "sample": ("Draw a uniform random sample of states, positions or tours.", add_sample),
}
"""The commands with their help, and how a puzzle's is added."""
