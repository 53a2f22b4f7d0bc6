"""`make bench`: measure everything, print it, and save it in docs/benchmarks.md."""

from __future__ import annotations

from benchmarks import building, lookup, sliding
from benchmarks.measure import ROOT, machine

PAGE = """# Benchmarks

Written by `make bench`, every figure measured in one run on {machine}. Such machines are shared
and noisy: programs run in turns, figures are medians, and ratios say more than times.

## Building

Only the searches, on one core, compared with C programs that do the same (`benchmarks/reference/`).
Our time includes making the graph; kernels are already compiled.

{kernels}
Whole sliding boards of 239,500,800 states (`make bench` takes several minutes for these). The C
program unranks every state and ranks its neighbours, and keeps a byte a state as ours does:

{sliding}
Their tables, and the Parquet file of one of them:

{boards}
The stages as whole processes, with tables written to disk:

{stages}
## Looking up

Whole processes, median of 30 in turns (the 15-ply C++ search: of 3):

{processes}
Calls in one process, on one thread except for whole columns:

{calls}
Batches at the shell:

{batches}"""


def main() -> None:
    page = PAGE.format(
        machine=machine(),
        kernels=building.kernels(),
        sliding=sliding.searches(),
        boards=sliding.builds(),
        stages=building.stages(),
        processes=lookup.processes(),
        calls=lookup.calls(),
        batches=lookup.batches(),
    )
    print(page)
    (ROOT / "docs" / "benchmarks.md").write_text(page)


if __name__ == "__main__":
    main()
