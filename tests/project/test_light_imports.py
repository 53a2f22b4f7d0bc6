"""What answers one question, completes a word or draws a picture imports nothing slow."""

from pathlib import Path

import pytest

from tests.support.shell import python

LIBRARIES = {
    *("altair", "click", "msgspec", "numba", "numpy", "obstore"),
    *("pandas", "polars", "pyarrow", "rich", "typer"),
}
SLOW = {"asyncio", "dataclasses", "inspect", "json", "logging", "pathlib", "random", "re", "typing"}
"""Modules of the standard library that take milliseconds to import."""
PROGRAM = """
import sys
before = {{*sys.modules}}
{code}
print(*sorted({{*sys.modules}} - before), file=sys.stderr)
"""
RUN = "from puzzle_tablebase.pipeline.run import run_command; assert run_command({words}) == 0"
READ = "from puzzle_tablebase.queries import open_tables; tables = open_tables(); "
PICTURES = READ + (
    "[tables.answer(*key).to_svg() for key in"
    " (('eight', '867254301'), ('senet', 'ABAAABBB.B...A.'), ('knight', 'b1'))]"
)
TYPED = READ + (
    "tables.eight.probe('378546201'), tables.senet.probe('ABABABABAB.....'),"
    " tables.knight.probe('b1'), tables.eight.path('378546201', '123456780')"
)
STORES = (
    "from puzzle_tablebase.stores.access import open_store;"
    " [open_store(place) for place in ('outputs', 'http://127.0.0.1:9/tables', 's3://a/tables')]"
)
COMPLETE = """
from puzzle_tablebase.pipeline.run import run_command
run_command([])
"""
LOOKUPS = {
    "eight 378546201": "outputs",
    "eight 087654321 --goal 103245768 --json": "outputs",
    "eight 738046512 --path": "outputs",
    "eight 150423786 --boards": "outputs",
    "senet ABAAABBB.B...A.": "outputs",
    "senet ABAAABBB.B...A. --json --path": "outputs",
    "knight b1": "outputs",
    "knight e4 --closed --json": "outputs",
    "knight b1 --closed --rank 77 --board 6x6": "ranked_boards",
    "sliding 9876543210 --board 2x5": "large_boards",
    "sliding 1234567809 --board 5x2 --path --json": "large_boards",
    "sliding 0369147a258b --board 3x4": "large_boards",
}
"""Queries, each with the fixture that has its tables."""
CASES: list[tuple[str, str, set[str]]] = [
    *(
        (RUN.format(words=["query", *words.split()]), folder, LIBRARIES | SLOW)
        for words, folder in LOOKUPS.items()
    ),
    *(
        (RUN.format(words=["query", *words.split()]), "outputs", {library})
        for words, library in {
            "eight 378546201": "collections",
            "senet ABAAABBB.B...A.": "collections",
            "knight b1": "collections",
            "knight b1 --board 6x6 --closed": "polars",
        }.items()
    ),
    (TYPED, "outputs", LIBRARIES),
    (PICTURES, "outputs", LIBRARIES),
    ("import puzzle_tablebase", "outputs", LIBRARIES | SLOW | {"puzzle_tablebase.queries.api"}),
    (STORES, "outputs", {"obstore"}),
    (READ + "tables.eight.annotate(['378546201'])", "outputs", {"pandas"}),
]


def list_imported(code: str, env: dict[str, str]) -> set[str]:
    """Return the packages and modules that some code imports."""
    ended = python(PROGRAM.format(code=code), env=env)
    assert ended.code == 0, ended.err
    imported = ended.err.split()
    return {*imported, *(name.partition(".")[0] for name in imported)}


@pytest.mark.parametrize(("code", "folder", "unwanted"), CASES, ids=[case[0] for case in CASES])
def test_nothing_slow_is_imported(
    code: str, folder: str, unwanted: set[str], request: pytest.FixtureRequest
) -> None:
    env = {"PIPELINE_OUTPUTS": str(request.getfixturevalue(folder))}
    assert not list_imported(code, env) & unwanted


@pytest.mark.parametrize("line", ["remove ", "query knight b1 --board ", "query eight --goal "])
def test_a_completion_imports_nothing_heavy(line: str, ranked_boards: Path) -> None:
    words = {"COMP_WORDS": f"pipeline {line}", "COMP_CWORD": str(len(line.split(" ")))}
    env = {"_PIPELINE_COMPLETE": "complete_bash", "PIPELINE_OUTPUTS": str(ranked_boards), **words}
    assert not list_imported(COMPLETE, env) & {"numba", "numpy", "polars", "pyarrow", "pandas"}
