"""The readers' methods: one means one thing in all of them, and answers are plain values."""

import ast
import inspect
import pickle
import re
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from textwrap import dedent
from typing import Any, assert_type

import polars as pl
import pytest

import puzzle_tablebase as pt
from puzzle_tablebase import queries
from puzzle_tablebase.errors import BadRequest, TablebaseError, Undecided
from puzzle_tablebase.queries.prober import PROBERS, open_prober
from puzzle_tablebase.queries.questions import HardestAnswer
from puzzle_tablebase.queries.senet import SenetProber
from puzzle_tablebase.queries.tables import Tables
from puzzle_tablebase.stores import Folder
from tests.support.querying import query_many, query_one
from tests.support.shell import ROOT

NAMES = ("eight", "sliding", "fifteen", "senet", "knight")
SOLVED = "123456789abcdef0"
MOVED = "123456789abcde0f"
KEYS = {
    "eight": "378546201", "sliding": "402135", "fifteen": MOVED, "senet": "ABAAABBB.B...A.",
    "knight": "b1",
}  # fmt: skip
"""A key of each reader that has an answer."""
NO_KEYS = {
    "eight": ("213456780", {"goal": "corner"}), "sliding": ("213450", {}),
    "fifteen": ("213456789abcdef0", {}), "senet": ("BBBBBAAAAA.....", {}),
    "knight": ("b1", {"board": "5x5"}),
}  # fmt: skip
"""A key without an answer, with options."""
RICH: dict[str, dict[str, Any]] = {
    "eight": {"solution": True, "path": True}, "sliding": {"solution": True},
    "fifteen": {"path": True}, "senet": {"turn": "B", "path": True}, "knight": {"to": "a3"},
}  # fmt: skip
"""Options by name that add facts to the record's, or choose another one."""
ROWS = {
    "eight": "eight_edge", "sliding": "sliding_2x3_6", "senet": "senet",
    "knight": "knight_tours_5x5",
}  # fmt: skip
MAX_METHODS = 15
"""The most public methods of a reader: more of them than a program's author can look over."""
GetReader = Callable[[str], Any]


@pytest.fixture(scope="module")
def get(outputs: Path, request: pytest.FixtureRequest) -> GetReader:
    """Return a function that opens the tables of a puzzle once, where they are."""

    @cache
    def open_reader(name: str) -> Any:
        if name == "sliding":
            return pt.open_tables(str(request.getfixturevalue("small_boards"))).sliding("2x3")
        fixture = "patterns_555" if name == "fifteen" else "outputs"
        return getattr(pt.open_tables(str(request.getfixturevalue(fixture))), name)

    return open_reader


@pytest.mark.parametrize("name", NAMES)
def test_probe_and_get(get: GetReader, name: str) -> None:
    reader, key = get(name), KEYS[name]
    answer = reader.probe(key)
    assert reader.get(key) == reader.get(key, 0) == answer
    assert reader.get("no key", 0) == 0
    no_key, options = NO_KEYS[name]
    assert reader.get(no_key, 0, **options) == 0
    with pytest.raises(pt.NoAnswer):
        reader.probe(no_key, **options)
    with pytest.raises(pt.BadRequest):
        reader.get(key, 0, colour="red")
    facts = reader.probe(key, **RICH[name]).to_dict()
    assert {fact for fact in answer.to_dict() if fact != "solutions"} <= facts.keys()


@pytest.mark.parametrize("name", ["eight", "sliding"])
def test_one_fact_of_a_board(get: GetReader, name: str) -> None:
    reader, key = get(name), KEYS[name]
    answer = reader.probe(key, path=True)
    assert reader.distance(key) == answer.distance == len(answer.solution) > 0
    assert reader.solution(key) == answer.solution
    assert reader.path(key) == answer.path
    goal = answer.path[1]
    assert reader.distance(key, goal) == 1
    assert reader.solution(key, goal=goal) == answer.solution[:1]
    with pytest.raises(pt.NoAnswer):
        reader.distance(NO_KEYS[name][0], answer.path[-1])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("is_lazy", [False, True])
