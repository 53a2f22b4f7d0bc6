"""Hints for keys that are something else: the name of a file, or several keys."""

from __future__ import annotations

import os
import shlex
from pathlib import PurePath

from queries.format_names import COMPRESSED_SUFFIXES, INPUT_FORMATS
from tablebase.errors import BadRequest, NotationError, TablebaseError, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from queries.reader import Query

MAX_WORDS = 3
"""The words of a key that are looked up, to find out whether they are keys of their own."""


def find_key_hint(query: Query, key: str) -> BadRequest | None:
    """Return the error for a key that is the name of a file, or several keys; None otherwise."""
    noun, words = query.reader.key.lower(), key.split()
    for name in [key] if os.path.exists(key) else [*words, key]:
        if is_file_name(name):
            return make_file_error(name, noun)
    if len(words) > 1 and all(_is_key(query, word) for word in words[:MAX_WORDS]):
        problem = f"{len(words):,} {noun}s are given, and a single query answers one"
        hint = "Answer several with --input FILE, or from a pipe"
        if len(words) == 2 and any(option.name == "to" for option in query.reader.options):
            hint = f"Did you mean {words[0]} --to {words[1]}? {hint}"
        return BadRequest(problem, hint)
    return None


def make_file_error(name: str, noun: str) -> BadRequest:
    """Make the error for a file's name in place of a key."""
    kind = "a file" if os.path.exists(name) else "the name of a file"
    return BadRequest(f"{quote(name)} is {kind}, not a {noun}", f"Use --input {shlex.quote(name)}")


def is_file_name(text: str) -> bool:
    """Return whether a text names an existing file, or ends like the name of a batch's input.

    >>> is_file_name("m.csv"), is_file_name("m.jsonl.gz"), is_file_name("378/546/2.1")
    (True, True, False)
    """
    suffixes = [suffix.lower() for suffix in PurePath(text).suffixes]
    if suffixes and suffixes[-1] in COMPRESSED_SUFFIXES:
        return True
    known = {suffix for of_format in INPUT_FORMATS.values() for suffix in of_format}
    if suffixes and suffixes[-1] in known:
        return True
    return os.path.exists(text) and not os.path.isdir(text)


def _is_key(query: Query, word: str) -> bool:
    try:
        query.answer(word)
    except NotationError:
        return False
    except TablebaseError:
        return True
    return True
