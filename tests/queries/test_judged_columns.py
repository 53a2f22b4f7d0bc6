"""Answers that score, and the same with more behind them: alone, in frames and in files."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from puzzle_tablebase.queries import boards
from puzzle_tablebase.queries.judging import GOOD
from puzzle_tablebase.queries.questions import CHECK
from puzzle_tablebase.queries.tables import Tables, open_tables
from puzzle_tablebase.registry import MODULES
from tests import first, usual_or_nightly
from tests.support.build_recorder import build_tables
from tests.support.check_oracle import SPACES
from tests.support.pancakes import PUZZLE as PANCAKES
from tests.support.shell import Cli
from tests.support.tampered import link_copy

MARKS = "UDLRudlr0123456789abcdefhx-.;\0\n ,zЯ"
"""The characters of what stands behind an answer."""
TAILS = st.text(MARKS, min_size=1, max_size=6).filter(lambda tail: bool(tail.strip(SPACES)))
LETTERS, DIGITS = "UDLR", "123456789abcdef"
EIGHT_LETTERS = LETTERS + LETTERS.lower()


class Case(NamedTuple):
    """An answer that scores 1; with more moves, of these marks, it may be a longer one."""

    puzzle: str
    key: str
    answer: str
    marks: str = ""
    options: dict[str, str] = {}  # noqa: RUF012  # never changed


@pytest.fixture(scope="module")
def folder(
    outputs: Path, large_boards: Path, patterns_555: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return a folder with tables of every puzzle."""
    folder = link_copy(outputs, tmp_path_factory.mktemp("answers"), large_boards, patterns_555)
    build_tables(folder, PANCAKES)
    return folder


@pytest.fixture(scope="module", autouse=True)
def _known_pancakes() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(MODULES, PANCAKES.name, "tests.support.pancakes")
        yield


@pytest.fixture(scope="module")
def tables(folder: Path) -> Iterator[Tables]:
    with open_tables(str(folder)) as tables:
        yield tables


@pytest.fixture(scope="module")
def cases(tables: Tables) -> list[Case]:
    """List an answer of every result for every puzzle."""
    distances, listed, board = {"answers": "distances"}, {"board": "6x6"}, {"board": "3x4"}
    state, position, large = "152703846", "ABAAABBB.B...A.", "0123456789ab"
    eight, tour = tables.eight.probe(state, path=True), tables.knight.probe("b1")
    wide = tables.sliding("3x4").probe(large, path=True)
    closed = tables.knight.probe("c3", board="6x6", closed=True)
    plies = tables.senet.scan("senet").filter(pl.col("plies").is_null())
    unreachable = plies.select("position").first().collect().item()
    line = tables.senet.line(position)
    stack = tables.open("pancakes").probe("53412", path=True)
    assert eight.solution
    assert eight.tiles
    assert wide.solution
    assert wide.tiles
    assert line
    numbers = " ".join(str(int(tile, 16)) for tile in wide.tiles)
    squares = " ".join(closed.path[at : at + 2].upper() for at in range(0, len(closed.path), 2))
    return [
        Case("eight", state, eight.solution, EIGHT_LETTERS),
        Case("eight", state, " ".join(eight.tiles), DIGITS),
        Case("eight", state, str(eight.distance), "", distances),
        Case("eight", state, "unreachable", "", distances | {"goal": "centre"}),
        Case("sliding", large, wide.solution, LETTERS, board),
        Case("sliding", large, wide.tiles, DIGITS, board),
        Case("sliding", large, numbers, DIGITS, board),
        Case("sliding", large, str(wide.distance), "", board | distances),
        Case("fifteen", "123456789ab0defc", "D", LETTERS),
        Case("fifteen", "123456789abcde0f", "15", DIGITS),
        Case("fifteen", "123456789abcd0ef", "14, 15", DIGITS),
        Case("fifteen", "123456789abcd0ef", "ef", DIGITS),
        Case("fifteen", "123456789abcd0ef", "2", "", distances),
        Case("senet", position, line),
        Case("senet", position, "2", "", distances),
        Case("senet", unreachable, "unreachable", "", distances),
        Case("knight", "b1", tour.path),
        Case("knight", "b1", "".join(map(str, tour.jumps))),
        Case("knight", "c3", squares, "", listed),
        Case("knight", "c3", ",".join(map(str, closed.jumps)), "", listed),
        Case("pancakes", "53412", stack.solution, "2345"),
        Case("pancakes", "53412", str(stack.distance), "", distances),
    ]


def open_case(tables: Tables, case: Case) -> tuple[Any, dict[str, str]]:
    """Return the reader that judges an answer, and the options that it takes."""
    options = {**case.options}
    if case.puzzle == "sliding":
        return tables.sliding(options.pop("board")), options
    return tables.open(case.puzzle), options


