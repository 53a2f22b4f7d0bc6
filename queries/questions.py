"""Questions and answers.

Each option of a question is declared once, by the prober that takes it. Answers have facts as
attributes, as text and as JSON.
"""

from __future__ import annotations

from puzzle_tablebase.errors import BadRequest, make_printable, quote, require_choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from typing import Any, ClassVar, NoReturn, dataclass_transform

    from puzzle_tablebase.puzzles.knight.board import KnightBoard
    from puzzle_tablebase.puzzles.sliding import SlidingBoard

    Parse = Callable[[Any, Any, "Options"], object]
else:  # a single lookup must not import `typing`

    def dataclass_transform(**_):
        """Return a decorator that changes nothing."""
        return lambda decorated: decorated


QUERY, ALL, PROBE, BATCH = "a single key", "all keys", "a probe", "a batch"
SAMPLE, CHECK = "a sample", "a check"
"""The commands that an option applies to."""
KEYLESS, SHEET = "alone", "sheet"
"""The marks of options without a key, and of those of sheets to print."""
BLANK, TILE = "blank", "tile"
"""The pieces whose directions the letters of an answer may be."""
ONE_KEY = (QUERY, PROBE)
ANY_KEYS = (QUERY, PROBE, BATCH)


class Option:
    """An option of some commands; without a metavar it is a flag.

    `parse` gets the value, the prober, and the options declared before this one.
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
    """The parsed options of a question, with defaults for those that are missing."""

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
    """Parse the options of a question, by name; raise a TablebaseError for an invalid one."""
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
    """Return whether any of these options takes no key."""
    return any(option.name in names and KEYLESS in option.verbs for option in options)


def format_flag(name: str) -> str:
    """Format the name of an option for the command line."""
    return f"--{name.replace('_', '-')}"


def parse_positive_number(given: float | str, flag: str, unit: str, example: int) -> float:
    """Return the positive number that an option's value names; `unit` names what it counts."""
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
    """Return the distances of an option: a number or a range.

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


def parse_answer_type(given: object, *_: object) -> str:
    """Return the type of the answers to judge."""
    require_choice(str(given), "type of answers", "moves", "distances")
    return str(given)


ANSWERS = Option(
    "answers", "What the answers are: moves (default) or distances.", "TYPE", parse_answer_type,
    verbs=(CHECK,),
)  # fmt: skip


def parse_mover(given: object, *_: object) -> str:
    """Return the piece whose directions the letters of an answer are."""
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
SVG = Option("svg", "Also draw the answer as an SVG picture.", "FILE")
JSON = Option("json", "Print the answer as one JSON object.")
OUTPUTS = Option(
    "outputs", "Folder with the tables (default: $PIPELINE_OUTPUTS, or outputs).", "DIR"
)
"""With `SVG` and `JSON`, options of the command line that no prober sees."""


# ---- answers ---------------------------------------------------------------------------------

FORMATS = {"csv": "CSV", "jsonl": "JSON", "parquet": "Parquet"}
"""The formats of a batch's answers, with their names in messages."""
INPUT_FORMATS = {
    "text": (".txt",),
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
}
"""The formats of a batch's input, each with its file suffixes."""
COMPRESSED_SUFFIXES = (".gz", ".zst", ".zstd")
"""Suffixes of compressed files, which follow that of a format."""


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Answer:
    """An answer. A subclass declares each fact once, as an attribute with its type.

    The constructor, equality, JSON and the cells of a batch follow the order of the declarations:
    base classes first, but a fact that is declared again has its new position. A fact whose default
    is None is left out of JSON while it is None. The items of a dict are written instead, and
    are attributes too. Attributes that begin with _ are not facts.
    """

    facts: ClassVar[tuple[str, ...]] = ()
    """The names of the facts."""

    def __init_subclass__(cls) -> None:
        bases = [base for base in reversed(cls.__mro__) if base not in Answer.__mro__]
        names = dict[str, None]()
        for name in (name for base in bases for name in base.__annotations__):
            names.pop(name, None)
            names[name] = None
        cls.facts = tuple(name for name in names if name[0] != "_")

    def __init__(self, **values: object) -> None:
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(
            getattr(self, name) == getattr(other, name) for name in self.facts
        )

    def __hash__(self) -> int:
        # lists and dicts have no hash; without them, too, equal answers have equal hashes
        facts = (getattr(self, name) for name in self.facts)
        return hash(tuple(fact for fact in facts if not isinstance(fact, list | dict)))

    def __repr__(self) -> str:
        facts = ", ".join(f"{name}={fact!r}" for name, fact in self._iter_facts())
        return f"{type(self).__name__}({facts})"

    def _iter_facts(self) -> Iterator[tuple[str, object]]:
        """Yield the facts by name, except those that are None by default and None here."""
        for name in self.facts:
            fact = getattr(self, name)
            if fact is not None or not hasattr(type(self), name):
                yield name, fact

    def to_dict(self) -> dict[str, object]:
        """Return the facts by name, as in JSON."""
        values: dict[str, object] = {}
        for name, fact in self._iter_facts():
            values.update(fact if isinstance(fact, dict) else {name: fact})
        return values

    if not TYPE_CHECKING:  # a checker would take every name for a fact

        def __getattr__(self, name):
            """Return an item of a fact that is a dict, such as `manhattan` of the features."""
            for fact in self.facts:
                items = self.__dict__.get(fact)
                if isinstance(items, dict) and name in items:
                    return items[name]
            raise AttributeError(f"{type(self).__name__} has no {name}")

    def to_json(self) -> str:
        """Format the facts as `pipeline query --json` prints them."""
        return format_json(self.to_dict())

    def to_text(self) -> str:
        """Format the answer as text for people: by default its facts, one a line."""
        return align_rows(
            [
                (name.replace("_", " "), str(round(fact, 3) if isinstance(fact, float) else fact))
                for name, fact in self.to_dict().items()
                if fact is not None
            ]
        )

    def to_svg(self) -> str:
        """Draw the answer as an SVG picture, for puzzles whose readers have pictures."""
        raise NotImplementedError

    def _repr_svg_(self) -> str | None:
        """Draw the answer for a notebook; None if it has no picture."""
        try:
            return self.to_svg()
        except (NotImplementedError, BadRequest):
            return None


