"""The Python interface to a sliding board's tables."""

from __future__ import annotations

from queries.typed_tables import GoalTable


class BoardTable(GoalTable):
    """The tables of a sliding board; the default goal is the blank in the last corner."""
