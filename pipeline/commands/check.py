"""The command `pipeline check NAME`: it judges an answer, a batch of them, or a contest's files."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, cast

import typer

from pipeline.commands.puzzle_commands import (
    BATCH,
    PuzzleGroup,
    answer_rows,
    declare,
    make_parameter,
    require_valid,
)
from pipeline.single_query import OUTPUTS
from pipeline.terminal import print_answer, print_error
from queries.answer import format_count, format_json
from queries.dispatch import get_reader_class, open_reader
from queries.judgement import GOOD, Judgement
from queries.options import Option, select_given
from queries.reader import Query, Reader
from tablebase.errors import BadRequest, NoAnswer, TablebaseError, quote
from tablebase.puzzles import get_puzzle
from tablebase.stdio import explain_os_error
from tablebase.tables.access import open_store

ROWS = (
    Option("input", "Judge every row of this file (- for standard input).", "FILE"),
    *(option for option in BATCH if option.name not in ("input", "strict")),
    Option("answer_column", "Column of the input with the answers (default: answer).", "NAME"),
)
"""The options of batches."""
GENERAL = (
    Option("strict", "Exit with 1 if an answer is not shortest."),
    Option("json", "Print the judgement, or a batch's summary, as one JSON object."),
    Option("testlib", "Judge a contest's files: INPUT OUTPUT ANSWER; exit as its checkers do."),
    OUTPUTS,
)
MAX_FILE_BYTES = 1 << 24
"""The most bytes of a contest's file, or of a row, that are read."""
TESTLIB = {**dict.fromkeys(GOOD, (0, "ok")), "unreadable": (2, "presentation error")}
"""Exit codes and words of a contest's checker, by result; a wrong answer for others."""
TESTLIB_WRONG, TESTLIB_FAIL = (1, "wrong answer"), (3, "fail")


class CheckGroup(PuzzleGroup):
    """The commands of puzzles whose answers can be judged."""

    @classmethod
    def make_function(cls, puzzle: str) -> Callable[..., None]:
        return _make_check(puzzle)

    @classmethod
    def has_command(cls, reader: type[Reader]) -> bool:
        return reader.check_options is not None


check_app = typer.Typer(
    help="Judge answers: legal, at the goal, shortest, and where they lost ground.",
    cls=CheckGroup,
    no_args_is_help=True,
)


def _make_check(name: str) -> Callable[..., None]:
    """Make the function of `check NAME`."""
    kind = get_reader_class(name)

    def command(**arguments: Any) -> None:
        words = arguments.pop("words") or []
        values = select_given(arguments)
        rows = {option.name: values.pop(option.name) for option in ROWS if option.name in values}
        general = {each.name: values.pop(each.name, None) for each in GENERAL}
        make_judge = partial(_make_judge, name, general["outputs"], **values)
        if general["testlib"]:
            raise typer.Exit(_judge_files(make_judge, words))
        if words in ([], ["-"]):
            _judge_rows(make_judge, rows, general)
        elif rows:
            flag = next(option.flag for option in ROWS if option.name in rows)
            raise BadRequest(f"{flag} is for batches only", f"Leave out the {kind.key}")
        elif len(words) == 1:
            problem = f"{quote(words[0])} has no answer to judge"
            raise BadRequest(problem, f"Write: pipeline check {name} {kind.key} ANSWER")
        else:
            _judge_one(make_judge, words[0], " ".join(words[1:]), general)

    words = Annotated[
        list[str] | None,
        typer.Argument(metavar=f"{kind.key} ANSWER", help="What is answered, and the answer."),
    ]
    parameter = inspect.Parameter(
        "words", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=words
    )
    options = (*(kind.check_options or ()), *ROWS, *GENERAL)
    parameters = [parameter, *(make_parameter(name, option) for option in options)]
    return declare(
        command, parameters, f"{get_puzzle(name).title}: judge one answer, or a batch of answers."
    )


def _make_judge(name: str, outputs: str | None, **options: Any) -> Query:
    return open_reader(name, open_store(outputs)).make_judge(**options)


def _judge_one(
    make_judge: Callable[..., Query], key: str, answer: str, general: dict[str, Any]
) -> None:
    judged = make_judge().check(key, answer)
    print_answer(f"{judged.to_json()}\n" if general["json"] else judged.to_text())
    if general["strict"] and judged.result not in GOOD:
        raise NoAnswer(f"The answer is {judged.result}.")


def _judge_rows(
    make_judge: Callable[..., Query], rows: dict[str, Any], general: dict[str, Any]
) -> None:
    """Judge the rows of the input, and print their summary to standard error."""
    column = rows.get("answer_column", "answer")
    judge, invalid = answer_rows(
        rows, lambda: make_judge(answer_column=column), chunk_bytes=MAX_FILE_BYTES
    )
    from queries.check.judge import Judge  # slow to import

    summary = cast(Judge, judge).summary
    text = format_json(summary.to_dict()) if general["json"] else summary.to_text()
    print_error(text, mark="" if general["json"] else "pipeline: ")
    require_valid(invalid, rows)
    bad = summary.answers - summary.count(*GOOD)
    if general["strict"] and bad:
        verb = "is" if bad == 1 else "are"
        raise NoAnswer(f"{format_count(bad, 'answer')} {verb} not shortest.")


def _judge_files(make_judge: Callable[..., Query], words: list[str]) -> int:
    """Judge a contestant's output for an input as a contest's checker does; return its exit code.

    The jury's answer is not read: the tables know it. All that is no fault of the contestant's
    fails.
    """
    try:
        if len(words) not in (2, 3):
            raise BadRequest("--testlib needs the files INPUT, OUTPUT and ANSWER")
        judged = make_judge().check(*map(_read_file, words[:2]))
        code, verdict = TESTLIB.get(judged.result, TESTLIB_WRONG)
        line = f"{verdict} {_explain(judged)}"
    except TablebaseError as error:
        code, line = TESTLIB_FAIL[0], f"{TESTLIB_FAIL[1]} {error}"
    print_answer(f"{line}\n")
    return code


def _explain(judged: Judgement) -> str:
    """Say in a few words why an answer has its result."""
    length = "" if judged.length is None else f", {format_count(judged.length, 'move')}"
    shortest = f"; the fewest are {judged.shortest}" if judged.excess else ""
    return judged.problem or f"{judged.result}{length}{shortest}"


def _read_file(name: str) -> str:
    """Return the text of a contest's file; what is not UTF-8 in it becomes a character of its own.

    Only the beginning of a file is read that is too large to be an answer.
    """
    try:
        with open(name, "rb") as file:
            return file.read(MAX_FILE_BYTES).decode(errors="replace")
    except OSError as error:
        raise BadRequest(f"{quote(name)} cannot be read ({explain_os_error(error)})") from error
