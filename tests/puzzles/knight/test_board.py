"""The knight's board: squares, jumps, colours, symmetries, and the tables that it may have."""

from itertools import product, starmap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.errors import BadRequest, NoAnswer, NotationError
from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.puzzles.knight.tables import PUZZLE
from tests.support import oracles

boards = st.builds(KnightBoard, st.integers(1, 12), st.integers(1, 9))


@given(boards)
def test_squares_are_numbered_along_the_ranks(board: KnightBoard) -> None:
    names = [oracles.square_name(board.files, square) for square in range(board.squares)]
    assert list(board.name_squares()) == names
    assert [board.parse_square(name) for name in names] == list(range(board.squares))
    written = [f" {name.upper()}\n" for name in names]
    assert [board.parse_square(name) for name in written] == list(range(board.squares))


@given(boards)
def test_neighbours_equal_the_oracles(board: KnightBoard) -> None:
    jumps = oracles.knight_jumps(board.files, board.ranks)
    squares = range(board.squares)
    assert {square: board.list_neighbours(square) for square in squares} == jumps
    assert {
        square: [goal for goal in squares if board.is_jump(square, goal)] for square in squares
    } == jumps


def test_a_tour_visits_each_square_of_its_board_by_jumps() -> None:
    board = KnightBoard(3, 4)
    tour = [*oracles.knight_tours(3, 4, 0)[0]]
    assert board.is_tour(tour)
    assert not board.is_tour(tour[:-1])
    assert not board.is_tour([*tour[:-1], tour[0]])
    assert not board.is_tour([tour[1], tour[0], *tour[2:]])
    # one jump from the last but one, but below the board
    assert not any(board.is_tour([*tour[:-1], square]) for square in range(12, 30))


@given(boards)
def test_jump_numbers_follow_the_rules(board: KnightBoard) -> None:
    for start in range(board.squares):
        for goal in board.list_neighbours(start):
            right = goal % board.files - start % board.files
            down = start // board.files - goal // board.files
            assert (right, down) == oracles.JUMPS[board.find_jump(start, goal) - 1]
            assert start in board.list_neighbours(goal)
            # the jump back is on the other side of the circle of eight
            assert abs(board.find_jump(goal, start) - board.find_jump(start, goal)) == 4


@pytest.mark.parametrize(("files", "ranks"), [(3, 4), (4, 3), (3, 7), (4, 5), (1, 1)])
def test_colours_exclude_no_existing_tour(files: int, ranks: int) -> None:
    board = KnightBoard(files, ranks)
    for start in range(board.squares):
        for tour in oracles.knight_tours(files, ranks, start):
            assert board.can_join(tour[0], tour[-1])


def test_half_of_all_pairs_are_joinable() -> None:
    for board, pairs in ((KnightBoard(8, 8), 2048), (KnightBoard(5, 5), 13 * 13 + 12 * 12)):
        assert [board.is_light(square) for square in (0, 1)] == [False, True], "a1 is dark"
        assert sum(starmap(board.can_join, product(range(board.squares), repeat=2))) == pairs


@given(boards)
def test_symmetries_preserve_neighbours(board: KnightBoard) -> None:
    squares = range(board.squares)
    turns = list(zip(*(board.find_images(square) for square in squares), strict=True))
    assert len(turns) == (8 if board.files == board.ranks else 4)
    for turn in turns:
        assert sorted(turn) == list(squares)
        for square in squares:
            moved = sorted(turn[target] for target in board.list_neighbours(square))
            assert moved == board.list_neighbours(turn[square])


@pytest.mark.parametrize(
    ("board", "text"),
    [
        *(("8x8", text) for text in ("", "i1", "a9", "z9", "a0", "a10", "1a", "17")),
        *(("8x8", text) for text in ("\u212a1", "b１", "ａ1", "b²")),
        *(("3x4", "d1"), ("1x1", "b1")),
    ],
)
def test_invalid_squares_are_refused(board: str, text: str) -> None:
    with pytest.raises(NotationError):
        parse_board(board).parse_square(text)


@pytest.mark.parametrize("name", ["5x6", "26x1", "1x9", "26x9"])
def test_boards_are_parsed_as_files_by_ranks(name: str) -> None:
    files, ranks = name.split("x")
    for text in (name, f" {name} ", name.upper(), f"0{name}", f"{files}×{ranks}"):
        board = parse_board(text)
        assert (board.files, board.ranks, str(board)) == (int(files), int(ranks), name)


NO_BOARDS = ["", "8", "8x", "8x8x8", "8*8", "-8x8", "８x8", "²x8", "0x5", "5x0", "27x3", "3x10"]


@pytest.mark.parametrize("text", [*NO_BOARDS, "9999x9", "9x9999", "9" * 5000 + "x9", "1x10000"])
def test_invalid_boards_are_refused(text: str) -> None:
    with pytest.raises(NotationError):
        parse_board(text)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *(("knight_tours_3x7", "tour_list"), ("knight_tours_2x7", "tour_list")),
        *(("knight_tours_8x8", "tour_pairs"), ("knight_counts_6x7", "tour_counts")),
        *(("knight_counts_7x6", "tour_counts"), ("knight_closed_counts_8x8", "tour_counts")),
        *(("knight_ranks_5x6", "tour_ranking"), ("knight_closed_ranks_6x6", "tour_ranking")),
    ],
)
def test_a_name_stands_for_the_table_of_a_board(name: str, kind: str) -> None:
    (table,) = PUZZLE.find_tables(name)
    board = name.rpartition("_")[2]
    assert (table.name, table.recipe.kind) == (name, kind)
    parameters = table.recipe.parameters
    assert parameters.get("board", parameters.get("boards")) in (board, [board])
    is_closed = "closed" in name
    if kind in ("tour_counts", "tour_ranking"):
        assert parameters["closed"] == (
            is_closed if kind == "tour_ranking" else [board] * is_closed
        )


@pytest.mark.parametrize(
    "name", ["knight_tours_03x7", "knight_tours_3X7", "knight_counts_", "knight_cycles_6x6", "3x7"]
)
def test_other_names_stand_for_nothing(name: str) -> None:
    assert PUZZLE.find_tables(name) == ()


def test_every_name_that_is_listed_can_be_built() -> None:
    names = [name for names in PUZZLE.list_requests().values() for name in names]
    assert len(names) == len({*names}) > 200
    assert all(PUZZLE.find_tables(name)[0].name == name for name in names)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        *((f"knight_counts_{board}", BadRequest) for board in ("5x5", "7x9", "15x5", "10x7")),
        *((f"knight_closed_counts_{board}", NoAnswer) for board in ("9x9", "11x4")),
        ("knight_closed_counts_11x8", BadRequest),
        *(("knight_ranks_8x8", BadRequest), ("knight_ranks_2x9", NoAnswer)),
        *(("knight_closed_ranks_9x8", BadRequest), ("knight_closed_ranks_4x5", NoAnswer)),
        ("knight_tours_7x7", BadRequest),
    ],
)
def test_tables_that_no_build_makes_are_refused(name: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        PUZZLE.find_tables(name)
