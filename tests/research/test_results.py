"""The programs behind docs/results.md on small boards, and the files that they wrote."""

import random
import re
from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from puzzle_tablebase.pipeline.select import select_tables
from puzzle_tablebase.puzzles import senet
from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from research import (
    closed_tours,
    senet_moves,
    shortest_solutions,
    sliding_goals,
    tour_edges,
    tour_pairs,
)
from tests import first, usual_or_nightly
from tests.support import oracles, reference_numbers, sliding_oracle
from tests.support.build_recorder import build_tables

RESULTS = Path(__file__).parents[2] / "docs" / "results"
PAGE = RESULTS.with_suffix(".md")
CLOSED_TOURS = {
    "7x8": 34524432316,  # this program
    **reference_numbers.read_named_numbers("results.txt", "closed edges"),
}
"""Undirected closed tours of the boards whose jumps are counted."""


def read_squares(paths: pl.Series) -> npt.NDArray[np.uint8]:
    """Return the squares of tours of 6x6, a row a tour."""
    letters = paths.cast(pl.Binary).to_numpy().astype("S72").view(np.uint8)
    pairs = letters.reshape(-1, 36, 2)
    return pairs[:, :, 0] - ord("a") + 6 * (pairs[:, :, 1] - ord("1"))


def count_jumps(board: KnightBoard, outputs: Path) -> Counter[tuple[int, int]]:
    """Count the closed tours that use each jump, from a list of all tours."""
    if str(board) != "6x6":
        tours = oracles.knight_closed_ranks(board.files, board.ranks)
        pairs = [sorted(jump) for tour in tours for jump in tour]
        return Counter((one, two) for one, two in pairs)
    rows = pl.scan_parquet(outputs / "knight_tours_6x6.parquet")
    paths = rows.filter(pl.col("start") == "a1", pl.col("closed")).select("path").collect()
    squares = read_squares(paths["path"])
    ends = np.sort(np.stack([squares, np.roll(squares, -1, axis=1)]).reshape(2, -1), axis=0)
    used, numbers = np.unique(ends, axis=1, return_counts=True)
    jumps = dict(zip(map(tuple, used.T.tolist()), numbers.tolist(), strict=True))
    assert all(tours % 2 == 0 for tours in jumps.values())  # each tour in both directions
    return Counter({jump: tours // 2 for jump, tours in jumps.items()})


@pytest.mark.parametrize("name", first(2, ["5x6", "6x6", "6x5", "10x3"]))
def test_edges_of_closed_tours_as_in_a_list(ranked_boards: Path, outputs: Path, name: str) -> None:
    board = parse_board(name)
    total, uses = tour_edges.count_edges(board, ranked_boards)
    upright = tour_edges.stand_up(board)
    jumps = count_jumps(upright, outputs)
    assert sum(jumps.values()) == total * board.squares
    for group, tours in tour_edges.complete_uses(upright, total, uses):
        assert {jumps[edge] for edge in group} == {tours}


def read_edges(board: str) -> pl.DataFrame:
    return pl.read_csv(RESULTS / f"closed_tour_edges_{board}.csv")


@pytest.mark.parametrize("name", CLOSED_TOURS)
def test_published_edges(name: str) -> None:
    board, total = parse_board(name), CLOSED_TOURS[name]
    rows = read_edges(name)
    assert (rows["edges"] * rows["tours"]).sum() == board.squares * total
    tours_of = {(one, other): tours for one, other, _, tours, _ in rows.iter_rows()}
    classes = tour_edges.list_classes(board)
    uses = dict[tuple[int, int], int]()
    for group in classes:
        one, other = map(board.name_square, group[0])
        uses |= dict.fromkeys(group, tours_of.pop((one, other)))
    assert not tours_of
    assert len(tour_edges.complete_uses(board, total, uses)) == len(classes)
    corners = [edge for edge in uses if 0 in edge]
    assert [uses[edge] for edge in corners] == [total, total]
    assert rows["share"].to_list() == [float(f"{tours / total:.6f}") for tours in rows["tours"]]


def test_edges_that_contradict_each_other_are_an_error() -> None:
    board, total = KnightBoard(8, 8), CLOSED_TOURS["8x8"]
    counts = [tours for _, _, _, tours, _ in read_edges("8x8").sort("one", "other").iter_rows()]
    names = board.name_squares()
    classes = sorted(tour_edges.list_classes(board), key=lambda each: [names[at] for at in each[0]])
    uses = {edge: tours for group, tours in zip(classes, counts, strict=True) for edge in group}
    assert len(tour_edges.complete_uses(board, total, uses)) == len(classes)
    with pytest.raises(ValueError, match="the edges of a square do not add up to two a tour"):
        tour_edges.complete_uses(board, total + 1, uses)
    edge = max(classes, key=len)[0]
    with pytest.raises(ValueError, match="edges that are each other's images have different"):
        tour_edges.complete_uses(board, total, uses | {edge: uses[edge] + 1})


def test_the_picture_shows_the_published_edges() -> None:
    rows = read_edges("8x8")
    picture = (RESULTS / "closed_tour_edges_8x8.svg").read_text()
    assert tour_edges.draw_edges(KnightBoard(8, 8), rows) == picture
    assert picture.count("<path") == 168 + len(rows)


def test_published_goals_have_all_states() -> None:
    layers = pl.read_csv(RESULTS / "sliding_distances.csv")
    assert_frame_equal(sliding_goals.summarize(layers), pl.read_csv(RESULTS / "sliding_goals.csv"))
    assert layers.select(*sliding_goals.KEY, "distance").is_unique().all()
    missing = layers.filter(~((pl.col("board") == "2x2") & (pl.col("distance") == 3)))
    with pytest.raises(ValueError, match="2x2"):
        sliding_goals.summarize(missing)


def test_goals_as_published() -> None:
    """Compare the published terms; some sequences end before the farthest distance."""
    layers = pl.read_csv(RESULTS / "sliding_distances.csv")
    compared = 0
    for file in ("sliding.txt", "results.txt"):
        for label, value in reference_numbers.lines(file):
            name, _, rest = label.partition("_")
            if name != "sliding":
                continue
            board, blank = rest.split("_")
            states = layers.filter(board=board, blank=int(blank))["states"].to_list()
            if board == "3x5":  # its search has a test of its own
                continue
            expected = [int(number) for number in value.split()]
            assert states[: len(expected)] == expected, label
            compared += 1
    assert compared == 9
    goals = pl.read_csv(RESULTS / "sliding_goals.csv")
    last = goals.group_by("board").agg(pl.col("farthest").sort_by("blank").last())
    assert dict(last.iter_rows()) == reference_numbers.read_named_numbers("sliding.txt", "farthest")


def test_goals_have_the_layers_of_a_slow_search() -> None:
    """Compare the nearest layers, and the sums of all even distances.

    A state is an even distance away if its blank is on a cell of the colour of the goal's blank.
    """
    layers = pl.read_csv(RESULTS / "sliding_distances.csv")
    for (board, blank), rows in layers.group_by(sliding_goals.KEY):
        height, width = map(int, str(board).split("x"))
        cells, states = height * width, rows.sort("distance")["states"].to_list()
        tiles = "123456789abcd"[: cells - 1]
        goal = f"{tiles[: blank - 1]}0{tiles[blank - 1 :]}"
        near = Counter(sliding_oracle.distances_near(goal, height, width, 15).values())
        assert states[:16] == [near[distance] for distance in range(len(states[:16]))]
        colours = [(cell // width + cell % width) % 2 for cell in range(cells)]
        even = colours.count(colours[blank - 1])
        assert sum(states[::2]) * cells == sum(states) * even


def list_layers_slowly(height: int, width: int, blank: int) -> list[tuple[object, ...]]:
    """Return what `shortest_solutions.list_layers` does, from states as texts."""
    tiles = "123456789ab"[: height * width - 1]
    goal = f"{tiles[: blank - 1]}0{tiles[blank - 1 :]}"
    solutions, layer = {goal: 1}, {goal: 1}
    rows: list[tuple[object, ...]] = []
    while layer:
        after, maxima = Counter[str](), 0
        for state, ways in layer.items():
            nexts = sliding_oracle.neighbours(state, height, width).values()
            farther = [each for each in nexts if each not in solutions]
            after.update(dict.fromkeys(farther, ways))
            maxima += not farther
        ones = sum(ways == 1 for ways in layer.values())
        row = (len(rows), len(layer), ones, max(layer.values()), maxima)
        rows.append((f"{height}x{width}", blank, *row))
        layer = dict(after)
        solutions |= layer
    return rows


GOALS = [
    *((2, 2, 4), (2, 3, 5), (3, 2, 1), (2, 4, 7), (4, 2, 3)),
    *(pytest.param((2, 5, blank), marks=pytest.mark.nightly) for blank in (8, 9, 10)),
]


@pytest.mark.parametrize("goal", GOALS)
def test_shortest_solutions_as_of_a_slow_search(goal: tuple[int, int, int]) -> None:
    assert shortest_solutions.list_layers(*goal).rows() == list_layers_slowly(*goal)


@pytest.mark.slow
def test_published_senet_results_follow_from_the_table(outputs: Path) -> None:
    table = pl.read_parquet(outputs / "senet.parquet")
    moves, blocked, _ = senet_moves.list_moves(table)
    for name, rows in (
        ("lines", senet_moves.summarize_lines(table)),
        ("moves", moves),
        ("blocked", blocked),
    ):
        published = pl.read_csv(RESULTS / f"senet_{name}.csv")
        assert_frame_equal(rows, published, check_dtypes=False)
    assert not any(list(senet.moves(*row[:2])) for row in blocked.iter_rows())


def test_senets_moves_as_the_rules_say(outputs: Path) -> None:
    """Compare the moves of some positions: a look at all takes minutes."""
    table = pl.read_parquet(outputs / "senet.parquet")
    chosen = random.Random(5).sample(range(len(table)), usual_or_nightly(2000, len(table)))
    is_chosen = pl.int_range(pl.len()).is_in(chosen)
    plies = [pl.when(is_chosen).then(pl.col(f"plies_{side}")) for side in ("even", "odd")]
    moves, blocked, most = senet_moves.list_moves(table.with_columns(plies))
    positions = table["position"].gather(sorted(chosen)).to_list()
    nulls = table.filter(is_chosen).select("plies_even", "plies_odd").rows()
    throws, without, most_found = Counter[int](), Counter[int](), 0
    for position, of_side in zip(positions, nulls, strict=True):
        for mover, fewest in zip("AB", of_side, strict=True):
            if fewest is not None:
                found = Counter(throw for throw, *_ in oracles.senet_successors(position, mover))
                throws.update(found)
                most_found = max(most_found, found.total())
                without.update(throw for throw in range(1, 6) if not found[throw])
    columns = moves.select("throw", "moves", "without_a_move").rows()
    assert columns == [(throw, throws[throw], without[throw]) for throw in range(1, 6)]
    assert most == most_found
    assert blocked.height == sum(
        not oracles.senet_successors(*row[:2]) for row in blocked.iter_rows()
    )


def test_open_and_closed_tours_as_knuth_has_them(outputs: Path) -> None:
    counts = pl.read_parquet(outputs / "knight_counts.parquet").group_by("board")
    totals = counts.agg(pl.col("tours").sum() // 2, pl.col("closed").max() // 2)
    for column, label in (("tours", "open"), ("closed", "closed")):
        expected = reference_numbers.read_named_numbers("results.txt", label)
        assert expected.items() <= dict(totals.select("board", column).iter_rows()).items()


@pytest.mark.parametrize("board", ["5x9", pytest.param("7x8", marks=pytest.mark.nightly)])
def test_open_tours_of_larger_boards_as_published(tmp_path: Path, board: str) -> None:
    name = f"knight_counts_{board}"
    for puzzle, table in select_tables([name]):
        build_tables(tmp_path, puzzle, table)
    tours = pl.read_parquet(tmp_path / f"{name}.parquet")["tours"].sum()
    published = reference_numbers.read_named_numbers("results.txt", "open larger")[board]
    assert tours == 2 * published
    assert f"{published:,}" in PAGE.read_text()


def test_no_open_tour_of_6x6_is_its_own_image(outputs: Path) -> None:
    """Compare tours with their reverse; each tour has an image from one of these six squares."""
    board = KnightBoard(6, 6)
    rows = pl.scan_parquet(outputs / "knight_tours_6x6.parquet")
    paths = rows.filter(pl.col("start").is_in(["a1", "b1", "c1", "b2", "c2", "c3"])).select("path")
    tours = read_squares(paths.collect()["path"])
    assert len(tours) * 8 > reference_numbers.numbers("knight.txt", "n x n")[5]
    images = np.array([board.find_images(square) for square in range(36)], dtype=np.uint8).T
    assert len(images) == 8
    for image in images:
        left = tours  # those whose images are their reverse so far
        for at in range(36):
            left = left[image[left[:, at]] == left[:, 35 - at]]
        assert not len(left)


def test_the_page_has_the_numbers_of_the_files() -> None:
    """Compute shares and means from the counts: a rounded number must not be rounded again."""
    edges = read_edges("8x8")
    goals = pl.read_csv(RESULTS / "sliding_goals.csv")
    moves = pl.read_csv(RESULTS / "senet_moves.csv")
    total = CLOSED_TOURS["8x8"]
    expected = [
        *(
            f"| {one}–{other} | {tours:,} | {tours / total:.2%} |"
            for one, other, _, tours, _ in edges.rows()
        ),
        *(
            f"| {board} | {blank} | {farthest} | {there:,} | {distances / states:.4f} |"
            for board, blank, states, farthest, there, distances, _ in goals.rows()
        ),
        *(
            f"| {throw} | {total / pairs:.4f} | {without:,} |"
            for throw, pairs, total, without in moves.rows()
        ),
        *(
            f"| {name} | {tours:,} | {len(read_edges(name))} |"
            for name, tours in CLOSED_TOURS.items()
        ),
    ]
    for board in ("2x5", "3x4"):
        layers = pl.read_csv(RESULTS / f"shortest_solutions_{board}.csv")
        for (blank,), rows in layers.group_by("blank"):
            most = max(rows["most_solutions"])
            distance = rows["distance"][rows["most_solutions"].to_list().index(most)]
            ones, maxima = sum(rows["one_solution"]), sum(rows["local_maxima"])
            expected.append(
                f"| {board} | {blank} | {most:,} | {distance} | {ones:,} | "
                f"{ones / sum(rows['states']):.1%} | {maxima:,} |"
            )
    page = PAGE.read_text()
    assert [row for row in expected if row not in page] == []


def test_classes_of_pairs_are_those_of_a_list(outputs: Path) -> None:
    board = KnightBoard(6, 6)
    tours = pl.read_parquet(outputs / "knight_tours_6x6.parquet", columns=["start", "finish"])
    listed = {(one, to): n for one, to, n in tours.group_by("start", "finish").len().rows()}
    names = board.name_squares()
    rows = pl.DataFrame({"tours": [listed[names[a], names[b]] for a, b in board.list_pairs()]})
    classes = tour_pairs.list_classes(rows, board)
    assert (classes["tours"] * classes["pairs"]).sum() == 6_637_920
    for start, finish, _, _, number in classes.iter_rows():
        assert listed[start, finish] == number
    wrong = rows.with_columns(pl.col("tours") + (pl.int_range(pl.len()) == 7))
    with pytest.raises(ValueError, match="images of a pair have different numbers of tours"):
        tour_pairs.list_classes(wrong, board)


def test_the_published_classes_of_pairs_are_those_of_the_program() -> None:
    """Take a table of 8x8 apart into classes: each has both directions, and all images."""
    board, tours = KnightBoard(8, 8), dict[tuple[int, int], int]()
    published = pl.read_csv(RESULTS / "knight_pairs_8x8.csv")
    for start, finish, number in published.select("start", "finish", "tours").iter_rows():
        squares = map(board.find_images, map(board.parse_square, (start, finish)))
        for image in zip(*squares, strict=True):
            tours |= dict.fromkeys((image, image[::-1]), number)
    rows = pl.DataFrame({"tours": [tours[pair] for pair in board.list_pairs()]})
    assert_frame_equal(tour_pairs.list_classes(rows, board), published)


def test_pairs_of_8x8_add_up_to_the_numbers_of_each_square() -> None:
    """Add up the tours from each square, and those to the squares that are a jump away."""
    board, tours, closed = KnightBoard(8, 8), Counter[str](), Counter[str]()
    for one, other, pairs, is_closed, number in pl.read_csv(
        RESULTS / "knight_pairs_8x8.csv"
    ).iter_rows():
        images = zip(
            *(board.find_images(board.parse_square(at)) for at in (one, other)), strict=True
        )
        ends = {either for image in images for either in (image, image[::-1])}
        assert len(ends) == pairs
        assert board.is_jump(*min(ends)) == is_closed
        for square, _ in ends:
            tours[board.name_square(square)] += number
            closed[board.name_square(square)] += number * is_closed
    assert sum(tours.values()) == 19_591_828_170_979_904
    assert {*closed.values()} == {2 * CLOSED_TOURS["8x8"]}
    page = PAGE.with_name("tours.md").read_text("utf-8")
    for rank in "1234":
        (line,) = re.findall(rf"^\| {rank} \|(.*)\|$", page, re.MULTILINE)
        numbers = [int(cell.replace(",", "")) for cell in line.split("|")]
        assert numbers == [tours[f"{file}{rank}"] for file in "abcd"]


def count_closed_tours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> list[str]:
    """Return the lines of the program about boards of five rows."""
    monkeypatch.setattr("sys.argv", ["closed_tours", "5", "8", *words])
    closed_tours.main()
    return capsys.readouterr().out.splitlines()


def test_closed_tours_of_wide_boards_at_each_cut(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = count_closed_tours(monkeypatch, capsys, "--cuts", "3")
    assert [line for line in lines if "cut" in line] == [
        "5x6, cut after 2 and 2 columns: 8",
        "5x5, cut after 2 and 1 columns: 0",
        "5x8, cut after 3 and 3 columns: 44202",
        "5x7, cut after 3 and 2 columns: 0",
        "5x6, cut after 3 and 1 columns: 8",
    ]
    lines = count_closed_tours(monkeypatch, capsys, "--modulus", "97")
    assert lines[-2:] == [
        "5x8, cut after 3 and 3 columns: 67",
        "5x7, cut after 3 and 2 columns: 0",
    ]


@pytest.mark.parametrize("modulus", ["-97", "0", "1", "96", "4294967297"])
def test_a_modulus_that_no_sweep_can_count_by_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], modulus: str
) -> None:
    with pytest.raises(SystemExit):
        count_closed_tours(monkeypatch, capsys, "--modulus", modulus)
    assert f"{modulus} is not an odd number from 3 to 2^32" in capsys.readouterr().err


def test_a_dry_run_and_a_bound_count_no_tours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Compare the states of each layer with those of a count, and bound them."""
    pattern = r"layer (\d+): ([\d,]+) needs, (?:at most )?([\d,]+) states"
    found = [
        [re.findall(pattern, line) for line in count_closed_tours(monkeypatch, capsys, *words)]
        for words in ([], ["--dry-run"], ["--bound"])
    ]
    counted = [numbers for (numbers,) in filter(None, found[0])]
    dry, bounds = ([numbers for (numbers,) in lines] for lines in found[1:])
    assert len(counted) == 15
    assert dry == counted
    for numbers, most in zip(dry, bounds, strict=True):
        assert numbers[0] == most[0]
        for number, bound in zip(numbers[1:], most[1:], strict=True):
            assert int(number.replace(",", "")) <= int(bound.replace(",", ""))
