"""The facts of the 15-puzzle: a solution of a state, and how it was found."""

from __future__ import annotations

from queries.facts import Facts, align_rows, format_count
from tablebase.puzzles.fifteen.tables import BOARD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from queries.fifteen.solution import FoundSolution
    from queries.query_options import OptionValues


class FifteenFacts(Facts):
    """The answer for a state and a goal.

    `distance` is there for a shortest solution only, `length` for any other, `hint` and `hint_tile`
    for a hint only.
    """

    __slots__ = (
        *("_states", "state", "goal", "hint", "hint_tile", "distance", "length", "bound"),
        *("positions", "solution", "tiles", "path"),
    )

    def __init__(self, state: str, goal: str, found: FoundSolution, options: OptionValues) -> None:
        self.state, self.goal = state, goal
        self._states = found.states
        tiles = "".join(map(_find_moved_tile, found.states, found.states[1:]))
        if options.get("hint"):
            self.hint, self.hint_tile = found.letters[:1], tiles[:1]
            return
        if found.is_shortest:
            self.distance = len(found.letters)
        else:
            self.length = len(found.letters)
        self.bound = found.bound
        if not options.get("not_shortest"):
            self.positions = found.positions
        self.solution = found.letters
        self.tiles = tiles
        if options.get("path") or options.get("boards"):
            self.path = found.states

    def to_text(self, options: OptionValues) -> str:
        if options.get("hint"):
            return f"{_format_move(self.hint, self.hint_tile)}\n"
        if options.get("boards"):
            moves = map(_format_move, self.solution, self.tiles)
            heads = ["0", *(f"{number}  {move}" for number, move in enumerate(moves, 1))]
            return "\n".join(
                f"{head}\n{_draw_state(state)}"
                for head, state in zip(heads, self.path, strict=True)
            )
        if options.get("path"):
            return "".join(f"{state}\n" for state in self.path)
        rows = [("goal", self.goal)]
        if hasattr(self, "distance"):
            rows.append(("distance", format_count(self.distance, "move")))
        else:
            least = f"no solution is shorter than {self.bound}"
            rows.append(("length", f"{format_count(self.length, 'move')}; {least}"))
        if self.solution:
            rows += [("solution", self.solution), ("tiles slid", self.tiles)]
        rows.append(("bound", f"{self.bound} at the start"))
        if hasattr(self, "positions"):
            rows.append(("positions", f"{self.positions:,} searched"))
        return f"{_draw_state(self.state)}\n{align_rows(rows)}"

    def to_svg(self) -> str:
        from queries.board_svg import draw_boards

        letters = self.hint if hasattr(self, "hint") else self.solution
        moved = self.hint_tile if hasattr(self, "hint") else self.tiles
        title = f"{self.state} to {self.goal} in {format_count(len(letters), 'move')}"
        if hasattr(self, "hint"):
            title = f"The next move from {self.state} to {self.goal}"
        heads = ["start", *(f"{number}  {letter}" for number, letter in enumerate(letters, 1))]
        states = self._states[: len(heads)]
        return draw_boards(title, states, heads, ["", *moved], width=BOARD.width)


def _find_moved_tile(state: str, next_state: str) -> str:
    """Return the tile that a move slides: after the move it is on the cell of the blank."""
    return next_state[state.index("0")]


def _format_move(letter: str, tile: str) -> str:
    return f"{letter} (tile {tile})" if letter else "none: this is the goal"


def _draw_state(state: str) -> str:
    cells = state.replace("0", ".")
    rows = range(0, len(cells), BOARD.width)
    return "".join(f" {' '.join(cells[row : row + BOARD.width])}\n" for row in rows)
