"""The ground of puzzle-tablebase, on which the build and the answers stand.

Read it in that order:

1. `errors`: everything that can go wrong, as sentences.
2. `graph`, `puzzle`: a state space as numbers; what a puzzle is (notation, tables, columns, and
   a recipe for each table).
3. `puzzles`: the rules of each puzzle, and their registry.
4. `tables`: the files: Parquet, index, manifest, and the store that they are in.
5. `appearing`, `streams`, `output`: files that appear whole or not at all, streams that take every
   byte, and what a user names for output.

The answers are the package `queries`; searches, proofs and the command line are `pipeline`.
"""

__version__ = "1.0.0"
