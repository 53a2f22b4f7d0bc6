"""Answers as they are read: claims and moves. Nothing is guessed at: reading stops at a place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tablebase.errors import quote

SEPARATORS = " \t\n\r\v\f,"
"""The characters that may stand between moves."""
MAX_CLAIM_DIGITS = 3
"""The most digits of a number of moves; more digits are tiles."""


class Reading(NamedTuple):
    """The moves of an answer; `problem` says where reading stopped, if it did."""

    moves: Sequence[str]
    problem: str = ""


def read_claim(text: str) -> str:
    """Return the claim that an answer is, a number or "unreachable"; "" for moves.

    >>> read_claim(" 027 "), read_claim("unreachable"), read_claim("UDLR")
    ('27', 'unreachable', '')
    """
    word = text.strip(SEPARATORS)
    if word.isascii() and word.isdigit() and len(word) <= MAX_CLAIM_DIGITS:
        return str(int(word))
    return word if word == "unreachable" else ""


def read_marks(text: str, known: str, what: str) -> Reading:
    """Read moves of one character each; `what` says which ones there are.

    >>> read_marks("U D, X", "UDLR", "one of U, D, L, R")
    Reading(moves='UD', problem="character 6, 'X': not one of U, D, L, R")
    """
    rest = text.lstrip(known + SEPARATORS)
    end = len(text) - len(rest)
    moves = "".join(text[:end].replace(",", " ").split())
    return Reading(moves, explain_stop(end, rest[0], what) if rest else "")


def read_words(text: str, pattern: str, what: str) -> Reading:
    """Read moves that match a pattern, with separators between them or not.

    >>> read_words("5-10,4x", "[0-9]+[-x][0-9]+", "a move")
    Reading(moves=['5-10'], problem="character 6, '4x': not a move")
    """
    moves = list[str]()
    move, separator = re.compile(pattern), re.compile(f"[{SEPARATORS}]+")
    at = 0
    while at < len(text):
        if gap := separator.match(text, at):
            at = gap.end()
        elif found := move.match(text, at):
            moves.append(found[0])
            at = found.end()
        else:
            end = separator.search(text, at)
            return Reading(moves, explain_stop(at, text[at : end and end.start()], what))
    return Reading(moves)


def explain_stop(at: int, text: str, what: str) -> str:
    """Say where reading stopped, and what should have been there."""
    return f"character {at + 1}, {quote(text)}: not {what}"
