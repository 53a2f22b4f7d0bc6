"""The formats of the published files: indexes, Parquet tables, and the manifest."""

from puzzle_tablebase import __version__

FORMAT_VERSION = 5
"""Version of the manifest and of the metadata in Parquet files."""
INDEX_VERSION = 3
"""Version of the index files, which other languages read without a manifest."""
MADE_BY = f"puzzle-tablebase {__version__}"
"""The program that built the tables, as named in the manifest and the files."""
