"""The Python interface to all tables in one store."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from puzzle_tablebase.errors import BadRequest, quote, require_text
from puzzle_tablebase.puzzles import collect_from_each, is_registered
from puzzle_tablebase.queries.dispatch import Readers, get_reader_class

if TYPE_CHECKING:
    from puzzle_tablebase.queries.eight import EightReader
    from puzzle_tablebase.queries.fifteen import FifteenReader
    from puzzle_tablebase.queries.goal_reader import GoalReader
    from puzzle_tablebase.queries.knight.reader import KnightReader
    from puzzle_tablebase.queries.senet import SenetReader
    from puzzle_tablebase.queries.sliding import BoardReader


class Tables(Readers):
    """The tables in one store; a context manager that closes them.

    Once closed, any call that reads an index raises ValueError. Copies sent to other processes open
    the files for themselves.

    >>> from puzzle_tablebase.queries import open_tables
    >>> with open_tables("outputs") as tables:
    ...     tables.senet.probe("ABAAABBB.B...A.").plies
    2
    """

    def __repr__(self) -> str:
        from puzzle_tablebase.queries.status import format_repr

        return format_repr(self, self.store)

    def _repr_html_(self) -> str:
        """List the published tables for a notebook."""
        from puzzle_tablebase.queries.status import format_html

        return format_html(self, self.store)

    def __enter__(self) -> Tables:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @cached_property
    def eight(self) -> EightReader:
        """The tables of the 8-puzzle."""
        reader: EightReader = self.open("eight")
        return reader

    def sliding(self, board: str) -> BoardReader:
        """Return the table of a sliding board, given as rows x columns, such as 3x4.

        >>> from puzzle_tablebase.queries import open_tables
        >>> open_tables("outputs").sliding("2x3").get("not a state", default=0)
        0
        """
        reader: BoardReader = self.open("sliding").open_board(board)
        return reader

    @cached_property
    def fifteen(self) -> FifteenReader:
        """The tables of the 15-puzzle."""
        reader: FifteenReader = self.open("fifteen")
        return reader

    @cached_property
    def senet(self) -> SenetReader:
        """The table of Senet."""
        reader: SenetReader = self.open("senet")
        return reader

    @cached_property
    def knight(self) -> KnightReader:
        """The tables of the knight's tours."""
        reader: KnightReader = self.open("knight")
        return reader

    def goals(self, name: str) -> GoalReader:
        """Return the table of any registered puzzle with goals; BadRequest for another name."""
        from puzzle_tablebase.queries.goal_reader import GoalReader

        require_text(name, "a puzzle's name", "eight")
        if not (is_registered(name) and issubclass(get_reader_class(name), GoalReader)):
            classes = collect_from_each(lambda puzzle: (puzzle.name, get_reader_class(puzzle.name)))
            with_goals = [each for each, reader in classes if issubclass(reader, GoalReader)]
            hint = f"Choose one of: {', '.join(with_goals)}"
            raise BadRequest(f"{quote(name)} is not a puzzle with goals", hint)
        reader: GoalReader = self.open(name)
        return reader
