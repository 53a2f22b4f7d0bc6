"""Options of questions: each is declared once, by the prober that takes it, and parsed once."""

from __future__ import annotations

from puzzle_tablebase.errors import BadRequest, quote, require_choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from typing import Any

    from puzzle_tablebase.puzzles.knight.board import KnightBoard
    from puzzle_tablebase.puzzles.sliding import SlidingBoard

    Parse = Callable[[Any, Any, "Options"], object]

QUERY, ALL, PROBE, BATCH = "a single key", "all keys", "a probe", "a batch"
SAMPLE, CHECK = "a sample", "a check"
"""The commands that an option applies to."""
ALONE, SHEET = "alone", "sheet"
"""The marks of options that are asked without a key, and of those of sheets to print."""
BLANK, TILE = "blank", "tile"
"""The pieces whose directions the letters of an answer may be."""
ONE_KEY = (QUERY, PROBE)
ANY_KEYS = (QUERY, PROBE, BATCH)


class Option:
    """An option of some verbs; without a metavar it is a flag, true or false by its truth.

    `parse` gets the value, the prober, and the options that are declared before.
    """

    __slots__ = ("excludes", "help", "metavar", "name", "parse", "verbs")

    def __init__(
        self,
        name: str,
        help: str,
        metavar: str = "",
        parse: Parse | None = None,
        excludes: tuple[str, ...] = (),
        verbs: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.help = help
        self.metavar = metavar
        self.parse = parse
        self.excludes = excludes
        self.verbs = verbs

    @property
    def flag(self) -> str:
        return format_flag(self.name)


class Options:
    """The parsed options of a question: those not given, or of another puzzle, as here."""

    goal: str | None = None
    path: bool = False
    boards: bool = False
    solutions: bool = False
    solution: bool = False
    hardest: bool = False
    features: bool = False
    time_limit: float | None = None
    patterns: str | None = None
    turn: str | None = None
    board: KnightBoard | SlidingBoard | None = None
    to: int | None = None
    closed: bool = False
    number: int | None = None
    rank: int | None = None
    rank_of: str = ""
    count: bool = False
    answers: str = "moves"
    moves_of: str = BLANK
    distance: range | None = None
    spread: bool = False
    split: dict[str, int] | None = None
    both_goals: bool = False
    solve: bool = False
    sheet: str | None = None

    def __init__(self, verb: str, values: Mapping[str, object]) -> None:
        self.verb = verb
        self.__dict__.update(values)

    def replace(self, **values: object) -> Options:
        """Return the options with other values."""
        return Options(self.verb, {**self.__dict__, **values})


def parse_options(prober: Any, verb: str, given: Mapping[str, Any]) -> Options:
    """Check and parse the options of a question, by name; a TablebaseError if one is wrong."""
    declared = {option.name: option for option in prober.options if verb in option.verbs}
    flags = {option.name for option in prober.options if not option.metavar}
    names = [
        name for name, value in given.items() if value is not None and (value or name not in flags)
    ]
    # in their own order, so that messages do not depend on that given
    for option in prober.options:
        other = next((other for other in option.excludes if other in names), "")
        if option.name in names and other:
            problem = f"{option.flag} cannot be combined with {format_flag(other)}"
            raise BadRequest(problem, "Leave out one of them")
    if verb == ALL and not is_keyless(prober.options, names):
        raise BadRequest(f"A {prober.key} is needed", f"Example: {prober.puzzle.example}")
    for name in names:
        if name not in declared:
            hint = f"Choose from: {', '.join(declared)}" if declared else "It has none"
            problem = f"{prober.puzzle.title} has no option {quote(name)} for {verb}"
            if verb == QUERY and any(name == option.name for option in prober.options):
                problem, hint = f"{format_flag(name)} takes no {prober.key.lower()}", "Leave it out"
            raise BadRequest(problem, hint)
    values = dict[str, object]()
    for option in prober.options:
        if option.name in names:
            value: object = True
            if option.metavar:
                parse, value = option.parse, given[option.name]
                value = parse(value, prober, Options(verb, values)) if parse else value
            values[option.name] = value
    return Options(verb, values)


def is_keyless(options: Iterable[Option], names: Collection[str]) -> bool:
    """Return whether any of these names is that of an option without a key."""
    return any(option.name in names and ALONE in option.verbs for option in options)


def format_flag(name: str) -> str:
    """Format the name of an option as it is written on a command line."""
    return f"--{name.replace('_', '-')}"


def parse_positive_number(given: float | str, flag: str, unit: str, example: int) -> float:
    """Return the number above 0 that an option's value names; `unit` is what it counts."""
    text = str(given)
    try:  # `float` accepts the digits of every script, and underscores between them
        number = float(given) if text.isascii() and "_" not in text else 0.0
    except (ValueError, TypeError, OverflowError):
        number = 0.0
    if not 0 < number < float("inf"):
        problem = f"{flag} needs a number of {unit} above 0, not {quote(text)}"
        raise BadRequest(problem, f"Example: {flag} {example}")
    return number


def parse_distances(given: object, *_: object) -> range:
    """Return the distances that an option gives as a number or a range.

    >>> parse_distances(6), parse_distances("5-10")
    (range(6, 7), range(5, 11))
    """
    first, dash, last = str(given).partition("-")
    ends = [first, last if dash else first]
    is_valid = all(end.isascii() and end.isdigit() and len(end) < 10 for end in ends)
    distances = range(int(ends[0]), int(ends[1]) + 1) if is_valid else None
    if not distances:
        problem = f"--distance needs a whole number or a range, not {quote(str(given))}"
        raise BadRequest(problem, "Example: --distance 6, or 5-25")
    return distances


def parse_split(given: object, *_: object) -> dict[str, int]:
    """Return the number of rows of each part.

    >>> parse_split("train=1000,test=100")
    {'train': 1000, 'test': 100}
    """
    parts = [part.partition("=") for part in str(given).replace(" ", "").split(",")]
    sizes = {
        name: int(size)
        for name, _, size in parts
        if name and size.isascii() and size.isdigit() and len(size) <= 10
    }
    if len(sizes) < len(parts) or not all(sizes.values()):
        problem = f"--split needs different names with numbers of rows, not {quote(str(given))}"
        raise BadRequest(problem, "Example: train=10000,test=1000")
    return sizes


def parse_answer_kind(given: object, *_: object) -> str:
    """Return what the answers to be judged are."""
    require_choice(str(given), "kind of answers", "moves", "distances")
    return str(given)


ANSWERS = Option(
    "answers", "What the answers are: moves (default) or distances.", "KIND", parse_answer_kind,
    verbs=(CHECK,),
)  # fmt: skip


def parse_mover(given: object, *_: object) -> str:
    """Return whose directions the letters of an answer are."""
    require_choice(str(given), "piece that moves", BLANK, TILE)
    return str(given)


MOVES_OF = Option(
    "moves_of", "Whose directions the letters are: blank (default) or tile.", "PIECE", parse_mover,
    verbs=(CHECK,),
)  # fmt: skip
DISTANCE = Option(
    "distance", "Draw states at this distance, or in this range.", "N[-M]", parse_distances,
    verbs=(SAMPLE,),
)  # fmt: skip
STRATIFIED = Option(
    "spread", "Stratify the sample: equally many of each distance of the range.", verbs=(SAMPLE,)
)
SPLIT = Option(
    "split", "Divide the sample into parts; mirror images stay together.", "NAME=ROWS,...",
    parse_split, verbs=(SAMPLE,),
)  # fmt: skip
FEATURE_NAMES = ("manhattan", "misplaced", "linear_conflict")
FEATURES = Option(
    "features", "Add manhattan, misplaced and linear_conflict.", verbs=(BATCH, SAMPLE)
)
"""Lower bounds of the distance of a board, as columns."""
BOTH_GOALS = Option(
    "both_goals", "With --split, draw boards of both goals.", excludes=("goal",),
    verbs=(SAMPLE,),
)  # fmt: skip
SHEETS = Option(
    "sheet", "Write a page to print: boards, and answers on the last page.", "FILE",
    verbs=(SHEET,),
)  # fmt: skip
