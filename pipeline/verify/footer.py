"""A Parquet file's own words for its columns, as readers other than Arrow may take them.

A footer names a column's type twice, in an old way and in a new one. Arrow shows the new one; some
readers follow the old. So the footer is read here as it is written: Thrift's compact protocol.
"""

from __future__ import annotations

import struct
from typing import IO, Any

from pipeline.verify.claims import Fact
from tablebase.puzzle import Column

MAGIC = b"PAR1"
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
NUMBERS = (4, 5, 6)

BOOLEAN, INT32, INT64, BYTE_ARRAY = 0, 1, 2, 6
"""Types as they are stored."""
WORDS: dict[str, tuple[int, int | None, dict[int, Any] | None]] = {
    "boolean": (BOOLEAN, None, None),
    "int8": (INT32, 15, {10: {1: 8, 2: True}}),
    "int16": (INT32, 16, {10: {1: 16, 2: True}}),
    "int32": (INT32, None, None),
    "int64": (INT64, None, None),
    "string": (BYTE_ARRAY, 0, {1: {}}),
    "enum": (BYTE_ARRAY, 0, {1: {}}),
}
"""A kind of column: how it is stored, then what it means, the old way and the new."""


class Compact:
    """Reads values of Thrift's compact protocol, one after another; a struct is a dictionary."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _varint(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    def _zigzag(self) -> int:
        number = self._varint()
        return number >> 1 ^ -(number & 1)

    def struct(self) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._zigzag()
            kind = head & 15
            fields[field] = kind == TRUE if kind in (TRUE, FALSE) else self._value(kind)
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (TRUE, FALSE, BYTE):  # as the elements of a list
            return self._byte()
        if kind in NUMBERS:
            return self._zigzag()
        if kind == STRUCT:
            return self.struct()
        if kind in (LIST, SET):
            head = self._byte()
            size = head >> 4 if head >> 4 < 15 else self._varint()
            return [self._value(head & 15) for _ in range(size)]
        if kind not in (BINARY, DOUBLE):
            raise ValueError(f"type {kind} in the footer")
        size = self._varint() if kind == BINARY else 8
        self._at += size
        if self._at > len(self._data):
            raise ValueError("the footer ends too soon")
        return self._data[self._at - size : self._at]


def check_footer(fact: Fact, file: IO[bytes], columns: tuple[Column, ...]) -> None:
    """Refute a claim unless the footer names every column's type as the table's rules do."""
    file.seek(-8, 2)
    size, magic = struct.unpack("<I4s", file.read(8))
    fact.same(f"magic {magic!r}", f"magic {MAGIC!r}")
    file.seek(-8 - size, 2)
    data = file.read(size)
    try:
        root, *elements = Compact(data).struct()[2]
    except (ValueError, IndexError, KeyError, RecursionError) as error:
        fact.refuted(f"a footer that cannot be read ({error})", "one that can")
    fact.same(f"{root.get(5)} columns", f"{len(elements)} columns")
    fact.same(f"{len(elements)} columns", f"{len(columns)} columns")
    for element, column in zip(elements, columns, strict=True):
        stored, old, new = WORDS[column.kind]
        wanted = {1: stored, 3: int(column.nullable), 4: column.name.encode(), 6: old, 10: new}
        # a field's number is free, and the old way need not be there
        found = {6: old, 10: new, **element}
        found.pop(9, None)
        fact.same(f"column {dict(sorted(found.items()))}", f"column {wanted}")
