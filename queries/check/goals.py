"""The judges of puzzles with goals, one answer at a time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from queries.answer import format_count
from queries.check.judge import Judge, write_text
from queries.check.reading import SEPARATORS, Reading, read_claim, read_marks, read_words
from queries.judgement import (
    Judgement,
    judge_claim,
    judge_end,
    make_illegal,
    make_unreadable,
)
from tablebase.errors import GoalUnreachable

EDGES = {"U": "first row", "D": "last row", "L": "first column", "R": "last column"}
"""Where the blank is if its move is illegal, by the move."""


class GoalJudge(Judge):
    """A judge of the moves of any puzzle with goals."""

    reader: Any  # a GoalReader, which imports this module

    def __init__(self, lookup: Any, answer_column: str = "answer", puzzle: Any = None) -> None:
        super().__init__(lookup, answer_column)
        self.puzzle = puzzle or self.reader.puzzle

    def check(self, key: str, answer: object) -> Judgement:
        (state, goal), text = self.parse_ends(key), write_text(answer)
        if claim := read_claim(text):
            return self.judge_claim(state, goal, claim)
        return self.judge_moves(state, goal, self.read_moves(text))

    def parse_ends(self, key: str) -> tuple[str, str]:
        """Parse a key; return its state and the goal."""
        state, goal = self.lookup.parse_ends(key)
        return state, goal

    def judge_claim(self, state: str, goal: str, claim: str) -> Judgement:
        """Judge a number of moves, or that there are none."""
        shortest, truth = self.find_shortest(state, goal), "the goal cannot be reached"
        if shortest is not None:
            truth = f"the goal is {format_count(shortest, 'move')} away"
        return judge_claim(claim, shortest, truth)

    def judge_moves(self, state: str, goal: str, reading: Reading) -> Judgement:
        """Judge moves, or what could be read of them."""
        shortest, moves = self.find_shortest(state, goal), "".join(reading.moves)
        if reading.problem:
            return make_unreadable(len(moves) + 1, reading.problem, shortest)
        letters = self.spell(state, moves)
        last, done = self.follow(state, letters)
        first_loss = self.find_loss(state, goal, letters[:done], shortest)
        if done == len(moves):
            return judge_end(done, shortest, first_loss, is_home=last == goal)
        problem = self.explain_illegal(moves[done])
        return make_illegal(len(moves), done + 1, problem, shortest, first_loss)

    def read_moves(self, text: str) -> Reading:
        """Read the moves of an answer."""
        letters = self.puzzle.letters
        return read_marks(text, letters, f"one of {', '.join(letters)}")

    def find_shortest(self, state: str, goal: str) -> int | None:
        """Return the fewest moves; None if no moves lead to the goal."""
        try:
            distance: int = self.reader.find_distance(state, goal)[0]
        except GoalUnreachable:
            return None
        return distance

    def spell(self, state: str, moves: str) -> str:
        """Return the letters of moves, up to the first that has none."""
        return moves

    def follow(self, state: str, letters: str) -> tuple[str, int]:
        """Make moves while they are legal; return the last state and how many were made."""
        last, done = self.puzzle.follow(state, letters)
        return last, done

    def find_loss(self, state: str, goal: str, letters: str, shortest: int | None) -> int | None:
        """Find the first of legal moves that does not lead nearer to the goal."""
        if shortest is None:
            return None
        for step, letter in enumerate(islice(letters, shortest + 1), 1):
            state = dict(self.puzzle.moves(state))[letter]
            if self.reader.find_distance(state, goal)[0] != shortest - step:
                return step
        return None

    def explain_illegal(self, move: str) -> str:
        """Name a move, and say why it is illegal."""
        return f"{move}: it is not legal there"


class BoardJudge(GoalJudge):
    """A judge of a sliding board's moves: letters of the blank's moves, or tiles that slide."""

    def __init__(self, lookup: Any, answer_column: str = "answer", puzzle: Any = None) -> None:
        super().__init__(lookup, answer_column, puzzle)
        board = self.puzzle
        self.tiles = "".join(sorted(board.example.replace("0", "")))
        self.exits = [dict(board.list_exits(cell)) for cell in range(len(board.example))]
        """For each cell of the blank: the cells that it can go to, by the moves' letters."""

    def has_tiles(self, moves: str) -> bool:
        """Return whether moves are tiles, not letters: the first one says it."""
        return moves[:1] in {*self.tiles}

    def read_moves(self, text: str) -> Reading:
        if not self.has_tiles(text.lstrip(SEPARATORS)):
            return super().read_moves(text)
        what = f"one of the tiles 1-{self.tiles[-1]}"
        words = text.replace(",", " ").split() if len(self.tiles) > 9 else []
        if len(words) < 2 or max(map(len, words)) > 2:
            return read_marks(text, self.tiles, what)
        names = {str(number): tile for number, tile in enumerate(self.tiles, 1)}
        pattern = rf"(?:{'|'.join([*names, *self.tiles])})(?![^{SEPARATORS}])"
        reading = read_words(text, pattern, what)
        return Reading([names.get(word, word) for word in reading.moves], reading.problem)

    def spell(self, state: str, moves: str) -> str:
        return "".join(self._iter_letters(state, moves)) if self.has_tiles(moves) else moves

    def _iter_letters(self, state: str, tiles: str) -> Iterator[str]:
        """Yield the letters of moves that slide tiles, up to the first that cannot slide."""
        cells = {tile: cell for cell, tile in enumerate(state)}
        letters = [{to: letter for letter, to in exits.items()} for exits in self.exits]
        blank = cells["0"]
        for tile in tiles:
            to = cells[tile]
            if to not in letters[blank]:
                return
            yield letters[blank][to]
            cells[tile], blank = blank, to

    def follow(self, state: str, letters: str) -> tuple[str, int]:
        cells, blank, done = [*state], state.index("0"), 0
        for letter in letters:
            to = self.exits[blank].get(letter)
            if to is None:
                break
            cells[blank], blank = cells[to], to
            done += 1
        cells[blank] = "0"
        return "".join(cells), done

    def explain_illegal(self, move: str) -> str:
        if move in EDGES:
            return f"{move}: the blank is in the {EDGES[move]}"
        return f"tile {move}: it is not next to the blank"
