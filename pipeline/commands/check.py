"""The command `pipeline check NAME`: it judges an answer, a batch of them, or a contest's files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from puzzle_tablebase.errors import BadRequest, NoAnswer, TablebaseError, Undecided, quote
from puzzle_tablebase.pipeline.commands.puzzle_commands import (
    BATCH,
    Command,
    answer_rows,
    declare,
    make_app,
    require_valid,
    take_options,
)
from puzzle_tablebase.pipeline.single_query import OUTPUTS
from puzzle_tablebase.pipeline.terminal import print_answer, print_error
from puzzle_tablebase.queries.answer import (
    ANSWERS,
    Judgement,
    Option,
    format_count,
    format_json,
    select_given,
)
from puzzle_tablebase.queries.dispatch import get_reader_class, open_reader
from puzzle_tablebase.queries.judges import GOOD, Judge
from puzzle_tablebase.stores.access import open_store

ROWS = (
    *(option for option in BATCH if option.name != "strict"),
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


def _make_check(name: str) -> Command:
    """Make the function of `check NAME`."""
    kind = get_reader_class(name)

    def command(**arguments: Any) -> None:
        words, values = arguments.pop("words") or [], select_given(arguments)
        rows, general = take_options(values, ROWS), take_options(values, GENERAL)
        answers = values.pop(ANSWERS.name, None)
        as_json = "json" in general

        def make_judge() -> Judge:
            store = open_store(general.get(OUTPUTS.name))
            query = open_reader(name, store).make_query(**values)
            judge: Judge = query.make_judge(rows.get("answer_column") or "answer", answers)
            return judge

        if "testlib" in general:
            raise typer.Exit(_judge_files(make_judge, words))
        if words in ([], ["-"]):
            bad = _judge_rows(make_judge, rows, as_json=as_json)
        elif rows:
            flag = next(option.flag for option in ROWS if option.name in rows)
            raise BadRequest(f"{flag} is for batches only", f"Leave out the {kind.key}")
        elif len(words) == 1:
            problem = f"{quote(words[0])} has no answer to judge"
            raise BadRequest(problem, f"Write: pipeline check {name} {kind.key} ANSWER")
        else:
            try:
                judged = make_judge().check(words[0], " ".join(words[1:]))
            except Undecided as error:
                print_answer(f"{format_json(error.known)}\n" if as_json else "")
                raise
            print_answer(f"{judged.to_json()}\n" if as_json else judged.to_text())
            bad = int(judged.result not in GOOD)
        if bad and "strict" in general:
            verb = "is" if bad == 1 else "are"
            raise NoAnswer(f"{format_count(bad, 'answer')} {verb} not shortest.")

    declared = typer.Argument(metavar=f"{kind.key} ANSWER", help="What is answered, and how.")
    options = (*(kind.check_options or ()), *ROWS, *GENERAL)
    return declare(command, name, "judge one answer, or a batch of answers.", options, declared)


check_app = make_app(
    "Judge answers: legal, shortest, and where they lost ground.",
    _make_check,
    "check_options",
)


def _judge_rows(make_judge: Callable[[], Judge], rows: dict[str, Any], *, as_json: bool) -> int:
    """Judge the rows of the input and print their summary; return how many are not shortest."""
    options = {name: value for name, value in rows.items() if name != "answer_column"}
    judge, invalid = answer_rows(options, make_judge, chunk_bytes=MAX_FILE_BYTES)
    summary = judge.summary
    text = format_json(summary.to_dict()) if as_json else summary.to_text()
    print_error(text, mark="" if as_json else "pipeline: ")
    require_valid(invalid, rows)
    return summary.answers - summary.count(*GOOD)


def _judge_files(make_judge: Callable[[], Judge], names: list[str]) -> int:
    """Judge a contestant's output for an input as a contest's checker does; return its exit code.

    The input may have several keys. The jury's answer is not read: the tables know it. All that is
    no fault of the contestant's fails.
    """
    try:
        if len(names) not in (2, 3):
            raise BadRequest("--testlib needs the files INPUT, OUTPUT and ANSWER")
        text, output = map(_read_file, names[:2])
        judge = make_judge()
        keys = _split_keys(judge, text)
        code, line = _judge_output(judge, keys, _split_answers(output, len(keys)))
    except (TablebaseError, OSError) as error:
        code, line = 3, f"fail {error}"
    print_answer(f"{line}\n")
    return code


def _judge_output(judge: Judge, keys: list[str], answers: list[str]) -> tuple[int, str]:
    """Judge the answers to some keys; return the code and the line of the first bad one, or all."""
    if len(answers) > len(keys):
        least = f"{format_count(len(answers), 'answer')} to {format_count(len(keys), 'key')}"
        return 2, f"presentation error {least}"
    code, line = 0, ""
    for number, (key, answer) in enumerate(zip(keys, answers, strict=True), 1):
        judged = _judge_counted(judge, key, answer)
        code, verdict = TESTLIB.get(judged.result, (1, "wrong answer"))
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


def _judge_counted(judge: Judge, key: str, answer: str) -> Judgement:
    """Judge an answer as it is, or without a first line that has the number of its moves."""
    judged = judge.check(key, answer)
    count, _, moves = answer.partition("\n")
    if judge.has_moves and judged.result not in GOOD and count.strip().isdecimal():
        counted = judge.check(key, moves)
        if counted.length is not None and str(counted.length) == count.strip():
            return counted
    return judged


def _split_keys(judge: Judge, text: str) -> list[str]:
    """Return the keys of an input, each on a line or on several, after their number or not."""
    if judge.has_key(text):
        return [text]
    count, _, rest = text.strip().partition("\n")
    for given in (text, rest):
        keys, lines = list[str](), list[str]()
        for line in filter(str.strip, given.splitlines()):
            lines.append(line)
            if judge.has_key("\n".join(lines)):
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
