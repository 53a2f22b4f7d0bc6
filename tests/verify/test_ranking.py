"""`verify` proves ranking tables, and finds every kind of false value in them."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from msgspec.structs import replace as replace_entry

from pipeline.verify import VerifyFailed
from pipeline.verify import knight_tours as proof
from pipeline.verify.claims import (
    Claim,
    Listener,
    Proof,
    PublishedTable,
    Seen,
    TableVerdict,
    Verdict,
    ignore_claim,
)
from pipeline.verify.files import check_files
from pipeline.verify.knight_tours import LIMITS, RankingLimits, prove_ranks
from tablebase.frontier.compiled import decode_layer, encode_layer
from tablebase.frontier.layers import InconsistentLayers, LayerReader
from tablebase.puzzles.knight.board import KnightBoard, parse_board
from tablebase.puzzles.knight.tables import (
    COUNTS_TABLE,
    PUZZLE,
    make_ranking_table,
)
from tablebase.puzzles.knight.tour_ranker import Sweep, TourRanker
from tablebase.schema import Table
from tablebase.tables.checkpoints import Arrays
from tablebase.tables.index_format import make_record_type
from tablebase.tables.manifest import read_manifest
from tablebase.tables.store import Folder
from tests import long_run, wide
from tests.support.build_recorder import build_tables
from tests.support.tampered import Story, replace_layer
from tests.support.tour_lists import all_tours

Layer = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
Change = Callable[[npt.NDArray[np.int64], npt.NDArray[np.int64]], Layer]


def make_table(board: str) -> Table:
    """Return a ranking table: of open tours for "5x6 open", say, and of closed ones otherwise."""
    name, _, kind = board.partition(" ")
    return make_ranking_table(parse_board(name), closed=not kind)


def open_published(folder: Path, board: str, report: Listener = ignore_claim) -> PublishedTable:
    store, table = Folder(folder), make_table(board)
    return PublishedTable(
        store, table.name, read_manifest(store)[table.name], PUZZLE, table, report
    )


def make_counts_proof(
    board: str, verdict: Verdict = Verdict.RECOUNTED, **numbers: list[int]
) -> dict[str, Proof]:
    """Return a proof of the table of counts about a board."""
    return {
        COUNTS_TABLE: Proof((TableVerdict(COUNTS_TABLE, board, verdict, ""),), {board: numbers})
    }


def prove_board(
    folder: Path,
    board: str,
    story: Listener = ignore_claim,
    seen: Seen | None = None,
    limits: RankingLimits = LIMITS,
) -> list[Claim]:
    """Prove the ranking table of one board."""
    claims = list[Claim]()

    def on_claim(claim: Claim, done: int) -> None:
        claims.extend([claim] if claim.passed else [])
        story(claim, done)

    given = open_published(folder, board, on_claim)
    check_files(given)
    prove_ranks(given, seen or {}, limits)
    return claims


def test_claims_about_ranks_of_closed_tours(
    ranked_boards: Path, golden: Callable[[str, str], None]
) -> None:
    story, progress = Story(), dict[str, list[int]]()

    def on_claim(claim: Claim, done: int) -> None:
        story(claim, done)
        progress.setdefault(claim.claim, []).append(done)

    prove_board(ranked_boards, "10x3", on_claim)
    (numbers,) = (text for text in progress if text.startswith(NUMBERS))
    (records,) = (text for text in progress if text.startswith("layer after layer"))
    assert progress[numbers] == [0, *range(16), 16]
    assert progress[records] == [0, 14, 14]
    golden("claims_knight_closed_ranks", "".join(story))


def test_claims_about_ranks_of_open_tours(
    ranked_boards: Path, golden: Callable[[str, str], None]
) -> None:
    story, totals = Story(), [*map(len, all_tours(5, 4))]
    seen = make_counts_proof("5x4", tours=totals)
    prove_board(ranked_boards, "5x4 open", story, seen, RankingLimits(tours=0, sample=5))
    golden("claims_knight_ranks", "".join(story))


def test_totals_differing_from_the_counts_are_detected(ranked_boards: Path) -> None:
    totals = [*map(len, all_tours(5, 4))]
    totals[1], totals[3] = totals[1] + 1, totals[3] - 1
    with pytest.raises(VerifyFailed) as failed:
        prove_board(ranked_boards, "5x4 open", seen=make_counts_proof("5x4", tours=totals))
    claim = "there are as many tours from each square as known (knight_counts)"
    assert failed.value.claim.claim == claim
    assert "found tours from b1: 7, expected 8" in str(failed.value)


BOARDS = [
    *("5x6", "6x5", "5x4 open"),
    pytest.param("8x3 open", marks=wide),
    pytest.param("6x6", marks=long_run),
]


@pytest.mark.parametrize("board", BOARDS)
def test_ranks_are_proved(ranked_boards: Path, board: str) -> None:
    texts = [claim.claim for claim in prove_board(ranked_boards, board)]
    assert len(texts) == len({*texts}) == 7
    which = "of a start is another" if "open" in board else "is another closed"
    assert any(text.startswith(f"each number {which} tour: ") for text in texts)


def test_a_sample_of_many_ranks_is_proved(ranked_boards: Path) -> None:
    claims = prove_board(ranked_boards, "6x6", limits=RankingLimits(states=0, tours=9000))
    assert [claim.count for claim in claims][-2:] == [9862, 200]
    assert claims[-1].claim == (
        "200 numbers are closed tours: it visits each square once, by knight's jumps; "
        "ranking the tour returns its number"
    )


def add_one(keys: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64]) -> Layer:
    return keys, numbers + (keys == keys[0])


def add_state(keys: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64]) -> Layer:
    return np.append(keys, keys[-1] + 1), np.append(numbers, 1)


def remove_one(keys: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64]) -> Layer:
    return keys[1:], numbers[1:]


def change_last_state(keys: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64]) -> Layer:
    return np.append(keys[:-1], keys[-1] + 1), numbers


LAYERS = "each state's number is the sum of those that a step led from, and no state is missing"
KNOWN = "there are as many closed tours as known (OEIS A175881)"
NUMBERS = "each number is another closed tour"
ANOTHER = "each number of a start is another tour"
OWN = 1 + Sweep(KnightBoard(4, 5), paths=True).longer
"""The first layer that a start does not share."""
LAST = Sweep(KnightBoard(4, 5), paths=True).routes[1].cut
"""The layer of states that pass the cut from a corner."""


@pytest.mark.parametrize(
    ("board", "layer", "change", "claim", "found", "expected"),
    [
        ("5x6", 0, add_one, LAYERS, "ways to the state 0xaaaaa8000000 of layer 0: 2", 1),
        ("5x6", 5, add_one, LAYERS, "ways to the state 0x905628000001 of layer 5: 2", 1),
        ("5x6", 5, remove_one, LAYERS, "ways to the state 0x905628000001 of layer 5: 0", 1),
        ("5x6", 9, add_state, LAYERS, "ways to the state * of layer 9: 1", 0),
        ("5x6", 9, change_last_state, LAYERS, "ways to the state * of layer 9: 0", 1),
        ("5x6", 10, remove_one, LAYERS, "ways to the state 0x945514000020 of layer 10: 0", 1),
        ("5x6", 11, add_one, KNOWN, "closed tours 9", 8),
        ("5x6", 11, remove_one, KNOWN, "closed tours 6", 8),
        (
            "5x6",
            11,
            change_last_state,
            NUMBERS,
            "the state * has drawings: 0, tours: 2",
            "a closed tour",
        ),
        ("4x5 open", OWN, add_one, LAYERS, "ways to the state * of layer 9: 2", 1),
        ("4x5 open", OWN + 2, change_last_state, LAYERS, "ways to the state * of layer 11: 0", 1),
        ("4x5 open", LAST, add_one, "there are as many tours as known", "tours 168", 164),
        (
            "4x5 open",
            LAST,
            change_last_state,
            ANOTHER,
            "the state * has drawings: 0, tours: *",
            "a tour",
        ),
    ],
)
def test_false_layers_are_detected(
    board: str,
    layer: int,
    change: Change,
    claim: str,
    found: str,
    expected: object,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def changed(records: Arrays) -> Iterable[Any]:
        firsts, _, states = records
        return encode_layer(*change(*decode_layer(firsts, states)), states.itemsize)

    replace_layer(monkeypatch, layer, changed)
    build_tables(tmp_path, PUZZLE, make_table(board))
    with pytest.raises(VerifyFailed) as caught:
        prove_board(tmp_path, board)
    assert caught.value.claim.claim.startswith(claim)
    assert fnmatchcase(str(caught.value.found), found)
    assert caught.value.expected == expected


@pytest.mark.parametrize(
    ("layer", "order", "row", "found"),
    [(12, -1, 62, "layer 12"), (11, 1, 8865, "there are fewer drawings than were counted")],
)
def test_exchanged_records_are_detected(
    layer: int,
    order: int,
    row: int,
    found: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Put the records of a layer in another order, or give them the counts of other states."""

    def changed(records: Arrays) -> Iterable[Any]:
        firsts, sums, states = records
        return firsts[::order] + (order > 0), sums[::order], states[::order]

    replace_layer(monkeypatch, layer, changed)
    build_tables(tmp_path, PUZZLE, make_ranking_table(parse_board("6x6"), closed=True))
    with pytest.raises(VerifyFailed) as caught:
        prove_board(tmp_path, "6x6", limits=RankingLimits(states=0, tours=9000))
    assert (caught.value.row, caught.value.found) == (row, found)
    assert caught.value.expected == ("one in order" if order < 0 else "a closed tour")


