"""The knight's board: squares, jumps, colours, symmetries, and the tables that it may have."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.errors import BadRequest, NotationError
from puzzle_tablebase.pipeline.searches import estimate_count
from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.puzzles.knight.tables import PUZZLE, require_countable
from tests.support import oracles

# the jumps 1-8 as the rules name them: files to the right, ranks downwards
JUMPS = {1: (-1, -2), 2: (1, -2), 3: (2, -1), 4: (2, 1), 5: (1, 2), 6: (-1, 2), 7: (-2, 1)}
JUMPS[8] = (-2, -1)

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
            assert (right, down) == JUMPS[board.find_jump(start, goal)]


@pytest.mark.parametrize(("files", "ranks"), [(3, 4), (4, 3), (3, 7), (4, 5), (1, 1)])
def test_colours_exclude_no_existing_tour(files: int, ranks: int) -> None:
    board = KnightBoard(files, ranks)
    for start in range(board.squares):
        for tour in oracles.knight_tours(files, ranks, start):
            assert board.can_join(tour[0], tour[-1])


@pytest.mark.parametrize(("files", "ranks", "pairs"), [(8, 8, 2048), (5, 5, 13 * 13 + 12 * 12)])
def test_half_of_all_pairs_are_joinable(files: int, ranks: int, pairs: int) -> None:
    board = KnightBoard(files, ranks)
    assert [board.is_light(square) for square in (0, 1)] == [False, True], "a1 is dark"
    squares = range(board.squares)
    assert sum(board.can_join(a, b) for a in squares for b in squares) == pairs


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


NO_SQUARES = {
    "it is empty": [""],
    "the squares are a1 to h8": ["i1", "a9", "z9"],
    "a square is a letter and a digit (file and rank)": [
        *("a0", "a10", "\u212a1", "1a", "17", "b１", "ａ1", "b²")
    ],
}
NO_BOARDS = {
    "a board is files x ranks": ["", "8", "8x", "8x8x8", "8*8", "-8x8", "８x8", "²x8"],
    "it has no squares": ["0x5", "5x0"],
    "it is too large": ["9999x9", "9x9999", "9" * 50 + "x9"],
}


@pytest.mark.parametrize("problem", NO_SQUARES)
def test_invalid_squares_are_explained(problem: str) -> None:
    for text in NO_SQUARES[problem]:
        with pytest.raises(NotationError) as caught:
            KnightBoard(8, 8).parse_square(text)
        assert str(caught.value) == f"{text!r} is not a square of 8x8: {problem}. Example: b1"


def test_squares_off_a_smaller_board_are_explained() -> None:
    with pytest.raises(NotationError, match=r"'d1' is not a square of 3x4: the squares are a1 to"):
        KnightBoard(3, 4).parse_square("d1")
    with pytest.raises(NotationError, match=r"Example: a1$"):
        KnightBoard(1, 1).parse_square("b1")


@pytest.mark.parametrize("name", ["5x6", "26x1", "1x9", "26x9"])
def test_boards_are_parsed_as_files_by_ranks(name: str) -> None:
    files, ranks = name.split("x")
    for text in (name, f" {name} ", name.upper(), f"0{name}", f"{files}×{ranks}"):
        board = parse_board(text)
        assert (board.files, board.ranks, str(board)) == (int(files), int(ranks), name)


@pytest.mark.parametrize("problem", NO_BOARDS)
def test_invalid_boards_are_explained(problem: str) -> None:
    for text in NO_BOARDS[problem]:
        with pytest.raises(NotationError) as caught:
            parse_board(text)
        assert str(caught.value) == f"{text!r} is not a board: {problem}. Example: 8x8"


@pytest.mark.parametrize(
    ("text", "example"),
    [("27x3", "12x3"), ("3x10", "10x3, the same board turned"), ("1x999", "12x3")],
)
def test_boards_are_limited_by_square_names(text: str, example: str) -> None:
    with pytest.raises(NotationError) as caught:
        parse_board(text)
    problem = "boards have at most 26 files (a-z) and 9 ranks (1-9)"
    assert str(caught.value) == f"{text!r} is not a board: {problem}. Example: {example}"


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("knight_tours_3x7", {"search": "every tour", "board": "3x7"}),
        ("knight_tours_2x7", {"search": "every tour", "board": "2x7"}),
        ("knight_tours_8x8", {"search": "one tour a pair", "board": "8x8"}),
        ("knight_counts_6x7", {"search": "tour counts", "boards": ["6x7"], "closed": []}),
        ("knight_counts_7x6", {"search": "tour counts", "boards": ["7x6"], "closed": []}),
        ("knight_closed_counts_8x8",
            {"search": "tour counts", "boards": ["8x8"], "closed": ["8x8"]}),
        ("knight_ranks_5x6", {"search": "ranked tours", "board": "5x6"}),
        ("knight_closed_ranks_6x6", {"search": "ranked closed tours", "board": "6x6"}),
        *((name, None) for name in (
            "knight_tours_03x7", "knight_tours_3X7", "knight_tours_x", "knight_counts_",
            "knight_cycles_6x6", "tours_3x7", "3x7", "eight", "",
        )),
    ],
)  # fmt: skip
def test_a_name_stands_for_the_table_of_a_board(
    name: str, parameters: dict[str, object] | None
) -> None:
    tables = PUZZLE.find_tables(name)
    assert [table.name for table in tables] == [name] * (parameters is not None)
    assert [table.recipe.parameters for table in tables] == [parameters] * len(tables)


def test_tables_of_counts_have_the_same_columns() -> None:
    names = ("knight_counts", "knight_counts_6x7", "knight_closed_counts_8x8")
    columns = [PUZZLE.find_tables(name)[0].columns for name in names]
    kinds = [[(each.name, each.kind, each.nullable) for each in table] for table in columns]
    assert kinds[0] == kinds[1] == kinds[2]


def test_every_name_that_is_listed_can_be_built() -> None:
    names = [name for names in PUZZLE.list_requests().values() for name in names]
    assert len(names) == len({*names}) > 200
    assert all(PUZZLE.find_tables(name)[0].name == name for name in names)
    assert all(PUZZLE.format_example(name).startswith("knight ") for name in names)


LARGEST = "The largest boards are"


@pytest.mark.parametrize(
    ("board", "closed", "why", "hint"),
    [
        ((2, 9), False, "2x9 has no tours to count. It needs three files and ranks.", ""),
        ((7, 9), False, f"7x9 has too many tours to count. {LARGEST}", LARGEST),
        ((15, 5), False, f"15x5 has too many tours to count. {LARGEST}", LARGEST),
        ((8, 9), False, f"8x9 has too many tours to count. {LARGEST} 26x3, 26x4, ", LARGEST),
        ((10, 7), False, "10x7 has too many", "knight_closed_counts_10x7 counts closed"),
        ((9, 9), True, "9x9 has too many closed tours to count.", ""),
        ((9, 8), True, "9x8 has too many closed tours to count.", ""),
    ],
)
def test_uncountable_boards_are_rejected(
    board: tuple[int, int], closed: bool, why: str, hint: str
) -> None:
    with pytest.raises(BadRequest) as caught:
        require_countable(KnightBoard(*board), closed=closed)
    assert str(caught.value).startswith(why)
    assert caught.value.hint.startswith(hint)


def test_a_board_with_too_many_tours_to_rank_has_its_closed_ranks() -> None:
    for name in ("10x7", "8x8"):
        with pytest.raises(BadRequest, match=f"^{name} has too many .*tours to rank") as caught:
            PUZZLE.find_tables(f"knight_ranks_{name}")
        assert caught.value.hint == f"knight_closed_ranks_{name} has every closed tour by its rank"


def test_wider_boards_take_more_memory_to_count() -> None:
    for closed, most in ((False, 7), (True, 8)):
        bytes_each = [
            estimate_count(KnightBoard(side, side), closed) for side in range(3, most + 1)
        ]
        assert bytes_each == sorted(bytes_each)
        assert bytes_each[-1] <= 4 << 30
