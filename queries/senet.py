"""The prober of Senet: a shortest line of play, followed back by the last moves in the index."""

from __future__ import annotations

from puzzle_tablebase.errors import NoAnswer, require_choice
from puzzle_tablebase.notation.senet import (
    OPENING,
    SIDES,
    SQUARES,
    format_move,
    parse_position,
    parse_squares,
)
from puzzle_tablebase.puzzles.senet import rank, swap_squares
from puzzle_tablebase.queries.prober import Prober
from puzzle_tablebase.queries.questions import (
    ALL,
    ANSWERS,
    ANY_KEYS,
    KEYLESS,
    SAMPLE,
    Answer,
    Option,
    align_rows,
    format_count,
    parse_distances,
)
from puzzle_tablebase.schema import UNREACHABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import polars as pl

    from puzzle_tablebase.puzzles.senet import Senet
    from puzzle_tablebase.queries.questions import Options

NO_LINE = "no line of play from the opening leads to it."
PLIES = (0, 2)
"""The fields of a record that hold the even and the odd plies; after each comes the last move."""
LINES = 4
"""The field of a record that holds the number of shortest lines."""


class SenetAnswer(Answer):
    """A position and the smallest of its shortest lines of play; `plies` is 0 to 15.

    `lines` is None for a longer line, after which the other side is to move.
    """

    position: str
    plies: int
    plies_even: int | None
    plies_odd: int | None
    dice: str
    moves: str
    lines: int | None
    path: list[str] | None = None

    def to_text(self) -> str:
        """Format the answer as `pipeline query` prints it."""
        if self.path:
            return "".join(f"{position}\n" for position in self.path)
        moves = self.moves.split()
        moves_by_side = ", ".join(f"{SIDES[ply % 2]} {move}" for ply, move in enumerate(moves))
        rows = [
            ("plies", f"{self.plies} ({SIDES[self.plies % 2]} to move)"),
            ("dice", " ".join(self.dice) or "none: this is the opening"),
            ("moves", moves_by_side),
            ("lines", f"{self.lines:,} of that length" if self.lines else ""),
        ]
        later = self.plies_odd if self.plies % 2 == 0 else self.plies_even
        reached = (
            "unreachable" if later is None else f"after {later} {'ply' if later == 1 else 'plies'}"
        )
        rows.append((f"{SIDES[(self.plies + 1) % 2]} to move", reached))
        squares = "".join(f"{square:3}" for square in range(1, 16))
        pieces = "".join(f"{piece:>3}" for piece in self.position)
        return f"{pieces}\n{squares}\n\n{align_rows([row for row in rows if row[1]])}"

    def to_svg(self) -> str:
        """Draw every position of the line of play; the piece that moved has a ring."""
        from puzzle_tablebase.queries.svg import draw_line

        return draw_line(self.position, self.dice, self.moves.split())


def parse_turn(given: object, *_: object) -> str:
    """Return the side of an option."""
    turn = str(given).upper()
    require_choice(turn, "side", *SIDES)
    return turn


TURN = Option(
    "turn",
    "Print the shortest line ending with this side to move (default: the shorter line).",
    "A|B",
    parse_turn,
    verbs=ANY_KEYS,
)
PATH = Option("path", "Print every position of the line, one per line.", verbs=ANY_KEYS)
HARDEST = Option(
    "hardest",
    "Print all positions farthest from the opening.",
    excludes=("turn", "path"),
    verbs=(ALL, KEYLESS),
)
DISTANCE = Option(
    "distance",
    "Draw positions that are first reached after N plies.",
    "N[-M]",
    parse_distances,
    verbs=(SAMPLE,),
)


class SenetProber(Prober):
    """Answers for a position of Senet."""

    options = (TURN, PATH, HARDEST, DISTANCE, ANSWERS)
    has_pictures = True
    reader = "SenetReader"
    key = "POSITION"
    key_cells = SQUARES
    columns = ("position", "plies", "plies_even", "plies_odd", "dice", "moves", "lines")
    explored = {"senet": 4}  # noqa: RUF012  # a class's constants
    puzzle: Senet

    def answer(self, key: Any, options: Options) -> Answer:
        if options.verb == ALL:
            return self.answer_hardest(options)
        position = parse_position(key)
        record = self.open_index("senet").read_record(rank(position))
        even, odd = (None if record[at] == UNREACHABLE else record[at] for at in PLIES)
        fewest = self.find_fewest(position)
        if fewest is None:
            raise NoAnswer(f"{position} is unreachable: {NO_LINE}")
        plies = (even, odd)[SIDES.index(options.turn)] if options.turn else fewest
        if plies is None:
            raise NoAnswer(f"{position} is unreachable with {options.turn} to move: {NO_LINE}")
        moves, path = self._find_line(position, plies)
        return SenetAnswer(
            position=position,
            plies=plies,
            plies_even=even,
            plies_odd=odd,
            dice="".join(str(goal - start) for start, goal in map(parse_squares, moves)),
            moves=" ".join(moves),
            # the index has the number of lines for the fewest plies only
            lines=record[LINES] if plies == fewest else None,
            path=path if options.path else None,
        )

    def answer_keys(self, keys: pl.Series, options: Options) -> pl.DataFrame:
        if options.path or options.turn:
            return super().answer_keys(keys, options)
        positions, rows = keys.str.to_uppercase().alias("position").to_frame(), self.read_rows()
        joined = positions.join(rows, on="position", how="left", maintain_order="left")
        return self.complete_answers(keys, joined.drop("position"), options)

    def make_schema(self, options: Options) -> pl.Schema:
        import polars as pl

        schema = super().make_schema(options)
        return pl.Schema(schema | ({"path": pl.String()} if options.path else {}))

    def parse_answer(self, key: str, options: Options) -> tuple[str, str, int | None]:
        position = parse_position(key)
        return OPENING, position, self.find_fewest(position)

    def find_fewest(self, position: str) -> int | None:
        """Return the fewest plies to a position; None if it is unreachable."""
        record = self.open_index("senet").read_record(rank(position))
        return min((record[at] for at in PLIES if record[at] != UNREACHABLE), default=None)

    def _find_line(self, position: str, plies: int) -> tuple[list[str], list[str]]:
        """Return the moves of the smallest line of this many plies, and every position on its way.

        The line is followed backwards by the last moves in the records.
        """
        problem = f"no line of {format_count(plies, 'move')} leads to {position}"
        moves, here = list[str](), position
        for ply in range(plies, 0, -1):
            record = self.open_index("senet").read_record(rank(here))
            throw, start = divmod(record[PLIES[ply % 2] + 1], 16)
            if record[PLIES[ply % 2]] != ply or not 0 < start < start + throw <= SQUARES:
                raise self.files.make_error("senet", problem)
            here = swap_squares(here, start, start + throw)
            moves.insert(0, format_move(here, throw, start))
        return moves, self.walk(self.puzzle, OPENING, moves, position, "senet", problem)
