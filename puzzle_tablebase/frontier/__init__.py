"""The frontier of a sweep over a board: states, keys, layers and their encoding."""
