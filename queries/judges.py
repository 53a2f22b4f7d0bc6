"""Judges: what an answer to a key is worth by the rules and the tables, and the summary of many."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from puzzle_tablebase.errors import (
    BadRequest,
    GoalUnreachable,
    IllegalMove,
    NoAnswer,
    TableMissing,
    Undecided,
    quote,
    require_choice,
)
from puzzle_tablebase.puzzles import senet
from puzzle_tablebase.puzzles.fifteen import BOARD
from puzzle_tablebase.puzzles.knight.board import FILES, JUMPS
from puzzle_tablebase.queries.answer import ANSWER_KINDS, Judgement, format_count

if TYPE_CHECKING:
    import polars as pl


SEPARATORS = " \t\n\r\v\f,"
"""The characters that may stand between moves."""
STATED = re.compile(f"[{SEPARATORS}]*+([0-9]{{1,3}}|unreachable)[{SEPARATORS}]*+")
"""An answer that states a distance."""
GOOD = ("shortest", "right", "tour", "closed tour")
"""The results of answers that could not be better."""
TURNED = str.maketrans("UDLR", "DURL")
"""The letters of the moves of a tile, by those of the blank."""
HINTS = {
    "turned": "with U and D, L and R exchanged it reaches the goal: letters move the blank",
    "capital": "in capital letters it reaches the goal",
    "both": "in capital letters, with U and D, L and R exchanged, it reaches the goal",
}
"""What may be said of an answer that does not solve a board, by how it must be read to do so."""
EDGES = {"U": "first row", "D": "last row", "L": "first column", "R": "last column"}
"""Where the blank is if its move is illegal, by the move."""
SENET_SQUARE = "(?:1[0-5]|[1-9])"
SENET_MOVE = f"{SENET_SQUARE}[-x]{SENET_SQUARE}(?![^{SEPARATORS}])"
MAX_RANK = (1 << 63) - 1
"""The highest rank of a tour that a column can hold."""


def judge_moves(
    length: int, shortest: int | None, first_loss: int | None, step: int = 0, problem: str = "",
    *, is_home: bool = False,
) -> Judgement:  # fmt: skip
    """Judge moves that could be read; the one of `step` is illegal, if that is not 0."""
    facts: dict[str, Any] = {"length": length, "shortest": shortest, "first_loss": first_loss}
    if step:
        return Judgement(result="illegal", step=step, problem=problem, score=0.0, **facts)
    if not is_home:
        return Judgement(result="incomplete", problem=problem or None, score=0.0, **facts)
    if shortest is None:
        return Judgement(result="solved", score=None, **facts)
    if excess := length - shortest:
        return Judgement(result="longer", excess=excess, score=shortest / length, **facts)
    return Judgement(result="shortest", excess=0, score=1.0, **facts)


def read(text: str, move: str, what: str, stop: str = f"[^{SEPARATORS}]+") -> tuple[list[str], str]:
    """Read moves that match a pattern, with separators between them or not.

    Return them, and where reading stopped, or "". Of the text there, what matches `stop` is quoted.

    >>> read("5-10,4x", "[0-9]+[-x][0-9]+", "a move")
    (['5-10'], "character 6, '4x': not a move")
    """
    rest = re.sub(rf"\A(?:{move}|[{SEPARATORS}])*+", "", text)
    end = len(text) - len(rest)
    bad = re.match(stop, rest, re.DOTALL)
    problem = f"character {end + 1}, {quote(bad[0])}: not {what}" if bad else ""
    return re.findall(move, text[:end]), problem


def add_hint(problem: str, hint: str) -> str:
    """Return a problem with what is said of the whole answer."""
    return "; ".join(filter(None, (problem, HINTS.get(hint))))


class Judge:
    """A judge of answers to the keys of a query, `lookup`; a subclass has the rules of a puzzle.

    Answers are of one kind, `answers`: moves, or distances.
    """

    columns: tuple[str, ...] = Judgement.facts[:-1]
    """The columns that a batch adds."""
    min_together = 100
    """Rows from which array code judges answers: it takes a while to begin."""

    def __init__(self, lookup: Any, answer_column: str, answers: str = ANSWER_KINDS[0]) -> None:
        require_choice(answers, "kind of answers", *ANSWER_KINDS)
        self.lookup, self.reader, self.has_key = lookup, lookup.reader, lookup.has_key
        self.second_column, self.summary = answer_column, Summary()
        self.has_moves = answers == ANSWER_KINDS[0]

    def check(self, key: str, answer: object) -> Judgement:
        """Judge one answer, of any type; an error only for its key, or for a search without end."""
        start, goal, shortest = self.parse(key)
        try:
            text = "" if answer is None else str(answer)
        except ValueError:  # a number of more digits than Python writes
            text = str(type(answer))
        if not self.has_moves:
            if stated := STATED.fullmatch(text):
                return self.judge_distance(stated[1], start, shortest)
            problem = f"{quote(text)}: not a number of moves from 0 to 999, or unreachable"
            return Judgement(result="unreadable", problem=problem, score=0.0)
        moves, problem = self.read_moves(text, start)
        facts: dict[str, Any] = {"shortest": shortest, "step": len(moves) + 1}
        if problem:
            problem = add_hint(problem, self.find_hint(text, start, goal))
            return Judgement(result="unreadable", problem=problem, score=0.0, **facts)
        done, here, first_loss = 0, start, None
        try:
            for done, here in enumerate(self.follow(start, moves), 1):
                if first_loss is None and shortest is not None:
                    first_loss = None if self.is_at(here, goal, shortest - done) else done
        except IllegalMove as error:
            problem = error.problem
        is_home = here == goal and not problem
        if not is_home:
            problem = add_hint(problem, self.find_hint(text, start, goal))
        step = done + 1 if done < len(moves) else 0
        judged = judge_moves(len(moves), shortest, first_loss, step, problem, is_home=is_home)
        return self.complete(judged, start, here)

    def solves(self, text: str, start: Any, goal: Any) -> bool:
        """Return whether an answer leads to the goal."""
        moves, problem = self.read_moves(text, start)
        here = start
        with suppress(IllegalMove):
            for here in self.follow(start, moves):  # noqa: B007  # the last one
                pass
            return bool(not problem and here == goal)
        return False

    def find_hint(self, text: str, start: Any, goal: Any) -> str:
        """Return how an answer that does not lead to the goal must be read to do so, or ""."""
        return ""

    def follow(self, here: Any, moves: list[str]) -> Iterator[Any]:
        """Yield where each move leads; raise IllegalMove for one that is illegal."""
        for step, move in enumerate(moves, 1):
            here, problem = self.make_move(here, move, step)
            if problem:
                raise IllegalMove(f"move {step}, {problem}")
            yield here

    def parse(self, key: str) -> tuple[Any, Any, int | None]:
        """Parse a key; return where its answers start, where they should end, and the fewest moves.

        None if no moves lead there, or if only a search finds the fewest.
        """
        raise NotImplementedError

    def read_moves(self, text: str, start: Any) -> tuple[list[str], str]:
        """Read the moves of an answer; return them, and where reading stopped, or ""."""
        raise NotImplementedError

    def make_move(self, here: Any, move: str, step: int) -> tuple[Any, str]:
        """Return where a move leads; and the move and why it is illegal, or ""."""
        raise NotImplementedError

    def is_at(self, here: Any, goal: Any, distance: int) -> bool:
        """Return whether a place is at a distance from the goal, as far as that is known."""
        return True

    def complete(self, judged: Judgement, start: Any, last: Any) -> Judgement:
        """Return the judgement of legal moves to `last`, with what only that puzzle knows."""
        return judged

    def judge_distance(self, stated: str, start: Any, shortest: int | None) -> Judgement:
        """Judge a number of moves, or that there are none; `shortest` is None then."""
        truth = "unreachable" if shortest is None else str(shortest)
        if stated.lstrip("0") == truth.lstrip("0"):
            return Judgement(result="right", shortest=shortest, score=1.0)
        problem = "no moves lead there" if shortest is None else f"the fewest moves are {truth}"
        return Judgement(result="wrong", shortest=shortest, problem=problem, score=0.0)

    def make_schema(self) -> pl.Schema:
        """Return the columns that a batch adds, with their types."""
        import polars as pl

        types = {"str": pl.String, "int": pl.Int64, "float": pl.Float64}
        kinds = {name: Judgement.__annotations__[name].split()[0] for name in self.columns}
        return pl.Schema({name: types[kind]() for name, kind in kinds.items()})

    def group(self, keys: pl.Series, answers: pl.Series) -> pl.Series:
        """Return a number for each row, the same for rows of one judgement; null without a key.

        One below 0 is that of a single row, counted from the end.
        """
        import polars as pl

        return pl.int_range(-len(keys), 0, eager=True).set(keys.is_null(), None)

    def judge_alike(self, group: int) -> Judgement:
        """Judge rows that array code has grouped."""
        raise NotImplementedError

    def judge_rows(self, keys: pl.Series, answers: pl.Series) -> pl.DataFrame:
        """Judge many answers, one row per key, with a column of errors."""
        from puzzle_tablebase.queries.answer_frames import answer_each

        def judge_group(group: int) -> Judgement:
            alone = group < 0
            return self.check(keys[group], answers[group]) if alone else self.judge_alike(group)

        judged = answer_each(self.group(keys, answers), judge_group, self.make_schema())
        self.summary.add(judged)
        return judged


class Summary:
    """Sums of the judgements of a batch."""

    def __init__(self) -> None:
        self.results, self.first_losses = Counter[str](), Counter[int]()
        self.answers, self.excess, self.scored, self.score = 0, 0, 0, 0.0

    def add(self, rows: pl.DataFrame) -> None:
        """Add the rows of judgements; the first losses by distance."""
        self.answers += len(rows)
        self.results.update(rows["result"].drop_nulls())
        self.scored += rows["score"].count()
        self.score += float(rows["score"].sum())
        if "excess" in rows.columns:
            self.excess += int(rows["excess"].sum())
            self.first_losses.update((rows["shortest"] - rows["first_loss"] + 1).drop_nulls())

    def count(self, *results: str) -> int:
        """Count the judgements with one of these results."""
        return sum(self.results[result] for result in results)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        measured = self.count("shortest", "longer")
        return {
            "answers": self.answers,
            "results": dict(sorted(self.results.items())),
            "mean_excess": self.excess / measured if measured else None,
            "mean_score": self.score / self.scored if self.scored else None,
            "first_losses": dict(sorted(self.first_losses.items())),
        }

    def to_text(self) -> str:
        """Format the numbers as a sentence."""
        facts = self.to_dict()
        solved = self.count("shortest", "longer", "solved", "tour", "closed tour")
        best = "closed tour" if self.count("tour", "closed tour") else "shortest"
        if self.count("right", "wrong"):
            return f"{self.results['right']:,} of {format_count(self.answers, 'distance')} right"
        text = f"{solved:,} of {self.answers:,} solved, {self.results[best]:,} {best}"
        if facts["mean_excess"] is not None:
            text += f", mean excess {facts['mean_excess']:.1f}"
        losses = ", ".join(f"{at}: {times:,}" for at, times in facts["first_losses"].items())
        return f"{text}; first losses by distance: {losses}" if losses else text


class GoalJudge(Judge):
    """A judge of the moves of any puzzle with goals."""

    @property
    def puzzle(self) -> Any:
        return self.reader.puzzle

    def parse(self, key: str) -> tuple[str, str, int | None]:
        state, goal = self.lookup.parse_ends(key)
        try:
            return state, goal, self.reader.find_distance(state, goal)[0]
        except GoalUnreachable:
            return state, goal, None

    def is_at(self, here: str, goal: str, distance: int) -> bool:
        return bool(self.reader.find_distance(here, goal)[0] == distance)

    def read_moves(self, text: str, start: str) -> tuple[list[str], str]:
        letters = self.puzzle.letters
        return read(text, f"[{re.escape(letters)}]", f"one of {', '.join(letters)}", stop=".")

    def make_move(self, here: str, move: str, step: int) -> tuple[str, str]:
        after = dict(self.puzzle.moves(here)).get(move, "")
        return after, "" if after else f"{move}: it is not legal there"


class BoardJudge(GoalJudge):
    """A judge of a sliding board's moves: letters of the blank's moves, or tiles that slide."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._list_ways = cache(lambda cell: dict(self.puzzle.list_exits(cell)))

    def read_moves(self, text: str, start: str) -> tuple[list[str], str]:
        tiles = "".join(sorted(self.puzzle.example.replace("0", "")))
        if text.lstrip(SEPARATORS)[:1] not in {*tiles}:
            return super().read_moves(text, start)
        what = f"one of the tiles 1-{tiles[-1]}"
        words = text.replace(",", " ").split() if len(tiles) > 9 else []
        if len(words) < 2 or max(map(len, words)) > 2:
            return read(text, f"[{tiles}]", what, stop=".")
        names = {str(number): tile for number, tile in enumerate(tiles, 1)}
        pattern = rf"(?:{'|'.join([*names][9:])}|[{tiles}])(?![^{SEPARATORS}])"
        moves, problem = read(text, pattern, what)
        return [names.get(move, move) for move in moves], problem

    def make_move(self, here: str, move: str, step: int) -> tuple[str, str]:
        cells, blank = [*here], here.index("0")
        ways = self._list_ways(blank)
        to = ways.get(move, -1)
        if move not in EDGES:
            to = next((cell for cell in ways.values() if cells[cell] == move), -1)
        if to < 0:
            return here, explain_illegal(move)
        cells[blank], cells[to] = cells[to], "0"
        return "".join(cells), ""

    def find_hint(self, text: str, start: str, goal: str) -> str:
        upper = text.upper()
        readings = {"turned": text.translate(TURNED), "capital": upper}
        readings["both"] = upper.translate(TURNED)
        others = (each for each in readings if readings[each] != text)
        return next((each for each in others if self.solves(readings[each], start, goal)), "")

    def group(self, keys: pl.Series, answers: pl.Series) -> pl.Series:
        groups = super().group(keys, answers)
        if len(keys) < self.min_together or not self.has_moves:
            return groups
        from puzzle_tablebase.queries.answer_walks import group_walks

        return groups.scatter(*group_walks(self.lookup, keys, answers, SEPARATORS))

    def judge_alike(self, group: int) -> Judgement:
        from puzzle_tablebase.queries.answer_walks import split_walk

        length, done, loss, start, is_home, is_turned, move = split_walk(group)
        step = done + 1 if done < length else 0
        problem = f"move {step}, {explain_illegal(move)}" if step else ""
        problem = add_hint(problem, "turned" if is_turned else "")
        shortest = start - 1 if start else None
        return judge_moves(length, shortest, loss or None, step, problem, is_home=bool(is_home))


