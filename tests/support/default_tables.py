"""The tables that a build makes by default, as the registry lists them."""

from puzzle_tablebase.registry import list_puzzles

DEFAULT_TABLES = tuple(table for stage in list_puzzles() for table in stage.tables)
INDEXES = {table.index_file: table for table in DEFAULT_TABLES if table.index}
COUNT = len(DEFAULT_TABLES)
