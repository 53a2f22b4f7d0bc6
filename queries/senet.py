"""Senet's answers: a shortest line of play, walked backwards by the index's last moves."""

from __future__ import annotations

import os

from pipeline.errors import BadRequest, NotReached, TableDamaged, quoted
from pipeline.graph import UNREACHED
from pipeline.puzzles.senet import SIDES, exchanged, move_text, parse, rank
from pipeline.tables.mending import mending
from queries.answers import Reader, aligned
from queries.forms import PATH, SVG, Asked, Facts, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

    from queries.rows import Answers

PLIES = (0, 2)
"""Where a record has the even and the odd plies; the last move follows."""
LINES = 4


class SenetReader(Reader):
    _rows: pl.DataFrame | None = None
    options = (
        Option("turn", "The line after which it is this side's turn (else the shorter).", "A|B"),
        PATH,
        SVG,
    )
    key = "POSITION"
    columns = ("position", "plies", "plies_even", "plies_odd", "dice", "moves", "lines")

    def answers(self, keys: pl.Series, asked: Asked) -> Answers:
        if "turn" in asked:
            return super().answers(keys, asked)
        from queries.rows import matched

        positions = keys.str.to_uppercase().alias("position")
        found = positions.to_frame().join(
            self.rows(), on="position", how="left", maintain_order="left"
        )
        known = found["plies"].is_not_null()
        # a key without an answer is told as it was given
        return matched(self, positions.zip_with(known, keys), found.drop("position"))

    def values(self, option: str) -> tuple[str, ...]:
        return tuple(SIDES) if option == "turn" else ()

    def rows(self) -> pl.DataFrame:
        """The whole table, read once."""
        if self._rows is None:
            import polars as pl

            from queries.published import published

            self._rows = pl.read_parquet(published(self.folder, "senet", self.table))
        return self._rows

    def facts(self, key: str, asked: Asked) -> Facts:
        position = parse(key)
        record = self.index("senet").record(rank(position))
        even, odd = (None if record[at] == UNREACHED else record[at] for at in PLIES)
        known = [plies for plies in (even, odd) if plies is not None]
        if not known:
            raise NotReached(position)
        plies = (even, odd)[_side(asked["turn"])] if "turn" in asked else min(known)
        if plies is None:
            raise NotReached(position, SIDES[_side(asked["turn"])])
        line = self.line(position, plies)
        facts: Facts = {
            "position": position,
            "plies": plies,
            "plies_even": even,
            "plies_odd": odd,
            "dice": "".join(str(throw) for throw, _, _ in line),
            "moves": " ".join(move_text(before, throw, start) for throw, start, before in line),
            # the index counts the shortest lines alone
            "lines": record[LINES] if plies == min(known) else None,
        }
        if asked.get("path"):
            facts["path"] = [*(before for _, _, before in line), position]
        return facts

    def line(self, position: str, plies: int) -> list[tuple[int, int, str]]:
        """The smallest shortest line: throw, starting square, and position before each move."""
        line = []
        for ply in range(plies, 0, -1):
            record = self.index("senet").record(rank(position))
            throw, start = divmod(record[PLIES[ply % 2] + 1], 16)
            mover = SIDES[(ply - 1) % 2]
            if (
                record[PLIES[ply % 2]] != ply
                or position[start + throw - 1 : start + throw] != mover
            ):
                path = os.path.join(self.folder, "senet.idx")
                command = mending("senet", self.folder, force=True)
                raise TableDamaged(path, f"no line leads to {position}", command)
            position = exchanged(position, start, start + throw)
            line.append((throw, start, position))
        return line[::-1]

    def drawn(self, facts: Facts) -> str:
        from queries.drawings import line_svg

        return line_svg(facts)

    def words(self, facts: Facts, asked: Asked) -> str:
        path = facts.get("path")
        if isinstance(path, list):
            return "".join(f"{position}\n" for position in path)
        plies = int(str(facts["plies"]))
        moves = str(facts["moves"]).split()
        said = ", ".join(f"{SIDES[ply % 2]} {move}" for ply, move in enumerate(moves))
        rows = [
            ("plies", f"{plies} ({SIDES[plies % 2]} to move)"),
            ("dice", " ".join(str(facts["dice"])) or "none: this is the opening"),
            ("moves", said),
            ("lines", f"{facts['lines']:,} of that length" if facts["lines"] else ""),
        ]
        later = facts["plies_odd"] if plies % 2 == 0 else facts["plies_even"]
        other = SIDES[(plies + 1) % 2]
        if later is None:
            rows.append((f"{other} to move", "never"))
        else:
            rows.append((f"{other} to move", f"after {later} {'ply' if later == 1 else 'plies'}"))
        squares = "".join(f"{square:3}" for square in range(1, 16))
        pieces = "".join(f"{piece:>3}" for piece in str(facts["position"]))
        return f"{pieces}\n{squares}\n\n{aligned([row for row in rows if row[1]])}"


def _side(given: str | bool) -> int:
    """Which of the sides was named."""
    side = str(given).strip().upper()
    if side not in [*SIDES]:
        raise BadRequest(f"There is no side {quoted(str(given))}", f"One of: {', '.join(SIDES)}")
    return SIDES.index(side)