def explain_illegal(move: str) -> str:
    """Name a move of a board, and say why it is illegal."""
    if move in EDGES:
        return f"{move}: the blank is in the {EDGES[move]}"
    return f"tile {move}: it is not next to the blank"


class FifteenJudge(BoardJudge):
    """A judge of solutions of the 15-puzzle: it searches only where the bound does not decide."""

    puzzle = BOARD
    group = Judge.group

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._search = cache(lambda state: len(self.lookup.solve(state).solution))

    def parse(self, key: str) -> tuple[str, str, None]:
        return BOARD.parse(key), self.lookup.goal, None

    def judge_distance(self, stated: str, start: str, shortest: int | None) -> Judgement:
        if BOARD.can_reach(start, self.lookup.goal):
            bound = self.lookup.compute_bound(start)
            if stated == "unreachable" or int(stated) < bound:
                problem = f"the fewest moves are at least {bound}"
                return Judgement(result="wrong", problem=problem, score=0.0)
            shortest = self._search(start)
        return super().judge_distance(stated, start, shortest)

    def complete(self, judged: Judgement, start: str, last: Any) -> Judgement:
        length = judged.length
        if judged.result != "solved" or length is None:
            return judged
        try:
            is_shortest = length == self.lookup.compute_bound(start)
            shortest = length if is_shortest else self._search(start)
        except Undecided as error:
            return Judgement(result="solved", length=length, problem=str(error), score=None)
        return judge_moves(length, shortest, None, is_home=True)


