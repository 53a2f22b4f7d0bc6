"""The report on the jumps of sampled closed tours, and files that are refused as samples."""

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from puzzle_tablebase.errors import BadRequest
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.queries import open_tables
from puzzle_tablebase.queries.figure import Sources
from puzzle_tablebase.queries.knight.jump_report import (
    CHUNK_ROWS,
    check_closed,
    compute_shares,
    draw_jumps,
    find_images,
    load_sample,
)
from puzzle_tablebase.tables.store import Folder
from tests.conftest import make_once
from tests.support import oracles
from tests.support.tour_lists import list_mirrors
from tools.jumps_picture import PER_CENT, draw_chessboard_jumps

SIZES = {"6x6": 300, "10x3": 40}


@pytest.fixture(scope="module")
def samples(ranked_boards: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    def make(place: Path) -> None:
        with open_tables(str(ranked_boards)) as tables:
            for board, size in SIZES.items():
                drawn = tables.knight.sample(size, seed=1, board=board, closed=True)
                drawn.write_parquet(place / f"{board}.parquet")

    folder = make_once(tmp_path_factory, "samples", make)
    return {board: folder / f"{board}.parquet" for board in SIZES}


@pytest.mark.parametrize("board", SIZES)
def test_shares_equal_a_plain_count(samples: dict[str, Path], board: str, tmp_path: Path) -> None:
    files, ranks = map(int, board.split("x"))
    section, given = load_sample(str(samples[board]))
    assert (given.file, given.rows) == (str(samples[board]), SIZES[board])
    (figure,) = section.figures
    frame = Sources(Folder(tmp_path), {"sample": given}).answer(figure)
    result, tours, used = compute_shares(frame)
    assert (str(result), tours) == (board, SIZES[board])
    counts: Counter[frozenset[int]] = Counter()
    for path in pl.read_parquet(samples[board])["path"]:
        names = [path[at : at + 2] for at in range(0, len(path), 2)]
        squares = [oracles.square_number(files, name) for name in names]
        counts.update(map(frozenset, pairwise([*squares, squares[0]])))
    assert counts.total() == frame["tours"].sum()
    assert frame.rows() == sorted(frame.rows())
    seen: set[frozenset[int]] = set()
    for jump, share in used.items():
        one, other = (oracles.square_number(files, name) for name in (jump[:2], jump[2:]))
        same = {frozenset((way[one], way[other])) for way in list_mirrors(files, ranks)}
        assert same == find_images(result, one, other)
        assert share == pytest.approx(sum(counts[each] for each in same) / (tours * len(same)))
        assert not seen & same
        seen |= same
    all_jumps = {
        frozenset((a, b)) for a in range(result.squares) for b in result.list_neighbours(a)
    }
    assert seen == all_jumps >= counts.keys()
    assert [*used.values()] == sorted(used.values(), reverse=True)


def test_the_picture_and_its_description_state_the_shares(
    samples: dict[str, Path], tmp_path: Path
) -> None:
    section, given = load_sample(str(samples["6x6"]))
    (figure,) = section.figures
    frame = Sources(Folder(tmp_path), {"sample": given}).answer(figure)
    _, tours, used = compute_shares(frame)
    _, text, picture = figure.show(frame)
    assert "6x6, from 300 uniform samples" in picture
    assert picture == draw_jumps(*compute_shares(frame), bare=True)
    rarest, share = min(used.items(), key=lambda item: item[1])
    assert text.startswith("The share of 300 closed tours of 6x6, drawn with equal chances, that")
    assert text.endswith(f"The rarest is {rarest[:2]}-{rarest[2:]}, in {share:.1%} of the tours.")
    for jump, share in used.items():
        error = 100 * (share * (1 - share) / tours) ** 0.5
        for told in (f"{jump[:2]}-{jump[2:]}", f"{100 * share:.2f} %", f"± {error:.2f}"):
            assert f">{told}<" in picture


def test_the_picture_of_the_docs_has_every_jump_of_the_chessboard() -> None:
    board, picture = KnightBoard(8, 8), draw_chessboard_jumps()
    result = [
        find_images(board, board.parse_square(jump[:2]), board.parse_square(jump[2:]))
        for jump in PER_CENT
    ]
    assert sum(map(len, result)) == len(frozenset().union(*result)) == 168
    used = sum(len(same) * share for same, share in zip(result, PER_CENT.values(), strict=True))
    assert used == pytest.approx(64 * 100, abs=0.1), "a tour has 64 jumps"
    assert "from 1,000,000 uniform samples" in picture


def test_false_closed_tours_are_detected(samples: dict[str, Path], outputs: Path) -> None:
    tours = pl.scan_parquet(outputs / "knight_tours_6x6.parquet").filter(~pl.col("closed"))
    board, paths = KnightBoard(6, 6), pl.read_parquet(samples["6x6"])["path"][:3]
    assert check_closed(board, paths).tolist() == [True] * 3
    path = paths[1]
    wrong = {
        "open": tours.head(1).collect()["path"][0],
        "a square twice": path[:-2] + path[:2],
        "two squares changed places": path[2:4] + path[:2] + path[4:],
        "off the board": path.replace("a1", "g1"),
        "off the board, of a square's number": path.replace("a2", "g1"),
        "of another alphabet": path.replace("a1", "\u00e9"),
        "upper case": path.upper(),
        "short": path[:-2],
        "long": path + path[:2],
        "missing": None,
    }
    given = pl.Series("path", [paths[0], *wrong.values(), paths[2]], pl.String)
    assert check_closed(board, given).tolist() == [True, *[False] * len(wrong), True]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "eight": ({"state": ["123456780"]}, "it has no columns of text named board and path"),
    "numbers": ({"board": [6], "path": [1]}, "it has no columns of text named board and path"),
    "empty": ({"board": [], "path": []}, "it is empty"),
    "mixed": (
        {"board": ["6x6", "6x7", "8x8 and no other", "9x9"], "path": [""] * 4},
        "its tours are of several boards ('6x6', '6x7', '8x8 and no o'... (16 characters))",
    ),
    "no board": ({"board": ["hanoi"], "path": ["a1"]}, "'hanoi' is not a board"),
    "null": ({"board": [None], "path": ["a1"]}, "'' is not a board"),
    "no tour": ({"board": ["6x6"], "path": ["a1b3"]}, "its row 1, 'a1b3', is no closed tour"),
    "one square": ({"board": ["1x1"], "path": ["a1"]}, "its row 1, 'a1', is no closed tour"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_invalid_samples_are_rejected(kind: str, tmp_path: Path) -> None:
    columns, problem = REFUSED[kind]
    schema = dict.fromkeys(columns, pl.String) if kind in ("empty", "null") else None
    file = tmp_path / "sample.parquet"
    pl.DataFrame(columns, schema).write_parquet(file)
    with pytest.raises(BadRequest, match=re.escape(f"cannot be shown: {problem}")) as error:
        load_sample(str(file))
    example = "pipeline sample knight --board 8x8 --closed --size 1000000 --output FILE.parquet"
    assert error.value.hint == f"Draw one: {example}"


def test_the_invalid_row_is_named_in_any_chunk(samples: dict[str, Path], tmp_path: Path) -> None:
    paths = pl.read_parquet(samples["6x6"])["path"].to_list()
    paths *= CHUNK_ROWS // len(paths) + 2
    file, wrong = tmp_path / "cycles.parquet", CHUNK_ROWS + 17
    paths[wrong] = turned = paths[wrong][2:] + "a1a1"
    pl.DataFrame({"path": paths}).with_columns(board=pl.lit("6x6")).write_parquet(file)
    with pytest.raises(BadRequest, match=f"its row {wrong + 1:,}, '{turned[:2]}"):
        load_sample(str(file))


def test_unreadable_samples_are_rejected(samples: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "text").write_text("board,rank,path\n")
    pattern = samples["6x6"].with_name("*.parquet")
    for path in (tmp_path / "text", tmp_path / "nothing", tmp_path, pattern):
        with pytest.raises(BadRequest, match=r"The sample .* cannot be read \("):
            load_sample(str(path))
