"""The search algorithms: they work on numbers and arrays, never on a puzzle.

Only they and the proofs are compiled.
"""
