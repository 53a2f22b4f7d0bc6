"""The formats of the published files: indexes, Parquet tables, and the manifest."""