class SenetJudge(Judge):
    """A judge of lines of play; the distance from a position within them is in no table."""

    min_together = 5_000  # below, reading all rows takes longer

    def parse(self, key: str) -> tuple[str, str, int | None]:
        position = senet.parse(key)
        return senet.OPENING, position, min(self.reader.find_plies(position), default=None)

    def read_moves(self, text: str, start: str) -> tuple[list[str], str]:
        return read(text, SENET_MOVE, "a move such as 5-10 or 4x7")

    def make_move(self, here: str, move: str, step: int) -> tuple[str, str]:
        start, goal = map(int, move.replace("x", "-").split("-"))
        mover, target, is_swap = senet.SIDES[(step - 1) % 2], here[goal - 1], "x" in move
        problem = ""
        if goal - start not in senet.THROWS:
            least, most = senet.THROWS[0], senet.THROWS[-1]
            problem = f"a throw moves a piece {least} to {most} squares forward"
        elif here[start - 1] != mover:
            problem = f"{mover} has no piece there"
        elif target == mover:
            problem = f"{mover} stands there already"
        elif is_swap != (target != "."):
            problem = f"the square is {'empty: write -' if is_swap else 'taken: write x'}"
        elif is_swap and senet.is_guarded(here, goal):
            problem = "the piece there is guarded"
        return senet.swap_squares(here, start, goal), problem and f"{move}: {problem}"

    def group(self, keys: pl.Series, answers: pl.Series) -> pl.Series:
        groups = super().group(keys, answers)
        if len(keys) < self.min_together or not self.has_moves:
            return groups
        from puzzle_tablebase.queries.answer_walks import group_lines

        rows = self.reader.read_rows()
        return groups.scatter(*group_lines(keys, answers, rows, SEPARATORS))

    def judge_alike(self, group: int) -> Judgement:
        from puzzle_tablebase.queries.answer_walks import split_line

        length, shortest, is_home = split_line(group)
        return judge_moves(length, shortest, None, is_home=is_home)


