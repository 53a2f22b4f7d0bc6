"""The proofs of the knight's tables."""
