"""Senet's answers: a shortest line of play, walked backwards by the index's last moves."""

from __future__ import annotations

import os

from pipeline.errors import NotReached, TableDamaged
from pipeline.graph import UNREACHED
from pipeline.puzzles.senet import SIDES, exchanged, move_text, parse, rank
from pipeline.tables.mending import mending
from queries.answers import Reader, aligned
from queries.forms import Asked, Facts, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

    from queries.rows import Answers

PLIES = (0, 2)
"""Where a record has the even and the odd plies; the last move follows."""
LINES = 4


class SenetReader(Reader):
    options = (Option("path", "Every position on the way, one a line.", columns=("path",)),)
    key = "POSITION"
    columns = ("position", "plies", "plies_even", "plies_odd", "dice", "moves", "lines")

    def answers(self, keys: pl.Series, asked: Asked) -> Answers:
        from queries.rows import looked_up, matched

        if asked.get("path"):
            return looked_up(self, keys, asked)
        found = (
            keys.alias("position")
            .to_frame()
            .join(self.rows(), on="position", how="left", maintain_order="left")
        )
        return matched(self, keys, found.drop("position"), asked)

    def facts(self, key: str, asked: Asked) -> Facts:
        position = parse(key)
        record = self.index("senet").record(rank(position))
        even, odd = (None if record[at] == UNREACHED else record[at] for at in PLIES)
        known = [plies for plies in (even, odd) if plies is not None]
        if not known:
            raise NotReached(position)
        plies = min(known)
        line = self.line(position, plies)
        facts: Facts = {
            "position": position,
            "plies": plies,
            "plies_even": even,
            "plies_odd": odd,
            "dice": "".join(str(throw) for throw, _, _ in line),
            "moves": " ".join(move_text(before, throw, start) for throw, start, before in line),
            "lines": record[LINES],
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
            ("lines", f"{facts['lines']:,} of that length"),
        ]
        later = facts["plies_odd"] if plies % 2 == 0 else facts["plies_even"]
        other = SIDES[(plies + 1) % 2]
        if later is None:
            rows.append((f"{other} to move", "never"))
        else:
            # never 1: only the opening has fewer, and no move leads back to it
            rows.append((f"{other} to move", f"after {later} plies"))
        squares = "".join(f"{square:3}" for square in range(1, 16))
        pieces = "".join(f"{piece:>3}" for piece in str(facts["position"]))
        return f"{pieces}\n{squares}\n\n{aligned([row for row in rows if row[1]])}"
