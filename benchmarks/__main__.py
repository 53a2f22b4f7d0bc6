"""`make bench`: all measurements, printed and saved in docs/benchmarks.md.

`python -m benchmarks lists cores` measures only these sections. The page's last part, the single
runs of some hours, stays as it is.
"""

from __future__ import annotations

import re
import sys

from benchmarks import building, judging, listing, lookup, sets, sliding
from benchmarks.measure import ROOT, describe_machine

PAGE = """# Benchmarks

Written by `make bench`, each table measured in one run on {machine}. The machine is shared
and noisy: programs run in turns, figures are medians, and ratios are more reliable than times.

## Looking up

Whole processes; medians of 30 runs, in turns:

{processes}
Calls in one process, on one thread; calls with whole columns use all cores:

{calls}
Batches at the shell:

{batches}
Judging a column of answers, by processor time, compared with ten lines that compute the score alone
(`annotate`, then a replay of each answer in Python); then single answers, as whole processes:

{judging}
Sets of random states, by processor time of all threads; medians of 3 runs:

{sets}
## Building

The searches alone, on one core, compared with C programs that do the same
(`benchmarks/reference/`). The time includes making the graph, but not compiling the kernels:

{kernels}
Lists of tours, in processor seconds of one core: the search alone, the C program with the same
pruning (`-O3 -march=native`), and the search with its Parquet files:

{lists}
The same search with its Parquet file, on one thread and on two, in wall time:

{cores}
Searches of boards with 239,500,800 states, compared with a C program that does the same (`-O2`).
The peak memory is that of the whole process, with Python and the compiled kernels:

{sliding}
Builds of their tables:

{boards}
Builds of the default tables, as whole processes:

{stages}"""


SINGLE_RUNS = "\n## Single runs\n"
"""The heading of the part of the page that is not measured here."""

SECTIONS = {
    "kernels": building.compare_kernels,
    "lists": listing.compare_lists,
    "cores": listing.compare_threads,
    "sliding": sliding.compare_searches,
    "boards": sliding.measure_builds,
    "stages": building.measure_stages,
    "processes": lookup.compare_processes,
    "calls": lookup.measure_calls,
    "batches": lookup.measure_batches,
    "judging": judging.compare_judges,
    "sets": sets.measure_sets,
}


def read_sections(page: str) -> dict[str, str]:
    """Return the text of each section that a page has: the tables after its introduction."""
    found = dict[str, str]()
    for name in SECTIONS:
        opening = PAGE.partition(f"\n\n{{{name}}}")[0].rpartition("\n")[2]
        tables = re.search(rf"{re.escape(opening)}\n\n((?:\|.*\n|\n(?=\|))+)", page)
        if tables:
            found[name] = tables[1]
    return found


def main(names: list[str]) -> None:
    """Measure some sections, or all; the others stay as they are, if the page has them."""
    if unknown := {*names} - {*SECTIONS}:
        sys.exit(f"no section {', '.join(unknown)}; choose from {', '.join(SECTIONS)}")
    path = ROOT / "docs" / "benchmarks.md"
    measured, _, single_runs = path.read_text().partition(SINGLE_RUNS)
    sections = read_sections(measured)
    missing = {*SECTIONS} - {*sections} - {*names}
    if names and missing:
        sys.exit(f"docs/benchmarks.md has no section {', '.join(missing)}: measure it too")
    sections |= {name: SECTIONS[name]() for name in names or SECTIONS}
    sections["machine"] = describe_machine()
    page = PAGE.format_map(sections)
    print(page)
    path.write_text(page + SINGLE_RUNS + single_runs)


if __name__ == "__main__":
    main(sys.argv[1:])
