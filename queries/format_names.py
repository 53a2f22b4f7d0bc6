"""The names of the formats of batches, and the suffixes of their files."""

from __future__ import annotations

FORMATS = {"csv": "CSV", "jsonl": "JSON", "parquet": "Parquet"}
"""The formats of a batch's answers, with their names in messages."""
INPUT_FORMATS = {
    "text": (".txt",),
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
}
"""The formats of a batch's input, each with its file suffixes."""
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".zst", ".zstd", ".xz")
"""Suffixes of compressed files, which follow that of a format."""
