"""Digests of code: what changes them, and that those of tables cover all that makes the tables."""

import ast
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from random import Random
from types import FrameType, ModuleType

import numpy as np
import pytest

from puzzle_tablebase.code_digest import (
    IGNORED_MODULES,
    Code,
    CodeReader,
    Dependencies,
    Module,
    Source,
    read_source,
)
from puzzle_tablebase.code_parts import MESSAGE_ARGUMENTS, Piece
from puzzle_tablebase.errors import SearchError, StoreError
from puzzle_tablebase.formats.encoder import encode_table
from puzzle_tablebase.pipeline.kinds import (
    KINDS,
    checkpoints,
    find_code,
    find_counted_column,
    make,
)
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.pipeline.workers import open_workers
from puzzle_tablebase.puzzles import Puzzle
from puzzle_tablebase.puzzles.fifteen import PUZZLE as FIFTEEN
from puzzle_tablebase.puzzles.fifteen import Pattern, make_pattern_table
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import (
    make_count_table,
    make_pair_counts,
    make_ranking_table,
)
from puzzle_tablebase.puzzles.senet import PUZZLE as SENET
from puzzle_tablebase.puzzles.sliding import EIGHT
from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.registry import get_puzzle, list_puzzles
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import Folder
from tests import first
from tests.support.build_recorder import TOURS, describe_anew
from tests.support.code_sources import digest_sources
from tests.support.jugs import PUZZLE as JUGS
from tests.support.pancakes import PUZZLE as PANCAKES
from tests.support.pancakes import Pancakes
from tests.support.shell import ROOT

PACKAGE = "puzzle_tablebase"


PRESENT = CodeReader()


class ChangedCode(CodeReader):
    """Reader of the present code, in which some modules have another text."""

    def __init__(self, texts: dict[str, bytes]) -> None:
        super().__init__(lambda name: read_present(name)._replace(text=texts[name]))
        self.texts = texts

    def load(self, name: str) -> Module | None:
        return super().load(name) if name in self.texts else PRESENT.load(name)


def read_present(module: str) -> Source:
    source = read_source(module)
    assert source
    return source


# ---- what counts --------------------------------------------------------------------------------

MAKE = b"from rules.moves import step as go\n\ndef make(): return go(1)\n"
STEP = b"def step(place): return place + 1\ndef skip(place): return place + 2\n"


def test_code_is_followed_from_module_to_module_and_may_move() -> None:
    """Follow imports by names, of modules, of all names, relative ones, and those in functions."""
    usual = digest_sources({"rules": MAKE, "rules.moves": STEP})
    for old, new in (
        (
            b"from rules.moves import step as go\n",
            b"import rules.moves as moves\ngo = moves.step\n",
        ),
        (b"step as go", b"*"),
        (b"rules.moves", b".moves"),
        (b"(): return", b"():\n    from rules.moves import step as go\n    return"),
    ):
        make = MAKE.replace(old, new).replace(b"go(1)", b"step(1)" if new == b"*" else b"go(1)")
        found = {"rules": Source(make, is_package=True), "rules.moves": Source(STEP)}
        before = CodeReader(found.get).digest(("rules:make",))
        found["rules.moves"] = Source(STEP.replace(b"+ 1", b"+ 3"))
        assert CodeReader(found.get).digest(("rules:make",)) != before, new
    assert digest_sources({"rules": MAKE, "rules.moves": STEP + b"UNUSED = 3\n"}) == usual
    moved = {"rules": MAKE.replace(b"moves", b"kinds"), "rules.kinds": STEP}
    assert digest_sources(moved) == usual
    split = {
        "rules": MAKE.replace(b"rules.moves", b"rules.all"),
        "rules.all": b"'''Moves of all kinds.'''\nfrom rules.steps import step\n",
        "rules.steps": STEP,
    }
    assert digest_sources(split) == usual
    split["rules.steps"] += b"sorted([])\n"  # which runs
    assert digest_sources(split) != usual
    assert (
        digest_sources({"rules": MAKE.replace(b"step as", b"skip as"), "rules.moves": STEP})
        != usual
    )