def test_states_are_summed_over_all_chunks(
    ranked_boards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sum the states of all chunks of the index, whose number decides whether layers are proved."""
    small = open_published(ranked_boards, "5x6")
    layers = LayerReader(proof._open_records(small), small.index.records)
    expected = sum(len([*layers.iter_states(layer, 0, 1 << 63)]) for layer in range(12))
    assert proof._prove_records(small) == expected
    monkeypatch.setattr("tablebase.tables.index_format.BLOCKS_PER_READ", 1)
    assert proof._prove_records(small) == expected


def test_a_wrong_content_hash_is_detected(ranked_boards: Path) -> None:
    small = open_published(ranked_boards, "5x6")
    with pytest.raises(VerifyFailed) as caught:
        proof._prove_records(replace(small, entry=replace_entry(small.entry, content="none")))
    assert caught.value.found == f"content hash {small.entry.content}"
    assert caught.value.expected == "none"


@pytest.mark.parametrize("number", [16, 18])
def test_totals_are_compared_with_the_counts(ranked_boards: Path, number: int) -> None:
    claims: list[Claim] = []
    small = open_published(ranked_boards, "5x6", lambda claim, done: claims.append(claim))
    seen = make_counts_proof("5x6", closed=[number] * 30)
    seen[COUNTS_TABLE].result["6x5"] = {"closed": [20] * 30}
    text = "there are as many closed tours as known (knight_counts)"
    if number == 16:
        prove_ranks(small, seen, RankingLimits(states=0))
        assert any(claim.claim == text and claim.passed for claim in claims)
    else:
        with pytest.raises(VerifyFailed) as caught:
            prove_ranks(small, seen, RankingLimits(states=0))
        assert (caught.value.claim.claim, caught.value.claim.count) == (text, 8)
        assert (caught.value.found, caught.value.expected) == ("closed tours 8", 9)


@pytest.mark.parametrize(
    ("counted", "verdict", "source"),
    [
        (
            Verdict.PROVED,
            "recounted",
            "closed tours are as many as knight_counts, which was recounted",
        ),
        (
            Verdict.RECOUNTED,
            "recounted",
            "closed tours are as many as knight_counts, which was recount",
        ),
        # a count by the same sweep is not a second computation
        (
            Verdict.PUBLISHED,
            "sampled",
            "the number of closed tours was compared with no other count",
        ),
        (Verdict.INTACT, "sampled", "the number of closed tours was compared with no other count"),
    ],
)
def test_a_count_of_the_same_sweep_is_no_recount(
    ranked_boards: Path,
    counted: Verdict,
    verdict: str,
    source: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(proof, "find_known_closed", lambda board: None)
    (result,) = prove_ranks(
        open_published(ranked_boards, "5x6"), make_counts_proof("5x6", counted, closed=[16] * 30)
    ).verdicts
    assert result.verdict == verdict
    assert source in result.how
    # a count of another board shows nothing
    (result,) = prove_ranks(
        open_published(ranked_boards, "5x6"), make_counts_proof("6x5", counted, closed=[16] * 30)
    ).verdicts
    assert result.verdict == "sampled"


@pytest.mark.parametrize("table", [COUNTS_TABLE, "knight_closed_counts_5x6"])
def test_a_published_total_and_a_recount_are_both_named(ranked_boards: Path, table: str) -> None:
    seen = {table: make_counts_proof("5x6", closed=[16] * 30)[COUNTS_TABLE]}
    (result,) = prove_ranks(open_published(ranked_boards, "5x6"), seen).verdicts
    sources = f"as published (OEIS A175881) and as {table}, which was recounted"
    assert f"; closed tours are as many {sources}; all 8 ranks" in result.how


Tours = Callable[[int], list[int]]


def no_tour(tour: Tours) -> list[int]:
    raise InconsistentLayers("no state leads there")


@pytest.mark.parametrize(
    ("lie", "row", "found", "expected"),
    [
        (no_tour, 5, "no state leads there", "a closed tour"),
        (lambda tour: [*tour(5)[:-1], 0], 5, "[[]0, *, 0]", "every square once"),
        (lambda tour: [*tour(5), 0], 5, "[[]0, *, 0]", "every square once"),
        (lambda tour: tour(5)[1::-1] + tour(5)[2:], 5, "a1 to e1", "a jump"),
        (lambda tour: tour(4), 5, "a tour of a lower number", "another one"),
        (lambda tour: tour(5), None, "number of the tour of 5: 4", 5),
    ],
)
def test_false_unranked_tours_are_detected(
    lie: Callable[[Tours], list[int]],
    row: int | None,
    found: str,
    expected: object,
    ranked_boards: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    requested: list[int] = []

    def squares(self: TourRanker, number: int, start: int) -> list[int]:
        requested.append(number)
        return (
            lie(lambda lower: unrank(self, lower, start))
            if number == 5
            else unrank(self, number, start)
        )

    unrank = TourRanker.unrank
    monkeypatch.setattr(TourRanker, "unrank", squares)
    back = {5: 4} if row is None else {}
    monkeypatch.setattr(TourRanker, "rank", lambda *given: back.get(requested[-1], requested[-1]))
    with pytest.raises(VerifyFailed) as caught:
        prove_board(ranked_boards, "5x6", limits=RankingLimits(states=0))
    failure = caught.value
    assert (failure.row, failure.expected) == (row, expected)
    assert fnmatchcase(str(failure.found), found)


def test_keys_and_sums_are_compared_to_the_last_bit(
    ranked_boards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Use keys and sums with more bits than a floating-point number, as large boards have."""
    small = open_published(ranked_boards, "5x6")
    record_type = make_record_type(small.definition)
    firsts, sums, states = encode_layer(
        (1 << 60) + np.arange(1, 301),
        np.full(300, (1 << 54) + 1),
        record_type["states"].itemsize,
    )
    result = np.zeros(len(firsts), record_type)
    for (name, _), values in zip(small.definition.index[1:3], (firsts, sums), strict=True):
        result[name] = values
    result["states"] = states.view(record_type["states"]).ravel()
    chunks = [(0, result[:2]), (2, result[2:])]
    monkeypatch.setattr(proof, "iter_records", lambda listed, check: chunks)
    assert proof._prove_records(small) == 300
