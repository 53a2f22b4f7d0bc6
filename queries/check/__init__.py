"""Judges: what an answer to a key is worth, by the rules and the tables."""
