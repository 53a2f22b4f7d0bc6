"""Senet's answers: a shortest line of play, walked backwards by the index's last moves."""

from __future__ import annotations

from queries.answers import Reader, aligned
from queries.forms import SVG, Asked, Facts, Option
from tablebase.errors import BadRequest, NotReached, TableDamaged, quoted
from tablebase.graph import UNREACHED
from tablebase.puzzles.senet import SIDES, exchanged, move_text, parse, rank
from tablebase.tables.mending import mending

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

    from queries.rows import Answers

PLIES = (0, 2)
"""Where a record has the even and the odd plies; the last move follows."""
LINES = 4


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

    def answers(self, keys: pl.Series, asked: Asked) -> Answers:
        from queries.rows import looked_up, matched

        if asked.get("path") or "turn" in asked:
            return looked_up(self, keys, asked)
        positions = keys.str.to_uppercase().alias("position").to_frame()
        found = positions.join(self.rows(), on="position", how="left", maintain_order="left")
        return matched(self, keys, found.drop("position"), asked)

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

    def facts(self, key: str, asked: Asked) -> Facts:
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
                path = self.store.full("senet.idx")
                command = mending("senet", self.store, force=True)
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