def test_a_text_for_a_global_name_counts() -> None:
    """Set a name that another function reads."""
    rules = b"""
MODE = ""

def choose():
    global MODE
    MODE = "fast"

def make():
    choose()
    return MODE
"""
    changed = rules.replace(b"fast", b"slow")
    assert digest_sources({"rules": rules}) != digest_sources({"rules": changed})


def test_modules_that_import_all_names_of_each_other_end() -> None:
    sources = {
        "rules": b"from rules.b import *\ndef make(): return gone",
        "rules.b": b"from rules import *",
    }
    assert digest_sources(sources)


@pytest.mark.parametrize("name", ["no_such_module", "puzzle_tablebase.no_such_module", "zlib"])
def test_code_that_cannot_be_read_is_an_error(name: str) -> None:
    with pytest.raises(SearchError, match=name):
        assert Code((f"{name}:",)).digest


# ---- versions of Python -------------------------------------------------------------------------

PROGRAM = """
import pickle, sys
from puzzle_tablebase.code_digest import CodeReader
reader = CodeReader()
for roots in pickle.load(sys.stdin.buffer):
    print(reader.digest(roots))
"""


def test_the_trees_of_3_12_have_the_same_digest() -> None:
    """3.12 ends a format with a field by an empty text, and 3.11 does not."""
    tree = ast.parse("f'{place:>{width}}-'", mode="eval").body
    usual = Piece(tree).digest
    assert isinstance(tree, ast.JoinedStr)
    assert isinstance(tree.values[0], ast.FormattedValue)
    form = tree.values[0].format_spec
    assert isinstance(form, ast.JoinedStr)
    form.values = [ast.Constant(">"), form.values[1], ast.Constant("")]
    assert Piece(tree).digest == usual
    form.values[0] = ast.Constant("<")
    assert Piece(tree).digest != usual


@pytest.mark.parametrize("version", first(2, ["3.12", "3.13", "3.11", "3.14"]))
def test_every_python_gives_tables_the_same_digests(version: str) -> None:
    roots, variables = [each for each, _ in list_roots()], {**os.environ, "PYENV_VERSION": version}
    program = f"print(end='begun ', flush=True)\n{PROGRAM}"
    try:
        run = subprocess.run(
            [f"python{version}", "-c", program],
            input=pickle.dumps(roots),
            cwd=ROOT,
            env=variables,
            capture_output=True,
            check=False,
        )
    except OSError:
        pytest.skip(f"Python {version} is not installed")
    if not run.stdout:  # where pyenv has a program of this name, but not this version
        pytest.skip(f"Python {version} is not installed")
    assert run.returncode == 0, run.stderr
    assert run.stdout.decode().split()[1:] == [PRESENT.digest(each) for each in roots]


# ---- tables -------------------------------------------------------------------------------------


def list_tables() -> Iterator[tuple[Puzzle, Table]]:
    """List a table of each kind but those of plugins, and every default table."""
    for puzzle in list_puzzles():
        yield from ((puzzle, table) for table in puzzle.tables)
    for name in ("sliding_2x3", "sliding_3x4", "fifteen_7-8"):
        puzzle = get_puzzle(name.partition("_")[0])
        yield puzzle, puzzle.find_tables(name)[0]
    yield KNIGHT, make_pair_counts(KnightBoard(5, 6))
    for closed in (False, True):
        yield KNIGHT, make_ranking_table(KnightBoard(5, 6), closed=closed)


@cache
def list_roots() -> list[tuple[tuple[str, ...], list[str]]]:
    """List the roots of all kinds and puzzles, each with the tables that they make."""
    found = dict[tuple[str, ...], list[str]]()
    for puzzle, table in list_tables():
        found.setdefault(find_code(table, puzzle).roots, []).append(table.name)
    return [*found.items()]


BY_KIND = {
    table.recipe.kind: (puzzle, table)
    for puzzle, table in [*list_tables(), (PANCAKES, PANCAKES.tables[0]), (JUGS, JUGS.tables[0])]
}


