"""Senet's answers: a shortest line of play, walked backwards by the index's last moves."""

from __future__ import annotations

from queries.facts import Facts, aligned
from queries.query_options import SVG, Asked, Option
from queries.reader import Reader
from tablebase.errors import BadRequest, NotReached, quoted
from tablebase.graph import UNREACHED
from tablebase.puzzles.senet import OPENING, SIDES, exchanged, move_text, parse, rank

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

    from queries.answer_frames import Answers

PLIES = (0, 2)
"""Where a record has the even and the odd plies; the last move follows."""
LINES = 4
Line = list[tuple[int, int, str]]
"""Moves in order, each as a throw, a starting square and the position before it."""


class SenetFacts(Facts):
    """A position and the smallest of its shortest lines of play."""

    __slots__ = ("position", "plies", "plies_even", "plies_odd", "dice", "moves", "lines", "path")
    path: list[str]

    def __init__(
        self, position: str, both: tuple[int | None, int | None], line: Line, lines: int | None
    ) -> None:
        self.position = position
        self.plies = len(line)
        self.plies_even, self.plies_odd = both
        self.dice = "".join(str(throw) for throw, _, _ in line)
        self.moves = " ".join(move_text(before, throw, start) for throw, start, before in line)
        self.lines = lines

    def words(self, asked: Asked) -> str:
        if asked.get("path"):
            return "".join(f"{position}\n" for position in self.path)
        moves = self.moves.split()
        said = ", ".join(f"{SIDES[ply % 2]} {move}" for ply, move in enumerate(moves))
        rows = [
            ("plies", f"{self.plies} ({SIDES[self.plies % 2]} to move)"),
            ("dice", " ".join(self.dice) or "none: this is the opening"),
            ("moves", said),
            ("lines", f"{self.lines:,} of that length" if self.lines else ""),
        ]
        later = self.plies_odd if self.plies % 2 == 0 else self.plies_even
        when = "never" if later is None else f"after {later} {'ply' if later == 1 else 'plies'}"
        rows.append((f"{SIDES[(self.plies + 1) % 2]} to move", when))
        squares = "".join(f"{square:3}" for square in range(1, 16))
        pieces = "".join(f"{piece:>3}" for piece in self.position)
        return f"{pieces}\n{squares}\n\n{aligned([row for row in rows if row[1]])}"

    def drawn(self) -> str:
        from queries.senet.svg import line_svg

        return line_svg(self.position, self.dice, self.moves.split())


class SenetReader(Reader):
    options = (
        Option(
            "turn",
            "Print the line after which this side moves (default: the shorter line).",
            "A|B",
        ),
        Option("path", "Print every position of the line, one per line.", columns=("path",)),
        SVG,
    )
    key = "POSITION"
    columns = ("position", "plies", "plies_even", "plies_odd", "dice", "moves", "lines")
    explored = {"senet": 4}  # noqa: RUF012  # a class's constants

    def answers(self, keys: pl.Series, asked: Asked) -> Answers:
        from queries.answer_frames import matched

        alone = super().answers
        if asked.get("path") or "turn" in asked:
            return alone(keys, asked)
        positions = keys.str.to_uppercase().alias("position").to_frame()
        found = positions.join(self.rows(), on="position", how="left", maintain_order="left")
        return matched(keys, found.drop("position"), lambda some: alone(some, asked))

    def checked(self, asked: Asked) -> Asked:
        if "turn" not in asked:
            return asked
        given = str(asked["turn"])
        side = given.strip().upper()
        if side not in [*SIDES]:
            raise BadRequest(
                f"There is no side {quoted(given)}", f"Choose one of: {', '.join(SIDES)}"
            )
        return {**asked, "turn": side}

    def values(self, option: str) -> tuple[str, ...]:
        return tuple(SIDES) if option == "turn" else ()

    def facts(self, key: str, asked: Asked) -> SenetFacts:
        position = parse(key)
        record = self.index("senet").record(rank(position))
        even, odd = (None if record[at] == UNREACHED else record[at] for at in PLIES)
        known = [plies for plies in (even, odd) if plies is not None]
        if not known:
            raise NotReached(position)
        turn = str(asked.get("turn", ""))
        plies = (even, odd)[SIDES.index(turn)] if turn else min(known)
        if plies is None:
            raise NotReached(position, turn)
        line = self.line(position, plies)
        # the index counts the shortest lines alone
        lines = record[LINES] if plies == min(known) else None
        facts = SenetFacts(position, (even, odd), line, lines)
        if asked.get("path"):
            facts.path = [*(before for _, _, before in line), position]
        return facts

    def line(self, position: str, plies: int) -> Line:
        """The smallest shortest line."""
        line: Line = []
        for ply in range(plies, 0, -1):
            record = self.index("senet").record(rank(position))
            throw, start = divmod(record[PLIES[ply % 2] + 1], 16)
            mover = SIDES[(ply - 1) % 2]
            if (
                record[PLIES[ply % 2]] != ply
                or position[start + throw - 1 : start + throw] != mover
            ):
                break
            position = exchanged(position, start, start + throw)
            line.append((throw, start, position))
        if (len(line), position) != (plies, OPENING):
            raise self.damaged("senet", f"no line leads to {position}")
        return line[::-1]
