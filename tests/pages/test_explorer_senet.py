"""Tests of Senet's game with an aim: a position to reach from the opening in the fewest plies."""

import random
import re
from pathlib import Path

import polars as pl
from playwright.sync_api import expect

from tests import usual_or_nightly
from tests.support.explorer_browser import Explorer, broken_rules, read_board
from tests.support.oracles import SENET_OPENING, senet_successors

TARGET = "ABAAABBB.B...A."
"""A position that one line of two plies leads to: A throws 5, B throws 3."""
GAME = f"senet/play/to={TARGET}"


def test_targets_are_drawn_evenly_and_by_their_seed(shown: Explorer, outputs: Path) -> None:
    rows = pl.read_parquet(outputs / "senet.parquet", columns=["position", "plies"])
    plies = dict(rows.rows())
    most = max(filter(None, plies.values()))
    page = shown.open("senet")
    assert page.evaluate("explorer.findMostPlies()") == most
    script = """([plies, seeds]) => Array.from({ length: seeds },
        (_, seed) => explorer.drawTarget(plies, seed))"""
    for level in range(1, most + 1):
        drawn = page.evaluate(script, [level, 30])
        assert {plies[position] for position in drawn} == {level}
        assert len({*drawn}) >= 12, "neighbouring seeds have little in common"
        assert page.evaluate(script, [level, 30]) == drawn
    drawn = page.evaluate(script, [1, 3600])
    counts = [drawn.count(position) for position, count in plies.items() if count == 1]
    assert len(counts) == 18
    assert min(counts) > 140
    assert max(counts) < 260


def test_plies_to_a_target_are_those_of_the_oracle(shown: Explorer, outputs: Path) -> None:
    """From positions of random games: the page searches back from the target, the oracle on."""
    rng = random.Random(46)
    rows = pl.read_parquet(outputs / "senet.parquet", columns=["position", "plies"]).drop_nulls()
    sample = rows.sample(usual_or_nightly(20, 200), seed=46).rows()
    questions = [[position, SENET_OPENING, "A"] for position, _ in sample]
    expected: list[int | None] = [plies for _, plies in sample]
    for _ in range(usual_or_nightly(6, 40)):
        position, side = SENET_OPENING, 0
        for _ in range(rng.randrange(10)):
            if moves := senet_successors(position, "AB"[side]):
                position, side = rng.choice(moves)[-1], 1 - side
        near = {position: 0}
        layer = [position]
        for depth in range(1, 4):
            layer = sorted(
                {
                    after
                    for before in layer
                    for *_, after in senet_successors(before, "AB"[(side + depth - 1) % 2])
                }
            )
            for after in layer:
                near.setdefault(after, depth)
        for depth in {*near.values()}:
            target = rng.choice(sorted(one for one, plies in near.items() if plies == depth))
            questions.append([target, position, "AB"[side]])
            expected.append(depth)
        # moves never lower the sum of the numbers of the occupied squares
        questions.append([SENET_OPENING, position, "AB"[side]])
        expected.append(0 if position == SENET_OPENING else None)
    assert {0, 1, 2, 3, None} <= {*expected}
    page = shown.open("senet")
    script = "questions => questions.map((one) => explorer.measure(...one))"
    assert page.evaluate(script, questions) == expected


def test_hints_lead_to_the_target_in_the_fewest_plies(shown: Explorer) -> None:
    page = shown.open("senet")
    assert re.fullmatch("senet/play/to=[AB.]{15}", shown.address())
    assert page.locator("#senet-level").input_value() == "3"
    assert page.locator("#senet-throw").is_hidden(), "throws are chosen"
    assert page.locator("#senet-rules .hint").is_visible(), "before the first move"
    for level in ("1", "6", "15"):
        address = shown.address()
        page.select_option("#senet-level", level)
        expect(page).not_to_have_url(re.compile(re.escape(address)))
        address = shown.address()
        shown.reload()
        assert shown.address() == address
        assert page.locator("#senet-level").input_value() == level
        target = address.partition("=")[2]
        for ply in range(int(level)):
            page.keyboard.press("h")
            left = int(level) - ply
            assert page.locator("#senet-rules .hint").is_visible() == (ply == 0)
            told = re.compile(rf"Hint: throw [1-5], .* takes {left} pl(y|ies)\.")
            expect(page.locator("#senet-word")).to_have_text(told)
            page.click("#senet-board .target")
        assert read_board(shown) == target
        plies = "1 ply" if level == "1" else f"{level} plies"
        hints = "1 hint" if level == "1" else f"{level} hints"
        end = f"Reached in {plies} with {hints}; the best is {level}."
        assert shown.text("#senet-word") == shown.text("#say") == end
        assert page.title() == "reached · Senet"
        shown.reload()
        assert shown.text("#senet-word") == end
        page.keyboard.press("1")
        assert shown.text("#senet-count") == level, "it is over"
    page.keyboard.press("n")
    expect(page.locator("#senet-count")).to_have_text("0")
    assert shown.address() != address
    page.select_option("#senet-level", "free")
    assert shown.address() == "senet/play/free"
    assert page.locator("#senet-aim").is_hidden()
    assert page.locator("#senet-help").is_hidden()


def test_a_detour_is_seen_in_looking_back(shown: Explorer) -> None:
    page = shown.open(f"{GAME}/7-11")
    page.click("#senet-help")
    told = "The position cannot be reached from here any more: undo to ply 0."
    assert shown.text("#senet-word") == told
    page.click("#senet-undo")
    assert shown.address() == f"{GAME}/hints=1"
    # one ply more than needed: A to 13, and later on to 14
    line = "9-13,4x7,13-14"
    shown.go(f"{GAME}/{line}")
    assert shown.text("#senet-word") == "Reached in 3 plies; the best is 2."
    page.keyboard.press("b")
    assert shown.address() == f"senet/{TARGET}/{line}"
    assert shown.text("#senet-player .count") == "ply 3 of 3"
    chart = page.locator("#senet-chart svg")
    assert chart.get_attribute("aria-label") == "Distance after each move: 2, 2, 1, 0"
    lost = page.locator("#senet-chart rect").evaluate_all(
        "bars => bars.map((bar) => bar.classList.contains('lost'))"
    )
    assert lost == [False, True, False, False]
    assert page.locator("#senet-line li").all_inner_texts()[0].endswith("9 to 13, lost 1 ply")
    page.click("#senet-line button >> nth=0")
    change = "This lost 1 ply. Better: throw 5, 9 to 14."
    assert shown.text("#senet-change") == change
    assert shown.address() == f"senet/{TARGET}/{line}/1"
    shown.reload()
    assert shown.text("#senet-change") == change
    assert broken_rules(page) == []
    page.click("#senet-from")
    # who has seen the answer has had a hint
    assert shown.address() == f"{GAME}/hints=1"
    page.click("#view-senet >> text=Study")
    assert shown.address() == f"senet/{TARGET}", "no move is made yet: the shortest line"
    page.click("#view-senet >> text=Play")
    assert shown.address() == f"{GAME}/hints=2"
    shown.go(f"senet/{TARGET}/7-11,10-12/1")
    assert shown.text("#senet-change").startswith(
        "This put the position out of reach. Better: throw 5"
    )
    page.click("#senet-parity >> text=A to move")
    assert shown.address() == f"senet/{TARGET}"
    page.click("#senet-farthest")
    target = shown.address().partition("/")[2]
    page.click("#senet-reach")
    assert shown.address() == f"senet/play/to={target}/hints=1"
    assert page.locator("#senet-level").input_value() == "15"
