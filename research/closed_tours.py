"""Closed knight's tours of wide boards, exactly or modulo a number, from one sweep.

A sweep over the columns of a board leads, at the end of each column, to the states at a cut. Two
halves of a board with two columns more than both together meet there: so one sweep over c columns
counts every board of up to 2c + 2 columns, and most of them at more than one cut.

`python -m research.closed_tours 8 10` counts the closed tours of 8x5 to 8x10. `--dry-run` counts
only the states of each layer. `--bound` takes seconds, and prints the most states that each layer
can have. `--modulus` counts modulo a number; a board with more than 2^63 tours needs that.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from puzzle_tablebase.pipeline.recipes.tour_meet import make_cut, meet_halves
from puzzle_tablebase.pipeline.recipes.tour_sweep import (
    ONCE,
    Layer,
    advance_layer,
    count_matchings,
    make_first_layer,
    make_steps,
    sum_cycles,
)
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.pipeline.workers import Workers
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tour_ranker import Sweep
from puzzle_tablebase.tour_frontier.states import FREE


def iter_layers(rows: int, columns: int, modulus: int, tasks: Tasks) -> Iterator[Layer]:
    """Iterate over the layers of the longer half of a board."""
    sweep = Sweep(KnightBoard(rows, columns), paths=False)
    layer = make_first_layer([FREE] * sweep.cells, modulus)
    for step in make_steps(sweep, mirrored=True, modulus=modulus):
        layer = advance_layer(layer, step, lambda: None, tasks.run_in_threads)
        yield layer


def iter_bounds(rows: int, columns: int) -> Iterator[str]:
    """Iterate over lines about the most states that each layer can have, by their needs."""
    sweep = Sweep(KnightBoard(rows, columns), paths=False)
    needs = make_first_layer([FREE] * sweep.cells).needs
    for number, step in enumerate(make_steps(sweep, mirrored=True), 1):
        needs = step.list_needs(needs)
        most = int(count_matchings(needs).sum())
        yield f"layer {number}: {len(needs):,} needs, at most {most:,} states"


def iter_counts(rows: int, columns: int, modulus: int, cuts: int, tasks: Tasks) -> Iterator[str]:
    """Iterate over lines about the layers, and about the boards that have a cut there."""
    ends = list[Layer]()
    began = time.process_time()
    for number, layer in enumerate(iter_layers(rows, columns, modulus, tasks), 1):
        seconds = time.process_time() - began
        size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        states = f"{len(layer.needs):,} needs, {len(layer.ways):,} states"
        yield f"layer {number}: {states}; {seconds:.0f} s, {size:.1f} GB"
        if modulus == ONCE or number % rows:
            continue
        ends = [*ends[1 - cuts :], layer] if cuts > 1 else [layer]
        done = number // rows
        for behind, other in enumerate(reversed(ends)):
            board = KnightBoard(rows, 2 * done - behind + 2)
            if rows <= board.ranks <= columns:
                cut = make_cut(Sweep(board, paths=False), mirrored=True, modulus=modulus)
                onward, _ = meet_halves(layer, other, cut, str(board), tasks)
                total = sum_cycles(layer.ways, onward, modulus)
                yield f"{board}, cut after {done} and {done - behind} columns: {total}"


def parse_modulus(text: str) -> int:
    """Return a number that a sweep can count modulo."""
    modulus = int(text)
    # where halves meet, the ways of a state and of its image are added up, and the sum is halved;
    # a remainder can only be halved modulo an odd number
    if not ONCE < modulus < 1 << 32 or modulus % 2 == 0:
        raise argparse.ArgumentTypeError(f"{modulus} is not an odd number from 3 to 2^32")
    return modulus


def main() -> None:
    """Count the closed tours of all boards with so many rows and up to so many columns."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("rows", type=int)
    parser.add_argument("columns", type=int)
    parser.add_argument(
        "--modulus", type=parse_modulus, default=0, metavar="N", help="odd, up to 2^32"
    )
    parser.add_argument("--dry-run", action="store_true", help="count only states")
    parser.add_argument(
        "--cuts", type=int, default=2, metavar="N", help="3: most boards at two cuts (default: 2)"
    )
    parser.add_argument("--bound", action="store_true", help="only bound the number of states")
    options = parser.parse_args()
    if options.bound:
        for line in iter_bounds(options.rows, options.columns):
            print(line, flush=True)
        return
    modulus = ONCE if options.dry_run else options.modulus
    with ThreadPoolExecutor(2) as pool:
        tasks = Tasks(Workers(pool, 2))
        for line in iter_counts(options.rows, options.columns, modulus, options.cuts, tasks):
            print(line, flush=True)


if __name__ == "__main__":
    main()
