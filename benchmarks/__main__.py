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

Written by `make bench`, each table measured in one run on {machine}. Such machines are shared
and noisy: programs run in turns, figures are medians, and ratios say more than times.

## Looking up

Whole processes, median of 30 in turns:

{processes}
Calls in one process, on one thread except for whole columns:

{calls}
Batches at the shell:

{batches}
Judged answers, by processor time: a column in, all columns of verdicts out, beside a judge of ten
lines (`annotate`, and a plain replay of each answer, for the score alone); and single answers as
processes:

{judging}
Sets of states, by processor time of all threads, medians of 3; states are drawn at random:

{sets}
## Building

Only the searches, on one core, compared with C programs that do the same (`benchmarks/reference/`).
Our time includes making the graph; kernels are already compiled.

{kernels}
Lists of tours, in processor seconds of one core: the search alone, the C program with the same
pruning (`-O3 -march=native`), and the search with its Parquet files:

{lists}
The same parts by one thread and by two, in seconds on the clock:

{cores}
Searches of whole sliding boards of 239,500,800 states, in words of 60 states. The C program does
the same (`-O2`); the peak memory is that of the whole process with Python and its kernels:

{sliding}
Their tables, and the Parquet file of one of them:

{boards}
The builds as whole processes, with tables written to disk:

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
