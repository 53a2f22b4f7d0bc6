"""The published files: Parquet tables, indexes and the manifest, and the stores that hold them."""

from puzzle_tablebase import __version__

FORMAT_VERSION = 4
"""Version of the manifest and of the metadata in Parquet files."""
INDEX_VERSION = 2
"""Version of the index files, which other languages read without a manifest."""
MADE_BY = f"puzzle-tablebase {__version__}"
"""The program that built the tables, as named in the manifest and the files."""
MANIFEST = "manifest.json"
BACKUP = ".manifest.backup"
"""Copy of the manifest, written before it: it is read if the manifest is damaged."""
WORK = ".work/"
"""The hidden folder of a store that has temporary files and checkpoints."""
PART_SUFFIX = ".unpublished"
"""Suffix of a file that is being written; no other program uses it."""
COMMAND = "pipeline precompute"
REMOVE = "pipeline remove"