SISTERS = "sliding_bits", "tour_ranking", "tour_counts", "tour_pair_counts"
"""Kinds that share most modules with others."""


def test_every_kind_has_a_table_here() -> None:
    assert BY_KIND.keys() == KINDS.keys()


class Reworder(ast.NodeTransformer):
    """Change all words that are for readers."""

    def __init__(self) -> None:
        self.is_told = False

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        if isinstance(node.exc, ast.Call):
            node.exc.args = [self._visit(each, True) for each in node.exc.args]
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        node.value = self._visit(node.value, isinstance(node.value, ast.Constant))
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        places = MESSAGE_ARGUMENTS.get(name, {})
        node.args = [self._visit(each, at in places) for at, each in enumerate(node.args)]
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = node.annotation and ast.Constant("another type")
        return node

    def _visit(self, node: ast.expr, is_told: bool) -> ast.expr:
        before, self.is_told = self.is_told, self.is_told or is_told
        changed: ast.expr = self.visit(node)
        self.is_told = before
        return changed

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        is_word = self.is_told and isinstance(node.value, str)
        return ast.Constant(f"{node.value!s}, told anew") if is_word else node


@cache
def reword(module: str) -> bytes:
    """Change all words of a module that are for readers."""
    source = read_present(module).text
    reworded = ast.unparse(ast.fix_missing_locations(Reworder().visit(ast.parse(source))))
    assert reworded != ast.unparse(ast.parse(source)), module
    return reworded.encode()


