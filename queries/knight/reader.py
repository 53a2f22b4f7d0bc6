"""The knight's answers: a tour as a numbered board, its squares and its jumps; counts of tours."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise

from queries.facts import Facts, aligned, counted, heading
from queries.query_options import SVG, Asked, Option
from queries.reader import Reader, unheard
from tablebase.errors import (
    BadRequest,
    NoAnswer,
    NoSuchTour,
    NotCounted,
    TableError,
    TableMissing,
    required_whole,
)
from tablebase.puzzles.knight.board import Board, parse_board
from tablebase.puzzles.knight.count_recipe import WIDEST, counting
from tablebase.puzzles.knight.definition import (
    LISTABLE,
    PAIRS_BOARD,
    PUZZLE,
    TOURS,
    listed_board,
    listed_table,
    no_tour,
    numbered_board,
    sides,
)
from tablebase.tables.repair import mending

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from queries.knight.ranked_tours import NumberedTours
    from queries.reader import Told
    from tablebase.puzzle import Puzzle, Table
    from tablebase.tables.store import Store

MOST = (1 << 63) - 1
"""The highest number that a table can hold."""
PER_START = PAIRS_BOARD[0] * PAIRS_BOARD[1] // 2


APART = {
    "count": ("to", "number", "closed"),
    "number": ("to", "closed"),
    "cycle": ("to", "number", "count"),
    "cycle_of": ("to", "number", "count", "cycle"),
    "tour": ("to", "closed", "number", "count", "cycle", "cycle_of"),
    "tour_of": ("to", "closed", "number", "count", "cycle", "cycle_of", "tour"),
}
"""Options with those that they cannot be combined with: each names one tour, or all of them."""


MAX_DISTINCT = 10_000_000
"""Tours in a sample without replacement: their numbers are in memory together, and up to fifty
times as many where that many are drawn from."""
COUNTED_AS = "number", "cycle", "tour"
"""What a tour's number is called: in a list, among closed tours, or among open ones."""


class TourFacts(Facts):
    __slots__ = (
        "_on", "board", "start", "finish", *COUNTED_AS, "closed", "path", "jumps", "order"
    )  # fmt: skip

    def __init__(self, board: Board, squares: list[int], counted_as: str, number: int) -> None:
        self._on = board
        self.board = str(board)
        self.start, self.finish = board.name(squares[0]), board.name(squares[-1])
        setattr(self, counted_as, number)
        self.closed = squares[-1] in board.neighbours(squares[0])
        self.path = "".join(board.name(square) for square in squares)
        self.jumps = [board.jump(a, b) for a, b in pairwise(squares)]
        at = {square: move for move, square in enumerate(squares, start=1)}
        self.order = [
            [at[file + board.files * rank] for file in range(board.files)]
            for rank in reversed(range(board.ranks))
        ]

    def words(self, asked: Asked) -> str:
        which = next(f"{of} {getattr(self, of)}" for of in COUNTED_AS if hasattr(self, of))
        rows = [
            ("tour", f"{self.board} from {self.start} to {self.finish}, {which}"),
            ("closed", "yes" if self.closed else "no"),
            ("squares", " ".join(self.path[at : at + 2] for at in range(0, len(self.path), 2))),
            ("jumps", " ".join(map(str, self.jumps))),
        ]
        # the board from above, rank by rank, each square with its place in the tour
        lines = [
            f"{heading(str(self._on.ranks - row))}{''.join(f'{place:4}' for place in places)}\n"
            for row, places in enumerate(self.order)
        ]
        files = "".join(f"{self._on.name(file)[0]:>4}" for file in range(self._on.files))
        return f"{''.join(lines)} {heading(files)}\n\n{aligned(rows)}"

    def drawn(self) -> str:
        from queries.knight.svg import tour_svg

        return tour_svg(self._on, self.path)


