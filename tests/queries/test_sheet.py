"""Sheets made from samples: every board once, with its answer, by goal."""

import re
from pathlib import Path

from puzzle_tablebase.queries import open_tables
from tests.support.shell import Cli


def read_sheet(page: str) -> tuple[list[tuple[str, list[str]]], list[tuple[int, list[str]]]]:
    """Return the heads of pages with their boards, and the answers: numbers of moves, and tiles."""
    *pages, answers = page.split('<div class="sheet-page">')[1:]
    boards = [
        (
            re.search("<h2>(.*)</h2>", each)[1],  # type: ignore[index]  # each has one
            re.findall('<li><svg[^>]* aria-label="([^"]*)"', each),
        )
        for each in pages
    ]
    found = re.findall("<li>([0-9]+) moves?: ([0-9 ]*)</li>", answers)
    return boards, [(int(count), tiles.split()) for count, tiles in found]


def slide(board: list[str], tiles: list[str], width: int) -> list[str]:
    """Slide tiles into the gap; each must be next to it."""
    board = [*board]
    for tile in tiles:
        gap, at = board.index("gap"), board.index(tile)
        assert (abs(gap - at) == 1 and gap // width == at // width) or abs(gap - at) == width
        board[gap], board[at] = tile, "gap"
    return board


def test_a_sheet_has_boards_and_answers_at_the_end(cli: Cli, outputs: Path, tmp_path: Path) -> None:
    file = tmp_path / "sheet.html"
    words = ("--distance", "5-10", "--size", "31", "--sheet", str(file))
    assert cli("sample", "eight", *words) == (0, "", "")
    boards, answers = read_sheet(file.read_text())
    assert [len(page) for _, page in boards] == [12, 12, 7]
    shown = [board for _, page in boards for board in page]
    assert len({*shown}) == len(answers) == 31
    eight, goal = open_tables(str(outputs)).eight, [*"12345678", "gap"]
    for board, (count, tiles) in zip(shown, answers, strict=True):
        assert slide(board.split(), tiles, 3) == goal
        assert count == len(tiles) == eight.distance(board.replace("gap", "0"), "corner")
    starts = [int(start) for start in re.findall('start="([0-9]+)"', file.read_text())]
    assert starts == [1, 13, 25]


def test_a_sheet_of_a_large_board_has_numbers(cli: Cli, large_boards: Path, tmp_path: Path) -> None:
    file = tmp_path / "sheet.html"
    words = ("--board", "3x4", "--size", "2", "--distance", "7", "--sheet", str(file))
    assert cli("sample", "sliding", *words, "--outputs", str(large_boards)).code == 0
    ((_, boards),), answers = read_sheet(file.read_text())
    for board, (count, tiles) in zip(boards, answers, strict=True):
        assert {*board.split()} == {"gap", *map(str, range(1, 12))}
        assert slide(board.split(), tiles, 4) == [*map(str, range(1, 12)), "gap"]
        assert count == 7


def test_a_sheet_is_no_list_of_rows(cli: Cli, tmp_path: Path) -> None:
    sheet = str(tmp_path / "sheet.html")
    for other in ("--json", "--output=rows.csv", "--format=csv"):
        assert cli("sample", "eight", "--sheet", sheet, other).code == 2
    assert cli("sample", "senet", "--sheet", sheet).code == 2
    assert [*tmp_path.iterdir()] == []