def test_annotate_with_errors(get: GetReader, name: str, is_lazy: bool) -> None:
    reader, (no_key, options) = get(name), NO_KEYS[name]
    column = reader._prober.columns[0]
    frame = pl.DataFrame({column: [None, KEYS[name] * (name != "knight") or "a1", "?", no_key]})
    given: Any = frame.lazy() if is_lazy else frame
    nulls = reader.annotate(given, **options).lazy().collect()
    listed = reader.annotate(given, errors="column", **options).lazy().collect()
    assert listed.drop("error").equals(nulls)
    assert listed["error"].is_null().to_list() == [True, True, False, False]
    with pytest.raises(pt.TablebaseError) as caught:
        reader.probe(no_key, **options)
    problem = caught.value
    assert listed["error"][3] == str(problem)
    prefixed = reader.annotate(given, prefix="my_", errors="column", **options).lazy()
    assert prefixed.collect_schema().names()[-1] == "my_error"
    problems = [re.escape(text or "") for text in listed["error"]]
    for rows, cls in (([0, 1, 2], pt.NotationError), ([0, 1, 3], type(problem))):
        some: Any = frame[rows].lazy() if is_lazy else frame[rows]
        with pytest.raises(pt.TablebaseError if is_lazy else cls, match=problems[rows[-1]]):
            reader.annotate(some, errors="raise", **options).lazy().collect()
    assert reader.annotate(frame[:2], errors="raise", **options).equals(nulls[:2])
    with pytest.raises(pt.BadRequest):
        reader.annotate(frame, errors="ignore")


@pytest.mark.parametrize(
    ("name", "method", "options"),
    [
        ("eight", "probe", {"distance": 5}),
        ("eight", "annotate", {"split": "a=1"}),
        ("eight", "annotate", {"solution": True}),
        ("eight", "annotate", {"boards": True}),
        ("senet", "annotate", {"hardest": True}),
        ("knight", "annotate", {"count": True}),
        ("eight", "sample", {"path": True}),
        ("sliding", "probe", {"board": "3x4"}),
        ("fifteen", "check", {"path": True}),
        ("senet", "sample", {"turn": "B"}),
        ("knight", "sample", {"to": "a3"}),
        ("knight", "check", {"closed": True}),
    ],
)
def test_an_option_holds_where_it_is_declared(
    get: GetReader, name: str, method: str, options: dict[str, Any]
) -> None:
    arguments = {"annotate": ([KEYS[name]],), "sample": (3,), "check": (KEYS[name], "")}
    with pytest.raises(BadRequest):
        getattr(get(name), method)(*arguments.get(method, (KEYS[name],)), **options)


@pytest.mark.parametrize("name", NAMES)
def test_scan(get: GetReader, name: str) -> None:
    reader = get(name)
    if name not in ROWS:  # the tables of the 15-puzzle are indexes alone
        assert not hasattr(reader, "scan")
        return
    rows = reader.scan(ROWS[name]).head(9).collect()
    assert rows.equals(pl.read_parquet(f"{reader.store}/{ROWS[name]}.parquet", n_rows=9))
    for other in ("nothing", "fifteen_12356", {"eight": "senet"}.get(name, "eight")):
        with pytest.raises(pt.BadRequest):
            reader.scan(other)


def test_counts(get: GetReader, outputs: Path) -> None:
    knight = get("knight")
    rows = pl.read_parquet(outputs / "knight_counts.parquet").filter(board="5x8")
    assert knight.count(board="5x8").tours == rows["tours"].sum()
    assert knight.count(board="5x8", closed=True).tours is None
    assert knight.count("a1", "5x8").tours == rows["tours"][0]
    assert knight.count() == knight.count(board="6x6")


def list_answers(get: GetReader) -> list[pt.Answer]:
    """List an answer of each type."""
    answers = [get(name).probe(KEYS[name], **RICH[name]) for name in NAMES]
    answers += [get(name).probe(KEYS[name]) for name in NAMES]
    return [*answers, query_one(get("eight"), hardest=True), get("knight").count()]


def test_answers_are_plain_values(get: GetReader) -> None:
    first, second = list_answers(get), list_answers(get)
    assert len({*map(type, first)}) == 6
    assert len({*first}) == len(first)
    for answer, other in zip(first, second, strict=True):
        assert (answer, hash(answer)) == (other, hash(other))
        copy = pickle.loads(pickle.dumps(answer))
        assert (copy, hash(copy), repr(copy)) == (answer, hash(answer), repr(answer))
        assert (copy.to_text(), copy._repr_svg_()) == (answer.to_text(), answer._repr_svg_())
        assert answer.to_text().endswith("\n")
        for name, value in answer.to_dict().items():
            assert getattr(answer, name) == value
        has_picture = not isinstance(answer, pt.CountAnswer | HardestAnswer)
        assert answer._repr_svg_() == (answer.to_svg() if has_picture else None)
        with pytest.raises(AttributeError):
            _ = answer.hue  # type: ignore[attr-defined]
    answer = pt.GoalAnswer(state="1", goal="2", distance=3, best_moves="U")
    assert repr(answer) == "GoalAnswer(state='1', goal='2', distance=3, best_moves='U')"
    assert answer != pt.GoalAnswer(state="1", goal="2", distance=4, best_moves="U")
    with pytest.raises(AttributeError):
        answer.distance = 4  # type: ignore[misc]


