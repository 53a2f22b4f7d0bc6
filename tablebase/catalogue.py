"""Catalogues: the tables of a puzzle that can be built, and the options that request them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from tablebase.schema import Table

    BuildValues = Mapping[str, Sequence[str]]


class BuildOption:
    """An option of `pipeline precompute` for one puzzle; without a metavar it is a flag.

    Its value is the list of the texts given, which is empty for a flag. `example` is a valid text,
    and `choices` are the texts to complete; without choices, they are the puzzle's boards.
    """

    __slots__ = ("choices", "example", "help", "metavar", "name")

    def __init__(
        self,
        name: str,
        help: str,
        metavar: str = "",
        *,
        example: str = "",
        choices: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.help = help
        self.metavar = metavar
        self.example = example
        self.choices = choices

    @property
    def flag(self) -> str:
        return f"--{self.name.replace('_', '-')}"


class Catalogue:
    """The tables of one stage of `pipeline precompute`: the default ones, and optional ones."""

    options: tuple[BuildOption, ...] = ()
    """Options of `pipeline precompute` that request further tables, or change them."""

    def __init__(self, stage: str, tables: tuple[Table, ...]) -> None:
        self.stage = stage
        self.tables = tables
        """The tables that are built by default."""

    def list_boards(self) -> list[str]:
        """List the boards whose tables can be built when an option names them."""
        return []

    def request_tables(self, values: BuildValues) -> tuple[Table, ...]:
        """Return the tables that these options request, or change."""
        return ()

    def list_stage_tables(self) -> tuple[Table, ...]:
        """Return the tables that a command line without options builds if it names the stage."""
        return self.tables

    def list_tables(self, values: BuildValues) -> tuple[Table, ...]:
        """Return the default tables, with those that these options request."""
        tables = {table.name: table for table in (*self.tables, *self.request_tables(values))}
        return tuple(tables.values())

    def list_published_tables(
        self, published: Mapping[str, Mapping[str, Any]]
    ) -> tuple[Table, ...]:
        """List the tables, with the optional ones that are published, from their parameters."""
        return self.tables

    def find_table(self, name: str) -> Table | None:
        """Return the table of that name, optional ones included, or None if there is none."""
        tables = self.list_published_tables({name: {}}) if self.owns_table(name) else ()
        return next((table for table in tables if table.name == name), None)

    def owns_table(self, table: str) -> bool:
        """Return whether a table of that name belongs to this puzzle, optional tables included."""
        return any(table == known.name for known in self.tables)

    def format_build_arguments(self, table: str) -> str:
        """Return the arguments of `pipeline precompute` that build a table of that name."""
        return self.stage

    def adapt_to_manifest(self, table: Table, published: Mapping[str, Mapping[str, Any]]) -> Table:
        """Return a table as it must be built beside the tables that are already published."""
        return table
