"""Ranked tours, single and in samples: the same tours, equally likely; errors, and damage."""

import json
import random
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from puzzle_tablebase.errors import BadRequest, NoAnswer, NotationError, TableDamaged, TableMissing
from puzzle_tablebase.pipeline.recipes import tour_rankings
from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.puzzles.knight.tables import PUZZLE, make_ranking_table
from puzzle_tablebase.puzzles.knight.tour_ranker import TourRanker
from puzzle_tablebase.queries.knight import table_scans
from puzzle_tablebase.queries.knight.prober import KnightProber
from puzzle_tablebase.queries.knight.table_scans import sample_by_rank
from puzzle_tablebase.queries.prober import open_prober
from puzzle_tablebase.queries.samples import MAX_SET, MAX_SIZE, SampleRequest
from puzzle_tablebase.queries.tables import Tables, open_tables
from puzzle_tablebase.stores import Folder
from puzzle_tablebase.stores.checkpoints import Arrays
from puzzle_tablebase.tour_frontier.keys import decode_layer, encode_layer
from tests import first, usual_or_nightly
from tests.support import oracles
from tests.support.build_recorder import build_tables
from tests.support.chances import check_draws, check_uniform
from tests.support.querying import query_text
from tests.support.shell import Cli
from tests.support.tampered import (
    link_copy,
    locate_record,
    records,
    replace_link,
    reseal,
)


