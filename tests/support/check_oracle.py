"""A slow judge of answers, one at a time and character by character.

Nothing is shared with the program: positions are dictionaries, and distances come from searches of
the oracles.
"""

from itertools import pairwise
from random import Random
from string import ascii_letters

from tests.support.oracles import JUMPS
from tests.support.sliding_oracle import neighbours

SPACES = " \t\n\r\v\f,"
MARKS = "0123456789abcdef"
FACTS = ("result", "length", "shortest", "excess", "first_loss", "step", "score")
"""The columns of a judgement but its `problem`, a sentence."""


def change(answer: str, marks: str, random: Random) -> str:
    """Return an answer, or one with a mark more, fewer, or another, or a piece twice or alone."""
    at, mark = random.randrange(len(answer) + 1), random.choice(marks)
    changed = (
        answer[:at] + mark + answer[at:],
        answer[:at] + answer[at + 1 :],
        answer[:at] + mark + answer[at + 1 :],
        answer[:at] + answer[: at // 2] + answer[at:],
        answer[:at],
        ", ".join(answer),
    )
    return random.choice([answer, answer, *changed])


def read_facts(judged: object) -> dict[str, object]:
    """Return the facts of a judgement by name."""
    return {name: getattr(judged, name) for name in FACTS}


def judge_board(
    state: str, answer: str, goal: str, distances: dict[str, int], columns: int
) -> dict[str, object]:
    """Judge moves for a board; `distances` has every state that reaches the goal."""
    facts: dict[str, object] = dict.fromkeys(FACTS)
    facts |= {"shortest": distances.get(state), "score": 0.0}
    moves, is_read = _read(answer, len(state))
    if not is_read:
        return facts | {"result": "unreadable", "step": len(moves) + 1}
    facts["length"], here = len(moves), state
    for number, move in enumerate(moves, 1):
        steps = neighbours(here, len(state) // columns, columns)
        after = (steps | {each[here.index("0")]: each for each in steps.values()}).get(move)
        if after is None:
            return facts | {"result": "illegal", "step": number}
        is_nearer = after in distances and distances[after] < distances.get(here, 99)
        if after in distances and not is_nearer and facts["first_loss"] is None:
            facts["first_loss"] = number
        here = after
    if here != goal:
        return facts | {"result": "incomplete"}
    return facts | _rate(len(moves), distances[state])


def judge_distance(answer: str, fewest: int | None) -> dict[str, object]:
    """Judge a stated distance; `fewest` is None if there is none."""
    facts: dict[str, object] = dict.fromkeys(FACTS)
    facts["score"] = 0.0
    stated = answer.strip(SPACES)
    if stated == "unreachable":
        is_right = fewest is None
    elif 1 <= len(stated) <= 3 and all(mark in "0123456789" for mark in stated):
        is_right = fewest == int(stated)
    else:
        return facts | {"result": "unreadable"}
    result = "right" if is_right else "wrong"
    return facts | {"result": result, "score": float(is_right), "shortest": fewest}


def _rate(length: int, fewest: int) -> dict[str, object]:
    """Rate an answer that leads to its goal."""
    is_shortest = length == fewest
    return {
        "result": "shortest" if is_shortest else "longer",
        "excess": length - fewest,
        "score": 1.0 if is_shortest else fewest / length,
    }


def _split(answer: str) -> list[str]:
    words = "".join(" " if mark in SPACES else mark for mark in answer).split(" ")
    return [*filter(None, words)]


def _read(answer: str, cells: int) -> tuple[list[str], bool]:
    """Return the moves up to where reading stops, and whether it comes to the end."""
    tiles = MARKS[1:cells]
    words = _split(answer)
    moves: list[str] = []
    is_list = len(words) > 1 or "".join(words) in [str(tile) for tile in range(10, cells)]
    if is_list and cells > 10 and max(map(len, words)) < 3 and words[0][0] in tiles:
        # tiles as numbers
        numbers = {str(number): MARKS[number] for number in range(10, cells)}
        numbers |= dict(zip(tiles, tiles, strict=True))
        for word in words:
            if word not in numbers:
                return moves, False
            moves.append(numbers[word])
        return moves, True
    small = str.upper if cells < 11 else str
    for mark in map(small, "".join(words)):
        if mark not in (tiles if words[0][0] in tiles else "UDLR"):
            return moves, False
        moves.append(mark)
    return moves, True


def judge_senet(position: str, answer: str, plies: int | None) -> dict[str, object]:
    """Judge a line of play; `plies` is the fewest to the position, None if it is unreachable."""
    facts: dict[str, object] = dict.fromkeys(FACTS)
    facts |= {"shortest": plies, "score": 0.0}
    moves: list[tuple[int, str, int]] = []
    for word in _split(answer):
        for sign in "-x":
            first, mark, last = word.partition(sign)
            if mark and _is_square(first) and _is_square(last):
                moves.append((int(first), sign, int(last)))
                break
        else:
            return facts | {"result": "unreadable", "step": len(moves) + 1}
    facts["length"] = len(moves)
    board = dict(enumerate("ABABABABAB.....", 1))
    for number, (start, sign, goal) in enumerate(moves, 1):
        mover = "AB"[(number - 1) % 2]
        if not _is_legal(board, mover, start, sign, goal):
            return facts | {"result": "illegal", "step": number}
        board[start], board[goal] = board[goal], board[start]
    if "".join(board[square] for square in range(1, 16)) != position:
        return facts | {"result": "incomplete"}
    assert plies is not None
    return facts | _rate(len(moves), plies)


def _is_square(text: str) -> bool:
    return text in [str(square) for square in range(1, 16)]


def _is_legal(board: dict[int, str], mover: str, start: int, sign: str, goal: int) -> bool:
    if not 1 <= goal - start <= 5 or board[start] != mover:
        return False
    if sign == "-":
        return board[goal] == "."
    is_guarded = board[goal] in (board.get(goal - 1), board.get(goal + 1))
    return board[goal] not in (mover, ".") and not is_guarded


def judge_tour(start: str, answer: str, files: int, ranks: int) -> dict[str, object]:
    """Judge a tour from a square, given as squares or as the numbers of jumps."""
    facts: dict[str, object] = dict.fromkeys(FACTS)
    facts["score"] = 0.0
    given, at = list[str](), 0
    while at < len(answer):
        mark = answer[at]
        if mark in SPACES:
            at += 1
            continue
        if not given:
            is_list = mark not in "12345678"
        word = answer[at : at + 1 + is_list]
        is_square = len(word) == 2 and word[0] in ascii_letters and word[1] in "123456789"
        if not (is_square if is_list else word in "12345678"):
            return facts | {"result": "unreadable", "step": len(given) + (given[:1] != [start])}
        given.append(word.lower())
        at += len(word)
    squares = [start]
    given = given[1:] if given[:1] == [start] else given
    facts["length"] = len(given)
    for number, word in enumerate(given, 1):
        file, rank = ord(squares[-1][0]) - 97, int(squares[-1][1])
        if is_list:
            to = ord(word[0]) - 97, int(word[1])
        else:
            right, down = JUMPS[int(word) - 1]
            to = file + right, rank - down
        name = f"{chr(97 + to[0])}{to[1]}"
        is_on_board = 0 <= to[0] < files and 1 <= to[1] <= ranks
        if not is_on_board or name in squares or not is_path([squares[-1], name]):
            return facts | {"result": "illegal", "step": number}
        squares.append(name)
    if len(squares) < files * ranks:
        return facts | {"result": "incomplete"}
    is_closed = is_path([squares[0], squares[-1]])
    return facts | {"result": "closed tour" if is_closed else "tour", "score": 1.0}


def is_path(squares: list[str]) -> bool:
    """Return whether each square is a jump from the one before."""
    steps = ((abs(ord(a[0]) - ord(b[0])), abs(int(a[1]) - int(b[1]))) for a, b in pairwise(squares))
    return all(sorted(step) == [1, 2] for step in steps)