class KnightJudge(Judge):
    """A judge of tours from a square; the first square of an answer may be where it starts."""

    columns = ("result", "length", "step", "problem", "score", "rank")

    def parse(self, key: str) -> tuple[list[int], None, None]:
        return [self.lookup.board.parse_square(key)], None, None

    def read_moves(self, text: str, start: list[int]) -> tuple[list[str], str]:
        if text.lstrip(SEPARATORS)[:1] in {*"12345678"}:
            return read(text, "[1-8]", "one of the jumps 1-8", stop=".")
        squares, problem = read(text, "[a-zA-Z][1-9]", "a square such as b1")
        squares = [square.lower() for square in squares]
        has_start = squares[:1] == [self.lookup.board.name_square(start[0])]
        return squares[has_start:], problem

    def make_move(self, here: list[int], move: str, step: int) -> tuple[list[int], str]:
        board, last = self.lookup.board, here[-1]
        rank, file = divmod(last, board.files)
        if move.isdigit():
            right, down = JUMPS[int(move) - 1]
            file, rank = file + right, rank - down
        else:
            file, rank = FILES.index(move[0]), int(move[1]) - 1
        square, problem = file + rank * board.files, ""
        if not (0 <= file < board.files and 0 <= rank < board.ranks):
            problem = "it leaves the board"
        elif not board.is_jump(last, square):
            problem = f"no jump leads there from {board.name_square(last)}"
        elif square in here:
            problem = f"{board.name_square(square)} was visited before"
        return [*here, square], problem and f"{move}: {problem}"

    def complete(self, judged: Judgement, start: list[int], last: list[int]) -> Judgement:
        board, rank = self.lookup.board, None
        if len(last) < board.squares:
            return judged
        is_closed = board.is_jump(last[-1], last[0])
        with suppress(TableMissing, NoAnswer, BadRequest):  # there is no ranking
            rank = self.reader.open_ranked_tours(board, closed=is_closed).rank(last)
        return Judgement(
            result="closed tour" if is_closed else "tour",
            length=judged.length,
            score=1.0,
            rank=None if rank is None or rank > MAX_RANK else rank,
        )
