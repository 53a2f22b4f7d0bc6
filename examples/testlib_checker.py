#!/usr/bin/env python3
"""Judge a contestant's solutions of the 8-puzzle, as a checker of testlib does.

testlib_checker.py INPUT OUTPUT [ANSWER] exits with 0 for `ok`, 1 for `wrong answer`, 2 for
`presentation error` and 3 for `fail`; with --points, a longer solution exits with 7 and `points`.
The input has a board, or a board a line after their number; the output has the moves of each on a
line of its own, which a line with their number may precede. The tables know the jury's answer.
They are in the folder `outputs`, or where PIPELINE_OUTPUTS says.
"""

import sys

import puzzle_tablebase as pt

OK, WRONG, PRESENTATION, FAIL, POINTS = 0, 1, 2, 3, 7
NAMES = {OK: "ok", WRONG: "wrong answer", PRESENTATION: "presentation error", POINTS: "points"}
MAX_BYTES = 1 << 24


class Unfit(Exception):
    """What ends a judgement: its exit code and its words."""


def read(path, code):
    """Read a file as text; one that is too long ends the judgement with this code."""
    with open(path, "rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise Unfit(code, f"{path} has more than {MAX_BYTES:,} bytes")
    return data.decode("utf-8", "replace")


def split_boards(reader, text):
    """Split an input into boards: one on all its lines, or one a line, after their number."""
    lines = text.split("\n")
    lines = [line for line in lines if line.strip()]
    if reader.get(text) is not None:
        return [text]
    if lines and lines[0].strip() == str(len(lines) - 1):
        lines = lines[1:]
    if lines and reader.get(lines[0]) is None and len(lines) % 3 == 0:  # boards of three lines
        lines = ["\n".join(lines[at : at + 3]) for at in range(0, len(lines), 3)]
    for board in lines or [text]:
        reader.probe(board)  # raises for what is no board
    return lines


def judge(reader, board, lines, is_alone):
    """Judge the next answer; return the judgement, and what is wrong with the stated count."""
    answer = lines.pop(0) if lines else ""
    count = answer.strip().lstrip("0") or answer.strip()[:1]
    is_number = count.isascii() and count.isdigit()
    if not (is_number and lines and (lines[0].strip() or count == "0")):
        return reader.check(board, "\n".join([answer, *lines]) if is_alone else answer), ""
    judged = reader.check(board, answer)
    if judged.score == 1:  # the only tile that slides, not a count
        return judged, ""
    counted = reader.check(board, "\n".join(lines) if is_alone else lines.pop(0))
    if counted.length is None or str(counted.length) == count or counted.problem:
        return counted, ""
    return counted, f"{count} moves are announced, and {counted.length} follow"


def judge_files(source, output, *, is_scored):
    """Judge all answers; return the exit code and the words for it."""
    reader = pt.open_tables().eight
    boards, lines = split_boards(reader, read(source, FAIL)), read(output, PRESENTATION).split("\n")
    is_alone, best, total = len(boards) == 1, True, 0.0
    words = f"{len(boards)} answers"
    for number, board in enumerate(boards, 1):
        judged, problem = judge(reader, board, lines, is_alone)
        case = "" if is_alone else f"case {number}: "
        facts = f"{judged.result}: length {judged.length}, shortest {judged.shortest}"
        if problem or not judged.score or (judged.score < 1 and not is_scored):
            code = PRESENTATION if judged.result == "unreadable" and judged.step == 1 else WRONG
            return code, f"{case}{problem or judged.problem or facts}"
        best, total = best and judged.score == 1, total + judged.score
        words = facts if is_alone else words
    if not is_alone and any(map(str.strip, lines)):
        return PRESENTATION, f"more than {len(boards)} answers"
    return (OK, words) if best else (POINTS, f"{total / len(boards):.4f} {words}")


def main(arguments):
    """Print the verdict, and return the exit code."""
    files = [word for word in arguments if word != "--points"]
    try:
        if len(files) not in (2, 3):
            raise Unfit(FAIL, "usage: testlib_checker.py [--points] INPUT OUTPUT [ANSWER]")
        code, words = judge_files(*files[:2], is_scored="--points" in arguments)
    except Unfit as unfit:
        code, words = unfit.args
    except (pt.TablebaseError, OSError) as error:
        code, words = FAIL, str(error)
    print(NAMES.get(code, "fail"), words.replace("\n", " "))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
