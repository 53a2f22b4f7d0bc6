"""The parts of code that count for its digest, and those that do not: words for readers."""

import pytest

from tests.support.code_sources import digest_sources

RULE = b"""
'''Rules.'''
from os.path import join
from errors import Wrong, explain

WAYS = [(1, 2), (2, 1)]
WORDS = "a place"
SEPARATORS = ",;"

class Rules:
    title = "Rules"

    def __init__(self, size: int) -> None:
        self.size, self.what = size, f"a place of {size}"

    def parse(self, text: str) -> int:
        return int(text.strip(SEPARATORS))

    def step(self, place: int) -> list[int]:
        '''Move on.'''
        problem = f"{place} is not {WORDS}"
        problem += ", or none"
        if place < 0:
            raise Wrong(f"{problem}: {self.what}", join("a", "b"))
        assert place < 100, "too far"
        report(f"at {place}", place)
        return [place + x for x, _ in WAYS]

def make():
    moves = f"{Rules(3).step(2)[0]:>{len(WAYS)}}-"
    return moves, Column("step", "int16", "number of the step"), join("a", moves)
"""
SAME = [
    (b"'''Rules.'''", b"'''The rules, told anew.'''"),
    (b"place: int) -> list[int]", b"place: 'Place')"),
    (b"        return [", b"        # a comment\n        return ["),
    (b"WAYS = [", b"WAYS: list[tuple[int, int]] = ["),
    (b"number of the step", b"which step it is"),
    (b"WAYS =", b"from __future__ import annotations\nWAYS ="),
    (b"WAYS =", b"if TYPE_CHECKING:\n    import numpy\nWAYS ="),
    (b'"a place"', b'"a cell"'),
    (b'",;"', b'",;:"'),
    (b'"Rules"', b'"The rules"'),
    (b"a place of {size}", b"a cell of {size}"),
    (b"int(text", b"float(text"),
    (b"{place} is not", b"{place} cannot be"),
    (b'", or none"', b'", and none"'),
    (b'{self.what}"', b'{self.what}!"'),
    (b'"too far"', b'"too near"'),
    (b'"at {place}', b'"on {place}'),
    (b"from errors import Wrong, explain", b"from errors import Wrong"),
]
OTHER = [
    (b"(1, 2)", b"(1, 3)"),
    (b"place + x", b"place - x"),
    (b"int16", b"int32"),
    (b"def step", b"@compiled\n    def step"),
    (b'"step", "', b'"steps", "'),
    (b"size, self.what = size", b"size, self.what = 2 * size"),
    (b"place < 0", b"place < 1"),
    (b"place < 100", b"place < 101"),
    (b"raise Wrong", b"raise Bad"),
    (b"{len(WAYS)}}-", b"{len(WAYS)}}x"),
    (b":>{len", b":<{len"),
    (b"from os.path", b"from posixpath"),
    (b"        return [", b"        WAYS.reverse()\n        return ["),
    (b"def make", b"WAYS.reverse()\n\ndef make"),
    (b"def make", b"for way in WAYS:\n    WAYS.append(way)\n\ndef make"),
    (b"def make", b"@register(Rules)\ndef count_steps(): return 3\n\ndef make"),
    (b"class Rules:", b"class Rules(Base):"),
    (b"    title =", b"    def __len__(self): return 3\n\n    title ="),
]


@pytest.mark.parametrize(("old", "new"), [*SAME, *OTHER])
def test_code_changes_the_digest_and_words_for_readers_do_not(old: bytes, new: bytes) -> None:
    assert old in RULE
    is_same = (old, new) in SAME
    changed = {"rules": RULE.replace(old, new)}
    assert (digest_sources(changed) == digest_sources({"rules": RULE})) == is_same


FORMS = [
    ("def make(a=1): pass", "def make(a=2): pass"),
    ("def make(*, a=1): pass", "def make(*, a=2): pass"),
    ("def make(*, a): pass", "def make(*, b): pass"),
    ("def make(a, /): pass", "def make(b, /): pass"),
    ("def make(*a): pass", "def make(*b): pass"),
    ("def make(**a): pass", "def make(**b): pass"),
    ("def make(): go(a=1)", "def make(): go(a=2)"),
    ("def make(): go(a=1)", "def make(): go(b=1)"),
    ("def make(): return go.a", "def make(): return go.b"),
    ("def make(): return a", "def make(): return b"),
    ("def make(): return a[1]", "def make(): return a[2]"),
    ("def make(): return a[1:]", "def make(): return a[2:]"),
    ("def make(): return a[:1]", "def make(): return a[:2]"),
    ("def make(): return a[::1]", "def make(): return a[::2]"),
    ("def make(): return a < 1", "def make(): return a > 1"),
    ("def make(): return a < 1", "def make(): return a < 2"),
    ("def make(): return 1 < a", "def make(): return 2 < a"),
    ("def make(): return a + 1", "def make(): return a + 2"),
    ("def make(): return 1 + a", "def make(): return 2 + a"),
    ("def make(): return -1", "def make(): return -2"),
    ("def make(): return a or 1", "def make(): return a or 2"),
    ("def make(): return {1: 3}", "def make(): return {2: 3}"),
    ("def make(): return {3: 1}", "def make(): return {3: 2}"),
    ("def make(): return 1 if a else 3", "def make(): return 1 if a else 4"),
    ("def make(): return f'{a!r}'", "def make(): return f'{a!s}'"),
    ("def make(): return [3 for a in b]", "def make(): return [3 for a in c]"),
    ("def make(): return [3 for a in b if 1]", "def make(): return [3 for a in b if 2]"),
    ("def make(): return {1: 3 for a in b}", "def make(): return {2: 3 for a in b}"),
    ("def make():\n for a in b: pass", "def make():\n for c in b: pass"),
    ("def make():\n for a in 1,: pass", "def make():\n for a in 2,: pass"),
    ("def make():\n while a: pass\n else: go(1)", "def make():\n while a: pass\n else: go(2)"),
    ("def make():\n with go(1): pass", "def make():\n with go(2): pass"),
    ("def make():\n with go as a: pass", "def make():\n with go as b: pass"),
    ("def make():\n try: a\n except b: 1()", "def make():\n try: a\n except b: 2()"),
    ("def make():\n try: a\n except b: c", "def make():\n try: a\n except d: c"),
    ("def make():\n try: a\n finally: 1()", "def make():\n try: a\n finally: 2()"),
    ("def make():\n del a[1]", "def make():\n del a[2]"),
    ("def make():\n match 1:\n  case 3: a", "def make():\n match 2:\n  case 3: a"),
    ("def make():\n match a:\n  case 1: b", "def make():\n match a:\n  case 2: b"),
    ("def make():\n match a:\n  case 3 if 1: b", "def make():\n match a:\n  case 3 if 2: b"),
    ("class make(a): pass", "class make(b): pass"),
]
"""Pieces of code that differ in one part of a statement: a constant, a name, an operator."""


@pytest.mark.parametrize(("one", "other"), FORMS)
def test_each_part_of_a_statement_counts(one: str, other: str) -> None:
    assert digest_sources({"rules": one.encode()}) != digest_sources({"rules": other.encode()})
