"""How facts become words: labelled lines, counts, and JSON."""

from __future__ import annotations

import sys


def json_text(value: object) -> str:
    """What `json.dumps` makes of facts: importing it would double the price of a lookup.

    >>> json_text({"state": "123456780", "path": [1, None, True]})
    '{"state": "123456780", "path": [1, null, true]}'
    """
    if isinstance(value, dict):
        items = (f"{json_text(key)}: {json_text(item)}" for key, item in value.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(json_text, value))}]"
    if isinstance(value, str) and value.isascii() and value.isprintable() and '"' not in value:
        escaped = value.replace("\\", "\\\\")
        return f'"{escaped}"'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value)
    raise TypeError(f"facts hold no {value!r}")


def heading(text: str) -> str:
    """A label, bold on a terminal."""
    return f"\x1b[1m{text}\x1b[0m" if coloured() else text


def coloured() -> bool:
    import os

    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def aligned(rows: list[tuple[str, str]]) -> str:
    """Labelled lines, the labels in one column."""
    width = max(len(label) for label, _ in rows)
    lines = (f"{heading(label)}{' ' * (width - len(label))}  {value}" for label, value in rows)
    return "".join(f"{line.rstrip()}\n" for line in lines)


def counted(count: int, noun: str) -> str:
    """
    >>> counted(1, "move"), counted(27, "move")
    ('1 move', '27 moves')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"
