"""Sheets to print: of samples, of one's own boards, and of tours."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

from puzzle_tablebase.queries.tables import open_tables
from tests.support.shell import Cli

PAGE = '<div class="sheet-page">'


def read_sheet(page: str) -> tuple[list[list[str]], list[tuple[int, list[str]]]]:
    """Return the boards of each page, and the answers: numbers of moves, and tiles."""
    *pages, answers = page.split(PAGE)[1:]
    boards = [
        re.findall('<li><div class="board [^>]* aria-label="([^"]*)"', each) for each in pages
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
    assert [len(page) for page in boards] == [24, 7]
    shown = [board for page in boards for board in page]
    assert len({*shown}) == len(answers) == 31
    eight, goal = open_tables(str(outputs)).eight, [*"12345678", "gap"]
    for board, (count, tiles) in zip(shown, answers, strict=True):
        assert slide(board.split(), tiles, 3) == goal
        assert count == len(tiles) == eight.distance(board.replace("gap", "0"), "corner")
    starts = [int(start) for start in re.findall('start="([0-9]+)"', file.read_text())]
    assert starts == [1, 25, 1]
    counts = [count for count, _ in answers]
    assert counts == sorted(counts), "the boards get harder"
    assert f"<h2>8-puzzle, {counts[0]} to 10 moves</h2>" in file.read_text()
    assert file.read_text().count("--across: 4;") == 3


def test_a_sheet_of_a_sample_has_its_goal(cli: Cli, tmp_path: Path) -> None:
    """Name a goal of one's own: a board that reaches it reaches the corner or the edge too."""
    file, goal = tmp_path / "sheet.html", [*"87654321", "gap"]
    words = ("--goal", "876543210", "--distance", "6", "--size", "3", "--sheet", str(file))
    assert cli("sample", "eight", *words) == (0, "", "")
    (boards,), answers = read_sheet(file.read_text())
    assert len(boards) == 3
    for board, (count, tiles) in zip(boards, answers, strict=True):
        assert (slide(board.split(), tiles, 3), count) == (goal, 6)


def test_a_sheet_of_a_large_board_has_numbers(cli: Cli, large_boards: Path, tmp_path: Path) -> None:
    file = tmp_path / "sheet.html"
    words = ("--board", "3x4", "--size", "2", "--sheet", str(file))
    assert cli("sample", "sliding", *words, "--outputs", str(large_boards)).code == 0
    (boards,), answers = read_sheet(file.read_text())
    for board, (count, tiles) in zip(boards, answers, strict=True):
        assert {*board.split()} == {"gap", *map(str, range(1, 12))}
        assert slide(board.split(), tiles, 4) == [*map(str, range(1, 12)), "gap"]
        assert count == len(tiles)


def test_a_sheet_and_a_list_have_the_same_boards_in_the_same_order(
    cli: Cli, tmp_path: Path
) -> None:
    """Ten boards of rising difficulty are one command; their list makes the same sheet again."""
    page, rows = tmp_path / "sheet.html", tmp_path / "rows.csv"
    words = ("--size", "10", "--distance", "2-20", "--spread", "--sheet", str(page))
    assert cli("sample", "eight", *words, "--output", str(rows)) == (0, "", "")
    listed = pl.read_csv(rows, schema_overrides={"state": pl.String})
    assert listed["distance"].to_list() == [*range(2, 21, 2)]
    (boards,), _ = read_sheet(page.read_text())
    assert [board.replace(" ", "").replace("gap", "0") for board in boards] == [*listed["state"]]
    code, out, _ = cli("sample", "eight", *words, "--json")
    assert (code, [json.loads(line)["state"] for line in out.splitlines()]) == (
        0,
        [*listed["state"]],
    )
    again = tmp_path / "again.html"
    assert cli("sheet", str(rows), str(again)) == (0, "", "")
    assert again.read_bytes() == page.read_bytes()


