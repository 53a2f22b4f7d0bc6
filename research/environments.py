"""Boards of public environments: how many cannot be solved, or not within the turn limit.

    pipeline precompute eight sliding_2x2 fifteen_6-6-3
    python -m research.environments build/environments --page docs/results.md --results docs/results

This installs each package, as published, into an environment of its own below the folder, deals
boards with it, and looks them up in the tables. Boards of 4x4 are solved by search, if some can
need more moves than the limit. With --page, it writes the table into the page, and with --results,
a CSV file.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

import puzzle_tablebase as pt

MARKS = "0123456789abcdefghijklmno"
"""The characters of tiles by number, to 5x5."""
MOST = {4: 6, 9: 31, 16: 80}
"""The most moves that a board needs, by its cells; 80: Bruengger et al. 1999, OEIS A151944."""
PART = re.compile("(<!-- made by research.environments -->\n).*?(<!-- end -->)", re.DOTALL)
SHUFFLE, WALK = "shuffle", "walk of 200 moves from the goal"
REPAIR, RETRY = "shuffle, mended if its check fails", "shuffle, until its check passes"


class Environment(NamedTuple):
    """An environment: its names here and in its package, and the rule by which it deals."""

    key: str
    package: str
    name: str
    rule: str
    board: str = "4x4"
    walk: int | None = None
    """The number of random moves from the goal, if it deals so."""
    python: tuple[int, int] = (3, 11)
    """The oldest Python that the package installs on."""


GEM, SLIDING = "gem-llm==0.1.0", "sliding-puzzles==0.9.3"
GYM, PLAIN = "puzzle15gym==1.0.3", "slidingpuzzle==0.1.5"
ENVIRONMENTS = [
    Environment("textarena", "textarena==0.7.4", "FifteenPuzzle-v0", SHUFFLE),
    Environment("gem-easy", GEM, "game:FifteenPuzzle-v0-easy", SHUFFLE, "2x2"),
    Environment("gem-hard", GEM, "game:FifteenPuzzle-v0-hard", SHUFFLE),
    Environment("gem-random", GEM, "game:FifteenPuzzle-v0-random", SHUFFLE, "2x2 to 4x4"),
    Environment("jumanji", "jumanji==1.1.2", "SlidingTilePuzzle-v0", WALK, "5x5", walk=200),
    Environment("sliding-puzzles-3", SLIDING, "SlidingPuzzles-v0", REPAIR, "3x3"),
    Environment("sliding-puzzles-4", SLIDING, "SlidingPuzzles-v0", REPAIR),
    Environment("puzzle15gym-3", GYM, "Puzzle3x3Random-v0", REPAIR, "3x3", python=(3, 12)),
    Environment("puzzle15gym-4", GYM, "Puzzle4x4Random-v0", REPAIR, python=(3, 12)),
    Environment("puzzle15gym-5", GYM, "Puzzle5x5Random-v0", REPAIR, "5x5", python=(3, 12)),
    Environment("slidingpuzzle-3", PLAIN, "shuffle", RETRY, "3x3"),
    Environment("slidingpuzzle-4", PLAIN, "shuffle", RETRY),
]


# ---- packages ------------------------------------------------------------------------------------


def run(command: Sequence[str | Path]) -> str:
    """Run a command, and return what it prints."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def find_python(oldest: tuple[int, int]) -> str:
    """Return the program of a Python that is new enough: this one, or another that is installed."""
    if sys.version_info >= oldest:
        return sys.executable
    version = ".".join(map(str, oldest))
    show = [f"python{version}", "-c", "import sys; print(sys.executable)"]
    # pyenv runs the version that the variable names
    env = {**os.environ, "PYENV_VERSION": version}
    return subprocess.run(show, env=env, check=True, capture_output=True, text=True).stdout.strip()


def install(environment: Environment, folder: Path) -> Path:
    """Install a package into an environment of its own; return the environment's Python."""
    home = folder / environment.package
    python = home / "bin" / "python"
    if not (home / "installed").exists():
        run([find_python(environment.python), "-m", "venv", "--clear", home])
        pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        run([*pip, environment.package])
        (home / "installed").touch()
    return python


class Dealt(NamedTuple):
    """What an environment dealt."""

    boards: list[str]
    limit: int | None
    python: str
    error: str = ""


def deal(environment: Environment, folder: Path, size: int, seed: int) -> Dealt:
    """Deal boards with a package."""
    program = Path(__file__).with_name("deal_boards.py")
    printed = run([install(environment, folder), program, environment.key, str(size), str(seed)])
    answer = json.loads(printed.splitlines()[-1])
    if "error" in answer:
        return Dealt([], None, answer["python"], answer["error"])
    boards = ["".join([MARKS[tile] for tile in board]) for board, _ in answer["dealt"]]
    (limit,) = {limit for _, limit in answer["dealt"]}
    return Dealt(boards, limit, answer["python"])


# ---- boards --------------------------------------------------------------------------------------


