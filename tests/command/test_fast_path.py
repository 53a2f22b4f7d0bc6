"""Tests of the fast path: the same answers as the full command line, and few imports."""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from polars.exceptions import PanicException

from puzzle_tablebase.errors import TablebaseError
from puzzle_tablebase.pipeline.commands.app import load_app
from puzzle_tablebase.pipeline.run import run_command
from puzzle_tablebase.pipeline.single_query import answer_fast
from tests.support.commands import GOLDEN, lines


def get_outcome(run_query: Callable[[], str | None]) -> tuple[str, str | None]:
    """Return an answer, or the type of an error and its message."""
    try:
        return "answer", run_query()
    except TablebaseError as error:
        return type(error).__name__, str(error)


# without empty words, which the full command line treats as missing
SIMPLE_QUERIES = [
    *(
        words[1:]
        for group in ("eight", "senet", "knight", "no", "bad", "missing")
        for words in lines(group)
        if words[0] == "query" and "" not in words
    ),
    ["eight", "--json", "123456780"],
    ["eight", "123456780", "--goal", ""],
    ["eight", "--goal", "edge", "123", "--path", "456", "708"],
    ["senet", "--json", "--path", "ABABABABAB....."],
    ["knight", "--to", "a3", "b1"],
    ["senet", "ABABABABAB.....", "--outputs", "./outputs"],
]
GOLDEN_OUTPUT = "\n".join(path.read_text("utf-8") for path in GOLDEN.iterdir())
"""The recorded output of the command line."""


@pytest.mark.parametrize("words", SIMPLE_QUERIES, ids=shlex.join)
def test_the_fast_path_answers_as_the_full_command_line(
    words: list[str],
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def run_full_command() -> str:
        capsys.readouterr()
        arguments = ["query", *words]
        load_app(arguments)(arguments, standalone_mode=False)
        return capsys.readouterr().out

    monkeypatch.chdir(place)
    fast = get_outcome(lambda: answer_fast(words))
    full = get_outcome(run_full_command)
    assert fast == full
    assert fast[1]
    prompt = f"$ {shlex.join(['pipeline', 'query', *words])}\n"
    if prompt in GOLDEN_OUTPUT:
        text = GOLDEN_OUTPUT.partition(prompt)[2]
        assert text.removeprefix("pipeline: ").startswith(fast[1].rstrip("\n") + "\n")


@pytest.mark.parametrize("kind", [ZeroDivisionError, PanicException])
def test_an_internal_error_is_one_sentence(
    kind: type[BaseException], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(words: list[str]) -> str:
        raise kind(f"\x1b{words}")

    monkeypatch.delenv("PIPELINE_TRACEBACK")
    monkeypatch.setattr("puzzle_tablebase.pipeline.single_query.answer_fast", fail)
    assert run_command(["query", "eight", "123456780"]) == 3
    assert capsys.readouterr().err == (
        f"pipeline: internal error ({kind.__name__}: "
        "\"\\x1b['eight', '123456780']\"). Please report it; PIPELINE_TRACEBACK=1 shows where.\n"
    )
    monkeypatch.setenv("PIPELINE_TRACEBACK", "1")
    with pytest.raises(kind):
        run_command(["query", "eight", "123456780"])


def test_an_interrupt_on_the_fast_path(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def raise_interrupt(words: list[str]) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("puzzle_tablebase.pipeline.single_query.answer_fast", raise_interrupt)
    assert run_command(["query", "eight", "123456780"]) == 130
    assert capsys.readouterr() == ("", "")
