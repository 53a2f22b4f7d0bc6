"""Base package of puzzle-tablebase, which `queries` and `pipeline` import.

A good order for reading:

1. `errors`: every error that can reach a user, with its message.
2. `graph`, `puzzle`: a state space as numbers; the parts of a puzzle (notation, tables, columns,
   and a recipe for each table).
3. `puzzles`: the rules of each puzzle, and their registry.
4. `tables`: Parquet files, index, manifest, and the store that holds them.
5. `atomic_write`, `process`, `output`: files that appear complete or not at all, signals and
   standard streams, and the files, devices and URLs that a user names for output.

Queries are answered by the package `queries`; searches, proofs and the command line are in
`pipeline`.
"""

__version__ = "1.0.0"

UNREACHED = 255
"""Depth of a node that a search did not reach, as tables store it; real depths stay below it."""