def test_tracebacks_name_the_public_package() -> None:
    for module in walk_packages(queries.__path__, "puzzle_tablebase.queries."):
        import_module(module.name)
    classes = [pt.TablebaseError]
    for cls in classes:
        classes += cls.__subclasses__()
        if not cls.__module__.startswith(("puzzle_tablebase.pipeline.", "tests.")):
            assert cls.__module__ == "puzzle_tablebase"
            assert getattr(pt, cls.__name__) is cls
    assert len(classes) > 15


def find_refusals(classes: list[type]) -> list[str]:
    """Find what a class inherits and refuses: methods that only raise, attributes set to None."""
    found = []
    for cls in classes:
        for base in cls.__mro__[1:-1]:  # without `object`
            for name in vars(cls).keys() & vars(base).keys() - {"__doc__", "__module__"}:
                own, inherited = vars(cls)[name], vars(base)[name]
                if only_raises(own) and not only_raises(inherited):
                    found.append(f"{cls.__name__}.{name}")
                if own is None and inherited is not None:
                    found.append(f"{cls.__name__}.{name}")
            if "__init__" in vars(cls) and "__init__" in vars(base):
                emptied = list_assigned(cls, only_none=True) & list_assigned(base)
                found += [f"{cls.__name__}.{name}" for name in sorted(emptied)]
    return found


def parse_function(function: object) -> ast.FunctionDef | None:
    if not inspect.isfunction(function):
        return None
    tree = ast.parse(dedent(inspect.getsource(function))).body[0]
    return tree if isinstance(tree, ast.FunctionDef) else None


def only_raises(function: object) -> bool:
    tree = parse_function(function)
    body = tree.body if tree else []
    is_told = bool(body) and isinstance(body[0], ast.Expr)
    return [*map(type, body[is_told:])] == [ast.Raise]


def list_assigned(cls: type, *, only_none: bool = False) -> set[str]:
    """List the attributes that a class's constructor assigns."""
    tree, names = parse_function(vars(cls)["__init__"]), set[str]()
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            is_none = isinstance(node.value, ast.Constant) and node.value.value is None
            if is_none or not only_none:
                names |= {each.attr for each in targets if isinstance(each, ast.Attribute)}
    return names


class Parent:
    goal: str | None = "corner"

    def __init__(self) -> None:
        self.board: str | None = "3x3"
        self.key = "STATE"

    def answer(self) -> int:
        return 1


class Child(Parent):
    goal = None

    def __init__(self) -> None:
        super().__init__()
        self.key = "KEY"
        self.board = None

    def answer(self) -> int:
        """Refuse."""
        raise NotImplementedError


def test_no_class_inherits_what_it_refuses() -> None:
    assert {*find_refusals([Child])} == {"Child.answer", "Child.goal", "Child.board"}
    classes = list[type]()
    for module in walk_packages(queries.__path__, "puzzle_tablebase.queries."):
        of_module = vars(import_module(module.name)).values()
        classes += [cls for cls in of_module if isinstance(cls, type)]
    own = [cls for cls in {*classes} if cls.__module__.startswith("puzzle_tablebase.queries")]
    assert len(own) > 40
    assert not find_refusals(own)


def test_sliding_boards_are_opened_by_board(tables: Tables) -> None:
    with pytest.raises(BadRequest, match=re.escape("Call: tables.sliding('3x4').")):
        tables.open("sliding")


def test_an_unreachable_goal_is_told_by_facts(tables: Tables) -> None:
    with pytest.raises(pt.GoalUnreachable) as raised:
        tables.eight.distance("213456780", "corner")
    error = raised.value
    assert (error.state, error.goal) == ("213456780", "123456780")
    assert error.reason == tables.eight.puzzle.explain_unreachable(error.state, error.goal)
    rows = tables.eight.annotate(["213456780"], errors="column", goal="corner")
    assert rows["error"].to_list() == [str(error)]