def format_json(value: object) -> str:
    """Format facts as `json.dumps` does, whose import takes longer than an answer.

    >>> format_json({"state": "123456780", "path": [1, None, True]})
    '{"state": "123456780", "path": [1, null, true]}'
    """
    if isinstance(value, dict):
        items = (f"{format_json(str(key))}: {format_json(item)}" for key, item in value.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(format_json, value))}]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if hasattr(value, "__index__"):  # as NumPy's integers have it too
        return str(value.__index__())
    if isinstance(value, float):
        # JSON has no infinities and no NaN; `repr` of NumPy's floats would add their type
        return float.__repr__(value) if value - value == 0 else "null"
    from _json import encode_basestring_ascii  # what `json` escapes texts with

    return encode_basestring_ascii(str(value))


def align_rows(rows: list[tuple[str, str]]) -> str:
    """Format labelled lines, with the values aligned."""
    width = max(len(label) for label, _ in rows)
    lines = (f"{label:{width}}  {make_printable(value)}" for label, value in rows)
    return "".join(f"{line.rstrip()}\n" for line in lines)


def format_count(count: int, noun: str) -> str:
    """Format a number with its noun, in the plural where needed.

    >>> format_count(1, "move"), format_count(27, "move")
    ('1 move', '27 moves')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


class HardestAnswer(Answer):
    """All keys at the largest depth, in notation order, named as the columns are."""

    goal: str | None = None
    depth: dict[str, int]
    named_keys: dict[str, list[str]]

    @property
    def keys(self) -> list[str]:
        """The states or positions, in notation order."""
        (keys,) = self.named_keys.values()
        return keys

    def to_text(self) -> str:
        rows = [("goal", self.goal)] if self.goal else []
        rows += [(name, str(value)) for name, value in self.depth.items()]
        rows += [(name, f"{len(keys):,}") for name, keys in self.named_keys.items()]
        return "\n".join([align_rows(rows), *map(make_printable, self.keys), ""])

    def to_svg(self) -> NoReturn:
        raise BadRequest("--hardest cannot be combined with --svg", "Leave out one of them")


class Judgement(Answer):
    """The judgement of an answer, as `docs/query.md` explains; facts that do not apply are None."""

    result: str
    length: int | None = None
    shortest: int | None = None
    excess: int | None = None
    first_loss: int | None = None
    step: int | None = None
    problem: str | None = None
    score: float | None
