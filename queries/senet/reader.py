"""The reader of Senet: a shortest line of play, followed back by the last moves in the index."""

from __future__ import annotations

from queries.facts import Facts, align_rows
from queries.query_options import SVG, Option, OptionValues
from queries.reader import Reader
from tablebase.errors import BadRequest, PositionUnreachable, quote
from tablebase.graph import UNREACHED
from tablebase.puzzles.senet import OPENING, SIDES, format_move, parse, rank, swap_squares

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

    from queries.answer_frames import Answers

PLIES = (0, 2)
"""The fields of a record that hold the even and the odd plies; after each comes the last move."""
LINES = 4
"""The field of a record that holds the number of shortest lines."""
Line = list[tuple[int, int, str]]
"""Moves in order, each as a throw, a starting square and the position before it."""


class SenetFacts(Facts):
    """The answer for a position, with the smallest of its shortest lines of play."""

    __slots__ = ("position", "plies", "plies_even", "plies_odd", "dice", "moves", "lines", "path")
    path: list[str]

    def __init__(
        self,
        position: str,
        plies_by_parity: tuple[int | None, int | None],
        line: Line,
        lines: int | None,
    ) -> None:
        self.position = position
        self.plies = len(line)
        self.plies_even, self.plies_odd = plies_by_parity
        self.dice = "".join(str(throw) for throw, _, _ in line)
        self.moves = " ".join(format_move(before, throw, start) for throw, start, before in line)
        self.lines = lines

    def to_text(self, options: OptionValues) -> str:
        if options.get("path"):
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
        from queries.senet.svg import draw_line

        return draw_line(self.position, self.dice, self.moves.split())


class SenetReader(Reader):
    options = (
        Option(
            "turn",
            "Print the shortest line ending with this side to move (default: the shorter line).",
            "A|B",
        ),
        Option("path", "Print every position of the line, one per line.", columns=("path",)),
        Option("hardest", "Print all positions farthest from the opening.", is_single=True),
        SVG,
    )
    sample_options = (
        Option("distance", "Draw positions that are first reached after N plies.", "N"),
    )
    keyless = ("hardest",)
    key = "POSITION"
    columns = ("position", "plies", "plies_even", "plies_odd", "dice", "moves", "lines")
    explored = {"senet": 4}  # noqa: RUF012  # a class's constants

    def answer_keys(self, keys: pl.Series, options: OptionValues) -> Answers:
        from queries.answer_frames import merge_answers

        answer_singly = super().answer_keys
        if options.get("path") or "turn" in options:
            return answer_singly(keys, options)
        positions = keys.str.to_uppercase().alias("position").to_frame()
        joined = positions.join(self.read_rows(), on="position", how="left", maintain_order="left")
        return merge_answers(
            keys, joined.drop("position"), lambda missing: answer_singly(missing, options)
        )

    def normalize_options(self, options: OptionValues) -> OptionValues:
        if "turn" not in options:
            return options
        text = str(options["turn"])
        side = text.strip().upper()
        if side not in [*SIDES]:
            raise BadRequest(
                f"There is no side {quote(text)}", f"Choose one of: {', '.join(SIDES)}"
            )
        return {**options, "turn": side}

    def list_values(self, option: str) -> tuple[str, ...]:
        return tuple(SIDES) if option == "turn" else ()

    def answer_without_key(self, options: OptionValues) -> Facts:
        return self.find_hardest(options)

    def probe(self, key: str, options: OptionValues) -> SenetFacts:
        if options.get("hardest"):
            raise BadRequest("--hardest needs no key", "Leave out the key")
        position = parse(key)
        record = self.open_index("senet").read_record(rank(position))
        even, odd = (None if record[at] == UNREACHED else record[at] for at in PLIES)
        reached_plies = [plies for plies in (even, odd) if plies is not None]
        if not reached_plies:
            raise PositionUnreachable(position)
        turn = str(options.get("turn", ""))
        plies = (even, odd)[SIDES.index(turn)] if turn else min(reached_plies)
        if plies is None:
            raise PositionUnreachable(position, turn)
        line = self.find_line(position, plies)
        # the index has the number of lines for the fewest plies only
        lines = record[LINES] if plies == min(reached_plies) else None
        facts = SenetFacts(position, (even, odd), line, lines)
        if options.get("path"):
            facts.path = [*(before for _, _, before in line), position]
        return facts

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