def test_answers_have_types(tables: Tables, get: GetReader) -> None:
    fifteen: pt.FifteenReader = get("fifteen")
    board: pt.BoardReader = get("sliding")
    assert_type(tables.eight.probe("123456780"), pt.BoardAnswer)
    assert_type(tables.eight.distance("123456780", "corner"), int)
    assert_type(tables.eight.sample(1), pl.DataFrame)
    assert_type(tables.senet.probe("ABABABABAB....."), pt.SenetAnswer)
    assert_type(tables.knight.probe("a1"), pt.KnightAnswer)
    assert_type(tables.knight.count(), pt.CountAnswer)
    assert_type(tables.goals("eight").probe("123456780"), pt.GoalAnswer)
    assert_type(fifteen.probe(SOLVED), pt.FifteenSolution)
    assert_type(board.probe("123450"), pt.BoardAnswer)
    assert_type(board.arrays(), pt.BoardArrays)
    assert_type(tables.eight.arrays(), pt.EightArrays)


@pytest.mark.parametrize("name", ["senet", "knight", "nine", ""])
def test_a_puzzle_without_goals_is_refused(tables: Tables, name: str) -> None:
    with pytest.raises(BadRequest):
        tables.goals(name)


def test_nulls_are_not_their_stored_numbers(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(PROBERS, "senet")
    names = ["position", "plies_even", "plies_odd"]
    wanted = pl.read_parquet(outputs / "senet.parquet", columns=names).gather_every(400)
    answers = query_many(open_prober("senet", Folder(outputs)), wanted["position"])
    assert answers.select("plies_even", "plies_odd").rows() == wanted.drop("position").rows()
    assert answers["plies_odd"].null_count() > 1


def list_documented(name: str) -> set[str]:
    """Return the methods that the page's table lists for a reader."""
    text = (ROOT / "docs" / "python.md").read_text("utf-8")
    listed = set[str]()
    for methods, readers in re.findall(r"^\| (`\w+\(.*?) \| (.*?) \|", text, re.MULTILINE):
        if name in readers.split(", ") or readers == "all":
            listed |= {*re.findall(r"`(\w+)\(", methods)}
    return listed


def list_public(value: object) -> set[str]:
    return {name for name in dir(value) if not name.startswith("_")}


@pytest.mark.parametrize("name", NAMES)
def test_public_methods_are_those_that_the_page_documents(tables: Tables, name: str) -> None:
    reader = tables.sliding("3x4") if name == "sliding" else getattr(tables, name)
    methods = list_public(reader) - {"puzzle", "store"}
    assert methods == list_documented(name)
    assert len(methods) <= MAX_METHODS


def test_arrays_have_the_methods_that_the_page_documents(tables: Tables) -> None:
    text = (ROOT / "docs" / "python.md").read_text("utf-8")
    arrays = text.partition("## Arrays")[2].partition("\n## ")[0]
    named = re.search(
        r"\n(.*) work for every \[sliding board\]\(sliding.md\), (.*) for the\n8-", arrays
    )
    assert named
    board, eight = ({*re.findall(r"`(\w+)`", part)} for part in named.groups())
    assert list_public(tables.sliding("3x4").arrays()) == board
    assert list_public(tables.eight.arrays()) == board | eight


def test_arrays_of_closed_tables_are_refused(outputs: Path, small_boards: Path) -> None:
    for folder, name in ((outputs, "eight"), (small_boards, "2x3")):
        with pt.open_tables(str(folder)) as opened:
            reader: pt.BoardReader = opened.eight if name == "eight" else opened.sliding(name)
            arrays = reader.arrays()
            assert arrays.ranks(arrays.unranks([5])).tolist() == [5]
        for work in (arrays.distances, partial(arrays.ranks, []), partial(arrays.unranks, [5])):
            with pytest.raises(ValueError, match="closed"):
                work()


def test_a_reader_says_what_it_reads(tables: Tables) -> None:
    store = str(tables.store)
    assert repr(tables.eight) == f"EightReader(puzzle='eight', board='3x3', store={store!r})"
    board = tables.sliding("3x4")
    assert repr(board) == f"BoardReader(puzzle='sliding', board='3x4', store={store!r})"
    assert repr(tables.senet) == f"SenetReader(puzzle='senet', store={store!r})"


def test_every_row_without_an_answer_raises(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let a second attempt succeed, as that of a search with a time limit may."""
    reader, answer, keys = tables.senet, SenetProber.answer, list[str]()

    def answer_later(self: Any, key: Any, options: Any) -> Any:
        keys.append(key)
        if keys.count(key) == 1:
            raise Undecided(key, 1, 1)
        return answer(self, key, options)

    monkeypatch.setattr(SenetProber, "answer", answer_later)
    with pytest.raises(TablebaseError, match="Undecided"):
        reader.annotate(["ABAAABBB.B...A."], errors="raise", turn="B")
