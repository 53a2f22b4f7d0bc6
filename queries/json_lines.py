"""Lines of JSON objects, without loss: copied as they are written, or read as rows.

Rows are for the formats that have columns; a line that polars would change is refused.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import msgspec
import polars as pl

from puzzle_tablebase.errors import BadRequest, quote
from puzzle_tablebase.puzzle import write_cells
from puzzle_tablebase.queries.answer_frames import read_key_column

MAX_DEPTH = 64
"""Values within each other; some thousand of them overflow the stack of whatever reads them."""
MAX_DIGITS = 38
"""Digits of an integer of 128 bits, the widest there is a column for."""
MAX_KEY_BYTES = 1_000
"""The bytes of a key; a longer value is none, and its number could be too large for any type."""
EXACT = 1 << 53
"""The integers below it are floats too."""

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"')
_BRACKET = re.compile(rb"[][{}]")
_LONG_NUMBER = r"\d{16}"
_SURROGATE = r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
_decode_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_NULL = msgspec.Raw(b"null")


class Objects(NamedTuple):
    """JSON objects, one a line, of which the keys alone are read."""

    lines: list[str]
    numbers: list[int]
    """The number of each line in the input."""
    fields: list[dict[str, msgspec.Raw]]

    def open_lines(self) -> pl.Series:
        """Return the objects without their last brace: fields can be added at the end."""
        pairs = zip(self.lines, self.fields, strict=True)
        return pl.Series([line[:-1] + ("," if fields else "") for line, fields in pairs])

    def read_keys(self, name: str, digits: int) -> list[str | None]:
        """Return one field of all objects as keys; for `digits` see `can_hold_keys`."""
        self._require_once(name)
        keys, numbers = list[Any](), list[int]()
        for at, fields in enumerate(self.fields):
            raw = fields.get(name, _NULL)
            key = _read_key(raw)
            if key is not None and not isinstance(key, str):
                if not digits or isinstance(key, bool | list | dict):
                    raise BadRequest(
                        f"Line {self.numbers[at]:,} of the input has no text in {quote(name)}, but "
                        f"{quote(bytes(raw).decode())}",
                        "Name the field that holds the keys with --column",
                    )
                numbers.append(at)
            keys.append(key)
        texts = pl.Series([str(int(keys[at])) for at in numbers], dtype=pl.String)
        for at, text in zip(numbers, read_key_column(texts, digits, is_untyped=True), strict=True):
            keys[at] = text
        return keys

    def read_texts(self, name: str) -> list[str | None]:
        """Return one field of all objects: a text of any length, all else as it is written."""
        self._require_once(name)
        raws = [bytes(fields.get(name, _NULL)).decode() for fields in self.fields]
        return [msgspec.json.decode(raw) if raw[0] in '"n' else raw for raw in raws]

    def _require_once(self, name: str) -> None:
        """Raise BadRequest for an object with two fields of that name."""
        lines = pl.Series(self.lines)
        written = json.dumps(name, ensure_ascii=False)  # what is escaped is suspect anyway
        is_suspect = lines.str.count_matches(written, literal=True) > 1
        is_suspect |= lines.str.contains("\\u", literal=True)
        for at in is_suspect.arg_true():
            fields = json.loads(lines[at], object_pairs_hook=list, parse_int=str)
            if [field for field, _ in fields].count(name) > 1:
                raise _make_twice_error(self.numbers[at], name)


def _read_key(raw: msgspec.Raw) -> Any:
    """Read a field as a key; what is too long for one, and a fraction, stay as they are written."""
    text = bytes(raw).decode()
    if len(text) >= MAX_KEY_BYTES:
        return text.strip('"') if text[0] not in "[{" else {}
    try:
        key = write_cells(msgspec.json.decode(raw))
    except msgspec.DecodeError:  # a number that is out of range
        return text
    return text if isinstance(key, float) and key != int(key) else key


def split_objects(text: bytes, line: int) -> Objects:
    """Split one object per line into its fields; `line` is the number of the first.

    BadRequest for a line that is no object.
    """
    lines = text.decode().split("\n")
    _require_shallow(pl.Series(lines), line)
    objects = Objects([], [], [])
    for number, text_line in enumerate(map(str.strip, lines), line):
        if not text_line:
            continue
        try:
            fields = _decode_fields(text_line)
        except msgspec.DecodeError as error:
            if problem := _find_problem(text_line):
                raise BadRequest(f"Line {number:,} of the input {problem}") from error
            # half of a surrogate pair can be copied, though not read
            fields = _decode_fields(re.sub(_SURROGATE, r"\\ufffd", text_line))
        objects.lines.append(text_line)
        objects.numbers.append(number)
        objects.fields.append(fields)
    return objects


def read_objects(text: bytes, line: int) -> pl.DataFrame:
    """Read one object per line; `line` is the number of the first.

    BadRequest for text that is not JSON, and for values that polars would drop or round silently.
    """
    lines = pl.Series(text.decode().split("\n"))
    _require_shallow(lines, line)
    for at in lines.str.contains(_SURROGATE).arg_true():
        problem = _find_problem(lines[at]) or _find_surrogate(lines[at])
        if problem:
            raise BadRequest(f"Line {line + at:,} of the input {problem}")
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


def _find_surrogate(text_line: str) -> str | None:
    """Return the problem of a line of JSON that has half of a surrogate pair, or None."""
    try:
        json.dumps(json.loads(text_line), ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = repr(error.object[error.start])
        return f"has {half}, half of a character. Write --format jsonl, which copies it"
    return None


def _make_twice_error(line: int, name: str) -> BadRequest:
    return BadRequest(f"Line {line:,} of the input has two fields {quote(name)}")


def _require_lossless(rows: pl.DataFrame, lines: pl.Series, line: int) -> None:
    """Raise BadRequest for a line with two fields of a name, or an integer that was rounded."""
    kinds = dict(rows.schema)
    # a fast filter selects the few lines to parse in Python: those whose names a pattern cannot
    # recognise, and those that have a name twice, though perhaps at different depths
    is_suspect = lines.str.contains("\\", literal=True)
    is_suspect |= lines.str.contains(r'[{,:\[]\s*"\s*:|"\s+:')
    names = lines.str.extract_all(r'"[^"]*":')
    is_suspect |= names.list.len() != names.list.n_unique()
    if any(map(_has_large_floats, rows.iter_columns())):
        is_suspect |= lines.str.contains(_LONG_NUMBER)
    for at in is_suspect.arg_true():
        fields = json.loads(lines[at], object_pairs_hook=_Pairs) if lines[at].strip() else []
        known = set[str]()
        for name, value in fields:
            if name in known:
                raise _make_twice_error(line + at, name)
            known.add(name)
            _require_exact(value, kinds[name], name, line + at)


class _Pairs(list[tuple[str, Any]]):
    """The fields of an object, in order."""


def _has_large_floats(column: pl.Series) -> bool:
    """Return whether a column may have floats that stand for rounded integers."""
    if column.dtype == pl.Float64:
        return bool((column.abs() >= EXACT).any())
    return "Float64" in str(column.dtype)


def _require_exact(value: Any, kind: Any, name: str, line: int) -> None:
    """Raise BadRequest for an integer of a field that its type rounds, at any depth."""
    if isinstance(kind, pl.Struct) and isinstance(value, _Pairs):
        kinds = {field.name: field.dtype for field in kind.fields}
        for inner_name, inner in value:
            _require_exact(inner, kinds[inner_name], name, line)
    elif isinstance(kind, pl.List) and isinstance(value, list):
        for inner in value:
            _require_exact(inner, kind.inner, name, line)
    elif isinstance(value, int) and kind == pl.Float64 and int(float(value)) != value:
        raise BadRequest(
            f"Line {line:,} of the input has in {quote(name)}, among numbers with fractions, the "
            f"integer {value}, which would be rounded",
            "Write that field as text",
        )
