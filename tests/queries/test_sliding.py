"""Answers about sliding boards, compared with the oracle; single, in batches, from Python."""

import itertools
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from puzzle_tablebase.errors import BadRequest, GoalUnreachable, TableDamaged
from puzzle_tablebase.notation.sliding import GOALS
from puzzle_tablebase.puzzles.sliding import parse_board
from puzzle_tablebase.queries.board_columns import CHUNK_ROWS
from puzzle_tablebase.queries.boards import DenseProber
from puzzle_tablebase.queries.files import TableFiles
from puzzle_tablebase.queries.goals import GoalProber
from puzzle_tablebase.queries.prober import open_prober
from puzzle_tablebase.queries.readers import BoardReader
from puzzle_tablebase.queries.sliding import SlidingProber, SmallBoardProber
from puzzle_tablebase.queries.tables import open_tables
from puzzle_tablebase.stores import Folder, open_store
from tests.support import sliding_oracle as oracle
from tests.support.board_layouts import write_layouts
from tests.support.hosts import serve
from tests.support.oracles import eight_distances
from tests.support.querying import query_many
from tests.support.tampered import change_records, link_copy


def test_closed_tables_open_no_further_board(small_boards: Path) -> None:
    prober = open_prober("sliding", Folder(small_boards))
    assert isinstance(prober, SlidingProber)
    prober.close()
    with pytest.raises(ValueError, match="are closed"):
        prober.open_board(parse_board("2x3"))


@pytest.mark.parametrize("name", ["2x2", "2x3", "3x2"])
def test_every_state_is_answered_for_many_goals(small_boards: Path, name: str) -> None:
    board, table = parse_board(name), open_tables(str(small_boards)).sliding(name)
    states = ["".join(cells) for cells in itertools.permutations(board.example)]
    for goal in states[:: 1 if board.cells == 4 else 119]:
        known = oracle.distances(goal, board.height, board.width)
        for state in states:
            if state not in known:
                with pytest.raises(GoalUnreachable):
                    table.probe(state, goal)
                continue
            best = oracle.best_moves(state, board.height, board.width, known)
            facts = {"state": state, "goal": goal, "distance": known[state], "best_moves": best}
            assert table.probe(state, goal).to_dict() == facts


def test_solutions_are_counted_before_they_are_listed(small_boards: Path) -> None:
    known = oracle.distances("123450", 2, 3)
    listed = {state: oracle.list_solutions(state, 2, 3, known) for state in known}
    start = max(listed, key=lambda state: len(listed[state]))
    reader = SmallBoardProber(parse_board("2x3"), TableFiles(Folder(small_boards)))
    reader.max_solutions = len(listed[start])
    answer = BoardReader(reader).probe(start, solutions=True)
    assert answer.all_solutions == listed[start]
    assert answer.solutions == len(listed[start]) > 1
    reader.max_solutions = len(listed[start]) - 1
    with pytest.raises(BadRequest):
        BoardReader(reader).probe(start, solutions=True)
    result = query_many(reader, pl.Series(["123450", start]), solutions=True)
    assert result["all_solutions"].to_list() == ["", None]
    assert result["error"].is_null().to_list() == [True, False]


@pytest.mark.parametrize(
    ("name", "options"),
    [("2x3", {}), ("3x2", {"goal": "054321"}), ("2x2", {"goal": "2103", "path": True})],
)
def test_a_long_batch_answers_as_a_short_one(
    small_boards: Path, name: str, options: dict[str, Any]
) -> None:
    """Answer every state, and keys of other kinds, so often that there are several chunks."""
    board = parse_board(name)
    states = ["".join(cells) for cells in itertools.permutations(board.example)]
    other = [text for state in states[::97] for text in write_layouts(state, board.width)]
    other += [f"{board.example}0", board.example[1:], f"{board.example}{'9' * 256}", "０１２３"]
    keys = pl.Series([*states, *other, None, "", " "], dtype=pl.String)
    times = CHUNK_ROWS // len(keys) + 2
    reader = SmallBoardProber(board, TableFiles(Folder(small_boards)))
    short = query_many(reader, keys, **options)
    reader.max_single_keys = 0
    answers = query_many(reader, pl.concat([keys] * times), **options)
    assert answers.equals(pl.concat([short] * times))
    assert answers.schema == short.schema == query_many(reader, keys.clear(), **options).schema


def test_unreachable_states_are_not_queried_singly(
    small_boards: Path, outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answer a batch of which half is unreachable: a single query for each would be slow."""
    monkeypatch.delattr(GoalProber, "find_distance")
    half = pl.Series(["123456780", "213456780"] * 5)
    board = SmallBoardProber(parse_board("3x3"), TableFiles(Folder(small_boards)))
    eight = open_prober("eight", Folder(outputs))
    for reader in (board, eight):
        assert isinstance(reader, DenseProber)
        reader.max_single_keys = 0
        result = query_many(reader, half, goal="123456780")
        assert result["distance"].to_list() == [0, None] * 5
        assert result["error"].is_null().to_list() == [True, False] * 5


def test_few_keys_read_no_rows_from_a_folder(
    outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that have been read answer few keys too; from a host they are always read."""
    known = eight_distances("123456780")
    states = random.Random(2).sample(sorted(known), 100)
    expected = [*map(known.get, states)]
    eight = open_prober("eight", Folder(outputs))
    for count in (99, 100):
        answers = query_many(eight, pl.Series(states[:count]))
        assert answers["distance"].to_list() == expected[:count]
        assert eight.files.has(("rows", None)) == (count == 100)
    asked = [(goal, count) for goal in ("centre", "edge") for count in (1, 100)]
    for goal, count in asked:
        query_many(eight, pl.Series(states[:count]), goal=goal)
        assert eight.files.has(("rows", GOALS[goal])) == (count == 100), "not those of another goal"
    monkeypatch.delattr(GoalProber, "find_distance")
    assert query_many(eight, pl.Series(states[:3]))["distance"].to_list() == expected[:3]
    with serve(outputs) as host:
        hosted = open_prober("eight", open_store(host.url))
        assert query_many(hosted, pl.Series(states[:3]))["distance"].to_list() == expected[:3]


@pytest.mark.parametrize(("state", "options"), [(None, {}), ("1203", {"solutions": True})])
def test_inconsistent_records_are_damage(
    small_boards: Path, tmp_path: Path, state: str | None, options: dict[str, Any]
) -> None:
    """Give every state the same distance, or another one than the goal that of the goal."""
    board, copied = parse_board("2x2"), link_copy(small_boards, tmp_path)
    rows = slice(None) if state is None else slice(board.rank(state), board.rank(state) + 1)
    distance = 3 if state is None else 0
    change_records(lambda records: records[rows].fill(distance)).edit(copied, "sliding_2x2_4")
    with pytest.raises(TableDamaged) as caught:
        query_many(
            SmallBoardProber(board, TableFiles(Folder(copied))),
            pl.Series([state or "1230"]),
            **options,
        )
    assert caught.value.file == str(copied / "sliding_2x2_4.idx")