def is_solvable(state: str) -> bool:
    """Return whether a square board can be put in order, with the blank last.

    Each move swaps the blank with a tile and takes it to the next cell: so the number of
    swaps that sort the board is even if the blank's way to the last cell is, and odd if not.
    """
    width = math.isqrt(len(state))
    cells = [(MARKS.index(mark) - 1) % len(state) for mark in state]
    row, column = divmod(state.index("0"), width)
    way, swaps = 2 * (width - 1) - row - column, 0
    for cell in range(len(cells)):
        while cells[cell] != cell:
            there = cells[cell]
            cells[cell], cells[there] = cells[there], there
            swaps += 1
    return (way - swaps) % 2 == 0


def find_distances(boards: list[str]) -> list[int | None]:
    """Return the fewest moves of boards of up to 4x4; None for those that cannot be solved."""
    tables, cells = pt.open_tables(), len(boards[0])
    small = tables.eight if cells == 9 else tables.sliding("2x2")
    reader = tables.fifteen if cells == 16 else small
    found = reader.annotate(pl.DataFrame({"state": boards}), goal=f"{MARKS[1:cells]}0")
    distances: list[int | None] = found["distance"].to_list()
    return distances


class Share(NamedTuple):
    """A share of boards in a sample."""

    found: int
    size: int

    def to_text(self) -> str:
        """Write a share with its standard error, or the numbers if it is none or all."""
        if self.found in (0, self.size):
            return f"{self.found:,} of {self.size:,}"
        share = self.found / self.size
        error = math.sqrt(share * (1 - share) / self.size)
        return f"{share:.1%} ± {error:.1%}"


def measure(dealt: Dealt, walk: int | None, searched: int) -> tuple[Share, Share | None]:
    """Return the shares of boards that cannot be solved, and that need more moves than the limit.

    The second is None without a limit. If 4x4 boards can need more, the first `searched` boards are
    solved, and the second share is of these.
    """
    boards, limit = dealt.boards, dealt.limit
    cells, size = len(boards[0]), len(boards)
    solvable = list(map(is_solvable, boards))
    unsolvable = Share(solvable.count(False), size)
    if limit is None:
        return unsolvable, None
    if limit >= min(MOST.get(cells, math.inf), walk or math.inf):
        return unsolvable, Share(0, size)
    first = boards[:searched] if cells == 16 else boards
    distances = find_distances(first)
    if [distance is not None for distance in distances] != solvable[: len(first)]:
        raise ValueError("the tables and the parity disagree")
    longer = [distance for distance in distances if distance is not None and distance > limit]
    return unsolvable, Share(len(longer), len(first))


def measure_all(
    environments: list[Environment], folder: Path, size: int, searched: int, seed: int
) -> pl.DataFrame:
    """Return a row for each environment."""
    rows = []
    for number, environment in enumerate(environments):
        dealt = deal(environment, folder, size, seed + number)
        row = {
            "package": environment.package.replace("==", " "),
            "environment": environment.name,
            "board": environment.board,
            "boards are dealt by": environment.rule,
        }
        if dealt.error:
            limit, shares = "", [f"not dealt: {dealt.error}", ""]
        else:
            limit = str(dealt.limit or "none")
            measured = measure(dealt, environment.walk, searched)
            shares = [share.to_text() if share else "" for share in measured]
        row |= {"turn limit": limit, "cannot be solved": shares[0], "need more moves": shares[1]}
        rows.append({**row, "python": dealt.python})
        print(", ".join(f"{name}: {value}" for name, value in row.items()), file=sys.stderr)
    return pl.DataFrame(rows)


SHOWN = 7
"""The columns of a page's table; the others are in the file."""


def format_table(table: pl.DataFrame) -> str:
    """Format the first columns as a table of a page."""
    shown = table[:, :SHOWN]
    lines = [shown.columns, ["---"] * 4 + ["---:"] * 3]
    for row in shown.iter_rows():
        package, name, *rest = ("" if cell is None else str(cell) for cell in row)
        lines.append([package, f"`{name}`", *rest])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    """Print the table, and write it into the page and a file if asked."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("folder", type=Path, help="has an environment for each package")
    parser.add_argument("--only", metavar="PACKAGE", help="measure this package alone")
    parser.add_argument("--size", type=int, default=10_000, help="boards of each environment")
    parser.add_argument("--searched", type=int, default=4_000, help="4x4 boards that are searched")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--page", type=Path, help="has the table between two marks")
    parser.add_argument("--results", type=Path, metavar="DIR", help="write environments.csv here")
    given = parser.parse_args()
    chosen = [each for each in ENVIRONMENTS if given.only in (None, each.package.split("==")[0])]
    given.folder.mkdir(parents=True, exist_ok=True)
    table = measure_all(chosen, given.folder, given.size, given.searched, given.seed)
    text = format_table(table)
    print(text, end="")
    if given.page:
        page = given.page.read_text("utf-8")
        given.page.write_text(PART.sub(rf"\1\n{text}\n\2", page), "utf-8")
    if given.results:
        table.write_csv(given.results / "environments.csv")


if __name__ == "__main__":
    main()
