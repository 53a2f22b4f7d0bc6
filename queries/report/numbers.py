"""The numbers of a figure as an HTML table, whose cells also have the values for a CSV file."""

from __future__ import annotations

from html import escape

import polars as pl

DIGITS = 4
"""The digits of a fraction that the table shows; its cell also has the exact value."""


def format_numbers(frame: pl.DataFrame, label: str) -> str:
    """Return a frame as a table: numbers with separators, fractions with few digits."""
    heads = "".join(
        f'<th scope="col"{_align(kind)}>{escape(name)}</th>' for name, kind in frame.schema.items()
    )
    aligned = [*map(_align, frame.dtypes)]
    rows = "".join(
        "<tr>"
        + "".join(_format_cell(cell, align) for cell, align in zip(row, aligned, strict=True))
        + "</tr>\n"
        for row in frame.iter_rows()
    )
    return (
        f'<table aria-label="{escape(label)}"><thead><tr>{heads}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table>"
    )


def _align(kind: pl.DataType) -> str:
    return ' class="n"' if kind.is_numeric() else ""


def _format_cell(cell: object, align: str) -> str:
    """Return a cell; `data-value` has its value where the text is another."""
    if cell is None:
        return f"<td{align}></td>"
    exact = ("false", "true")[cell] if isinstance(cell, bool) else str(cell)
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        shown = exact
    else:
        shown = f"{cell:,}" if isinstance(cell, int) else f"{cell:,.{DIGITS}g}"
    value = f' data-value="{exact}"' if shown != exact else ""
    return f"<td{align}{value}>{escape(shown)}</td>"
