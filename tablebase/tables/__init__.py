"""The files: Parquet tables, the index beside each, the manifest, and how they are published."""

from tablebase import __version__

FORMAT_VERSION = 3
"""Version of the manifest and of what a Parquet file's metadata holds."""
INDEX_VERSION = 2
"""Version of the index files, which other languages read without a manifest."""
MADE_BY = f"puzzle-tablebase {__version__}"
"""What built the tables, as the manifest and the files say."""
MANIFEST = "manifest.json"
BACKUP = ".manifest.backup"
"""Copy of the manifest, written after it: what a damaged one listed can be read there."""
COMMAND = "pipeline precompute"
REMOVE = "pipeline remove"
