"""JSON lines: fields and types are preserved, or refused where they cannot be."""

import io
import json
import time
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.errors import BadRequest
from puzzle_tablebase.queries import batch_formats
from puzzle_tablebase.queries.json_lines import MAX_DEPTH, read_objects
from tests.support.shell import Ask


@pytest.mark.parametrize(
    "rest",
    [
        r',"x":"\ud800x" }',
        r' , "n": 1e300,"at":{"n":1}, "t":"\"n\":", "n\u0061" :"\u00e9"}',
        f',"x":1e999,"y":{"9" * 5_000},"x":[{{}}]}}',
        r',"\u0000":{"":"\udc00\ud800"}}',
    ],
)
@pytest.mark.parametrize("key", ['"123456780"', "123456780", "123456780.0", "null"])
def test_json_objects_are_copied_as_they_are_written(
    ask_in_process: Ask, rest: str, key: str
) -> None:
    lines = [f'{{"state":{key}{rest}', "{}", '{"later":[1,"x"],"state":"12345678"}']
    text = "\r\n\n".join([f"  {line} " for line in lines]).encode()
    words = ("--input-format", "jsonl", "--format", "jsonl", "--column", "state")
    code, out, complaint = ask_in_process("eight", *words, text=text)
    assert (code, complaint) == (2, "pipeline: 1 key is invalid. See the column error.\n")
    answer = '"goal":"corner","distance":0,"best_moves":"","solutions":1,"error":null}'
    nothing = '"goal":null,"distance":null,"best_moves":null,"solutions":null,"error":null}'
    first, second, third = out.splitlines()
    assert first == f"{lines[0][:-1]},{nothing if key == 'null' else answer}"
    assert second == f"{{{nothing}"
    assert third.startswith(f"{lines[2][:-1]},")


def test_values_that_are_no_keys_do_not_stop_a_batch(ask_in_process: Ask) -> None:
    values = ["1" * 1_200, f'"{"1" * 1_200}"', "3.5", "1e400", '"123456780"']
    text = "".join(f'{{"state":{value}}}\n' for value in values).encode()
    words = ("--input-format", "jsonl", "--format", "jsonl")
    code, out, complaint = ask_in_process("eight", *words, text=text)
    assert (code, complaint) == (2, "pipeline: 4 keys are invalid. See the column error.\n")
    errors = [line.rpartition('"error":')[2] for line in out.splitlines()]
    assert [error == "null}" for error in errors] == [False] * 4 + [True]


def test_a_key_of_any_script_stands_once(ask_in_process: Ask) -> None:
    text = '{"zuständ":"378546201","zuständ":"123456780"}'.encode()
    words = ("--input-format", "jsonl", "--format", "jsonl", "--column", "zuständ")
    code, _, complaint = ask_in_process("eight", *words, text=text)
    assert (code, "has two fields 'zuständ'" in complaint) == (2, True)


@pytest.mark.parametrize(
    "field",
    [
        '{"n":0.5}|{"n":9007199254740993}',
        "[0.5,1]|[9007199254740993]",
        '[{"n":0.5}]|[{"n":9007199254740993}]',
    ],
)
def test_integers_that_would_be_rounded_are_refused_at_any_depth(field: str) -> None:
    text = "\n".join(f'{{"state":"1","x":{value}}}' for value in field.split("|"))
    with pytest.raises(BadRequest, match=r"Line 2 .* in 'x', .* the integer 9007199254740993"):
        read_objects(text.encode(), 1)


def test_json_lines_preserve_fields_and_types(ask_in_process: Ask, tmp_path: Path) -> None:
    text = b'{"state":"123456780","n":1.5,"at":{"x":[1]}}\n{"n":2}\n\n{"state":"123456708"}\n'
    target = tmp_path / "answers.parquet"
    words = ("--input-format", "jsonl", "--output", str(target))
    assert ask_in_process("eight", *words, text=text) == (0, "", "")
    answers = pl.read_parquet(target)
    assert answers["n"].to_list() == [1.5, 2, None]
    assert answers["at"].to_list() == [{"x": [1]}, None, None]
    assert answers["distance"].to_list() == [0, None, 1]


@pytest.mark.parametrize("field", ["{}", "[{}]"])
def test_objects_without_fields_are_not_written_as_parquet(
    ask_in_process: Ask, tmp_path: Path, field: str
) -> None:
    words = ("--input-format", "jsonl", "--output", str(tmp_path / "answers.parquet"))
    text = f'{{"state":"1","x":{field}}}'.encode()
    code, _, complaint = ask_in_process("eight", *words, text=text)
    assert (code, complaint.split(". ")[0]) == (
        2,
        "pipeline: Parquet cannot hold the column 'x', whose objects have no fields",
    )


