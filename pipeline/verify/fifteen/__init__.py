"""The proof of the 15-puzzle's tables."""