def read_tours(folder: Path, board: str, *, closed: bool = True, most: int = 10**6) -> pl.DataFrame:
    """Return every tour that has a number, or at most about so many, evenly spaced."""
    reader = open_prober("knight", Folder(folder))
    assert isinstance(reader, KnightProber)
    numbered = reader.open_ranked_tours(parse_board(board), closed=closed)
    counts = numbered.list_counts()
    step = max(1, sum(counts) // most)
    return sample_by_rank(numbered, counts, np.arange(0, sum(counts), step))


@pytest.mark.parametrize("board", first(4, ["10x3", "5x6", "6x5", "5x4", "8x3", "5x5"]))
def test_all_tours_differ_and_are_those_of_lookups(ranked_boards: Path, board: str) -> None:
    closed = board in ("10x3", "5x6", "6x5")
    result = read_tours(ranked_boards, board, closed=closed)
    assert result["path"].n_unique() == result.height
    assert {*result["board"]} == {board}
    numbers = pl.int_range(pl.len()) if closed else pl.int_range(pl.len()).over("start")
    assert result["rank"].equals(result.select(rank=numbers)["rank"])
    with open_tables(str(ranked_boards)) as tables:
        for row in result.gather_every(max(1, result.height // 40)).iter_rows(named=True):
            start, options = row.get("start", "a1"), {"rank": row["rank"], "board": board}
            assert row["path"] == tables.knight.probe(start, **options, closed=closed).path


def test_open_tours_of_larger_boards_are_drawn_by_rank(
    ranked_boards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compare a sample with all 164 open tours of 5x4, by chi-squared."""
    monkeypatch.setattr(table_scans, "MAX_LISTED_SQUARES", 19)
    all_tours = read_tours(ranked_boards, "5x4", closed=False)
    knight = open_tables(str(ranked_boards)).knight
    every = knight.sample(164, board="5x4")
    assert every.sort("start", "rank").equals(all_tours.sort("start", "rank"))
    paths = {*all_tours["path"]}
    monkeypatch.setattr(TourRanker, "unrank", cache(TourRanker.unrank))  # the same tours, often

    def draw(size: int, seed: int) -> pl.DataFrame:
        return knight.sample(size, seed, board="5x4").select("path")

    check_draws(draw, paths, 1_000)


def test_closed_tours_are_drawn_by_rank(ranked_boards: Path) -> None:
    ranked = open_tables(str(ranked_boards)).knight
    drawn = ranked.sample(16, board="10x3", closed=True)
    assert sorted(drawn["rank"]) == [*range(16)]
    with pytest.raises(BadRequest):
        ranked.sample(17, board="10x3", closed=True)
    with pytest.raises(NoAnswer):
        ranked.sample(1, board="5x5", closed=True)


def test_open_tours_are_sampled_from_their_list(outputs: Path) -> None:
    all_tours = pl.read_parquet(outputs / "knight_tours_5x5.parquet")
    with open_tables(str(outputs)) as tables:
        drawn = tables.knight.sample(300, seed=1, board="5x5")
        (chosen,) = SampleRequest(300, 1).check().draw_numbers(all_tours.height, "tour")
        assert drawn.equals(all_tours[chosen])
        assert tables.knight.sample(1728, board="5x5")["path"].n_unique() == 1728
        assert tables.knight.sample(1)["board"].to_list() == ["6x6"]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7])
def test_numbers_are_different_and_equally_likely(size: int) -> None:
    """Draw numbers below 7 from many seeds: at each position of a sample any is as likely."""
    drawn = [
        [str(number) for part in SampleRequest(size, seed).draw_numbers(7, "") for number in part]
        for seed in range(1_000)
    ]
    assert {len({*numbers}) for numbers in drawn} == {size}
    for numbers in zip(*drawn, strict=True):
        check_uniform([*numbers], {*"0123456"})


def test_many_numbers_are_different() -> None:
    (many,) = SampleRequest(200_000, 5).draw_numbers(10**13, "")
    assert len({*many.tolist()}) == 200_000


@pytest.mark.parametrize(
    ("size", "seed"),
    [*((size, 0) for size in (0, 2.5, True, "3", 10**30)), (1, -1), (1, None)],
)
def test_invalid_sizes_and_seeds_are_rejected(tables: Tables, size: Any, seed: Any) -> None:
    with pytest.raises(BadRequest):
        tables.knight.sample(size, seed, board="5x5")
    with pytest.raises(BadRequest):
        SampleRequest(MAX_SIZE + 1).check()
    with pytest.raises(BadRequest):
        SampleRequest(MAX_SET + 1).check(MAX_SET)


def test_sampling_reports_damage(ranked_boards: Path, tmp_path: Path) -> None:
    folder = link_copy(ranked_boards, tmp_path)
    path = replace_link(folder / "knight_closed_ranks_6x6.idx")
    original = path.read_bytes()
    data = bytearray(original)
    data[4096 * 9 + 7] ^= 1
    path.write_bytes(data)
    with pytest.raises(TableDamaged):
        open_tables(str(folder)).knight.sample(10, board="6x6", closed=True)
    data = bytearray(original)
    for record in range(80):
        data[locate_record(data, record) + 2] ^= data[locate_record(data, record)] == 6
    path.write_bytes(reseal(data))
    with pytest.raises(TableDamaged):
        open_tables(str(folder)).knight.sample(10, board="6x6", closed=True)
    with pytest.raises(TableMissing):
        open_tables(str(folder)).knight.sample(10, board="8x8", closed=True)


@pytest.mark.parametrize("layer", [11, 12])
def test_wrong_counts_of_states_are_damage(
    layer: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def halve(records: Arrays) -> Iterable[Any]:
        firsts, _, states = records
        keys, numbers = decode_layer(firsts, states)
        return encode_layer(keys, numbers // 2 + 1, states.itemsize)

    def make(*given: Any) -> list[Any]:
        layers: list[Any] = make_layers(*given)
        layers[layer] = [*halve([*layers[layer]])]
        return layers

    make_layers = tour_rankings.make_layers
    monkeypatch.setattr(tour_rankings, "make_layers", make)
    build_tables(tmp_path, PUZZLE, make_ranking_table(KnightBoard(6, 6), closed=True))
    with pytest.raises(TableDamaged):
        read_tours(tmp_path, "6x6", most=1_000)


@pytest.mark.parametrize(
    ("start", "count", "options"),
    [("a1", 9862, {"board": "6x6", "closed": True}), ("c3", 64, {"board": "5x5"})],
)
def test_corrupt_records_give_a_tour_or_an_error(
    ranked_boards: Path, tmp_path: Path, start: str, count: int, options: dict[str, Any]
) -> None:
    """Change some bytes of some records, with valid checksums in every block."""
    folder, randomness = link_copy(ranked_boards, tmp_path), random.Random(7)
    board, closed = options["board"], "closed" in options
    tour = open_tables(str(folder)).knight.probe(start, rank=count // 2, **options).path
    path = replace_link(folder / f"knight_{'closed_' * closed}ranks_{board}.idx")
    original = path.read_bytes()

    def look_up() -> Iterator[str]:
        knight = open_tables(str(folder)).knight
        for _ in range(3):
            yield knight.probe(start, rank=randomness.randrange(count), **options).path
        knight.rank(tour, **options)

    def draw() -> Iterable[str]:
        return read_tours(folder, board, closed=closed, most=20)["path"]

    refused: dict[Callable[[], Iterable[str]], int] = {look_up: 0, draw: 0}
    for _ in range(usual_or_nightly(12, 2000)):
        data = bytearray(original)
        for _ in range(randomness.choice((1, 5, 50))):
            # any byte of a record but those of its layer
            record = randomness.randrange(records(data))
            at = locate_record(data, record) + randomness.randrange(2, 1023)
            data[at] = randomness.randrange(256)
        path.write_bytes(reseal(data))
        for each in refused:
            try:
                for found in each():
                    oracles.read_tour(int(board[0]), int(board[0]), found)
            except (TableDamaged, NoAnswer):
                refused[each] += 1
    assert all(refused.values())


@pytest.mark.parametrize("added", [set(), {(0, 1)}], ids=["too few", "others"])
def test_edges_that_make_no_tour_are_damage(
    ranked_boards: Path, monkeypatch: pytest.MonkeyPatch, added: set[tuple[int, int]]
) -> None:
    unrank_edges = TourRanker._unrank_edges

    def lose_an_edge(*given: Any) -> set[tuple[int, int]]:
        edges = unrank_edges(*given)
        return edges - {max(edges)} | added

    monkeypatch.setattr(TourRanker, "_unrank_edges", lose_an_edge)
    with pytest.raises(TableDamaged, match="do not fit together"):
        open_tables(str(ranked_boards)).knight.probe("a1", rank=7, board="6x6", closed=True)


def test_closed_tours_are_ranked_and_unranked_at_the_shell(ranked_boards: Path, cli: Cli) -> None:
    words = ["--board", "6x6", "--outputs", str(ranked_boards)]
    text = cli("query", "knight", "b1", "--closed", "--rank", "9861", "--json", *words)
    assert (text.code, text.err) == (0, "")
    facts = json.loads(text.out)
    assert (facts["start"], facts["rank"], facts["closed"]) == ("b1", 9861, True)
    assert "number" not in facts
    path = oracles.read_tour(6, 6, facts["path"])
    assert oracles.is_closed(6, path)
    assert path[1] < path[-1]
    squares = " ".join(map(str.upper, reversed([oracles.square_name(6, at) for at in path])))
    reported = cli("query", "knight", "--closed", "--rank-of", squares, "--json", *words)
    assert json.loads(reported.out)["rank"] == 9861


@pytest.mark.parametrize("words", ["5x4 b1 7", f"5x4 b1 1{'0' * 5000}", "5x4 b2 0", "5x5 b1 0"])
def test_missing_tours_are_no_answer(ranked_boards: Path, words: str) -> None:
    board, start, number = words.split()
    with pytest.raises(NoAnswer):
        query_text("knight", ranked_boards, start, rank=number, board=board)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"closed": True, "rank": "1234"}, "knight_closed_ranks_6x6"),
        ({"rank": "3", "board": "5x4"}, "knight_ranks_5x4"),
    ],
)
def test_an_unranked_path_that_is_no_tour_is_damage(
    ranked_boards: Path, options: dict[str, Any], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TourRanker, "unrank", lambda *_: [0, 7])
    with pytest.raises(TableDamaged) as damaged:
        query_text("knight", ranked_boards, "a1", **{"board": "6x6", **options})
    assert damaged.value.file == str(ranked_boards / f"{name}.idx")


def test_invalid_closed_tours_are_rejected(ranked_boards: Path) -> None:
    facts = json.loads(
        query_text("knight", ranked_boards, "a1", board="6x6", closed=True, rank="5", json=True)
    )
    squares = [facts["path"][at : at + 2] for at in range(0, 72, 2)]
    far = [*squares[2:], squares[1], squares[0]]
    swapped = [squares[1], squares[0], *squares[2:]]
    for wrong in (squares[:-1], [*squares, "a1"], swapped, far, ["a7"], []):
        with pytest.raises(NotationError):
            query_text(
                "knight", ranked_boards, None, board="6x6", closed=True, rank_of=" ".join(wrong)
            )


@pytest.mark.parametrize("layer", [1, 6, 11, 12, 13])
def test_inconsistent_layers_are_damage(ranked_boards: Path, tmp_path: Path, layer: int) -> None:
    """Change keys of a layer, with valid checksums: an error follows, never a false tour."""
    index = replace_link(link_copy(ranked_boards, tmp_path) / "knight_closed_ranks_6x6.idx")
    data = bytearray(index.read_bytes())
    for record in range(records(data)):
        at = locate_record(data, record)
        if data[at] == layer:
            data[at + 2] ^= 1
    index.write_bytes(reseal(data))
    knight = open_tables(str(index.parent)).knight
    refused = set[str]()
    for cycle in range(0, 9862, 1201):
        try:
            answer = knight.probe("a1", rank=cycle, board="6x6", closed=True)
        except TableDamaged as damaged:
            refused.add(damaged.file)
        else:
            assert oracles.is_closed(6, oracles.read_tour(6, 6, answer.path))
    assert refused == {str(index)}
