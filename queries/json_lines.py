"""Lines of JSON objects as rows: every field and number is kept, or the line is refused."""

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
    """Read one object a line; `line` is the number of the first.

    BadRequest for what is not JSON, and for what polars would drop or round without a word.
    """
    lines = pl.Series(text.decode().split("\n"))
    _require_shallow(lines, line)
    try:
        rows = pl.read_ndjson(text, infer_schema_length=None)
    except pl.exceptions.PolarsError as error:
        for at, written in enumerate(lines, line):
            if problem := _find_problem(written):
                raise BadRequest(f"Line {at:,} of the input {problem}") from error
        raise
    _require_kept(rows, lines, line)
    return rows


def _require_shallow(lines: pl.Series, line: int) -> None:
    """BadRequest for values nested too deep: they would end the process, not the reading."""
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
    """A number that JSON or a column has no place for."""


def _refuse_constant(name: str) -> None:
    raise _Unreadable(f"has the number {name}, which is not valid JSON. Write null instead")


def _require_short(digits: str) -> int:
    count = len(digits.lstrip("-"))
    if count > MAX_DIGITS:
        raise _Unreadable(f"has an integer of {count:,} digits. Write that field as text")
    return int(digits)


def _require_finite(number: str) -> float:
    if abs(found := float(number)) == float("inf"):
        raise _Unreadable(f"has the number {quote(number)}, which is out of range")
    return found


def _find_problem(written: str) -> str | None:
    """What is wrong with a line, if anything is."""
    if not written.strip():
        return None
    try:
        value = json.loads(
            written,
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


def _require_kept(rows: pl.DataFrame, lines: pl.Series, line: int) -> None:
    kinds = dict(rows.schema)
    # a quick look finds the few lines to look at closely: those whose names cannot be told by the
    # characters around them, and those that have a name twice, if perhaps not at the same depth
    odd = lines.str.contains("\\", literal=True)
    odd |= lines.str.contains(r'[{,:\[]\s*"\s*:|"\s+:')
    names = lines.str.extract_all(r'"[^"]*":')
    odd |= names.list.len() != names.list.n_unique()
    floats = (column for column in rows.iter_columns() if column.dtype == pl.Float64)
    if any((column.abs() >= EXACT).any() for column in floats):
        odd |= lines.str.contains(_LONG_NUMBER)
    for at in odd.arg_true():
        found = json.loads(lines[at], object_pairs_hook=list) if lines[at].strip() else []
        known = set[str]()
        for name, value in found:
            if name in known:
                raise BadRequest(f"Line {line + at:,} of the input has two fields {quote(name)}")
            known.add(name)
            whole = isinstance(value, int) and kinds[name] == pl.Float64
            if whole and int(float(value)) != value:
                raise BadRequest(
                    f"Line {line + at:,} of the input has in {quote(name)}, among numbers with "
                    f"fractions, the integer {value}, which would be rounded",
                    "Write that field as text",
                )