def test_a_sheet_that_cannot_be_made_leaves_no_file(cli: Cli, tmp_path: Path) -> None:
    sheet = str(tmp_path / "sheet.html")
    assert cli("sample", "senet", "--sheet", sheet).code == 2
    assert cli("sample", "eight", "--split", "a=2,b=1", "--sheet", sheet).code == 2
    words = ("--sheet", sheet, "--output", f"{tmp_path}/./sheet.html", "--format", "csv")
    assert "name the same file" in cli("sample", "eight", *words).err
    assert cli("sample", "eight", "--sheet", sheet, "--distance", "32").code == 1
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "txt"])
def test_a_sheet_of_ones_own_boards(cli: Cli, tmp_path: Path, suffix: str) -> None:
    states = ["378546201", "123456780", "012345678", "152703846"]
    frame, file = (
        pl.DataFrame({"game": [1, 2, 3, 4], "state": states}),
        tmp_path / f"boards.{suffix}",
    )
    texts = {
        "csv": frame.write_csv(),
        "tsv": frame.write_csv(separator="\t"),
        "jsonl": frame.write_ndjson(),
        "txt": "\n".join(states),
    }
    if suffix == "parquet":
        frame.write_parquet(file)
    else:
        file.write_text(texts[suffix])
    page = tmp_path / "sheet.html"
    assert cli("sheet", str(file), str(page)) == (0, "", "")
    (boards,), answers = read_sheet(page.read_text())
    assert [board.replace(" ", "").replace("gap", "0") for board in boards] == states
    assert [count for count, _ in answers] == [27, 0, 22, 8]
    assert slide(boards[0].split(), answers[0][1], 3) == [*"12345678", "gap"]
    assert cli("sheet", str(file), str(page), "--goal", "centre").code == 2


def test_bad_boards_of_a_sheet_are_named_by_their_rows(cli: Cli, tmp_path: Path) -> None:
    file, page = tmp_path / "boards.csv", tmp_path / "sheet.html"
    file.write_text("game,state\n1,378546201\n2,123456789\n3,213456780\n4,\n")
    code, _, errors = cli("sheet", str(file), str(page))
    assert (code, page.exists()) == (2, False)
    assert "Rows 3, 4 and 5 are invalid. Row 3: '123456789' is not an 8-puzzle state" in errors
    text = tmp_path / "boards.txt"
    text.write_text("378546201\n213456780\n")
    code, _, errors = cli("sheet", str(text), str(page))
    assert (code, page.exists()) == (2, False)
    assert errors.startswith("pipeline: Row 2: ")
    text.write_text("213456780\n" * 12)
    assert (
        "Rows 1, 2, 3, 4, 5, 6, 7, 8 and 4 more are invalid"
        in cli("sheet", str(text), str(page)).err
    )
    text.write_text("\n")
    assert cli("sheet", str(text), str(page)).err == "pipeline: The input has no boards.\n"
    kept = text.read_bytes()
    assert cli("sheet", str(text), str(text)).code == 2
    assert text.read_bytes() == kept
    plain = tmp_path / "boards"  # no name of a list, so that it could be a page's
    plain.write_text("123450786\n")
    code, _, errors = cli("sheet", str(plain), str(plain))
    assert (plain.read_text(), code) == ("123450786\n", 2)
    assert errors.endswith(": it is the input. Choose another file.\n")


def test_a_sheet_of_tours_has_starts_and_tours(cli: Cli, tmp_path: Path) -> None:
    page, rows = tmp_path / "sheet.html", tmp_path / "rows.jsonl"
    words = ("sample", "knight", "--board", "5x5", "--sheet", str(page))
    assert cli(*words, "--size", "9", "--output", str(rows)) == (0, "", "")
    tours = pl.read_ndjson(rows)
    assert tours["start"].n_unique() == 9
    *parts, first, second = page.read_text().split(PAGE)
    assert len(parts) == 3  # the head, and two pages of boards
    for text, paths in ((first, tours["path"][:8]), (second, tours["path"][8:])):
        drawn = re.findall('aria-label="([^"]*)"[^>]*>(.*?)<svg', text)
        assert [label for label, _ in drawn] == [*paths]
        for (_, cells), path in zip(drawn, paths, strict=True):
            numbers = re.findall('class="number">([0-9]*)<', cells)
            squares = [f"{file}{rank}" for rank in "54321" for file in "abcde"]
            order = dict(zip(map(int, numbers), squares, strict=True))
            assert "".join(order[number] for number in range(1, 26)) == path
    numbers = re.findall('class="number">([0-9]+)<', "".join(parts))
    assert numbers == ["1"] * 9
    starts = re.findall(' start="([0-9]+)"', page.read_text())
    assert starts == ["1", "9", "1", "9"], "an answer has the number of its board"
    code, _, errors = cli(*words, "--size", "14")
    assert (code, errors) == (0, "pipeline: The sheet has 13 boards: no more starts were found.\n")


