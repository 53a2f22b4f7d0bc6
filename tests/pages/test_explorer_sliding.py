"""Tests of the explorer's sliding boards: those up to 10 cells with all goals, and 4x4."""

import math
import random
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import expect

from puzzle_tablebase.errors import GoalUnreachable
from puzzle_tablebase.puzzles.fifteen import BOARD
from puzzle_tablebase.puzzles.sliding import PUZZLE, parse_board
from puzzle_tablebase.queries.boards import BoardReader
from puzzle_tablebase.queries.dispatch import open_reader
from puzzle_tablebase.queries.explorer.writer import iter_tables, write_explorer
from puzzle_tablebase.stores.folder import Folder
from tests import NIGHTLY
from tests.conftest import make_once
from tests.support.asking import ask_one
from tests.support.build_recorder import build_tables
from tests.support.explorer_browser import (
    DESK,
    HASHED,
    PHONE,
    Explorer,
    broken_rules,
    find_differences,
    hash_planes,
)
from tests.support.explorer_fixtures import in_both
from tests.support.oracles import draw_day_number
from tests.support.reader_programs import run, tool
from tests.support.sliding_tables import treat_as_large
from tests.support.tampered import link_copy

BOARDS = ("2x2", "2x3", "2x4", "3x3")


@pytest.fixture(scope="module")
def folder(
    outputs: Path,
    small_boards: Path,
    patterns_555: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """Copy the published tables, and add those of some boards and the explorer."""

    def make(place: Path) -> None:
        copy = link_copy(outputs, place, small_boards, patterns_555)
        build_tables(copy, PUZZLE, *PUZZLE.find_tables("sliding_2x4"))
        write_explorer(Folder(copy), str(copy / "explorer.html"))

    return make_once(tmp_path_factory, "boards", make) / "copy"


@pytest.fixture(scope="module")
def explorer(folder: Path) -> Path:
    return folder / "explorer.html"


def test_small_boards_with_all_goals_are_included(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def list_boards(folder: Path) -> set[str]:
        return {
            table.name
            for _, table in iter_tables(Folder(folder))
            if table.name.startswith("sliding")
        }

    assert list_boards(folder) == {
        table.name for name in BOARDS for table in parse_board(name).tables
    }
    build_tables(tmp_path, PUZZLE, *parse_board("2x3").tables[:1])
    assert list_boards(tmp_path) == set()
    treat_as_large(monkeypatch, 8)
    assert list_boards(folder) == {"sliding_2x2_4", "sliding_2x3_5", "sliding_2x3_6"}


@in_both
def test_the_page_holds_the_published_indexes_byte_for_byte(shown: Explorer, folder: Path) -> None:
    result = shown.open("sliding").evaluate(
        f"""async (boards) => {{
            const opened = await Promise.all(boards.map((board) => explorer.openSliding(board)));
            return ({HASHED})(Object.assign(await explorer.openEight(), ...opened, {{
                senet: await explorer.openSenet(), knight_tours_8x8: await explorer.openKnight(),
            }}));
        }}""",
        [*BOARDS],
    )
    # without the numbers of Senet's lines, which the page counts
    assert result == {
        table.name: hash_planes(folder / table.index_file, 4 if table.name == "senet" else 64)
        for _, table in iter_tables(Folder(folder))
        if table.index and not table.name.startswith("fifteen")
    }


@pytest.mark.parametrize(
    "name", ["eight", "2x3", "3x3", pytest.param("2x4", marks=pytest.mark.slow)]
)
def test_random_states_and_goals_are_answered_as_by_query(
    shown: Explorer, folder: Path, name: str
) -> None:
    draw, store = random.Random(name), Folder(folder)
    board = parse_board("3x3" if name == "eight" else name)
    reader = open_reader("eight", store) if name == "eight" else BoardReader(board, store)
    states = ["".join(draw.sample(board.example, len(board.example))) for _ in range(400)]
    # to a random goal, and to that of the table
    questions = [
        *zip(states[:200], states[200:], strict=True),
        *((state,) for state in states[:200]),
    ]
    expected: list[dict[str, object]] = []
    for state, *goal in questions:
        try:
            answer = ask_one(reader, state, goal=goal[0] if goal else None, path=True)
            expected.append(answer.to_dict())
        except GoalUnreachable:
            expected.append({"state": state, "distance": None})
    assert 50 < sum(one["distance"] is None for one in expected) < 250
    page = shown.open("eight" if name == "eight" else f"sliding/{name}")
    call = "explorer.eight" if name == "eight" else f"explorer.sliding.bind(null, '{name}')"
    result = page.evaluate(f"questions => questions.map((one) => ({call})(...one))", questions)
    assert find_differences(result, expected) == []
    facts = {"goal", "best_moves", "best_tiles", "solution", "tiles", "path"}
    facts |= {"solutions"} if name == "eight" else set()
    assert facts <= {key for one in result for key in one}


def test_a_board_is_chosen_played_and_set_up(shown: Explorer) -> None:
    page = shown.open()
    page.click("nav [data-view=sliding]")
    page.click("#view-sliding >> text=Study")
    page.click("#sliding-boards >> text=2×3")
    page.wait_for_selector("#sliding-title:has-text('2×3')")
    assert f"{math.factorial(6):,} arrangements" in shown.text("#view-sliding .intro")
    page.fill("#sliding-start", "1,2,0 4 5,3")
    assert shown.address() == "sliding/2x3/120453/123450"
    assert shown.text("#sliding-distance") == "1"
    assert "Shortest solutions" not in shown.facts("sliding")
    page.click("#sliding-board [aria-label^='tile 3']")
    assert shown.text("#sliding-now") == "Solved."
    page.click("#view-sliding >> text=Gap in row 2, column 2")
    assert shown.address() == "sliding/2x3/123450/123405"
    assert shown.text("#sliding-distance") == "1"
    page.click("#view-sliding >> text=Gap last")
    page.click("#sliding-hardest")
    assert shown.text("#sliding-distance") == "21"
    page.click("#sliding-random")
    assert int(shown.text("#sliding-distance")) <= 21
    page.fill("#sliding-start", "213450")
    assert shown.text("#sliding-distance") == "No solution"
    assert "an even number of moves, but it takes an odd number" in shown.facts("sliding")["Why"]
    page.click("#sliding-exchange")
    assert shown.text("#sliding-distance") == "0"
    page.click("#sliding-boards >> text=2×4")
    page.wait_for_selector("#sliding-title:has-text('2×4')")
    assert shown.text("#sliding-distance") == "36"
    page.evaluate("history.back()")
    expect(page.locator("#sliding-title")).to_have_text("Sliding board 2×3")
    assert shown.address() == "sliding/2x3/123450/123450"


def test_each_board_has_a_puzzle_of_the_day(shown: Explorer) -> None:
    shown.page.clock.set_fixed_time("2026-11-25T12:00:00")
    board = parse_board("2x4")
    page = shown.open("sliding/play/2x4")
    page.click("#sliding-today")
    expect(page.locator("#sliding-today")).to_have_text("Today’s puzzle, 2026-11-25")
    state = board.unrank(draw_day_number(date(2026, 11, 25), math.factorial(8) // 2))
    assert shown.address() == f"sliding/play/2x4/{state}/{board.example}"
    shown.go("fifteen/play")
    assert page.locator("#fifteen-today").is_hidden(), "its boards are searched"


def test_an_invalid_state_is_reported(shown: Explorer) -> None:
    shown.open("sliding/2x3")
    for address, message in (
        ("sliding/2x3/12345x", "“x” is not one of the digits 0–5"),
        ("sliding/2x3/123456", "tile 6 does not exist, the blank (0) is missing"),
        ("sliding/2x3/12340", "it has 5 digits, not 6"),
        ("sliding/constructor/1", "has no board “constructor”. It has 2x2, 2x3, 2x4, 3x3."),
        ("sliding/3x4/123456789ab0", "has no board “3x4”"),
        ("sliding/2x3/123450/123450/UDR", "Move 3 of “UDR” is not possible"),
        ("sliding/2x3/123450/123450/x", "is neither moves, such as ULDR, nor a step"),
        ("sliding/2x3/123450/__proto__", "is not an arrangement"),
    ):
        shown.go(address)
        assert message in shown.text("#trouble")


@pytest.mark.parametrize("shown", [DESK, PHONE], indirect=True)
def test_boards_fit_every_window_and_are_accessible(shown: Explorer) -> None:
    page = shown.open()
    for board in ("2x2", "2x4"):
        shown.go(f"sliding/{board}")
        assert page.viewport_size
        assert page.evaluate("document.documentElement.scrollWidth") == page.viewport_size["width"]
        drawn = page.locator("#sliding-board").bounding_box()
        assert drawn
        assert drawn["width"] > 300
        assert broken_rules(page) == []


def test_the_arrow_of_a_best_move_covers_no_digit(shown: Explorer) -> None:
    page = shown.open("sliding/2x4")
    page.click("#sliding-hardest")
    for width, height in ((320, 640), (667, 375)):
        page.set_viewport_size({"width": width, "height": height})
        boxes = page.locator("#sliding-board .best span").evaluate_all(
            "spans => spans.map((span) => span.getBoundingClientRect().toJSON())"
        )
        assert boxes
        for digit, arrow in zip(boxes[::2], boxes[1::2], strict=True):
            assert digit["right"] <= arrow["left"] or arrow["bottom"] <= digit["top"]


# ---- 4x4, by search ---------------------------------------------------------------------------

GOAL = BOARD.example
OTHER_GOAL = "0123456789abcdef"
SOLVE_SCRIPT = """async (pairs) => {
    const answers = [];
    for (const [state, goal] of pairs) {
        const began = performance.now();
        const path = await explorer.fifteen(state, goal);
        answers.push([path, performance.now() - began]);
    }
    return answers;
}"""


@in_both
def test_4x4_boards_are_solved_as_by_query(shown: Explorer, folder: Path) -> None:
    draw = random.Random(4)
    reader = open_reader("fifteen", Folder(folder))
    pairs = list[tuple[str, str]]()
    while len(pairs) < 5:
        state, goal = "".join(draw.sample(GOAL, 16)), draw.choice((GOAL, OTHER_GOAL))
        if BOARD.can_reach(state, goal):
            pairs.append((state, goal))
    answers = shown.open("fifteen").evaluate(SOLVE_SCRIPT, pairs)
    for (state, goal), (path, _) in zip(pairs, answers, strict=True):
        assert (path[0], path[-1]) == (state, goal)
        for before, after in pairwise(path):
            assert after in {to for _, to in BOARD.moves(before)}
        answer = ask_one(reader, state, goal=goal, patterns="5-5-5")
        assert len(path) - 1 == answer.to_dict()["distance"]
    median = sorted(milliseconds for _, milliseconds in answers)[len(answers) // 2]
    assert not NIGHTLY or median < 1000, "a typical board"


def test_a_search_that_fails_leaves_no_question_waiting() -> None:
    program = Path(__file__).with_name("test_pattern_solver.mjs")
    text = run(tool("node"), "--test", program)
    assert text.code == 0, text.out


def test_a_4x4_board_is_played_and_studied(shown: Explorer) -> None:
    page = shown.open("fifteen")
    assert shown.address().startswith("fifteen/play/")
    for left in range(5, 0, -1):
        page.click("#fifteen-help")
        page.click("#fifteen-board .best")
        expect(page.locator("#fifteen-count")).to_have_text(str(6 - left))
    expected = "Solved! 5 moves with 5 hints; the best is 5."
    expect(page.locator("#fifteen-word")).to_have_text(expected)
    page.select_option("#fifteen-level", "30")
    expect(page.locator("#fifteen-count")).to_have_text("0")
    page.click("#view-fifteen >> text=Study")
    expect(page.locator("#fifteen-distance")).to_have_text("30")
    assert shown.facts("fifteen")["Tiles to move"].count(" ") == 29
    assert page.locator("#fifteen-hardest").is_hidden()
    page.fill("#fifteen-start", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 0 15")
    assert shown.address() == f"fifteen/123456789abcde0f/{GOAL}"
    expect(page.locator("#fifteen-distance")).to_have_text("1")
    assert shown.facts("fifteen")["A best move"] == "15 ←"
    assert shown.text("#fifteen-marks") == "A best move is marked."
    page.fill("#fifteen-moves", "14 14 15")
    page.press("#fifteen-moves", "Enter")
    assert shown.address() == f"fifteen/123456789abcde0f/{GOAL}/LRR"
    page.click("#fifteen-player [aria-label='To the beginning']")
    page.click("#fifteen-player [aria-label='One move on']")
    told = "Tile 14 right: one move farther. Better: tile 15 left."
    expect(page.locator("#fifteen-change")).to_have_text(told)
    page.fill("#fifteen-start", "123456789abcdfe0")
    assert shown.text("#fifteen-distance") == "No solution"
    shown.go(f"fifteen/{GOAL}/1234567890abcdef")
    expect(page.locator("#fifteen-distance")).to_have_text("0")
    problem = "the gap of a goal must be in a corner"
    assert problem in shown.text("#trouble"), "the end of the search leaves it on view"


def test_a_long_search_says_what_it_knows_and_is_stopped(shown: Explorer) -> None:
    shown.page.add_init_script(
        """globalThis.Worker = class {
            postMessage({ board }) {
                if (!board) return;
                for (const data of [{ most: [14, 13, 14, 15] }, { bound: 1 }]) {
                    setTimeout(() => this.onmessage({ data }));
                }
            }
            terminate() { globalThis.ended = true; }
        };"""
    )
    page = shown.open(f"fifteen/123456789abcde0f/{GOAL}")
    assert page.locator("#fifteen-search").is_hidden(), "at first"
    known = page.locator("#fifteen-known")
    bounds = "A shortest solution has at least 1 and at most 3 moves."
    expect(known).to_have_text(f"Searching… {bounds}")
    assert shown.text("#fifteen-so-far") == "A solution so far slides 14 14 15."
    assert broken_rules(page) == []
    page.click("#fifteen-stop")
    expect(known).to_have_text(f"Stopped. {bounds}")
    assert page.locator("#fifteen-stop").is_hidden()
    assert page.evaluate("globalThis.ended")
    expect(page.locator("#fifteen-unit")).to_have_text("not known")
    assert page.locator("#trouble").is_hidden()
    page.click("#view-fifteen >> text=Play")
    page.click("#fifteen-help")
    expect(known).to_have_text(f"Searching… {bounds}")
    assert page.locator("#fifteen-so-far").is_hidden(), "no answer in play"
    page.click("#fifteen-stop")
    expect(page.locator("#fifteen-word")).to_have_text("")
