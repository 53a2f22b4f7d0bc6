"""The data of the report's figures, compared with oracles and with other tables."""

from itertools import groupby
from pathlib import Path

import polars as pl
import pytest

from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.queries.figure import Sources
from puzzle_tablebase.queries.histogram import count_states
from puzzle_tablebase.queries.report import list_figures, list_sections
from puzzle_tablebase.tables.store import Folder
from tests.pages.test_report import ReportData, answer
from tests.support import oracles


@pytest.fixture(scope="module")
def report_data(outputs: Path) -> ReportData:
    return Sources(Folder(outputs)), {each.name: each for each in list_figures(list_sections())}


def test_distances_are_the_histogram(report_data: ReportData, outputs: Path) -> None:
    mine = answer(report_data, "eight-distances").select("goal", "distance", "states")
    assert sorted(mine.rows()) == sorted(count_states("eight", Folder(outputs)).rows())


def test_blank_and_heuristics_count_every_state(report_data: ReportData) -> None:
    blank = answer(report_data, "eight-blank")
    assert blank["states"].sum() == 3 * 181_440
    parities = blank.group_by("goal", "blank").agg((pl.col("distance") % 2).n_unique())
    assert set(parities["distance"]) == {1}
    heuristics = answer(report_data, "eight-heuristics")
    assert heuristics["states"].sum() == 2 * 3 * 181_440
    gap = (pl.col("distance") - pl.col("value")) * pl.col("states")
    errors = (
        heuristics.filter(pl.col("heuristic") == "manhattan")
        .group_by("goal", "distance")
        .agg((gap.sum() / pl.col("states").sum()).alias("shortfall"))
        .join(answer(report_data, "eight-shortfall"), on=["goal", "distance"])
    )
    assert errors.height == 95
    assert (errors["shortfall"] - errors["mean_manhattan_shortfall"]).abs().max() == pytest.approx(
        0
    )


def test_search_costs_are_those_of_plain_searches(report_data: ReportData, outputs: Path) -> None:
    costs = answer(report_data, "eight-searches")
    names = ["mean_breadth_first_states", "mean_misplaced_states", "mean_manhattan_states"]
    assert (costs["starts"] == 4).all()
    rows = pl.read_parquet(outputs / "eight.parquet").filter(goal="corner")
    for distance in (10, 14, 18):
        at = rows.filter(pl.col("state").str.ends_with("0"), distance=distance)["state"]
        totals = [0, 0, 0]
        for start in at.gather([len(at) * number // 4 for number in range(4)]):
            layer, known = {start}, set[str]()
            for depth in range(distance):
                for state in layer:
                    misplaced = oracles.count_eight_misplaced(state, "123456780")
                    manhattan = oracles.eight_manhattan(state, "123456780")
                    for number, bound in enumerate((0, misplaced, manhattan)):
                        totals[number] += depth + bound < distance
                known |= layer
                layer = {
                    near for state in layer for near in oracles.eight_neighbours(state).values()
                } - known
        row = costs.filter(distance=distance).select(names).row(0)
        assert row == tuple(total / 4 for total in totals)


def test_unreachable_positions_have_the_shape_that_is_described(report_data: ReportData) -> None:
    frame = answer(report_data, "senet-never")
    lost = frame.filter("never")["position"].to_list()
    assert len(lost) == 119
    for position in lost:
        runs = ["".join(run) for _, run in groupby(position, key=lambda piece: piece == ".")]
        block, gap, *further_runs = runs
        assert "." not in block
        assert len(gap) in (4, 5)
        assert len(set("".join(further_runs)) - {"."}) <= 1
    _, text, _ = report_data[1]["senet-never"].show(frame)
    assert "All 119 have one shape" in text
    assert "75 of the 252 with nothing beyond the gap" in text
    other = frame.with_columns(shape=pl.lit(False))
    assert "shape" not in report_data[1]["senet-never"].show(other)[1]


def test_knight_counts_agree(report_data: ReportData, outputs: Path) -> None:
    starts = answer(report_data, "knight-starts")
    counts = pl.read_parquet(outputs / "knight_counts.parquet")
    joined = starts.join(counts, on=["board", "start"], suffix="_counted")
    assert joined.height == starts.height == 13 + 36
    assert (joined["tours"] == joined["tours_counted"]).all()
    assert (joined["closed"] == joined["closed_counted"]).all()


def test_findings_that_are_written_out_are_true(report_data: ReportData) -> None:
    starts = answer(report_data, "knight-starts")
    most = starts.filter(pl.col("tours") == pl.col("tours").max().over("board"))["start"]
    assert {*most} == {"a1", "a5", "e1", "e5", "a6", "f1", "f6"}
    closed = starts.group_by("board").agg(pl.col("closed").unique())
    assert {board: each for board, (each,) in closed.rows()} == {"5x5": 0, "6x6": 19_724}
    blank = answer(report_data, "eight-blank").sort("goal", "blank")
    mean = (pl.col("distance") * pl.col("states")).sum() / pl.col("states").sum()
    for _, means in blank.group_by("goal", "blank", maintain_order=True).agg(mean).group_by("goal"):
        assert means["distance"].arg_min() == 4
        assert means["distance"].max() - means["distance"].min() < 1  # type: ignore[operator]


@pytest.mark.parametrize("side", [5, 6])
def test_the_shown_starts_represent_all(report_data: ReportData, side: int) -> None:
    ends, board = answer(report_data, f"knight-ends-{side}x{side}"), KnightBoard(side, side)
    sums = ends.group_by("start").agg(pl.col("tours").sum()).rows()
    starts = answer(report_data, "knight-starts").filter(board=str(board))
    tours = dict(starts.select("start", "tours").rows())
    assert all(tours[start] == total for start, total in sums)
    reached = {image for start, _ in sums for image in board.find_images(board.parse_square(start))}
    assert {*map(board.name_square, reached)} == tours.keys()