def list_definitions(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """List what a module and its classes define, by name."""
    for outer in tree.body:
        is_class = isinstance(outer, ast.ClassDef)
        for node in (outer, *(outer.body if isinstance(outer, ast.ClassDef) else ())):
            targets = [*getattr(node, "targets", ()), getattr(node, "target", None)]
            parts = [
                node,
                *targets,
                *(each for tuple_ in targets for each in getattr(tuple_, "elts", ())),
            ]
            for part in parts:
                name = getattr(part, "name", None) or getattr(part, "id", None)
                is_inner = is_class and node is not outer
                yield f"{getattr(outer, 'name', '')}.{name}" if is_inner else f"{name}", node


@cache
def find_definitions(module: str) -> dict[str, ast.stmt]:
    return dict(list_definitions(ast.parse(read_present(module).text)))


def change_value(module: str, name: str) -> bytes:
    """Let a definition have another value, or return one at once."""
    node, text = find_definitions(module)[name], read_present(module).text
    starts = [0, *accumulate(map(len, text.splitlines(keepends=True)))]

    def replace(begin: int, end: int, new: str) -> bytes:
        return text[:begin] + new.encode() + text[end:]

    if isinstance(node, ast.FunctionDef):
        column = node.body[0].col_offset
        at = starts[node.body[0].lineno - 1] + column
        return replace(at, at, f"return 7\n{' ' * column}")
    if isinstance(node, ast.ClassDef):
        at = text.index(f"class {node.name}".encode(), starts[node.lineno - 1])
        at += len(f"class {node.name}")
        has_bases = text[at : at + 1] == b"("
        return replace(at, at + has_bases, "(Other, " if has_bases else "(Other)")
    assert isinstance(node, ast.Assign | ast.AnnAssign)
    old = node.value or node
    assert old.end_lineno
    assert old.end_col_offset
    end = starts[old.end_lineno - 1] + old.end_col_offset
    begin = starts[old.lineno - 1] + old.col_offset if node.value else end
    return replace(begin, end, "7" if node.value else " = 7")


@pytest.mark.parametrize("kind", first(8, sorted(KINDS, key=SISTERS.__contains__)))
def test_in_each_module_a_value_makes_tables_stale_and_words_do_not(kind: str) -> None:
    puzzle, table = BY_KIND[kind]
    roots = find_code(table, puzzle).roots
    usual, reached = PRESENT.digest(roots), PRESENT.find_dependencies(roots).reached
    modules = dict[str, list[str]]()
    for module, name in reached:
        modules.setdefault(module, []).append(name)
    assert {f"{PACKAGE}.{name}" for name in ("formats.counts", "puzzles", "schema")} <= {*modules}
    assert ChangedCode({module: reword(module) for module in modules}).digest(roots) == usual
    draw = Random(kind)  # kinds share modules: each changes other values
    for module, names in modules.items():
        # others are texts of a method
        if values := [name for name in sorted(names) if name and name.count(".") < 2]:
            name = draw.choice(values)
            changed = change_value(module, name)
            assert ChangedCode({module: changed}).digest(roots) != usual, (module, name)


CHANGES = [
    ("puzzles.sliding", "sum of each tile's steps", "number of the steps of all tiles", ""),
    ("notation.sliding", 'SEPARATORS = ",;/', 'SEPARATORS = ":,;/', ""),
    ("notation.sliding", "a board is rows x columns", "a board is its rows x its columns", ""),
    ("puzzles.sliding", "layout edge (123456708)", "layout named edge (123456708)", ""),
    ("puzzles.senet", '"15 characters, each A, B or . (empty)"', '"A, B or ."', ""),
    ("formats.parquet", "is not one of its values", "is none of its values", ""),
    ("formats.manifest", "it is not a manifest", "it is no manifest", ""),
    ("formats.manifest", "removesuffix", "removeprefix", ""),
    ("jit", "nogil=True", "nogil=False", ""),
    ("formats.counts", "range(last + 1)", "range(last + 2)", "*"),
    ("formats.parquet", "COMPRESSION_LEVEL = 3", "COMPRESSION_LEVEL = 4", "*"),
    ("formats.index_writer", "first + 1)", "first + 2)", "*"),
    ("puzzles.senet", "S{6 * longest}", "S{7 * longest}", "senet"),
    (
        "notation.sliding",
        'LETTERS = "UDLR"',
        'LETTERS = "UDRL"',
        "eight eight_edge sliding_2x3_6",
    ),
    ("puzzles.knight.board", "(-1, -2), (1, -2)", "(1, -2), (-1, -2)", "knight"),
    (
        "intrinsics",
        "ctpop",
        "cttz",
        "sliding_3x4_12 fifteen knight_tours_5x5 knight_tours_6x6 knight_c knight_p knight_r",
    ),
    ("puzzles.fifteen", "rank_set", "rank_sets", "fifteen"),
]


@pytest.mark.parametrize(("module", "old", "new", "stale"), CHANGES)
def test_a_change_makes_the_tables_stale_that_it_may_change(
    module: str, old: str, new: str, stale: str
) -> None:
    source = read_present(f"{PACKAGE}.{module}").text.decode()
    assert old in source, module
    changed = ChangedCode({f"{PACKAGE}.{module}": source.replace(old, new).encode()})
    for roots, tables in list_roots():
        is_stale = changed.digest(roots) != PRESENT.digest(roots)
        for table in tables:
            expected = stale == "*" or any(map(table.startswith, stale.split()))
            assert is_stale == expected, table


def test_the_form_of_a_table_is_in_its_digest_and_its_description_is_not() -> None:
    eight = get_puzzle("eight").tables[0]
    usual = find_code(eight)
    assert find_code(describe_anew(eight, "Some words")) == usual
    for rank, columns, index in (
        ("row number = rank", eight.columns, eight.index),
        (eight.rank, eight.columns[:-1], eight.index),
        (eight.rank, eight.columns, eight.index[:1]),
    ):
        other = Table("eight", "", rank, columns, eight.recipe, index, eight.rows)
        assert find_code(other).digest != usual.digest


def test_a_puzzle_is_found_in_a_module_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a plugin that is one module, its variable counts, and no other module of similar name."""

    class Alone(Pancakes):
        __module__ = "alone"

    puzzle = Alone()
    for name in ("alone", "alone_too"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
        monkeypatch.setattr(sys.modules[name], "OWN", puzzle, raising=False)
    roots = find_code(puzzle.tables[0], puzzle).roots
    assert [root for root in roots if root.startswith("alone") and "test_" not in root] == [
        "alone:OWN"
    ]


# ---- what runs ----------------------------------------------------------------------------------


@contextmanager
def record_calls(calls: set[tuple[str, str]]) -> Iterator[None]:
    """Record each function of this project that is called: its module, and its name there."""

    def record(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            name = frame.f_code.co_qualname.partition(".<locals>")[0]
            calls.add((frame.f_globals.get("__name__", ""), name))

    threading.setprofile(record)
    sys.setprofile(record)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def make_table(puzzle: Puzzle, table: Table, counted: str) -> None:
    """Make a table as a build does, but for what carries it to the store."""
    with open_workers(jobs=1) as workers:
        data = make(table, puzzle, Tasks(workers))
        file, index = (BytesIO() if each else None for each in (table.columns, table.index))
        encode_table(file, index, table, data, counted)
        workers.end_all(lambda: None)


def covers_function(dependencies: Dependencies, module: str, name: str) -> bool:
    """Return whether a digest covers a function, or a method of a class."""
    owner, _, method = name.rpartition(".")
    is_inside = method.startswith("__") or not dependencies.is_split(module, owner)
    return (module, name) in dependencies.reached or (
        (module, owner) in dependencies.reached and is_inside
    )


SMALL = [
    (PANCAKES, PANCAKES.tables[0]),
    (JUGS, JUGS.tables[0]),
    (SLIDING, SLIDING.find_tables("sliding_2x3")[0]),
    (FIFTEEN, make_pattern_table(Pattern(2, 3, (1, 2, 3)))),
    (KNIGHT, TOURS),
    (KNIGHT, KNIGHT.tables[2]),
    (KNIGHT, make_count_table(((3, 4), (4, 5)))),
    *((KNIGHT, make_ranking_table(KnightBoard(5, 6), closed=closed)) for closed in (False, True)),
    (EIGHT, EIGHT.tables[0]),
    pytest.param(SENET, SENET.tables[0], marks=pytest.mark.slow),  # every position, twice
]


@pytest.mark.parametrize(("puzzle", "table"), SMALL, ids=lambda each: getattr(each, "name", ""))
def test_whatever_runs_while_a_table_is_made_is_in_its_digest(puzzle: Puzzle, table: Table) -> None:
    """Expect it of methods too, which are found by their names alone."""
    calls, counted = set[tuple[str, str]](), find_counted_column(table, puzzle)
    make_table(puzzle, table, counted)  # what is imported and compiled makes no values
    with record_calls(calls):
        make_table(puzzle, table, counted)
    dependencies = PRESENT.find_dependencies(find_code(table, puzzle).roots)
    packages = PACKAGE, type(puzzle).__module__.partition(".")[0]
    carriers = tuple(f"{PACKAGE}.{name}" for name in (*IGNORED_MODULES, "pipeline.kinds"))
    made = {
        (module, name)
        for module, name in calls.copy()  # a thread of the build may still be ending
        if module.partition(".")[0] in packages
        and not module.startswith(carriers)
        and module not in (f"{PACKAGE}.registry", __name__)
    }
    assert len(made) > 15
    assert not {each for each in made if not covers_function(dependencies, *each)}


# ---- builds -------------------------------------------------------------------------------------


def test_results_of_other_code_are_not_used_and_those_of_another_version_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = checkpoints(Folder(tmp_path), TOURS)
    before.save("part", [np.arange(3)])
    monkeypatch.setattr("puzzle_tablebase.stores.checkpoints.__version__", "1.0.1")
    assert checkpoints(Folder(tmp_path), TOURS).load("part") is not None
    monkeypatch.setattr("puzzle_tablebase.code_digest._digest_roots", lambda roots: "other")
    after = checkpoints(Folder(tmp_path), TOURS)
    assert after.load("part") is None
    after.clear_others()
    assert before.load("part") is None


def test_a_worker_with_other_code_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = pickle.dumps(checkpoints(Folder(tmp_path), TOURS))
    pickle.loads(sent).require_same_code()
    monkeypatch.setattr("puzzle_tablebase.code_digest._digest_roots", lambda roots: "other")
    with pytest.raises(StoreError, match="other code"):
        pickle.loads(sent).require_same_code()
