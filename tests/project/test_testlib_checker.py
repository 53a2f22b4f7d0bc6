"""The checker of `examples/`, as a contest calls it: a process a test, files, a verdict."""

import os
import sys
from pathlib import Path

import pytest

from tests.support.shell import ROOT, Completed, run

STATE, SOLVED = "123450786", "123456780"
BOARD = "1 2 3\n4 5 0\n7 8 6\n"


def check(folder: Path, keys: str, answers: bytes, *options: str, tables: str = "") -> Completed:
    """Run the checker on an input and an output."""
    (folder / "input").write_text(keys)
    (folder / "output").write_bytes(answers)
    (folder / "answer").write_text("")
    names = (str(folder / name) for name in ("input", "output", "answer"))
    words = (sys.executable, str(ROOT / "examples/testlib_checker.py"), *options, *names)
    return run(words, env={"PIPELINE_OUTPUTS": tables or str(ROOT / "outputs")})


@pytest.mark.parametrize(
    ("keys", "answers", "code", "line"),
    [
        (BOARD, b"D\n", 0, "ok shortest: length 1"),
        (STATE, b"8 6", 1, "wrong answer move 1, tile 8"),
        (STATE, b"", 1, "wrong answer incomplete: length 0"),
        (STATE, b"6", 0, "ok shortest: length 1"),
        (STATE, b"1\n", 1, "wrong answer move 1, tile 1"),
        (STATE, b"1\nD\n", 0, "ok shortest: length 1"),
        (STATE, b"3\nLRD\n", 1, "wrong answer longer: length 3"),
        (STATE, b"2\nD\n", 1, "wrong answer 2 moves are announced, and 1 follow"),
        (STATE, b"DX", 1, "wrong answer character 2, 'X'"),
        (STATE, b"\0\xff", 2, r"presentation error character 1, '\x00'"),
        ("nonsense", b"D", 3, "fail 'nonsense"),
        # several boards
        (f"{STATE}\n{SOLVED}\n", b"D\n\n", 0, "ok 2 answers\n"),
        (f"2\n{STATE}\n{SOLVED}\n", b"1\nD\n0\n\n", 0, "ok 2 answers\n"),
        (f"{BOARD}\n" * 3, b"D\n6\nLRD\n", 1, "wrong answer case 3: longer: "),
        (f"{STATE}\n{STATE}\n", b"6\n?", 2, "presentation error case 2: character 1, '?'"),
        (f"{STATE}\n{STATE}\n", b"D", 1, "wrong answer case 2: incomplete: length 0"),
        (f"{STATE}\n{STATE}\n", b"D\n" * 5, 2, "presentation error more than 2 answers"),
        (f"3\n{STATE}\n{STATE}\n", b"D\nD\n", 3, "fail "),
    ],
)
@pytest.mark.usefixtures("outputs")
def test_a_contest_calls_it(
    tmp_path: Path, keys: str, answers: bytes, code: int, line: str
) -> None:
    completed = check(tmp_path, keys, answers)
    assert (completed.code, completed.err) == (code, "")
    assert completed.out.startswith(line)
    assert completed.out.count("\n") == 1


@pytest.mark.usefixtures("outputs")
def test_longer_solutions_get_points_if_a_contest_wants_it(tmp_path: Path) -> None:
    for answers, code, line in (
        (b"D\nLRD\n", 7, "points 0.6667 "),
        (b"D\nD\n", 0, "ok 2 answers"),
        (b"D\nUD\n", 1, "wrong answer case 2: "),
    ):
        completed = check(tmp_path, f"{STATE}\n{STATE}\n", answers, "--points")
        assert (completed.code, completed.err) == (code, "")
        assert completed.out.startswith(line)


@pytest.mark.usefixtures("outputs")
def test_no_end_of_a_file_is_ignored(tmp_path: Path) -> None:
    spaces = " " * (1 << 24)
    for keys, answers, code, line in (
        (STATE, f"D{spaces[1:]}", 0, "ok shortest"),
        (STATE, f"D{spaces}U", 2, "presentation error "),
        (f"{STATE}{spaces}", "D", 3, "fail "),
    ):
        completed = check(tmp_path, keys, answers.encode())
        assert (completed.code, completed.err) == (code, "")
        assert completed.out.startswith(line)


def test_it_fails_where_the_contestant_is_not_at_fault(tmp_path: Path) -> None:
    completed = check(tmp_path, STATE, b"D", tables=str(tmp_path / "none"))
    assert (completed.code, completed.out[:5]) == (3, "fail ")
    program = (sys.executable, str(ROOT / "examples/testlib_checker.py"))
    for words in (["a"], [os.fspath(tmp_path / "none"), os.fspath(tmp_path / "input")]):
        completed = run((*program, *words), env={})
        assert (completed.code, completed.out[:5], completed.err) == (3, "fail ", "")
