"""What is published as a grid of words: what a build made, and what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from pipeline.terminal import spelled

if TYPE_CHECKING:
    from tablebase.tables.manifest import Entry


def drawn(grid: Grid) -> str:
    """A grid as text, as wide as it needs to be."""
    console = Console(highlight=False, width=200)
    with console.capture() as captured:
        console.print(grid)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def _grid(*names: str) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in names:
        words = name in ("table", "made by", "state")
        grid.add_column(name, justify="left" if words else "right", no_wrap=True)
    return grid


def table_of_tables(entries: dict[str, Entry], seconds: dict[str, float]) -> Grid:
    """Published tables with rows, bytes and the seconds that building took."""
    grid = _grid("table", "rows", "bytes", "index bytes", "seconds")
    for name, entry in sorted(entries.items()):
        grid.add_row(
            name,
            f"{entry.rows:,}",
            f"{entry.bytes:,}" if entry.files else "",
            f"{entry.index.bytes:,}" if entry.index else "",
            f"{seconds[name]:.2f}" if name in seconds else "up to date",
        )
    return grid


def table_of_status(rows: list[dict[str, Any]]) -> Grid:
    """What `status` says of tables and pages, for people."""
    grid = _grid("table", "rows", "bytes", "made by", "state")
    for row in rows:
        numbers = [f"{row[name]:,}" if name in row else "" for name in ("rows", "bytes")]
        mended = "command" in row and row["state"] != "published"
        state = f"{row.get('pieces', row['state'])}: {row['command']}" if mended else row["state"]
        words = (row["table"], *numbers, row.get("made_by", ""), state)
        grid.add_row(*(Text(spelled(word)) for word in words))
    return grid
