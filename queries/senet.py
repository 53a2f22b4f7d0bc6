"""The reader of Senet: a shortest line of play, followed back by the last moves in the index."""

from __future__ import annotations

from puzzle_tablebase.errors import BadRequest, PositionUnreachable, require_choice
from puzzle_tablebase.puzzles.senet import (
    OPENING,
    SIDES,
    SQUARES,
    format_move,
    parse,
    rank,
    swap_squares,
)
from puzzle_tablebase.queries.answer import ANSWERS, Answer, Option, align_rows, parse_distances
from puzzle_tablebase.queries.reader import Query, Reader
from puzzle_tablebase.schema import UNREACHED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import polars as pl


PLIES = (0, 2)
"""The fields of a record that hold the even and the odd plies; after each comes the last move."""
LINES = 4
"""The field of a record that holds the number of shortest lines."""
Line = list[tuple[int, int, str]]
"""Moves in order, each as a throw, a starting square and the position before it."""


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
        reached = "never" if later is None else f"after {later} {'ply' if later == 1 else 'plies'}"
        rows.append((f"{SIDES[(self.plies + 1) % 2]} to move", reached))
        squares = "".join(f"{square:3}" for square in range(1, 16))
        pieces = "".join(f"{piece:>3}" for piece in self.position)
        return f"{pieces}\n{squares}\n\n{align_rows([row for row in rows if row[1]])}"

    def to_svg(self) -> str:
        """Draw every position of the line of play; the piece that moved has a ring."""
        from puzzle_tablebase.queries.svg import draw_line

        return draw_line(self.position, self.dice, self.moves.split())


class SenetQuery(Query):
    """A query of positions. `turn` is the side to move after the line; None: the shorter line."""

    reader: SenetReader
    judge_class = "puzzle_tablebase.queries.judges:SenetJudge"

    def __init__(self, reader: SenetReader, turn: str | None = None, **options: Any) -> None:
        super().__init__(reader, turn=turn, **options)
        self.turn = None if turn is None else str(turn).strip().upper()
        if self.turn not in (None, *SIDES):
            require_choice(str(turn), "side", *SIDES)
        self.path = "path" in self.given
        self.distances = parse_distances(self.given.get("distance"))

    def answer_keys(self, keys: pl.Series) -> pl.DataFrame:
        if self.path or self.turn:
            return super().answer_keys(keys)
        from puzzle_tablebase.queries.answer_frames import fill_answers

        positions = keys.str.to_uppercase().alias("position").to_frame()
        rows = self.reader.read_rows()
        joined = positions.join(rows, on="position", how="left", maintain_order="left")
        return fill_answers(keys, joined.drop("position"), super().answer_keys)

    def make_schema(self) -> pl.Schema:
        import polars as pl

        return pl.Schema(super().make_schema() | ({"path": pl.String()} if self.path else {}))

    def answer(self, key: str) -> SenetAnswer:
        if "hardest" in self.given:
            raise BadRequest("--hardest needs no key", "Leave out the key")
        position = parse(key)
        record = self.reader.open_index("senet").read_record(rank(position))
        even, odd = (None if record[at] == UNREACHED else record[at] for at in PLIES)
        reached_plies = self.reader.find_plies(position)
        if not reached_plies:
            raise PositionUnreachable(position)
        plies = (even, odd)[SIDES.index(self.turn)] if self.turn else min(reached_plies)
        if plies is None:
            raise PositionUnreachable(position, self.turn or "")
        line = self.reader.find_line(position, plies)
        return SenetAnswer(
            position=position,
            plies=plies,
            plies_even=even,
            plies_odd=odd,
            dice="".join(str(throw) for throw, _, _ in line),
            moves=" ".join(format_move(before, throw, start) for throw, start, before in line),
            # the index has the number of lines for the fewest plies only
            lines=record[LINES] if plies == min(reached_plies) else None,
            path=[*(before for _, _, before in line), position] if self.path else None,
        )


class SenetReader(Reader[SenetAnswer]):
    """The table of Senet.

    >>> from puzzle_tablebase.queries import open_tables
    >>> open_tables("outputs").senet.probe("ABAAABBB.B...A.").moves
    '9-14 4x7'
    """

    query: type[Query] = SenetQuery
    has_pictures = True
    options = (
        Option(
            "turn",
            "Print the shortest line ending with this side to move (default: the shorter line).",
            "A|B",
        ),
        Option("path", "Print every position of the line, one per line."),
        Option(
            "hardest",
            "Print all positions farthest from the opening.",
            "",
            ("turn", "path"),
            is_single=True,
        ),
    )
    sample_options = (
        Option("distance", "Draw positions that are first reached after N plies.", "N"),
    )
    check_options = (ANSWERS,)
    keyless = ("hardest",)
    key = "POSITION"
    key_cells = SQUARES
    columns = ("position", "plies", "plies_even", "plies_odd", "dice", "moves", "lines")
    explored = {"senet": 4}  # noqa: RUF012  # a class's constants

    def plies(self, key: str, turn: str | None = None) -> int:
        """Return the fewest plies after which a position is reached."""
        return self.probe(key, turn=turn).plies

    def line(self, key: str, turn: str | None = None) -> str:
        """Return the moves of a shortest line of play, as the column `moves` has them."""
        return self.probe(key, turn=turn).moves

    def find_plies(self, position: str) -> list[int]:
        """Return the fewest even and odd plies after which a position is reached, if it is."""
        record = self.open_index("senet").read_record(rank(position))
        return [record[at] for at in PLIES if record[at] != UNREACHED]

    def list_hardest(self) -> pl.DataFrame:
        """Return all positions that are farthest from the opening."""
        return SenetQuery(self).list_hardest()

    def list_values(self, option: str) -> tuple[str, ...]:
        return tuple(SIDES) if option == "turn" else ()

    def find_line(self, position: str, plies: int) -> Line:
        """Return the smallest line of this many plies, by following the last moves backwards."""
        line: Line = []
        for ply in range(plies, 0, -1):
            record = self.open_index("senet").read_record(rank(position))
            throw, start = divmod(record[PLIES[ply % 2] + 1], 16)
            mover = SIDES[(ply - 1) % 2]
            if (
                record[PLIES[ply % 2]] != ply
                or position[start + throw - 1 : start + throw] != mover
            ):
                break
            position = swap_squares(position, start, start + throw)
            line.append((throw, start, position))
        if (len(line), position) != (plies, OPENING):
            raise self.make_damage_error("senet", f"no line leads to {position}")
        return line[::-1]
