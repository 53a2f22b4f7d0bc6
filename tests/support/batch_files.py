"""Files of batches: frames in each format, and tables of any Arrow type."""

import io
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq


def write_frame(file_format: str, frame: pl.DataFrame) -> bytes:
    """Return a frame as a file of a format."""
    file = io.BytesIO()
    if file_format == "parquet":
        frame.write_parquet(file)
    elif file_format == "jsonl":
        frame.write_ndjson(file)
    else:
        frame.write_csv(file, separator="\t" if file_format == "tsv" else ",")
    return file.getvalue()


def write_table(**columns: Any) -> bytes:
    """Return columns as a Parquet file; an underscore at the end of a name is not part of it."""
    file = io.BytesIO()
    pq.write_table(
        pa.table([*columns.values()], names=[name.rstrip("_") for name in columns]), file
    )
    return file.getvalue()
