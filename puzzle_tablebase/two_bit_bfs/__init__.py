"""Breadth-first search of sliding boards with two bits a state, in words."""
