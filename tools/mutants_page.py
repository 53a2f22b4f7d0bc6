"""`docs/mutants.md`: the results of the last mutation run of each file."""

from __future__ import annotations

import re
from typing import NamedTuple

from tests.support.shell import ROOT

PAGE = ROOT / "docs" / "mutants.md"
ROW = re.compile(r"^\| `(?P<source>[^`]+)` \| (?P<counts>[\d,| ]+) \|$", re.MULTILINE)
HEADER = """# Mutation tests

`make mutants` changes the code in one place at a time, and runs the tests of the changed file. It
writes this page: one row for each file that was run, with the figures of its last run. Constants
outside functions are not changed.

- *killed*: a test failed.
- *timed out*: the tests reached their time limit, so the change was noticed too.
- *survived*: all tests passed. The run prints these changes.

`python -m tools.mutants puzzle_tablebase/tables/access.py` runs one file.
[Contributing](../CONTRIBUTING.md) has the other tests.

| file | mutants | killed | timed out | survived |
| --- | ---: | ---: | ---: | ---: |
"""


class Result(NamedTuple):
    """The mutants of one file: how many tests noticed, by a failure or by the time they took."""

    mutants: int
    killed: int
    timed_out: int
    survived: int


def parse_page(page: str) -> dict[str, Result]:
    """Return the results of each file.

    >>> parse_page(format_page({"queries/answer.py": Result(1234, 1200, 4, 30)}))
    {'queries/answer.py': Result(mutants=1234, killed=1200, timed_out=4, survived=30)}
    """
    return {
        row["source"]: Result(*(int(cell.replace(",", "")) for cell in row["counts"].split("|")))
        for row in ROW.finditer(page)
    }


def format_page(results: dict[str, Result]) -> str:
    """Return the page, with its rows in the order of the files' names."""
    rows = "".join(
        f"| `{source}` | {' | '.join(f'{count:,}' for count in result)} |\n"
        for source, result in sorted(results.items())
    )
    return HEADER + rows


def update_page(results: dict[str, Result]) -> None:
    """Add results to the page, in place of older ones of the same files."""
    old = parse_page(PAGE.read_text("utf-8")) if PAGE.exists() else {}
    PAGE.write_text(format_page(old | results), "utf-8")
