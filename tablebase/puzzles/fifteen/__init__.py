"""The 15-puzzle: patterns of tiles, and the tables of the fewest moves that they need."""
