"""Hypothesis strategies that draw the puzzles' states."""

from hypothesis import strategies as st

eight_states = st.permutations("012345678").map("".join)
"""Any arrangement of the 8-puzzle."""

senet_positions = st.permutations("AAAAABBBBB.....").map("".join)
"""Any arrangement of Senet."""

white_space = st.text(" \t\n\r\v\f", max_size=3)
"""Nothing, or some white space."""
