"""A slow judge of answers, one at a time and character by character.

Nothing is shared with the program: positions are dictionaries, and distances come from searches of
the oracles.
"""

from collections.abc import Iterator
from itertools import pairwise
from random import Random
from string import ascii_letters

from tests.support.sliding_oracle import neighbours

EDGES = {"U": "first row", "D": "last row", "L": "first column", "R": "last column"}
SPACES = " \t\n\r\v\f,"
MARKS = "0123456789abcdef"
COLUMNS = (
    "result", "length", "shortest", "excess", "first_loss", "step", "problem", "score",
)  # fmt: skip


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
    return {name: getattr(judged, name) for name in COLUMNS}


def judge_board(
    state: str, answer: str, goal: str, distances: dict[str, int], columns: int
) -> dict[str, object]:
    """Judge moves for a board; `distances` has every state that reaches the goal."""
    facts: dict[str, object] = dict.fromkeys(COLUMNS)
    facts |= {"shortest": distances.get(state), "score": 0.0}
    moves, stop = _read(answer, len(state))
    if stop is not None:
        return facts | {"result": "unreadable", "step": len(moves) + 1, "problem": stop}
    facts["length"], here = len(moves), state
    for number, move in enumerate(moves, 1):
        steps = neighbours(here, len(state) // columns, columns)
        after = (steps | {each[here.index("0")]: each for each in steps.values()}).get(move)
        if after is None:
            why = f"tile {move}: it is not next to the blank"
            why = f"{move}: the blank is in the {EDGES[move]}" if move in EDGES else why
            return facts | {"result": "illegal", "step": number, "problem": f"move {number}, {why}"}
        is_nearer = after in distances and distances[after] < distances.get(here, 99)
        if after in distances and not is_nearer and facts["first_loss"] is None:
            facts["first_loss"] = number
        here = after
    return facts | _rate(len(moves), distances[state]) if here == goal else _give_up(facts)


def _give_up(facts: dict[str, object]) -> dict[str, object]:
    """Judge legal moves that do not reach the goal."""
    problem = "no moves lead to the goal" if facts["shortest"] is None else None
    return facts | {"result": "incomplete", "problem": problem}


def judge_distance(answer: str, fewest: int | None) -> dict[str, object]:
    """Judge a stated distance; `fewest` is None if there is none."""
    facts: dict[str, object] = dict.fromkeys(COLUMNS)
    facts["score"] = 0.0
    stated = answer.strip(SPACES)
    if stated == "unreachable":
        is_right = fewest is None
    elif 1 <= len(stated) <= 3 and all(mark in "0123456789" for mark in stated):
        is_right = fewest == int(stated)
    else:
        problem = f"{_cut(answer)}: not a number of moves from 0 to 999, or unreachable"
        return facts | {"result": "unreadable", "problem": problem}
    facts |= {"result": "right" if is_right else "wrong", "score": float(is_right)}
    facts["shortest"] = fewest
    if not is_right:
        known = f"the fewest moves are {fewest}"
        facts["problem"] = "no moves lead there" if fewest is None else known
    return facts


def _rate(length: int, fewest: int) -> dict[str, object]:
    """Rate an answer that leads to its goal."""
    is_shortest = length == fewest
    return {
        "result": "shortest" if is_shortest else "longer",
        "excess": length - fewest,
        "score": 1.0 if is_shortest else fewest / length,
    }


def _split(answer: str) -> Iterator[tuple[int, str]]:
    """Yield the words of an answer, each with the number of its first character."""
    at = 0
    words = "".join(" " if mark in SPACES else mark for mark in answer).split(" ")
    for word in filter(None, words):
        at = answer.index(word, at)
        yield at + 1, word
        at += len(word)


def _read(answer: str, cells: int) -> tuple[list[str], str | None]:
    """Return the moves up to where reading stops, and why it stops, if it does."""
    tiles = MARKS[1:cells]
    words = [*_split(answer)]
    moves: list[str] = []
    is_list = cells > 10 and len(words) > 1 and max(len(word) for _, word in words) < 3
    if is_list and words[0][1][0] in tiles:  # tiles as numbers
        numbers = {str(number): MARKS[number] for number in range(10, cells)}
        numbers |= dict(zip(tiles, tiles, strict=True))
        for at, word in words:
            if word not in numbers:
                return moves, f"character {at}, {word!r}: not one of the tiles 1-{tiles[-1]}"
            moves.append(numbers[word])
        return moves, None
    kind = None
    for place, mark in enumerate(answer, 1):
        if mark in SPACES:
            continue
        if kind is None:
            kind = tiles if mark in tiles else "UDLR"
        if mark not in kind:
            name = "U, D, L, R" if kind == "UDLR" else f"the tiles 1-{tiles[-1]}"
            return moves, f"character {place}, {mark!r}: not one of {name}"
        moves.append(mark)
    return moves, None


# ---- Senet ----------------------------------------------------------------------------------


def judge_senet(position: str, answer: str, plies: int | None) -> dict[str, object]:
    """Judge a line of play; `plies` is the fewest to the position, None if it is never reached."""
    facts: dict[str, object] = dict.fromkeys(COLUMNS)
    facts |= {"shortest": plies, "score": 0.0}
    moves: list[tuple[int, str, int]] = []
    for at, word in _split(answer):
        for kind in "-x":
            first, mark, last = word.partition(kind)
            if mark and _is_square(first) and _is_square(last):
                moves.append((int(first), kind, int(last)))
                break
        else:
            problem = f"character {at}, {_cut(word)}: not a move such as 5-10 or 4x7"
            return facts | {"result": "unreadable", "step": len(moves) + 1, "problem": problem}
    facts["length"] = len(moves)
    board = dict(enumerate("ABABABABAB.....", 1))
    for number, (start, kind, goal) in enumerate(moves, 1):
        mover = "AB"[(number - 1) % 2]
        if not _is_legal(board, mover, start, kind, goal):
            facts |= {"result": "illegal", "step": number}
            facts["problem"] = f"move {number}, {start}{kind}{goal}: it is not legal there"
            return facts
        board[start], board[goal] = board[goal], board[start]
    if "".join(board[square] for square in range(1, 16)) != position:
        return _give_up(facts)
    assert plies is not None
    return facts | _rate(len(moves), plies)


def _cut(word: str) -> str:
    """Return a word in quotes, cut if it is long."""
    return f"{word[:60]!r}... ({len(word):,} characters)" if len(word) > 60 else repr(word)


def _is_square(text: str) -> bool:
    return text in [str(square) for square in range(1, 16)]


def _is_legal(board: dict[int, str], mover: str, start: int, kind: str, goal: int) -> bool:
    if not 1 <= goal - start <= 5 or board[start] != mover:
        return False
    if kind == "-":
        return board[goal] == "."
    is_guarded = board[goal] in (board.get(goal - 1), board.get(goal + 1))
    return board[goal] not in (mover, ".") and not is_guarded


# ---- knight ---------------------------------------------------------------------------------

JUMPS = ((-1, -2), (1, -2), (2, -1), (2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1))


def judge_tour(start: str, answer: str, files: int, ranks: int) -> dict[str, object]:
    """Judge a tour from a square, given as squares or as the numbers of jumps."""
    facts: dict[str, object] = dict.fromkeys(COLUMNS)
    facts["score"] = 0.0
    words: list[tuple[str, int]] = []
    place = 0
    while place < len(answer):
        mark = answer[place]
        if mark in SPACES:
            place += 1
            continue
        if not words:
            is_squares = mark not in "12345678"
        size = 2 if is_squares else 1
        word = answer[place : place + size]
        is_read = (
            len(word) == 2 and word[0] in ascii_letters and word[1] in "123456789"
            if is_squares
            else word in "12345678"
        )
        if not is_read:
            what = "a square such as b1" if is_squares else "one of the jumps 1-8"
            rest = mark
            while is_squares and place + len(rest) < len(answer):
                if answer[place + len(rest)] in SPACES:
                    break
                rest += answer[place + len(rest)]
            problem = f"character {place + 1}, {_cut(rest)}: not {what}"
            step = len(words) + (not words or words[0][0] != start)
            return facts | {"result": "unreadable", "step": step, "problem": problem}
        words.append((word.lower(), place))
        place += size
    squares = [start]
    given = [word for word, _ in words]
    is_list = bool(given) and given[0][0].isalpha()
    given = given[1:] if given[:1] == [start] else given
    facts["length"] = len(given)
    for number, word in enumerate(given, 1):
        file, rank = ord(squares[-1][0]) - 97, int(squares[-1][1])
        if is_list:
            to = ord(word[0]) - 97, int(word[1])
        else:
            right, down = JUMPS[int(word) - 1]
            to = file + right, rank - down
        problem = ""
        if not (0 <= to[0] < files and 1 <= to[1] <= ranks):
            problem = "it leaves the board"
        elif sorted((abs(to[0] - file), abs(to[1] - rank))) != [1, 2]:
            problem = f"no jump leads there from {squares[-1]}"
        elif (name := f"{chr(97 + to[0])}{to[1]}") in squares:
            problem = f"{name} was visited before"
        if problem:
            problem = f"move {number}, {word}: {problem}"
            return facts | {"result": "illegal", "step": number, "problem": problem}
        squares.append(f"{chr(97 + to[0])}{to[1]}")
    if len(squares) < files * ranks:
        return facts | {"result": "incomplete"}
    is_closed = is_path([squares[0], squares[-1]])
    return facts | {"result": "closed tour" if is_closed else "tour", "score": 1.0}


def is_path(squares: list[str]) -> bool:
    """Return whether each square is a jump from the one before."""
    steps = ((abs(ord(a[0]) - ord(b[0])), abs(int(a[1]) - int(b[1]))) for a, b in pairwise(squares))
    return all(sorted(step) == [1, 2] for step in steps)
