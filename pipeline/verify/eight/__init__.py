"""The proof of the 8-puzzle's table."""