class CountFacts(Facts):
    """How many tours begin at a square, or at all of them, and how many of those are closed."""

    __slots__ = ("_on", "board", "start", "tours", "closed")

    def __init__(self, board: Board, start: int | None, tours: int | None, closed: int) -> None:
        self._on = board
        self.board = str(board)
        if start is not None:
            self.start = board.name(start)
        self.tours = tours
        self.closed = closed

    def words(self, asked: Asked) -> str:
        tours = "not counted, only closed ones" if self.tours is None else f"{self.tours:,}"
        rows = [("tours", tours), ("closed", f"{self.closed:,}")]
        start = getattr(self, "start", None)
        if self.tours == 0:
            square = None if start is None else self._on.number(start)
            rows.append(("why", no_tour(self._on, square)))
        begun = start or "all squares"
        return f"{self.board} from {begun}, directed open tours\n\n{aligned(rows)}"

    def drawn(self) -> str:
        raise BadRequest("There is no picture of --count", "Leave out --count or --svg")


class KnightReader(Reader):
    options = (
        Option("to", "Square where the tour ends.", "SQUARE"),
        Option("closed", "Choose a closed tour: its end is one jump from its start."),
        Option("board", "Board, files x ranks (default: 8x8).", "CxR"),
        Option("number", "Number of the tour among those from its start, from 0.", "N"),
        Option("cycle", "Number of a closed tour among all of the board, from 0.", "N", lone=True),
        Option("cycle_of", "Squares of a closed tour: print its number.", "SQUARES", lone=True),
        Option("tour", "Number of an open tour among all from SQUARE, from 0.", "N", lone=True),
        Option("tour_of", "Squares of an open tour: print its number.", "SQUARES", lone=True),
        Option("count", "Print the number of tours (without SQUARE: from all squares).", lone=True),
        SVG,
    )
    key = "SQUARE"
    keyless = ("count", "cycle_of", "tour_of")
    columns = ("start", "finish", "number", "closed", "path")
    explored = dict.fromkeys((table.name for table in PUZZLE.tables[:-1]), 0)

    def __init__(self, asked_of: Puzzle, store: Store) -> None:
        super().__init__(asked_of, store)
        self._numbered: dict[tuple[str, bool], NumberedTours] = {}

    def checked(self, asked: Asked) -> Asked:
        board = parse_board(str(asked.get("board", "8x8")))
        found: Asked = {**asked, "board": str(board)}
        if "to" in asked:
            found["to"] = board.name(board.number(str(asked["to"])))
        for name in COUNTED_AS:
            if name in asked:
                found[name] = str(_number(asked[name]))
        for name, others in APART.items():
            if asked.get(name) and any(asked.get(other) for other in others):
                flag, *most, last = (f"--{of.replace('_', '-')}" for of in (name, *others))
                raise BadRequest(f"{flag} cannot be combined with {', '.join(most)} or {last}")
        return found

    def facts(self, key: str, asked: Asked) -> TourFacts | CountFacts:
        board = parse_board(str(asked.get("board", "8x8")))
        start = board.number(key)
        for kind in ("cycle", "tour"):
            if f"{kind}_of" in asked:
                hint = "Write all squares in one pair of quotes"
                raise BadRequest(f"--{kind}-of needs no key", hint)
            if kind in asked:
                number = _number(asked[kind])
                tours = self.numbered(board, closed=kind == "cycle")
                return TourFacts(board, tours.squares(number, start), kind, number)
        end = board.number(str(asked["to"])) if "to" in asked else None
        wanted = _number(asked["number"]) if "number" in asked else None
        closed = bool(asked.get("closed"))
        if asked.get("count"):
            return self.count(board, start)
        if end is not None:
            _require_joinable(board, start, end, closed)
        if (board.files, board.ranks) == PAIRS_BOARD:
            number, squares = self.paired(board, start, end, wanted, closed)
        else:
            number, squares = self.listed(board, start, end, wanted, closed)
        return TourFacts(board, squares, "number", number)

    def facts_of_all(self, asked: Asked) -> TourFacts | CountFacts:
        board = parse_board(str(asked.get("board", "8x8")))
        kind = next((kind for kind in ("cycle", "tour") if f"{kind}_of" in asked), None)
        if not kind:
            return self.count(board, None)
        from queries.knight.ranked_tours import parse_tour

        closed = kind == "cycle"
        squares = parse_tour(board, str(asked[f"{kind}_of"]), closed=closed)
        return TourFacts(board, squares, kind, self.numbered(board, closed=closed).number(squares))

    def numbered(self, board: Board, *, closed: bool) -> NumberedTours:
        """The tours of a board by number."""
        of = str(board), closed
        if of not in self._numbered:
            from queries.knight.ranked_tours import NumberedTours

            self._numbered[of] = NumberedTours(self, board, closed=closed)
        return self._numbered[of]

    def values(self, option: str) -> tuple[str, ...]:
        if option != "board":
            return ()
        from tablebase.tables.manifest import read_manifest

        names = [*read_manifest(self.store)]
        known = [*map(listed_board, names), *map(numbered_board, names)]
        return tuple(dict.fromkeys(str(board) for board in known if board))

    def paired(
        self, board: Board, start: int, end: int | None, number: int | None, closed: bool
    ) -> tuple[int, list[int]]:
        """One of the tours that stand for a pair of ends, from the index."""
        if number is not None and number >= PER_START:
            raise NoSuchTour(
                str(board),
                f"The table has {PER_START} tours of {board} from {board.name(start)}, one for "
                f"each end square, numbered 0 to {PER_START - 1}.",
            )
        name = f"{TOURS}{board}"
        index = self.index(name)
        for candidate in range(PER_START) if number is None else [number]:
            squares = list(index.record(PER_START * start + candidate)[0])
            if squares[0] != start or not _is_tour(board, squares):
                raise self.damaged(name, f"tour {candidate} from {board.name(start)} is none")
            if end in (None, squares[-1]) and (
                not closed or squares[-1] in board.neighbours(start)
            ):
                return candidate, squares
        raise self.damaged(name, f"an existing tour from {board.name(start)} is missing")

    def listed(
        self, board: Board, start: int, end: int | None, number: int | None, closed: bool
    ) -> tuple[int, list[int]]:
        """The first tour asked for among all tours of a small board."""
        import polars as pl

        table, name = listed_table(board), board.name(start)
        asked = [pl.col("start") == name]
        if number is not None:
            asked.append(pl.col("number") == number)
        if end is not None:
            asked.append(pl.col("finish") == board.name(end))
        if closed:
            asked.append(pl.col("closed"))
        for tours in self.scans(table, name, number):
            found = tours.filter(*asked).select("number", "path").head(1).collect().rows()
            for place, path in found:
                return place, [board.number(path[at : at + 2]) for at in range(0, len(path), 2)]
        count = sum(
            tours.filter(asked[0]).select(pl.len()).collect().item()
            for tours in self.scans(table, name)
        )
        if not count:
            raise NoSuchTour(str(board), no_tour(board, start))
        if number is not None:
            why = f"{board} has {counted(count, 'tour')} from {name}, numbered 0 to {count - 1:,}."
        elif end is not None:
            kind = "closed tour" if closed else "tour"
            why = f"No {kind} of {board} leads from {name} to {board.name(end)}."
        else:
            why = f"None of the {counted(count, 'tour')} of {board} from {name} is closed."
        raise NoSuchTour(str(board), why)

    def count(self, board: Board, start: int | None) -> CountFacts:
        """From the table of counts."""
        import polars as pl

        table = PUZZLE.tables[-1]
        rows = self.scanned(table).filter(pl.col("board") == str(board))
        if start is not None:
            rows = rows.filter(pl.col("start") == board.name(start))
        found = rows.select("tours", "closed").collect().rows()
        if not found:
            row_of = f"{self.store.full(table.file)}: the row of {board}"
            raise TableMissing(row_of, " or ".join(self.counting_commands(board)))
        tours, closed = zip(*found, strict=True)
        return CountFacts(board, start, None if None in tours else sum(tours), sum(closed))

    def counting_commands(self, board: Board) -> list[str]:
        """The commands that count a board's tours, or closed ones alone; NotCounted where none
        does."""
        stages = [] if board.squares > LISTABLE else [PUZZLE.stage(f"{TOURS}{board}")]
        for closed in (False, True) if not stages else ():
            if not closed or board.has_closed_tours():
                with suppress(BadRequest):
                    counting(sides(board), closed=closed)
                    stages.append(f"knight --count {board}{' --closed' * closed}")
        if not stages:
            raise NotCounted(str(board))
        return [*filter(None, (mending(stage, self.store) for stage in stages))]

    def listed_rows(self, table: Table) -> int | None:
        board = listed_board(table.name)
        try:
            return self.count(board, None).tours if board else None
        except (NoAnswer, TableError):
            return None

    def samples(
        self, asked: Asked, size: int, seed: int, *, replacement: bool, told: Told = unheard
    ) -> Iterator[pl.DataFrame]:
        import polars as pl

        from queries.knight.sampling import numbers, of_list, of_numbers

        if replacement:
            size = required_whole(size, "The size of a sample", 1)
        else:
            size = required_whole(size, "The size of a distinct sample", 1, MAX_DISTINCT)
        seed = required_whole(seed, "A seed", 0)
        board, closed = parse_board(str(asked.get("board", "8x8"))), bool(asked.get("closed"))
        if not closed and not board.has_tours():
            raise NoSuchTour(str(board), no_tour(board, None))
        if not closed and min(sides(board)) > WIDEST:
            hint = "Add --closed" if board.has_closed_tours() else "Choose a smaller --board"
            raise BadRequest(f"{board} has too many open tours to draw from", hint)
        if closed or board.squares > LISTABLE:
            tours = self.numbered(board, closed=closed)
            for chosen in numbers(sum(tours.totals()), size, seed, replacement=replacement):
                yield of_numbers(tours, chosen, told)
            return
        rows = self.scanned(listed_table(board))
        total = rows.select(pl.len()).collect().item()
        for chosen in numbers(total, size, seed, replacement=replacement):
            yield of_list(rows, total, chosen)

    def signposts(self, table: Table) -> bytes:
        from queries.knight.explorer_data import signposts

        return signposts(self.store, self.puzzle.name, table)


def _is_tour(board: Board, squares: list[int]) -> bool:
    return len({*squares}) == board.squares and all(
        after in board.neighbours(here) for here, after in pairwise(squares)
    )


def _number(given: str | bool) -> int:
    text = str(given).strip()
    if not text.isascii() or not text.isdigit():
        from tablebase.errors import NotationError

        raise NotationError("a tour's number", text, "it must be a whole number from 0", "12345")
    return min(int(text.lstrip("0")[:20] or "0"), MOST)  # no board has more


def _require_joinable(board: Board, start: int, end: int, closed: bool) -> None:
    """NoSuchTour where the squares alone rule out a tour between them."""
    names = f"{board.name(start)} to {board.name(end)}"
    if start == end and board.squares > 1:
        raise NoSuchTour(
            str(board), f"A tour visits {board.name(start)} only once: it cannot end there."
        )
    if not board.can_join(start, end):
        colour = "the colour of its start" if board.squares % 2 else "the other colour"
        why = f"No tour leads from {names}: a tour of {board} ends on {colour}."
        raise NoSuchTour(str(board), why)
    if closed and end not in board.neighbours(start):
        why = f"No closed tour leads from {names}: they are not a knight's move apart."
        raise NoSuchTour(str(board), why)