def check_rows(tables: Tables, case: Case, answers: list[str]) -> list[dict[str, Any]]:
    """Judge the answers in a small frame, in a large one, and alone: the facts are the same."""
    reader, options = open_case(tables, case)
    frame = pl.DataFrame({reader._prober.columns[0]: [case.key] * len(answers), "answer": answers})
    judged: pl.DataFrame = reader.check_frame(frame, **options)
    with pytest.MonkeyPatch.context() as patch:  # few answers are judged as many are
        patch.setattr(boards, "FEW_ANSWERS", 0)
        patch.setattr(reader._prober, "max_single_keys", 0, raising=False)
        if case.puzzle in ("eight", "sliding"):
            assert reader._prober.can_judge_together(
                len(frame), reader._prober.parse(CHECK, options)
            )
        assert_frame_equal(reader.check_frame(frame, **options), judged)
    rows = judged.to_dicts()
    for answer, row in zip(answers, rows, strict=True):
        alone = reader.check(case.key, answer, **options)
        for name in ("result", "score", "problem", "length", "step"):
            assert row[name] == getattr(alone, name), (case, answer, name)
    return rows


def require_no_score(case: Case, tail: str, row: dict[str, Any]) -> None:
    """Require that an answer with more behind it has no score, or is longer by legal moves."""
    if row["score"]:
        assert row["result"] == "longer", (case, tail, row)
        assert {*tail} <= {*case.marks, *SPACES}, (case, tail, row)
        assert row["problem"] is None, (case, tail, row)
    assert row["result"] not in GOOD, (case, tail, row)


@settings(max_examples=usual_or_nightly(5, 200))
@given(tails=st.lists(TAILS, min_size=5, max_size=10))
def test_nothing_behind_a_legal_answer_scores(
    tables: Tables, cases: list[Case], tails: list[str]
) -> None:
    for case in cases:
        answers = [case.answer, *(case.answer + tail for tail in tails)]
        whole, *others = check_rows(tables, case, answers)
        assert (whole["score"], whole["problem"]) == (1, None), case
        for tail, row in zip(tails, others, strict=True):
            require_no_score(case, tail, row)


def write_rows(file_format: str, path: Path, rows: pl.DataFrame) -> None:
    writers: dict[str, Callable[[], object]] = {
        "csv": lambda: rows.write_csv(path),
        "tsv": lambda: rows.write_csv(path, separator="\t"),
        "jsonl": lambda: rows.write_ndjson(path),
        "parquet": lambda: rows.write_parquet(path),
        "text": lambda: path.write_text("".join(f"{' '.join(row)}\n" for row in rows.rows())),
    }
    writers[file_format]()


FORMATS = ["csv", "tsv", "jsonl", "parquet", "text"]


@pytest.mark.parametrize(
    ("file_format", "first_case", "step"),
    first(
        len(FORMATS),
        [
            *((file_format, at % 2, 2) for at, file_format in enumerate(FORMATS)),
            *((file_format, 0, 1) for file_format in FORMATS),
        ],
    ),
)
def test_nothing_behind_an_answer_in_a_file_scores(
    folder: Path, tables: Tables, cases: list[Case], cli: Cli, tmp_path: Path,
    file_format: str, first_case: int, step: int,
) -> None:  # fmt: skip
    """Judge every other case in a file; with the step 1, every one."""
    random, source = Random(file_format), tmp_path / f"keys.{file_format.replace('text', 'txt')}"
    marks = MARKS.replace("\n", "") if file_format == "text" else MARKS
    for case in cases[first_case::step]:
        tails = ["".join(random.choices(marks, k=random.randrange(1, 4))) for _ in range(5)]
        tails = [tail for tail in tails if tail.strip(SPACES)]
        answers = [case.answer, *(case.answer + tail for tail in tails)]
        rows = pl.DataFrame({"state": [case.key] * len(answers), "answer": answers})
        write_rows(file_format, source, rows)
        reader, given = open_case(tables, case)
        alone = [reader.check(case.key, answer, **given) for answer in answers]
        options = [word for name, value in case.options.items() for word in (f"--{name}", value)]
        names = [] if file_format == "text" else ["--column", "state"]
        words = ("check", case.puzzle, "--input", str(source), *options, *names)
        completed = cli(*words, "--format", "jsonl", "--outputs", str(folder))
        judged = [json.loads(line) for line in completed.out.splitlines()]
        assert [row["result"] for row in judged] == [row.result for row in alone], case
        assert [row["score"] for row in judged] == [row.score for row in alone]
        assert judged[0]["score"] == 1, case
        for tail, row in zip(tails, judged[1:], strict=True):
            require_no_score(case, tail, row)
