"""Files of batches: frames in each format, and tables of any Arrow type."""

import io
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq


def write_frame(kind: str, frame: pl.DataFrame) -> bytes:
    """Return a frame as a file of a format."""
    file = io.BytesIO()
    if kind == "parquet":
        frame.write_parquet(file)
    elif kind == "jsonl":
        frame.write_ndjson(file)
    else:
        frame.write_csv(file, separator="\t" if kind == "tsv" else ",")
    return file.getvalue()


def write_table(**columns: Any) -> bytes:
    """Return columns as a Parquet file; an underscore at the end of a name is not part of it."""
    file = io.BytesIO()
    pq.write_table(
        pa.table([*columns.values()], names=[name.rstrip("_") for name in columns]), file
    )
    return file.getvalue()
