"""Shared parts of the programs in this folder: options, and printed and saved tables."""

import argparse
from pathlib import Path

import polars as pl


def make_parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the folder of the published tables and that of the results."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), metavar="DIR")
    parser.add_argument(
        "--results", type=Path, metavar="DIR", help="write files to this folder (default: none)"
    )
    return parser


def show(table: pl.DataFrame, decimals: int = 4) -> None:
    """Print a table in full."""
    with pl.Config(
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=-1,
        tbl_formatting="MARKDOWN",
        tbl_hide_column_data_types=True,
        tbl_hide_dataframe_shape=True,
        fmt_str_lengths=80,
        thousands_separator=",",
        float_precision=decimals,
    ):
        print(table, end="\n\n")


def save(folder: Path | None, **tables: pl.DataFrame) -> None:
    """Write each table to a CSV file of its name, if a folder is given."""
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in tables.items():
            table.write_csv(folder / f"{name}.csv", float_precision=6)
