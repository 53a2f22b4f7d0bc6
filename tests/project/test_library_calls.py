"""Files are handed to polars and to pyarrow in a module each, as open ones: no path is given."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.support.shell import ROOT

ROOMS = ("puzzle_tablebase", "queries", "pipeline")
OPENING = {
    *("scan_parquet", "read_parquet", "read_parquet_schema", "read_parquet_metadata"),
    *("ParquetFile", "ParquetDataset", "read_schema"),
    *("scan_csv", "scan_ndjson", "scan_ipc", "read_ipc", "memory_map"),
}
"""What opens a file of rows, and takes a path."""


def find_calls(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        types = {
            inner
            for node in ast.walk(tree)
            for part in (getattr(node, "annotation", None), getattr(node, "returns", None))
            for inner in (ast.walk(part) if part else ())
        }
        for node in {*ast.walk(tree)} - types:
            if isinstance(node, ast.Attribute) and node.attr in OPENING:
                yield path.relative_to(ROOT).as_posix(), node.attr


def test_one_module_opens_files_for_each_library() -> None:
    calls = [call for room in ROOMS for call in find_calls(ROOT / room)]
    opening = {"row_groups": "ParquetFile", "parquet": "scan_parquet"}
    assert {*calls} == {
        (f"puzzle_tablebase/formats/{module}.py", call) for module, call in opening.items()
    }