@pytest.mark.parametrize(
    ("first", "later", "problem"),
    [
        (1, '"b":1', "The field 'b' is of type Int64 from row 2 on, and not there before."),
        (1, '"n":"x"', "The field 'n' is of type String from row 2 on, and of type Int64 before."),
        # which would be rounded
        (
            1.5,
            f'"n":{2**53 + 1}',
            "The field 'n' is of type Int64 from row 2 on, and of type Float",
        ),
    ],
)
def test_late_fields_are_rejected(first: float, later: str, problem: str) -> None:
    file = io.BytesIO(f'{{"state":"123456780","n":{first}}}\n{{"state":"1",{later}}}\n'.encode())
    with pytest.raises(BadRequest) as caught:
        list(batch_formats._read_json_lines(file, 30))
    assert str(caught.value).startswith(problem)


def seconds_to_read(kind: str, columns: int) -> float:
    """Return the shorter time of two readings of two rows with so many columns."""
    names, seconds = [f"f{at}" for at in range(columns)], []
    row = json.dumps(dict.fromkeys(names, 1) | {"big": 1e300})
    head, ones = ",".join(names), ",".join("1" * columns)
    text = f"{row}\n{row}\n" if kind == "jsonl" else f"{head}\n{ones}\n{ones}\n"
    for _ in range(2):
        file, begun = io.BytesIO(text.encode()), time.process_time()
        if kind == "jsonl":
            parts = [*batch_formats._read_json_lines(file)]
        else:
            parts = [*batch_formats._read_delimited(file, b",")]
        seconds.append(time.process_time() - begun)
        assert sum(len(part.rows) for part in parts) == 2
    return min(seconds)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_wide_rows_take_linear_time(kind: str) -> None:
    once, times = (500, 8) if kind == "jsonl" else (2_000, 16)
    # quadratic work would take `times` times as long again
    assert seconds_to_read(kind, once * times) < seconds_to_read(kind, once) * times * 3


@pytest.mark.parametrize("value", ['[1, "]]["]', '{"x": "\\"[["}'])
def test_deep_values_are_rejected_and_shallow_ones_read(value: str) -> None:
    begin, end = ("[", "]") if value[0] == "[" else ('{"x":', "}")
    for depth, good in ((MAX_DEPTH - 2, True), (MAX_DEPTH - 1, False), (100_000, False)):
        line = f'{{"state":"1","a":{begin * depth}{value}{end * depth}}}\n'
        if good:
            assert read_objects(line.encode(), 1).columns == ["state", "a"]
            continue
        with pytest.raises(BadRequest, match="Line 3 of the input has values nested more than 64"):
            read_objects(f'{{"state":"1"}}\n\n{line}'.encode(), 1)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("NaN", "has the number NaN, which is not valid JSON. Write null instead."),
        ("-Infinity", "has the number -Infinity, which is not valid JSON. Write null instead."),
        ("-" + "9" * 5_000, "has an integer of 5,000 digits. Write that field as text."),
        ("9" * 40, "has an integer of 40 digits. Write that field as text."),
        ("1e999", "has the number '1e999', which is out of range."),
        ("01", "is not valid JSON: see character 20."),
        ('{"a" "b"}', "is not valid JSON: see character 6."),
        ("[1]", "is a JSON array, not an object."),
        ('"a"', "is a JSON text, not an object."),
        ("{7", "is not valid JSON: see character 2."),
    ],
)
def test_unusable_lines_are_described(line: str, problem: str) -> None:
    """A number stands in a field."""
    line = line if line[0] in '{["' else f'{{"state":"1","n":[{line}]}}'
    with pytest.raises(BadRequest) as caught:
        read_objects(f'{{"state":"1","n":1}}\n{line}\n'.encode(), 1)
    assert str(caught.value) == f"Line 2 of the input {problem}"


names = st.text('a":, \\\t', max_size=4)


@given(st.lists(st.tuples(names, names, st.sampled_from(["", " ", "\t"])), min_size=1, max_size=4))
def test_duplicate_fields_are_detected(fields: list[tuple[str, str, str]]) -> None:
    written = (f"{json.dumps(name)}{gap}:{json.dumps(value)}" for name, value, gap in fields)
    text = f"{{{','.join(written)}}}".encode()
    if len({name for name, _, _ in fields}) == len(fields):
        (row,) = read_objects(text, 1).rows(named=True)
        assert row == {name: value for name, value, _ in fields}
    else:
        with pytest.raises(BadRequest, match="Line 1 of the input has two fields"):
            read_objects(text, 1)
