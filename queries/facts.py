"""An answer's facts, and how they become words: labelled lines, counts, and JSON."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from queries.query_options import OptionValues


class Facts:
    """An answer. Its slots are named as the tables' columns and a few more, in their order in JSON.

    A slot stays empty where its fact was not asked for. One that begins with _ is no fact.
    """

    __slots__: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The facts by name; a dict among them stands for what it holds."""
        values: dict[str, object] = {}
        for kind in reversed(type(self).__mro__[:-1]):
            for name in kind.__dict__["__slots__"]:
                if name[0] != "_" and hasattr(self, name):
                    fact = getattr(self, name)
                    values.update(fact if isinstance(fact, dict) else {name: fact})
        return values

    def to_text(self, options: OptionValues) -> str:
        """The answer for people."""
        raise NotImplementedError

    def to_svg(self) -> str:
        """The answer as an SVG picture, for puzzles that take --svg."""
        raise NotImplementedError


def format_json(value: object) -> str:
    """What `json.dumps` makes of facts: importing it takes longer than an answer.

    >>> format_json({"state": "123456780", "path": [1, None, True]})
    '{"state": "123456780", "path": [1, null, true]}'
    """
    if isinstance(value, dict):
        items = (f"{format_json(str(key))}: {format_json(item)}" for key, item in value.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(format_json, value))}]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if hasattr(value, "__index__"):  # as NumPy's integers have it too
        return str(value.__index__())
    if isinstance(value, float):
        # infinities and NaN are no JSON; NumPy's floats have a `repr` of their own
        return float.__repr__(value) if value - value == 0 else "null"
    return f'"{_escape(str(value))}"'


ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\b": "\\b",
    "\f": "\\f",
}


def _escape(text: str) -> str:
    """A text as it stands in JSON: ASCII alone, other characters as units of UTF-16."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return text
    written = ""
    for letter in text:
        if letter in ESCAPES:
            written += ESCAPES[letter]
        elif " " <= letter <= "~":
            written += letter
        else:
            units = letter.encode("utf-16-be", "surrogatepass").hex()
            written += "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
    return written


def make_bold(text: str) -> str:
    """A label, bold on a terminal."""
    coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return f"\x1b[1m{text}\x1b[0m" if coloured else text


def align_rows(rows: list[tuple[str, str]]) -> str:
    """Labelled lines, the labels in one column."""
    width = max(len(label) for label, _ in rows)
    lines = (f"{make_bold(label)}{' ' * (width - len(label))}  {value}" for label, value in rows)
    return "".join(f"{line.rstrip()}\n" for line in lines)


def format_count(count: int, noun: str) -> str:
    """
    >>> format_count(1, "move"), format_count(27, "move")
    ('1 move', '27 moves')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"