@pytest.mark.parametrize(
    "words",
    [
        "sample eight --sheet boards.csv",
        "sample eight --sheet boards.jsonl.gz",
        "sheet other.txt boards.csv",
        "sample eight --sheet page.html --size 1001",
        "sample eight --sheet page.html --size 0",
        "sheet many.txt page.html",
    ],
)
def test_what_is_no_sheet_writes_nothing(cli: Cli, tmp_path: Path, words: str) -> None:
    """Name a list as the page, which would replace somebody's boards; or print a stack of paper."""
    for name, lines in (("boards.csv", 1), ("other.txt", 1), ("many.txt", 1001)):
        (tmp_path / name).write_text("123450786\n" * lines)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    code, out, errors = cli(*words.split(), cwd=tmp_path)
    assert (code, out) == (2, "")
    reason = "is a page" if "page" not in words else "sheet"
    assert reason in errors
    assert errors.count("\n") == 1
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_board_is_named_in_any_way(cli: Cli, tmp_path: Path, outputs: Path) -> None:
    (tmp_path / "boards.txt").write_text("123450786\n")
    pages = list[bytes]()
    for board in ("3x3", "3X3", "3×3"):
        words = ("sheet", "boards.txt", "sheet.html", "--board", board, "--outputs", str(outputs))
        assert cli(*words, cwd=tmp_path) == (0, "", "")
        pages.append((tmp_path / "sheet.html").read_bytes())
    assert pages == pages[:1] * 3


def test_sheets_of_the_15_puzzle_and_of_closed_tours(
    cli: Cli, tmp_path: Path, patterns_555: Path, ranked_boards: Path
) -> None:
    boards, page = tmp_path / "boards.txt", tmp_path / "sheet.html"
    boards.write_text("123456789abc0def\n123456789abcdef0\n")
    words = ("sheet", str(boards), str(page), "--board", "4x4", "--outputs", str(patterns_555))
    assert cli(*words) == (0, "", "")
    (shown,), answers = read_sheet(page.read_text())
    assert [board.split().index("gap") for board in shown] == [12, 15]
    assert answers == [(3, ["13", "14", "15"]), (0, [])]
    words = ("sample", "knight", "--board", "5x6", "--closed", "--size", "4")
    given = ("--sheet", str(page), "--format", "jsonl", "--outputs", str(ranked_boards))
    code, out, errors = cli(*words, *given)
    assert (code, errors) == (0, "")
    listed = [json.loads(line) for line in out.splitlines()]
    assert [row["path"][:2] for row in listed] == ["a1", "c2", "a4", "c5"]
    text = page.read_text()
    assert re.findall('aria-label="((?:[a-z][0-9])+)"', text) == [row["path"] for row in listed]
    assert text.count('class="way-back" d="M') == 4
    assert "<h2>Closed knight’s tour on 5×6</h2>" in text
    words = ("query", "knight", "--board", "5x6", "--closed", "--outputs", str(ranked_boards))
    for row in listed:
        turned = cli(*words, "--json", "--rank-of", row["path"])
        assert json.loads(turned.out)["rank"] == row["rank"], "it is the same tour"


def test_sheets_of_two_seeds_share_no_tours(cli: Cli, tmp_path: Path) -> None:
    """A sheet draws more samples to fill it; none is another seed's."""
    tours = list[str]()
    for seed in ("1", "2"):
        rows, page = tmp_path / f"{seed}.csv", tmp_path / f"{seed}.html"
        words = ("--board", "5x5", "--size", "12", "--seed", seed, "--sheet", str(page))
        assert cli("sample", "knight", *words, "--output", str(rows)) == (0, "", "")
        tours += [*pl.read_csv(rows)["path"]]
    assert len({*tours}) == len(tours) == 24
