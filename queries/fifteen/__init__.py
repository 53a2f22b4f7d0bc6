"""Queries of the 15-puzzle: searches that the tables of patterns lead."""
