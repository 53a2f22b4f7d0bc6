"""The knight's reader and its answers: a tour with its squares and jumps, or a count of tours."""

from __future__ import annotations

from queries.facts import Facts, align_rows, format_count, make_bold
from queries.query_options import SVG, Option, OptionValues
from queries.reader import Reader, ignore_progress
from tablebase.errors import (
    BadRequest,
    NoAnswer,
    NoSuchTour,
    NotCounted,
    TableError,
    TableMissing,
)
from tablebase.puzzles.knight.board import KnightBoard, parse_board
from tablebase.puzzles.knight.definition import PUZZLE
from tablebase.puzzles.knight.memory import MAX_RANKED_SIDE, estimate_count_cost
from tablebase.puzzles.knight.tables import (
    MAX_SINGLE_FILE_SQUARES,
    PAIRS_BOARD,
    TOURS_PREFIX,
    explain_no_tour,
    find_listed_board,
    find_ranked_board,
    get_sides,
    make_tour_table,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from queries.knight.count_facts import CountFacts
    from queries.knight.ranked_tours import RankedTours
    from queries.reader import ProgressCallback
    from queries.sampling import SampleRequest
    from tablebase.puzzle import Puzzle, Table
    from tablebase.tables.store import Store

MAX_INT64 = (1 << 63) - 1
"""The highest number that a table can hold."""
TOURS_PER_START = PAIRS_BOARD[0] * PAIRS_BOARD[1] // 2


EXCLUSIVE_OPTIONS = {
    "count": ("to", "number"),
    "number": ("to", "closed"),
    "rank": ("to", "number", "count"),
    "rank_of": ("to", "number", "count", "rank"),
}
"""Options with the options that they cannot be combined with: each selects one tour, or all."""


SAMPLED_BOARD = "6x6"
"""The board of a sample, if no option names one."""
NUMBER_FIELDS = "number", "rank"
"""The names of a tour's number: in a list; among all closed tours, or all open ones of a start."""


class TourFacts(Facts):
    __slots__ = (
        "_on", "board", "start", "finish", *NUMBER_FIELDS, "closed", "path", "jumps", "order"
    )  # fmt: skip

    def __init__(
        self, board: KnightBoard, squares: list[int], number_field: str, number: int
    ) -> None:
        self._on = board
        self.board = str(board)
        self.start, self.finish = board.name_square(squares[0]), board.name_square(squares[-1])
        setattr(self, number_field, number)
        self.closed = squares[-1] in board.list_neighbours(squares[0])
        self.path = "".join(board.name_square(square) for square in squares)
        self.jumps = [*map(board.find_jump, squares, squares[1:])]
        at = {square: move for move, square in enumerate(squares, start=1)}
        self.order = [
            [at[file + board.files * rank] for file in range(board.files)]
            for rank in reversed(range(board.ranks))
        ]

    def to_text(self, options: OptionValues) -> str:
        numbered_as = next(
            f"{field} {getattr(self, field)}" for field in NUMBER_FIELDS if hasattr(self, field)
        )
        rows = [
            ("tour", f"{self.board} from {self.start} to {self.finish}, {numbered_as}"),
            ("closed", "yes" if self.closed else "no"),
            ("squares", " ".join(self.path[at : at + 2] for at in range(0, len(self.path), 2))),
            ("jumps", " ".join(map(str, self.jumps))),
        ]
        # the board from above, rank by rank: each square shows its place in the tour
        lines = [
            f"{make_bold(str(self._on.ranks - row))}{''.join(f'{place:4}' for place in places)}\n"
            for row, places in enumerate(self.order)
        ]
        files = "".join(f"{self._on.name_square(file)[0]:>4}" for file in range(self._on.files))
        return f"{''.join(lines)} {make_bold(files)}\n\n{align_rows(rows)}"

    def to_svg(self) -> str:
        from queries.knight.svg import draw_tour

        return draw_tour(self._on, self.path)


class KnightReader(Reader):
    options = (
        Option("to", "Square where the tour ends.", "SQUARE"),
        Option("closed", "Choose a closed tour: its end is one jump from its start."),
        Option("board", "Board, files x ranks (default: 8x8).", "CxR"),
        Option("number", "Tour N in the list from SQUARE (0-based).", "N"),
        Option(
            "rank",
            "Rank of the tour among all open ones from SQUARE, from 0; with --closed among all "
            "closed ones.",
            "N",
            is_single=True,
        ),
        Option(
            "rank_of",
            "Squares of an open tour (with --closed: a closed one): print its rank.",
            "SQUARES",
            is_single=True,
        ),
        Option(
            "count",
            "Print the number of tours (without SQUARE: from all squares); with --closed only of "
            "closed ones.",
            is_single=True,
        ),
        SVG,
    )
    sample_options = (
        Option(
            "board",
            "Board, files x ranks (default: 6x6; over 36 squares: see precompute --rank-tours).",
            "CxR",
        ),
        Option("closed", "Draw closed tours (see precompute --rank-closed)."),
    )
    key = "SQUARE"
    keyless = ("count", "rank_of")
    columns = ("start", "finish", "number", "closed", "path")
    explored = dict.fromkeys((table.name for table in PUZZLE.tables[:-1]), 0)

    def __init__(self, puzzle: Puzzle, store: Store) -> None:
        super().__init__(puzzle, store)
        self._ranked_tours: dict[tuple[str, bool], RankedTours] = {}

    def normalize_options(self, options: OptionValues) -> OptionValues:
        board = parse_board(str(options.get("board", "8x8")))
        normalized: OptionValues = {**options, "board": str(board)}
        if "to" in options:
            normalized["to"] = board.name_square(board.parse_square(str(options["to"])))
        for name in NUMBER_FIELDS:
            if name in options:
                normalized[name] = str(_parse_number(options[name]))
        for name, others in EXCLUSIVE_OPTIONS.items():
            if options.get(name) and any(options.get(other) for other in others):
                flag, *most, last = (f"--{option.replace('_', '-')}" for option in (name, *others))
                raise BadRequest(f"{flag} cannot be combined with {', '.join(most)} or {last}")
        return normalized

    def probe(self, key: str, options: OptionValues) -> TourFacts | CountFacts:
        board = parse_board(str(options.get("board", "8x8")))
        start = board.parse_square(key)
        closed = bool(options.get("closed"))
        if "rank_of" in options:
            hint = "Write all squares in one pair of quotes"
            raise BadRequest("--rank-of needs no key", hint)
        if "rank" in options:
            rank = _parse_number(options["rank"])
            tours = self.open_ranked_tours(board, closed=closed)
            return TourFacts(board, tours.unrank(rank, start), "rank", rank)
        end = board.parse_square(str(options["to"])) if "to" in options else None
        wanted = _parse_number(options["number"]) if "number" in options else None
        if options.get("count"):
            return self.count_tours(board, start, is_closed=closed)
        if end is not None:
            _require_joinable(board, start, end, closed)
        if (board.files, board.ranks) == PAIRS_BOARD:
            number, squares = self.find_pair_tour(board, start, end, wanted, closed)
        else:
            number, squares = self.find_listed_tour(board, start, end, wanted, closed)
        return TourFacts(board, squares, "number", number)

    def answer_without_key(self, options: OptionValues) -> TourFacts | CountFacts:
        board = parse_board(str(options.get("board", "8x8")))
        if "rank_of" not in options:
            return self.count_tours(board, None, is_closed=bool(options.get("closed")))
        from queries.knight.ranked_tours import parse_tour

        closed = bool(options.get("closed"))
        squares = parse_tour(board, str(options["rank_of"]), closed=closed)
        rank = self.open_ranked_tours(board, closed=closed).rank(squares)
        return TourFacts(board, squares, "rank", rank)

    def open_ranked_tours(self, board: KnightBoard, *, closed: bool) -> RankedTours:
        """Return the ranked tours of a board; their index is opened once."""
        key = str(board), closed
        if key not in self._ranked_tours:
            from queries.knight.ranked_tours import RankedTours

            self._ranked_tours[key] = RankedTours(self, board, closed=closed)
        return self._ranked_tours[key]

    def list_values(self, option: str) -> tuple[str, ...]:
        if option != "board":
            return ()
        from tablebase.tables.manifest import read_manifest

        names = [*read_manifest(self.store)]
        known = [*map(find_listed_board, names), *map(find_ranked_board, names)]
        return tuple(dict.fromkeys(str(board) for board in known if board))

    def find_pair_tour(
        self, board: KnightBoard, start: int, end: int | None, number: int | None, closed: bool
    ) -> tuple[int, list[int]]:
        """Find one of the tours that the table has for each pair of ends; return its number too."""
        if number is not None and number >= TOURS_PER_START:
            raise NoSuchTour(
                str(board),
                f"The table has {TOURS_PER_START} tours of {board} from "
                f"{board.name_square(start)}, one for each end square, "
                f"numbered 0 to {TOURS_PER_START - 1}.",
            )
        name = f"{TOURS_PREFIX}{board}"
        index = self.open_index(name)
        for candidate in range(TOURS_PER_START) if number is None else [number]:
            squares = list(index.read_record(TOURS_PER_START * start + candidate)[0])
            if squares[0] != start or not _is_tour(board, squares):
                raise self.make_damage_error(
                    name, f"tour {candidate} from {board.name_square(start)} is none"
                )
            if end in (None, squares[-1]) and (
                not closed or squares[-1] in board.list_neighbours(start)
            ):
                return candidate, squares
        raise self.make_damage_error(
            name, f"an existing tour from {board.name_square(start)} is missing"
        )

    def find_listed_tour(
        self, board: KnightBoard, start: int, end: int | None, number: int | None, closed: bool
    ) -> tuple[int, list[int]]:
        """Find the first tour with these properties among all tours of a listed board."""
        import polars as pl

        table, name = make_tour_table(board), board.name_square(start)
        conditions = [pl.col("start") == name]
        if number is not None:
            conditions.append(pl.col("number") == number)
        if end is not None:
            conditions.append(pl.col("finish") == board.name_square(end))
        if closed:
            conditions.append(pl.col("closed"))
        for tours in self.scan_files(table, name, number):
            rows = tours.filter(*conditions).select("number", "path").head(1).collect().rows()
            for place, path in rows:
                return place, [
                    board.parse_square(path[at : at + 2]) for at in range(0, len(path), 2)
                ]
        count = sum(
            tours.filter(conditions[0]).select(pl.len()).collect().item()
            for tours in self.scan_files(table, name)
        )
        if not count:
            raise NoSuchTour(str(board), explain_no_tour(board, start))
        if number is not None:
            counted = format_count(count, "tour")
            reason = f"{board} has {counted} from {name}, numbered 0 to {count - 1:,}."
        elif end is not None:
            kind = "closed tour" if closed else "tour"
            reason = f"No {kind} of {board} leads from {name} to {board.name_square(end)}."
        else:
            reason = f"None of the {format_count(count, 'tour')} of {board} from {name} is closed."
        raise NoSuchTour(str(board), reason)

    def count_tours(
        self, board: KnightBoard, start: int | None, *, is_closed: bool = False
    ) -> CountFacts:
        """Return the number of tours from the table of counts; `start` None: from all squares.

        `is_closed`: only of closed tours.
        """
        import polars as pl

        from queries.knight.count_facts import CountFacts

        table = PUZZLE.tables[-1]
        rows = self.scan_table(table).filter(pl.col("board") == str(board))
        if start is not None:
            rows = rows.filter(pl.col("start") == board.name_square(start))
        rows_found = rows.select("tours", "closed").collect().rows()
        if not rows_found:
            row_of = f"{self.store.locate(table.file)}: the row of {board}"
            raise TableMissing(row_of, " or ".join(self.list_count_commands(board)))
        tours, closed = zip(*rows_found, strict=True)
        total = None if None in tours else sum(tours)
        return CountFacts(board, start, total, sum(closed), is_closed=is_closed)

    def list_count_commands(self, board: KnightBoard) -> list[str]:
        """Return the commands that count a board's tours, or only its closed ones.

        NotCounted if no command can count them.
        """
        from tablebase.tables.repair import format_rebuild_command

        stages = (
            []
            if board.squares > MAX_SINGLE_FILE_SQUARES
            else [PUZZLE.catalogue.format_build_arguments(f"{TOURS_PREFIX}{board}")]
        )
        for closed in (False, True) if not stages else ():
            if not closed or board.has_closed_tours():
                try:
                    estimate_count_cost(get_sides(board), closed=closed)
                except BadRequest:
                    continue
                stages.append(f"knight --count {board}{' --closed' * closed}")
        if not stages:
            raise NotCounted(str(board))
        return [*filter(None, (format_rebuild_command(stage, self.store) for stage in stages))]

    def count_listed_rows(self, table: Table) -> int | None:
        board = find_listed_board(table.name)
        try:
            return self.count_tours(board, None).tours if board else None
        except (NoAnswer, TableError):
            return None

    def draw_samples(
        self,
        options: OptionValues,
        request: SampleRequest,
        on_progress: ProgressCallback = ignore_progress,
    ) -> Iterator[pl.DataFrame]:
        import polars as pl

        from queries.knight.sampling import sample_by_rank, sample_list

        request = request.check()
        board = parse_board(str(options.get("board", SAMPLED_BOARD)))
        closed = bool(options.get("closed"))
        if not closed and not board.has_tours():
            raise NoSuchTour(str(board), explain_no_tour(board, None))
        if not closed and min(get_sides(board)) > MAX_RANKED_SIDE:
            hint = "Add --closed" if board.has_closed_tours() else "Choose a smaller --board"
            raise BadRequest(f"{board} has too many open tours to draw from", hint)
        if closed or board.squares > MAX_SINGLE_FILE_SQUARES:
            tours = self.open_ranked_tours(board, closed=closed)
            for numbers in request.draw_numbers(sum(tours.count_tours_by_start()), "tour"):
                yield sample_by_rank(tours, numbers, on_progress)
            return
        rows = self.scan_table(make_tour_table(board))
        total = rows.select(pl.len()).collect().item()
        for numbers in request.draw_numbers(total, "tour"):
            yield sample_list(rows, total, numbers)

    def make_signposts(self, table: Table) -> bytes:
        from queries.knight.explorer_data import make_signposts

        return make_signposts(self.store, self.puzzle.name, table)


def _is_tour(board: KnightBoard, squares: list[int]) -> bool:
    from itertools import pairwise

    return len({*squares}) == board.squares and all(
        after in board.list_neighbours(here) for here, after in pairwise(squares)
    )


def _parse_number(given: str | bool) -> int:
    text = str(given).strip()
    if not text.isascii() or not text.isdigit():
        from tablebase.errors import NotationError

        raise NotationError("a tour's number", text, "it must be a whole number from 0", "12345")
    return min(int(text.lstrip("0")[:20] or "0"), MAX_INT64)  # no board has more


def _require_joinable(board: KnightBoard, start: int, end: int, closed: bool) -> None:
    """Raise NoSuchTour if the two squares alone rule out a tour between them."""
    names = f"{board.name_square(start)} to {board.name_square(end)}"
    if start == end and board.squares > 1:
        raise NoSuchTour(
            str(board), f"A tour visits {board.name_square(start)} only once: it cannot end there."
        )
    if not board.can_join(start, end):
        colour = "the colour of its start" if board.squares % 2 else "the other colour"
        why = f"No tour leads from {names}: a tour of {board} ends on {colour}."
        raise NoSuchTour(str(board), why)
    if closed and end not in board.list_neighbours(start):
        why = f"No closed tour leads from {names}: they are not a knight's move apart."
        raise NoSuchTour(str(board), why)
