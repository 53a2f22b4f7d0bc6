"""Parsers of the moves in an answer: letters, tiles, squares and jumps.

A single judgement uses this module, so nothing heavy is imported, not even `re`.
"""

from __future__ import annotations

from puzzle_tablebase.errors import quote
from puzzle_tablebase.notation.sliding import LETTERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    FindEnd = Callable[[str, int], int]

Moves = tuple[list[str], str]
"""The moves of an answer, and the problem that stopped reading, or ""."""
SEPARATORS = " \t\n\r\v\f,"
"""The characters that may stand between moves."""
_WITHOUT_SEPARATORS = str.maketrans(dict.fromkeys(SEPARATORS))
MAX_SMALL_TILES = 9
"""The most tiles of a board on which no letter is a tile."""
_OPPOSITES = str.maketrans(LETTERS, "DURL")


def read_moves(text: str, find_end: FindEnd, valid: str, *, is_word: bool = True) -> Moves:
    """Read moves, with or without separators; return them, and the problem where reading stopped.

    The problem is "" if all was read. `find_end` returns the end of the move that begins at a
    position of the text, or that position if there is none. The problem quotes the text up to the
    next separator if `is_word`, otherwise one character. `valid` describes valid moves.
    """
    moves, at = list[str](), 0
    while at < len(text):
        if text[at] in SEPARATORS:
            at += 1
            continue
        end = find_end(text, at)
        if end == at:
            while end < len(text) and text[end] not in SEPARATORS and (is_word or end == at):
                end += 1
            problem = f"character {at + 1}, {quote(text[at:end])}, is not a move: write {valid}"
            return moves, problem
        moves.append(text[at:end])
        at = end
    return moves, ""


def read_marks(text: str, marks: str, valid: str) -> Moves:
    """Read moves of one character each.

    >>> read_marks("UL, X", "UDLR", "U, D, L or R")
    (['U', 'L'], "character 5, 'X', is not a move: write U, D, L or R")
    """
    bare = text.translate(_WITHOUT_SEPARATORS)
    if {*bare} <= {*marks}:
        return [*bare], ""
    return read_moves(text, lambda text, at: at + (text[at] in marks), valid, is_word=False)


def read_letters(text: str, letters: str) -> Moves:
    """Read moves that are letters."""
    return read_marks(text, letters, list_letters(letters))


def list_letters(letters: str) -> str:
    """List letters as words.

    >>> list_letters("UDLR")
    'U, D, L or R'
    """
    return " or ".join([*filter(None, [", ".join(letters[:-1])]), letters[-1:]])


def read_tiles(text: str, tiles: str) -> Moves:
    """Read moves that are tiles, as marks or as numbers: a word of two digits is a tile.

    >>> read_tiles("15", "123456789abcdef"), read_tiles("1 5", "123456789abcdef")
    ((['f'], ''), (['1', '5'], ''))
    """
    valid = f"tiles, 1 to {tiles[-1]}"
    words = text.replace(",", " ").split() if len(tiles) > MAX_SMALL_TILES else []
    numbers = {str(number): tile for number, tile in enumerate(tiles, 1)}
    is_number = len(words) == 1 and words[0] in numbers
    if not is_number and (len(words) < 2 or max(map(len, words)) > 2):
        return read_marks(text, tiles, valid)
    names = numbers | dict(zip(tiles, tiles, strict=True))

    def find_end(text: str, at: int) -> int:
        end = find_word_end(text, at)
        return end if text[at:end] in names else at

    moves, problem = read_moves(text, find_end, valid)
    return [names[move] for move in moves], problem


def find_word_end(text: str, at: int) -> int:
    """Return where the word that begins at a position of the text ends."""
    while at < len(text) and text[at] not in SEPARATORS:
        at += 1
    return at


def read_board_moves(text: str, tiles: str) -> Moves:
    """Read an answer's letters, or tiles that slide.

    Lower-case letters are directions too, on boards whose tiles have no letters.
    """
    if text.lstrip(SEPARATORS)[:1] in {*tiles}:
        return read_tiles(text, tiles)
    letters = list_letters(LETTERS)
    if len(tiles) > MAX_SMALL_TILES:
        return read_marks(text, LETTERS, f"{letters}, in capitals")
    moves, problem = read_marks(text, LETTERS + LETTERS.lower(), letters)
    return [move.upper() for move in moves], problem


def reverse_directions(moves: str) -> str:
    """Reverse all directions: the blank goes where the tile comes from.

    >>> reverse_directions("UDL7")
    'DUR7'
    """
    return moves.translate(_OPPOSITES)


# ---- likely meanings of unreadable answers ------------------------------------------------------

WORDS = {"UP": "U", "DOWN": "D", "LEFT": "L", "RIGHT": "R"}
"""The directions as words."""
_PUNCTUATION = str.maketrans(
    dict.fromkeys("[](){}\"'`-–—→>.;:|/*", " ") | dict.fromkeys(SEPARATORS, " ")
)
"""Punctuation between moves or around them in other notations, as spaces."""
MAX_REREAD_CHARACTERS = 2_000
"""The most characters of an answer for which other readings are tried."""


def read_words(text: str) -> str:
    """Read directions as letters, from words or from letters between any signs.

    Return "" if the text has no directions, or anything else.

    >>> read_words("Down, left."), read_words("Down to 7")
    ('DL', '')
    """
    if len(text) > MAX_REREAD_CHARACTERS:
        return ""
    words = text.upper().translate(_PUNCTUATION).split()
    if "```" in text and words[:1] and {*words[0]} - {*LETTERS} and words[0] not in WORDS:
        words = words[1:]  # the language of a fenced block
    letters = "".join([WORDS.get(word, word) for word in words])
    return "" if {*letters} - {*LETTERS} else letters
