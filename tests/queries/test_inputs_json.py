"""JSON lines: fields and types are kept, or refused where they cannot be."""

from __future__ import annotations

import io
import json

import pytest

from queries import stretches
from tablebase.errors import BadRequest
from tests.support.shell import Ask


def test_json_lines_that_only_look_odd_are_read(inside: Ask) -> None:
    text = (
        b'{"state":"123456780","n":1e300,"at":{"n":1},"t":"\\"n\\":"}\n'
        b'{"state":null,"n":9007199254740992,"t":"n\\u0061"}\n'
    )
    code, out, complaint = inside(
        "eight", "--input-format", "jsonl", "--format", "jsonl", text=text
    )
    assert (code, complaint) == (0, "")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["n"], row["t"]) for row in rows] == [(1e300, '"n":'), (2**53, "na")]


def test_json_lines_keep_their_fields_and_types(
    inside: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = b'{"state":"123456780","n":1.5,"at":{"x":[1]}}\n{"n":2}\n\n{"state":"123456708"}\n'
    code, out, _ = inside("eight", "--input-format", "jsonl", "--format", "jsonl", text=text)
    rows = [json.loads(line) for line in out.splitlines()]
    assert (code, [row["n"] for row in rows]) == (0, [1.5, 2, None])
    assert [row["at"] for row in rows] == [{"x": [1]}, None, None]
    assert [row["distance"] for row in rows] == [0, None, 1]


def test_a_late_integer_is_not_rounded_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stretches, "STRETCH", 30)
    file = io.BytesIO(b'{"state":"123456780","n":1.5}\n{"state":"1","n":9007199254740993}\n')
    with pytest.raises(BadRequest, match="'n' is of type Int64 from row 2 on, and of type Float64"):
        list(stretches._json_lines(file))


@pytest.mark.parametrize(
    ("later", "problem"),
    [
        ('"b":1', "The field 'b' is of type Int64 from row 2 on, and not there before."),
        ('"n":"x"', "The field 'n' is of type String from row 2 on, and of type Int64 before."),
    ],
)
def test_fields_that_come_late_are_refused_and_not_dropped(
    monkeypatch: pytest.MonkeyPatch, later: str, problem: str
) -> None:
    monkeypatch.setattr(stretches, "STRETCH", 30)
    file = io.BytesIO(f'{{"state":"123456780","n":1}}\n{{"state":"1",{later}}}\n'.encode())
    with pytest.raises(BadRequest) as caught:
        list(stretches._json_lines(file))
    assert str(caught.value) == problem
