"""The files: Parquet tables, the index beside each, the manifest, and how they are published."""

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
COMMAND = "pipeline precompute"
REMOVE = "pipeline remove"
