"""The proof of the knight's tables."""
