"""The build side of puzzle-tablebase: rules → search → table → index → answer.

Read it in that order:

1. `errors`: everything that can go wrong, as sentences.
2. `graph`, `puzzle`: a state space as numbers; what a puzzle is (notation, tables, columns, and
   which search makes them).
3. `puzzles`: the rules of the three, and their registry.
4. `search`: breadth first, every tour, one tour a pair; they know no puzzle.
5. `tables`: the files: Parquet, index, manifest, and how they appear whole or not at all.
6. `build`: puzzle → search → table, the stages of `pipeline precompute`.
7. `verify`: proves the published files from the rules alone.
8. `cli`: the command line; `doors` lets a lone lookup past it.

The read side is the package `queries`.
"""

__version__ = "1.0.0"
