"""Counting a board's tours: a sweep through each half, and where the halves meet."""
