"""The files: Parquet tables, the index beside each, the manifest, and how they are published."""

FORMAT_VERSION = 2
MANIFEST = "manifest.json"
COMMAND = "pipeline precompute"
REMOVE = "pipeline remove"
