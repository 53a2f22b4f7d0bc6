"""Lines of JSON objects as rows, without loss: a line that polars would change is refused."""

from __future__ import annotations

import json
import re

import polars as pl

from tablebase.errors import BadRequest, quote

MAX_DEPTH = 64
"""Values within each other; some thousand of them overflow the stack of whatever reads them."""
MAX_DIGITS = 38
"""Digits of an integer of 128 bits, the widest there is a column for."""
EXACT = 1 << 53
"""The integers below it are floats too."""

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"')
_BRACKET = re.compile(rb"[][{}]")
_LONG_NUMBER = r"\d{16}"


def read_objects(text: bytes, line: int) -> pl.DataFrame:
    """Read one object per line; `line` is the number of the first.

    BadRequest for text that is not JSON, and for values that polars would drop or round silently.
    """
    lines = pl.Series(text.decode().split("\n"))
    _require_shallow(lines, line)
    try:
        rows = pl.read_ndjson(text, infer_schema_length=None)
    except pl.exceptions.PolarsError as error:
        for number, text_line in enumerate(lines, line):
            if problem := _find_problem(text_line):
                raise BadRequest(f"Line {number:,} of the input {problem}") from error
        raise
    _require_lossless(rows, lines, line)
    return rows


def _require_shallow(lines: pl.Series, line: int) -> None:
    """Raise BadRequest for values nested too deep: polars would abort the process on them."""
    for at in (lines.str.count_matches(r"[\[{]") > MAX_DEPTH).arg_true():
        depth = 0
        for bracket in _BRACKET.findall(_STRING.sub(b"", lines[at].encode())):
            depth += 1 if bracket in b"[{" else -1
            if depth > MAX_DEPTH:
                raise BadRequest(
                    f"Line {line + at:,} of the input has values nested more than {MAX_DEPTH} deep",
                    "Write the nested field as text",
                )


class _Unreadable(ValueError):
    """A number that JSON or a column cannot hold."""


def _refuse_constant(name: str) -> None:
    raise _Unreadable(f"has the number {name}, which is not valid JSON. Write null instead")


def _require_short(digits: str) -> int:
    count = len(digits.lstrip("-"))
    if count > MAX_DIGITS:
        raise _Unreadable(f"has an integer of {count:,} digits. Write that field as text")
    return int(digits)


def _require_finite(number: str) -> float:
    if abs(value := float(number)) == float("inf"):
        raise _Unreadable(f"has the number {quote(number)}, which is out of range")
    return value


def _find_problem(text_line: str) -> str | None:
    """Return the problem of a line that is not one JSON object, or None."""
    if not text_line.strip():
        return None
    try:
        value = json.loads(
            text_line,
            parse_constant=_refuse_constant,
            parse_int=_require_short,
            parse_float=_require_finite,
        )
    except _Unreadable as error:
        return str(error)
    except json.JSONDecodeError as error:
        return f"is not valid JSON: see character {error.pos + 1:,}"
    if isinstance(value, dict):
        return None
    kind = "array" if isinstance(value, list) else "text" if isinstance(value, str) else "value"
    return f"is a JSON {kind}, not an object"


def _require_lossless(rows: pl.DataFrame, lines: pl.Series, line: int) -> None:
    """Raise BadRequest for a line with two fields of a name, or an integer that was rounded."""
    kinds = dict(rows.schema)
    # a fast filter selects the few lines to parse in Python: those whose names a pattern cannot
    # recognise, and those that have a name twice, though perhaps at different depths
    is_suspect = lines.str.contains("\\", literal=True)
    is_suspect |= lines.str.contains(r'[{,:\[]\s*"\s*:|"\s+:')
    names = lines.str.extract_all(r'"[^"]*":')
    is_suspect |= names.list.len() != names.list.n_unique()
    floats = (column for column in rows.iter_columns() if column.dtype == pl.Float64)
    if any((column.abs() >= EXACT).any() for column in floats):
        is_suspect |= lines.str.contains(_LONG_NUMBER)
    for at in is_suspect.arg_true():
        fields = json.loads(lines[at], object_pairs_hook=list) if lines[at].strip() else []
        known = set[str]()
        for name, value in fields:
            if name in known:
                raise BadRequest(f"Line {line + at:,} of the input has two fields {quote(name)}")
            known.add(name)
            is_converted = isinstance(value, int) and kinds[name] == pl.Float64
            if is_converted and int(float(value)) != value:
                raise BadRequest(
                    f"Line {line + at:,} of the input has in {quote(name)}, among numbers with "
                    f"fractions, the integer {value}, which would be rounded",
                    "Write that field as text",
                )
