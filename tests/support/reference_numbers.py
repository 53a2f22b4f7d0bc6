"""The known numbers of `tests/reference`, read from their files."""

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "reference"


def lines(name: str) -> list[tuple[str, str]]:
    """Return a file's lines as (label, value); lines that begin with # name the sources."""
    text = (FOLDER / name).read_text("utf-8")
    pairs = (line.split(": ") for line in text.splitlines() if not line.startswith("#"))
    return [(label, value) for label, value in pairs]


def numbers(name: str, label: str) -> list[int]:
    """Return the numbers of the line with a label."""
    return [int(number) for number in dict(lines(name))[label].split()]


def read_named_numbers(name: str, label: str) -> dict[str, int]:
    """Return the numbers by name of a line of `name=number` items."""
    items = (item.split("=") for item in dict(lines(name))[label].split())
    return {key: int(number) for key, number in items}


def examples(label: str) -> list[list[str]]:
    """Return the worked examples of one label, each split into its fields."""
    return [value.split(" | ") for result, value in lines("examples.txt") if result == label]
