"""The search algorithms: they work on numbers and arrays, never on a puzzle.

Beside them, the proofs, the frontiers of sweeps and a few kernels of readers are compiled.
"""
