"""Tables: their columns, the record format of their index, and the recipe that they are built from.

Nothing heavy is imported here, and no dataclasses: a single lookup imports this module, and must
take a few milliseconds in all.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import numpy.typing as npt

    Columns = Mapping[str, npt.NDArray[Any]]
    """The values of some columns, or of fields of the index, by name."""

UNREACHABLE = 255
"""The depth that tables store for an unreachable state; all others are less."""
TYPE_LETTERS = {"int16": "h", "int32": "i", "int64": "q"}
"""Whole-number column types, each with its `struct` letter; signed, as differences may be."""
ROW_BYTES = 45
"""Bytes of a row of bits: 360 states."""
BITS_INDEX = (("bits", f"{ROW_BYTES}s"),)
"""Fields of an index with one bit for each state."""
RANKING_FIELDS = (("layer", "H"), ("key", "Q"), ("before", "Q"), ("states", "1005s"))
"""Fields of a record with consecutive states of a layer, by ascending key.

`key`: that of the first state. `before`: the sum of the numbers of all earlier states of the layer.
`states`: alternately the number of a state and the difference to the next key, as variable-length
integers (unsigned LEB128): groups of seven bits, the lowest first, with the eighth bit set in all
bytes of a value but the last. The first byte that is 0 ends the record."""
FIELD_TYPES = {"B": "int16", "H": "int32", "I": "int64", "Q": "int64"}
"""The smallest column type for each type of index field (`struct`); of `Q`, for values < 2^63."""


class Column:
    """One column of a table. Types: those of `TYPE_LETTERS`, `string`, `boolean`, `enum`.

    `distinct`: whether most values are unique, so that a dictionary encoding does not help.
    `ascending`: whether the rows are sorted by it, after the ascending columns before it.
    """

    __slots__ = ("ascending", "distinct", "meaning", "name", "nullable", "type", "values")

    def __init__(
        self,
        name: str,
        type: str,
        meaning: str,
        *,
        nullable: bool = False,
        distinct: bool = False,
        ascending: bool = False,
        values: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.type = type
        self.meaning = meaning
        self.nullable = nullable
        self.distinct = distinct
        self.ascending = ascending
        self.values = values


class Recipe:
    """What determines a table: the name of its kind, and parameters, all plain values.

    The manifest stores `parameters`, with the kind; a table's values depend on nothing else.
    """

    __slots__ = ("kind", "parameters")

    def __init__(self, kind: str, **parameters: Any) -> None:
        self.kind = kind
        self.parameters = {"kind": kind, **parameters}


class Table:
    """One published Parquet file, and the record format of the index beside it if it has one.

    A table without columns is an index alone.
    """

    __slots__ = ("columns", "index", "meaning", "name", "rank", "recipe", "rows")

    def __init__(
        self,
        name: str,
        meaning: str,
        rank: str,
        columns: tuple[Column, ...],
        recipe: Recipe,
        index: tuple[tuple[str, str], ...] = (),
        rows: int | None = None,
    ) -> None:
        self.name = name
        self.meaning = meaning
        self.rank = rank
        self.columns = columns
        self.recipe = recipe
        self.index = index
        """Fields of an index record in order: a name and a `struct` letter each, little-endian."""
        self.rows = rows
        """The number of rows that the table must have, where that is known beforehand."""

    @property
    def sorted_by(self) -> tuple[str, ...]:
        """The columns that the rows are sorted by, text by its bytes (as in the footers)."""
        return tuple(column.name for column in self.columns if column.ascending)

    @property
    def file(self) -> str:
        return f"{self.name}.parquet" if self.columns else self.index_file

    @property
    def index_file(self) -> str:
        return f"{self.name}.idx"

    @property
    def states(self) -> int:
        """The number of states that the table covers, if known."""
        return (self.rows or 0) * (8 * ROW_BYTES if self.index == BITS_INDEX else 1)

    def describe_form(self) -> str:
        """Describe the table without the recipe's parameters and without descriptions."""
        columns = [
            (each.name, each.type, each.nullable, each.distinct, each.ascending, each.values)
            for each in self.columns
        ]
        return ascii((self.name, self.rank, columns, self.index))

    def list_fields(self) -> tuple[Column, ...]:
        """Return the fields of the index as columns."""
        return tuple(
            Column(name, FIELD_TYPES.get(letter, "string"), "") for name, letter in self.index
        )

    @property
    def record_format(self) -> str:
        """The `struct` format of an index record.

        >>> from puzzle_tablebase.registry import get_puzzle
        >>> get_puzzle("eight").tables[0].record_format
        '<BB'
        """
        return "<" + "".join(letter for _, letter in self.index)
