"""A board's answers: pictures of its states, and the tile that each move slides."""

from __future__ import annotations

from queries.facts import counted
from queries.goal_reader import GoalFacts, GoalReader
from queries.query_options import Asked


class BoardFacts(GoalFacts):
    """A state of a board of so many columns on its way to a goal."""

    __slots__ = ("_width", "best_tiles", "tiles")

    def __init__(self, reader: GoalReader, key: str, asked: Asked, width: int) -> None:
        super().__init__(reader, key, asked)
        self._width = width
        self.best_tiles = "".join(self._tile(self.state, letter) for letter in self.best_moves)
        self.tiles, state = "", self.state
        for letter in self.solution:
            self.tiles += self._tile(state, letter)
            state = self._after(state, letter)

    def _after(self, state: str, letter: str) -> str:
        return dict(self._puzzle.moves(state))[letter]

    def _tile(self, state: str, letter: str) -> str:
        """The tile that slides when the blank goes that way: it stands then where the blank was."""
        return self._after(state, letter)[state.index("0")]

    def picture(self, state: str) -> str:
        cells = state.replace("0", ".")
        rows = range(0, len(cells), self._width)
        return "".join(f" {' '.join(cells[row : row + self._width])}\n" for row in rows)

    def move(self, state: str, letter: str) -> str:
        return f"{letter} (tile {self._tile(state, letter)})"

    def more(self) -> list[tuple[str, str]]:
        return [("tiles slid", self.tiles)]

    def drawn(self) -> str:
        from queries.sliding.svg import drawn_boards

        title = f"{self.state} to {self.goal} in {counted(len(self.solution), 'move')}"
        states, heads = [self.state], ["start"]
        for number, letter in enumerate(self.solution, start=1):
            states.append(self._after(states[-1], letter))
            heads.append(f"{number}  {letter}")
        return drawn_boards(title, states, heads, ["", *self.tiles], width=self._width)
