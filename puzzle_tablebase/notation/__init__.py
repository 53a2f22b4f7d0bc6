"""Notation: what people type and read, and the constants of the puzzles. No moves, no ranks.

Builds, readers and proofs share it.
"""
