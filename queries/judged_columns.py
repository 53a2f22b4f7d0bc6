"""Judging many answers: columns of judgements, and their summary.

The answers for boards are judged together: the distances of all keys are looked up at once, then
the first moves of all answers are made, then the second. Rows with a problem get its text
afterwards. Other answers are judged one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from puzzle_tablebase.errors import quote
from puzzle_tablebase.notation.moves import MAX_SMALL_TILES, SEPARATORS, reverse_directions
from puzzle_tablebase.notation.sliding import CHARACTERS, LETTERS
from puzzle_tablebase.queries.answer_frames import Bytes, annotate_frame, answer_each
from puzzle_tablebase.queries.board_columns import read_tiles
from puzzle_tablebase.queries.judging import (
    MAX_DIGITS,
    add_meaning,
    has_moves,
    judge,
    judge_moves,
)
from puzzle_tablebase.queries.questions import CHECK, Judgement, Options, format_count

JUDGED = pl.Schema(
    {
        **dict.fromkeys(Judgement.facts, pl.Int64()),
        **dict.fromkeys(("result", "problem"), pl.String()),
        "score": pl.Float64(),
    }
)
"""The columns of judgements with their types."""
COLUMNS = pl.Schema({**JUDGED, "error": pl.String()})
CHUNK_ROWS = 1 << 14
"""Answers whose moves are made together."""
MAX_MOVES = 2_000
"""The most moves of an answer that is judged with others; longer ones are judged by themselves."""

OPPOSITES = np.array(
    [*map(LETTERS.index, reverse_directions(LETTERS)), *range(len(LETTERS), 256)], np.uint8
)
"""The code of each move with the opposite direction; tiles have none."""

Numbers = npt.NDArray[np.int64]
Measure = Callable[[Bytes], npt.NDArray[Any]]


def judge_frame(
    prober: Any,
    frame: Any,
    column: str | None,
    answer_column: str,
    prefix: str,
    given: Mapping[str, Any],
) -> Any:
    """Add the columns of judgements to a frame; `given`: the options by name."""
    options = prober.parse(CHECK, given)

    def judge(keys: pl.Series, answers: pl.Series) -> pl.DataFrame:
        return judge_rows(prober, keys, answers, options)

    columns, added = (column or prober.columns[0], answer_column), (*Judgement.facts, "error")
    return annotate_frame(frame, columns, prefix, added, judge, prober.key_digits)


def judge_rows(prober: Any, keys: pl.Series, answers: pl.Series, options: Options) -> pl.DataFrame:
    """Judge many answers: a row for each, with a column of errors."""
    if prober.can_judge_together(len(keys), options):
        return _judge_boards(prober, keys, answers, options)
    return _judge_each(prober, keys, answers, options)


def _judge_each(prober: Any, keys: pl.Series, answers: pl.Series, options: Options) -> pl.DataFrame:
    """Judge answers one by one, equal ones once."""
    rows = pl.DataFrame({"key": keys, "answer": answers}).with_row_index("row")
    first = pl.col("row").first().over("key", "answer")
    numbers = rows.select(pl.when(pl.col("key").is_not_null()).then(first)).to_series()

    def judge_row(row: int) -> Judgement:
        return judge(prober, keys[row], answers[row], options)

    return answer_each(numbers, judge_row, JUDGED)


# ---- boards --------------------------------------------------------------------------------------


def _judge_boards(
    prober: Any, keys: pl.Series, answers: pl.Series, options: Options
) -> pl.DataFrame:
    """Judge answers for the states of a board together, and those for invalid keys one by one."""
    found, states, state_mask = prober.answer_together(keys, options)
    shortest, is_state = found["distance"].cast(pl.Int64), pl.Series(state_mask)
    texts = answers.fill_null("")
    goal = options.goal or prober.default_goal
    named = found["goal"].cast(pl.String).replace_strict(prober.puzzle.goals, default=goal)
    rows = pl.DataFrame(
        {"state": states, "goal": goal or named, "shortest": shortest, "text": texts}
    )
    judge, at = _judge_moves if has_moves(options) else _judge_distances, is_state.arg_true()
    judged: pl.DataFrame = judge(prober, rows[at], options)
    judged = judged.with_columns(error=pl.lit(None, pl.String)).cast(COLUMNS)
    others = (~is_state).arg_true()
    if others.is_empty():
        return judged
    rest = _judge_each(prober, keys.gather(others), answers.gather(others), options)
    order = pl.concat([at, others]).arg_sort()
    all_rows: pl.DataFrame = pl.concat([judged, rest.cast(COLUMNS)])[order]
    return all_rows


def _judge_distances(prober: Any, rows: pl.DataFrame, options: Options) -> pl.DataFrame:
    """Judge stated distances."""
    texts, shortest = rows["text"], rows["shortest"]
    stated = texts.str.strip_chars(SEPARATORS)
    is_number = stated.str.contains(rf"^[0-9]{{1,{MAX_DIGITS}}}$")
    is_read = is_number | (stated == "unreachable")
    number = stated.set(~is_number, None).cast(pl.Int64)
    truth, fewest = pl.lit(shortest), pl.lit(shortest).cast(pl.String)
    is_right = pl.lit(number).eq_missing(truth)
    bad = [f"{quote(text)}: not a number of moves from 0 to 999, or unreachable"
           for text in texts.filter(~is_read)]  # fmt: skip
    problems = pl.repeat(None, len(texts), dtype=pl.String, eager=True)
    problems = problems.scatter((~is_read).arg_true(), bad)
    wrong = pl.coalesce(pl.lit("the fewest moves are ") + fewest, pl.lit("no moves lead there"))
    result = pl.when(is_right).then(pl.lit("right")).otherwise(pl.lit("wrong"))
    read, none = pl.lit(is_read), pl.lit(None, pl.Int64)
    return pl.select(
        result=pl.when(read).then(result).otherwise(pl.lit("unreadable")),
        length=none,
        shortest=pl.when(read).then(truth),
        excess=none,
        first_loss=none,
        step=none,
        problem=pl.when(~read).then(pl.lit(problems)).when(~is_right).then(wrong),
        score=pl.when(read & is_right).then(1.0).otherwise(0.0),
    )


class Answers(NamedTuple):
    """Answers as moves: the number of moves of each, and the moves of all, concatenated.

    A code is the index of a letter, or a tile's number plus 3. An unreadable answer has no moves,
    but a problem with its step.
    """

    codes: npt.NDArray[np.uint8]
    begins: Numbers
    lengths: Numbers
    problems: dict[int, tuple[int, str]]

    def select(self, rows: Numbers) -> Answers:
        """Return some of the answers, which must be readable."""
        return self._replace(begins=self.begins[rows], lengths=self.lengths[rows], problems={})

    def reverse_directions(self) -> Answers:
        """Return the answers with all directions reversed."""
        return self._replace(codes=OPPOSITES[self.codes])


def _read_answers(prober: Any, rows: pl.DataFrame, options: Options) -> Answers:
    """Read all answers; those of letters or one-character tiles alone are read together."""
    rules, cells, texts = prober.choose_rules(options), prober.puzzle.cells, rows["text"]
    tiles = "".join(sorted(prober.puzzle.example.replace("0", "")))
    is_small = len(tiles) <= MAX_SMALL_TILES
    letters = LETTERS + LETTERS.lower() * is_small
    bare = texts.str.replace_all(f"[{SEPARATORS}]+", "")
    is_plain = bare.str.contains(f"^[{letters}]*$")
    if is_small:
        is_plain |= bare.str.contains(f"^[{tiles}]*$")
    odd, problems, read = (~is_plain).arg_true(), dict[int, tuple[int, str]](), list[str]()
    for row in odd:
        moves, problem = rules.read_moves(texts[row], rows["state"][row])
        read.append("" if problem else "".join(moves))
        if problem:
            problems[row] = len(moves) + 1, problem
    bare = bare.scatter(odd, pl.Series(read, dtype=pl.String))
    table = np.zeros(256, np.uint8)
    for letter in LETTERS:
        (move,), _ = rules.read_moves(letter, prober.puzzle.example)
        table[ord(letter)] = LETTERS.index(move)
        if is_small:
            table[ord(letter.lower())] = LETTERS.index(move)
    table[np.frombuffer(tiles.encode(), np.uint8)] = np.arange(cells - 1) + len(LETTERS)
    text = np.frombuffer("".join(bare.to_list()).encode(), np.uint8)
    lengths = bare.str.len_bytes().cast(pl.Int64).to_numpy()
    return Answers(table[text], np.cumsum(lengths) - lengths, lengths, problems)


def _judge_moves(prober: Any, cases: pl.DataFrame, options: Options) -> pl.DataFrame:
    """Judge the answers that are moves together, except unreadable and very long ones.

    `cases` has the state, the goal, the fewest moves and the answer of each.
    """
    answers, count = _read_answers(prober, cases, options), len(cases)
    fewest = cases["shortest"].fill_null(-1).to_numpy()
    done, losses = np.zeros(count, np.int64), np.zeros(count, np.int64)
    is_solved, is_reversed_solution = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    goal = options.goal or prober.default_goal
    follower = Follower(prober, options)
    is_single = answers.lengths > MAX_MOVES
    order = np.argsort(-answers.lengths, kind="stable")[np.count_nonzero(is_single) :]
    reversed_answers = answers.reverse_directions()
    boards = read_tiles(cases["state"], prober.puzzle.cells)[0]
    for begin in range(0, len(order), CHUNK_ROWS):
        rows = order[begin : begin + CHUNK_ROWS]
        some, tiles = answers.select(rows), boards[:, rows]
        ended, done[rows] = follower.follow(tiles, some)
        is_solved[rows] = (done[rows] == some.lengths) & follower.is_at_goal(ended, goal)
        lost = ~(is_solved[rows] & (some.lengths == fewest[rows])) & (fewest[rows] >= 0)
        at = np.flatnonzero(lost)
        losses[rows[at]] = follower.find_losses(tiles[:, at], some.select(at), fewest[rows[at]])
        at = np.flatnonzero(~is_solved[rows] & (fewest[rows] >= 0))
        reversed_part = reversed_answers.select(rows[at])
        ended, legal = follower.follow(tiles[:, at], reversed_part)
        is_reversed_solution[rows[at]] = (legal == reversed_part.lengths) & follower.is_at_goal(
            ended, goal
        )
    frame = _describe(answers, cases["shortest"], done, losses, is_solved)
    frame = _add_reasons(frame, prober, cases, options, answers, done, is_reversed_solution)
    return _judge_longest(frame, prober, cases, options, np.flatnonzero(is_single).tolist())


def _describe(
    answers: Answers, shortest: pl.Series, done: Numbers, losses: Numbers, is_solved: Any
) -> pl.DataFrame:
    """Return the columns of judgements, without problems."""
    frame = pl.DataFrame(
        {"length": answers.lengths, "done": done, "loss": losses, "solved": is_solved}
    ).with_columns(shortest=shortest)
    is_bad = np.zeros(len(frame), np.bool_)
    is_bad[[*answers.problems]] = True
    length, fewest, solved = pl.col("length"), pl.col("shortest"), pl.col("solved")
    bad, illegal = pl.lit(pl.Series(is_bad)), pl.col("done") < length
    steps = pl.Series([step for step, _ in answers.problems.values()], dtype=pl.Int64)
    step_of_bad = pl.repeat(None, len(frame), dtype=pl.Int64, eager=True)
    step_of_bad = step_of_bad.scatter([*answers.problems], steps)
    unsolved = pl.when(bad).then(pl.lit("unreadable")).when(illegal).then(pl.lit("illegal"))
    solution = pl.when(length == fewest).then(pl.lit("shortest")).otherwise(pl.lit("longer"))
    result = unsolved.when(~solved).then(pl.lit("incomplete")).otherwise(solution)
    return frame.select(
        result=result,
        length=pl.when(~bad).then(length),
        shortest=fewest,
        excess=pl.when(~bad & solved).then(length - fewest),
        first_loss=pl.when(~bad & (pl.col("loss") > 0)).then(pl.col("loss")),
        step=pl.when(bad).then(pl.lit(step_of_bad)).when(illegal).then(pl.col("done") + 1),
        problem=pl.lit(None, pl.String),
        # a solution without moves is shortest: no division by 0
        score=pl.when(bad | ~solved).then(0.0).when(length == fewest).then(1.0)
        .otherwise(fewest / length),
    )  # fmt: skip


def _add_reasons(
    frame: pl.DataFrame, prober: Any, cases: pl.DataFrame, options: Options,
    answers: Answers, done: Numbers, is_reversed_solution: Any,
) -> pl.DataFrame:  # fmt: skip
    """Add the column of problems."""
    rules, problems = prober.choose_rules(options), dict[int, str]()
    for row in (frame["result"] == "illegal").arg_true():
        code, number = int(answers.codes[answers.begins[row] + done[row]]), int(done[row]) + 1
        move = LETTERS[code] if code < len(LETTERS) else CHARACTERS[code - len(LETTERS) + 1]
        reason = prober.puzzle.explain_illegal(move)
        problems[row] = f"move {number}, {rules.name_move(move)}: {reason}"
    problems |= {row: problem for row, (_, problem) in answers.problems.items()}
    for row in (*answers.problems, *np.flatnonzero(is_reversed_solution).tolist()):
        start, goal, shortest, text = cases.row(row)
        moves = [] if row in answers.problems else rules.read_moves(text, start)[0]
        problem = problems.get(row, "")
        problems[row] = add_meaning(rules, text, start, goal, shortest, moves, problem)
    lost = ((frame["result"] == "incomplete") & frame["shortest"].is_null()).arg_true()
    problems |= dict.fromkeys(lost, "no moves lead to the goal")
    if problems:
        reasons = frame["problem"].scatter([*problems], [*problems.values()])
        frame = frame.with_columns(problem=reasons)
    return frame


def _judge_longest(
    frame: pl.DataFrame, prober: Any, cases: pl.DataFrame, options: Options, rows: list[int]
) -> pl.DataFrame:
    """Judge the very long answers one by one, and replace the judgements of their rows."""
    if not rows:
        return frame
    judged_singly = list[dict[str, Any]]()
    for row in rows:
        start, goal, shortest, text = cases.row(row)
        judged = judge_moves(prober, text, options, start, goal, shortest)
        judged_singly.append({name: getattr(judged, name) for name in JUDGED})
    patch = pl.DataFrame(judged_singly, JUDGED).with_columns(row=pl.Series(rows, dtype=pl.UInt32))
    numbered = frame.cast(JUDGED).with_row_index("row")
    return numbered.update(patch, on="row", include_nulls=True).drop("row")


class Follower:
    """Follows the moves of many answers at a time, on a board with distances to a goal.

    States are columns of tiles; those with most moves come first.
    """

    def __init__(self, prober: Any, options: Options) -> None:
        board = prober.puzzle
        self._measure: Measure = prober.open_columns(options).measure
        """Returns the distance of each of some states, modulo 4 or not."""
        self._exits = np.full((board.cells, len(LETTERS)), -1, np.int64)
        for cell in range(board.cells):
            for letter, to in board.list_exits(cell):
                self._exits[cell, LETTERS.index(letter)] = to

    def is_at_goal(self, tiles: Bytes, goal: str | None) -> npt.NDArray[np.bool_]:
        """Return which states are the goal; None: which are at distance 0 from their own."""
        if goal is None:
            return np.asarray(self._measure(tiles) == 0)
        cells = np.array([CHARACTERS.index(mark) for mark in goal], np.uint8)
        return np.asarray((tiles == cells[:, None]).all(axis=0))

    def follow(self, tiles: Bytes, answers: Answers) -> tuple[Bytes, Numbers]:
        """Return the states after all moves, or before the first illegal one, and its number."""
        tiles, done = tiles.copy(), answers.lengths.copy()
        for step, _, legal in self._iter_steps(tiles, answers):
            stopped = np.flatnonzero(~legal)
            done[stopped] = np.minimum(done[stopped], step)
        return tiles, done

    def find_losses(self, tiles: Bytes, answers: Answers, shortest: Numbers) -> Numbers:
        """Return, for each answer, its first move that did not lead nearer to the goal, or 0."""
        tiles, losses = tiles.copy(), np.zeros(len(shortest), np.int64)
        is_open = np.ones(len(shortest), np.bool_)
        for step, count, legal in self._iter_steps(tiles, answers):
            is_open[:count] &= legal
            is_open[count:] = False
            rows = np.flatnonzero(is_open)
            if not len(rows):
                break
            # a move changes the distance by one, so it is off by two at the first loss
            off = (self._measure(tiles[:, rows]) - (shortest[rows] - step - 1)) % 4 != 0
            losses[rows[off]] = step + 1
            is_open[rows[off]] = False
        return losses

    def _iter_steps(self, tiles: Bytes, answers: Answers) -> Any:
        """Make the first move of all answers, then the second, and so on; yield which were legal.

        Also yield the index of the move, and how many answers have it. An answer stops before its
        first illegal move.
        """
        count = tiles.shape[1]
        flat, columns = tiles.reshape(-1), np.arange(count)
        blank = tiles.argmin(axis=0)
        is_legal = np.ones(count, np.bool_)
        most = int(answers.lengths.max(initial=0))
        counts = np.searchsorted(-answers.lengths, -np.arange(most), "left")
        for step, active in enumerate(counts.tolist()):
            codes = answers.codes[answers.begins[:active] + step]
            here, at = blank[:active], columns[:active]
            target = self._find_targets(flat, count, codes, here, at)
            legal = is_legal[:active]
            legal &= target >= 0
            target = np.where(legal, target, here)
            moved = target * count + at
            flat[here * count + at] = flat[moved]
            flat[moved] = 0
            blank[:active] = target
            yield step, active, legal

    def _find_targets(
        self, flat: Bytes, count: int, codes: Any, here: Numbers, at: Numbers
    ) -> Numbers:
        """Return the cell that each move takes the blank to, -1 for an illegal move."""
        is_tile = codes >= len(LETTERS)
        letters = np.where(is_tile, 0, codes)
        target = self._exits[here, letters]
        if is_tile.any():
            target[is_tile] = -1
            for exits in self._exits.T:
                to = exits[here]
                hit = is_tile & (to >= 0)
                hit &= flat[np.maximum(to, 0) * count + at] == codes - (len(LETTERS) - 1)
                target[hit] = to[hit]
        return target


class Summary:
    """Totals of the judgements of a batch."""

    def __init__(self) -> None:
        self.results = Counter[str]()
        self.answers, self.excess, self.scored, self.score = 0, 0, 0, 0.0

    def add(self, rows: pl.DataFrame) -> None:
        """Add the rows of judgements."""
        self.answers += len(rows)
        self.results.update(rows["result"].drop_nulls())
        self.excess += int(rows["excess"].sum())
        self.scored += rows["score"].count()
        self.score += float(rows["score"].sum())

    def count(self, *results: str) -> int:
        """Count the judgements with one of these results."""
        return sum(self.results[result] for result in results)

    def to_dict(self) -> dict[str, Any]:
        """Return the totals by name."""
        measured = self.count("shortest", "longer")
        return {
            "answers": self.answers,
            "results": dict(sorted(self.results.items())),
            "mean_excess": self.excess / measured if measured else None,
            "mean_score": self.score / self.scored if self.scored else None,
        }

    def to_text(self) -> str:
        """Format the totals as a sentence."""
        if self.count("right", "wrong"):
            return f"{self.results['right']:,} of {format_count(self.answers, 'distance')} right"
        solved = self.count("shortest", "longer", "solved", "tour", "closed tour")
        text = f"{solved:,} of {self.answers:,} solved"
        excess = self.to_dict()["mean_excess"]
        if excess is None:
            return text
        return f"{text}, {self.results['shortest']:,} shortest, mean excess {excess:.1f}"
