"""Knight's tours by number, as docs/index-format.md tells of them. The standard library alone.

Written from that page alone: it shares no code with the program. It reads a whole file and takes its
time. A square has its number in the sweep, whatever the layer; the virtual square has -1.
"""

import struct
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import TypeVar

Thing = TypeVar("Thing")
Edge = tuple[int, int]  # the lower square first
Needs = dict[int, int]  # how many of its two edges each square lacks
Pieces = dict[int, int]  # from each end of a piece to the other
Step = tuple[int, tuple[Edge, ...]]  # the state before it, and the edges that it drew
Laid = tuple[tuple[Edge, ...], Needs, Pieces]
Finish = tuple[tuple[Edge, ...], int]  # edges of the cut, and the state of the other half

VIRTUAL = -1
BLOCK, BODY, WIDTH = 4096, 4092, 1023
MATCHINGS = 2**26


def records(data: bytes) -> Iterator[bytes]:
    magic, version, _, width, size, count, content = struct.unpack("<4sHHIIQ32s", data[:56])
    assert (magic, version, width, size) == (b"PTIX", 2, WIDTH, BLOCK)
    each = BODY // WIDTH
    assert len(data) == BLOCK * (1 - -count // each)
    blocks = [data[at : at + BLOCK] for at in range(0, len(data), BLOCK)]
    for number, block in enumerate(blocks):
        checksum = zlib.crc32(content + struct.pack("<Q", number) + block[:BODY])
        assert block[BODY:] == struct.pack("<I", checksum)
    for number in range(count):
        block, place = blocks[1 + number // each], number % each * WIDTH
        yield block[place : place + WIDTH]


def layers(data: bytes) -> dict[int, dict[int, int]]:
    """The layers by number: the keys of each, ascending, and the number that each has."""
    found: dict[int, dict[int, int]] = defaultdict(dict)
    for record in records(data):
        layer, key, _ = struct.unpack("<HQQ", record[:18])
        values = _values(record[18:])
        found[layer][key] = next(values)
        for below in values:
            key += below
            found[layer][key] = next(values)
    return found


def _values(states: bytes) -> Iterator[int]:
    value = shift = 0
    for byte in states.partition(b"\0")[0]:
        value += (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def fall(number: int, things: Iterable[tuple[Thing, int]]) -> tuple[Thing, int]:
    """The thing whose share of the numbers this one falls in, and what is left of it there."""
    for thing, ways in things:
        if number < ways:
            return thing, number
        number -= ways
    raise LookupError


def before(wanted: object, things: Iterable[tuple[object, int]]) -> int:
    """The numbers of all the things before that one."""
    number = 0
    for thing, ways in things:
        if thing == wanted:
            return number
        number += ways
    raise LookupError


def lay(edge: Edge, needs: Needs, pieces: Pieces) -> bool:
    """Lay an edge, if both squares have room for it and it closes no circle."""
    one, other = edge
    if not (needs[one] and needs[other]) or pieces.get(one) == other:
        return False
    needs[one] -= 1
    needs[other] -= 1
    far, end = pieces.pop(one, one), pieces.pop(other, other)
    pieces[far], pieces[end] = end, far
    return True


def cut_apart(one: int, other: int, needs: Needs, pieces: Pieces) -> Iterator[Pieces]:
    """The pieces that there can have been before a step put one and the other into one piece."""
    ends = [square for square in (one, other) if needs.get(square) == 1]
    if len(ends) == 2:
        if pieces[one] == other:
            yield _without(one, pieces)
    elif ends:
        hidden, far = one + other - ends[0], pieces[ends[0]]
        yield _without(far, pieces) | {hidden: far, far: hidden}
    else:
        for lower, higher in sorted(pieces.items()):
            if lower < higher:
                rest = _without(lower, pieces)
                yield rest | {one: lower, lower: one, other: higher, higher: other}
                yield rest | {one: higher, higher: one, other: lower, lower: other}


def _without(end: int, pieces: Pieces) -> Pieces:
    return {one: other for one, other in pieces.items() if end not in (one, other)}


def is_circle(pieces: Pieces, others: Pieces) -> bool:
    """Whether pieces and those of the other half, with the same ends, make one circle together."""
    if not pieces:
        return False
    end, ends = others[pieces[first := min(pieces)]], 2
    while end != first:
        end, ends = others[pieces[end]], ends + 2
    return ends == len(pieces)


def drawn_by(edge: Edge) -> int:
    """The square whose step draws this edge."""
    return edge[1] if edge[0] == VIRTUAL else edge[0]


class NumberedTours:
    """The file `knight_cycles_CxR.idx` or `knight_numbers_CxR.idx`."""

    def __init__(self, path: Path) -> None:
        _, kind, board = path.stem.split("_")
        files, ranks = map(int, board.split("x"))
        self.layers = layers(path.read_bytes())
        self.h, w = sorted((files, ranks))
        self.left, self.right = self.h * ((w - 1) // 2), self.h * ((w - 2) // 2)
        places = [(c, r) if files <= ranks else (r, c) for r in range(w) for c in range(self.h)]
        self.names = [f"{chr(97 + file)}{1 + rank}" for file, rank in places]
        self.edges = [
            (one, other)
            for (one, (file, rank)), (other, (to, at)) in combinations(enumerate(places), 2)
            if {abs(file - to), abs(rank - at)} == {1, 2}
        ]
        self.outside: list[int] = []
        self.own: dict[int | None, int] = {None: self.left + 1}  # where a start's own layers begin
        if kind == "numbers":
            self.outside = [VIRTUAL]
            ends = [s for s, place in enumerate(places) if not (len(places) % 2 and sum(place) % 2)]
            self.edges = [(VIRTUAL, square) for square in ends] + self.edges
            self.symmetries = [
                [
                    places.index((rank, file) if exchanged else (file, rank))
                    for file, rank in mirrored
                ]
                for exchanged in (False, True)[: 1 + (files == ranks)]
                for mirrored in (
                    [(abs(by_file - file), abs(by_rank - rank)) for file, rank in places]
                    for by_file in (0, files - 1)
                    for by_rank in (0, ranks - 1)
                )
            ]
            number = self.left + 1
            for turn in sorted({self.turned(start)[0] or 0 for start in ends}):
                self.own[turn] = number
                number += max(self.left - turn, 0) + 1
        self.flip = {s: len(places) - self.h - s + 2 * (s % self.h) for s in range(len(places))}
        self.flip[VIRTUAL] = VIRTUAL
        self.middle = {*self.outside, *range(self.left, self.left + 2 * self.h)}
        self.cut = [edge for edge in self.edges if self.middle.issuperset(edge)]
        self.completing: dict[int, list[int]] = defaultdict(list)
        for key in self.layers[self.right]:
            self.completing[key // MATCHINGS].append(key)
        self.finishes, self.steps_back = cache(self._finishes), cache(self._steps_back)

    def turned(self, start: int | None) -> tuple[int | None, list[int]]:
        """The image of a start under whose numbers its tours are, and the symmetry."""
        if start is None:
            return None, list(range(len(self.names)))
        allowed = [images for images in self.symmetries if images[start] < self.left + self.h]
        images = max(allowed, key=lambda images: images[start])
        return images[start], images

    def fixed(self, start: int | None) -> list[Edge]:
        """The edge of the cut that all tours from a start have, if its square lies there."""
        return [] if start is None or start < self.left else [(VIRTUAL, start)]

    def flipped(self, edge: Edge) -> Edge:
        """An edge as the other end calls it."""
        one, other = sorted(map(self.flip.__getitem__, edge))
        return one, other

    def cells(self, n: int) -> list[int]:
        return [*self.outside, *range(n, n + 2 * self.h + 1)]

    def key(self, n: int, needs: Needs, pieces: Pieces) -> int:
        wanted = sum(needs[cell] << 2 * place for place, cell in enumerate(self.cells(n)))
        matching, ends = 0, sorted(pieces)
        while ends:
            first, *others = ends
            matching = matching * len(others) + others.index(pieces[first])
            ends = [end for end in others if end != pieces[first]]
        return wanted * MATCHINGS + matching

    def state(self, n: int, key: int) -> tuple[Needs, Pieces]:
        wanted, matching = divmod(key, MATCHINGS)
        needs = {cell: wanted >> 2 * place & 3 for place, cell in enumerate(self.cells(n))}
        ends = [cell for cell in needs if needs[cell] == 1]
        between = []
        for others in range(1, len(ends), 2):
            matching, place = divmod(matching, others)
            between.append(place)
        pieces: Pieces = {}
        while ends:
            first, far = ends.pop(0), ends.pop(between.pop())
            pieces |= {first: far, far: first}
        return needs, pieces

    def reached(self, n: int, edges: list[Edge]) -> int:
        """The state after n squares of a drawing."""
        needs = dict.fromkeys([*self.outside, *range(len(self.names) + 2 * self.h + 1)], 2)
        pieces: Pieces = {}
        for edge in edges:
            assert drawn_by(edge) >= n or lay(edge, needs, pieces)
        return self.key(n, needs, pieces)

    def layer(self, n: int, start: int | None) -> dict[int, int]:
        return self.layers[n if start is None or n <= start else self.own[start] + n - start - 1]

    def passed(self, start: int | None) -> dict[int, int]:
        """How many tours pass each state at the cut."""
        return self.layers[self.own[start] + (0 if start is None else max(self.left - start, 0))]

    def _steps_back(self, n: int, key: int, start: int | None) -> list[tuple[Step, int]]:
        """In order: the states before the last step with the edges that it drew, and their numbers."""
        square, steps = n - 1, []
        drawn = [edge for edge in self.edges if drawn_by(edge) == square]
        now, pieces = self.state(n, key)
        for edges in ((), *combinations(drawn, 1), *combinations(drawn, 2)):
            joined = [one + other - square for one, other in edges]
            needs = now | {cell: now[cell] + 1 for cell in joined} | {square: len(joined)}
            if max(needs.values()) > 2 or needs.pop(n + 2 * self.h) < 2:
                continue
            if start == square and VIRTUAL not in joined:
                continue
            one, other = joined if len(joined) == 2 else (square, *joined, square)[:2]
            for then in cut_apart(one, other, now, pieces) if joined else [pieces]:
                before = self.key(square, needs, then)
                steps.append(((before, edges), self.layer(square, start).get(before, 0)))
        return steps

    def drawing(self, number: int, n: int, key: int, start: int | None) -> list[Edge]:
        edges: list[Edge] = []
        for done in range(n, 0, -1):
            (key, drawn), number = fall(number, self.steps_back(done, key, start))
            edges += drawn
        return edges

    def drawing_number(self, edges: list[Edge], n: int, start: int | None) -> int:
        keys = [self.reached(done, edges) for done in range(n + 1)]
        number = 0
        for done in range(1, n + 1):
            steps = self.steps_back(done, keys[done], start)
            number += before(keys[done - 1], [(key, ways) for (key, _), ways in steps])
        return number

    def _finishes(self, key: int, start: int | None) -> list[tuple[Finish, int]]:
        """In order: sets of edges of the cut, each with the states of the other half that it completes,
        and their numbers."""
        needs, pieces = self.state(self.left, key)
        free, finishes = self.cut, []
        for edge in self.fixed(start):
            if not lay(edge, needs, pieces):
                return []  #
            free = [other for other in free if other != edge]
        theirs = dict.fromkeys(self.cells(self.right), 2)
        for edges, lacking, joined in _sets(free, needs, pieces):
            theirs |= {self.flip[cell]: 2 - lacking[cell] for cell in self.middle}
            for other in self.completing[self.key(self.right, theirs, {}) // MATCHINGS]:
                _, far = self.state(self.right, other)
                if is_circle(joined, {self.flip[end]: self.flip[far[end]] for end in far}):
                    finishes.append(((edges, other), self.layers[self.right][other]))
        return finishes

    def tour(self, number: int, start: str | None = None) -> list[str]:
        """The squares of the open tour from a start with this number, or of the closed tour with it."""
        turn, images = self.turned(None if start is None else self.names.index(start))
        key, number = fall(number, self.passed(turn).items())
        finishes = self.finishes(key, turn)
        drawing, number = divmod(number, sum(ways for _, ways in finishes))
        (across, other), number = fall(number, finishes)
        edges = self.drawing(drawing, self.left, key, turn) + self.fixed(turn) + list(across)
        edges += map(self.flipped, self.drawing(number, self.right, other, None))
        walk = [0, min(sum(edge) for edge in edges if 0 in edge)]
        if turn is not None:
            walk = [VIRTUAL, turn]
        while len(walk) < len(self.names) + len(self.outside):
            one, other = (sum(edge) - walk[-1] for edge in edges if walk[-1] in edge)
            walk.append(one + other - walk[-2])
        return [self.names[images.index(square)] for square in walk if square != VIRTUAL]

    def number(self, tour: list[str]) -> int:
        """The number of a tour: among those from its start, or among the closed ones."""
        walk = [self.names.index(name) for name in tour]
        turn, images = self.turned(walk[0] if self.outside else None)
        walk = self.outside + [images[square] for square in walk]
        edges = sorted(
            (min(edge), max(edge)) for edge in zip(walk, walk[1:] + walk[:1], strict=True)
        )
        across = tuple(edge for edge in edges if edge in self.cut and edge not in self.fixed(turn))
        theirs = [self.flipped(edge) for edge in edges]
        key, other = self.reached(self.left, edges), self.reached(self.right, theirs)
        finishes = self.finishes(key, turn)
        drawing = self.drawing_number(edges, self.left, turn)
        return (
            before(key, self.passed(turn).items())
            + drawing * sum(ways for _, ways in finishes)
            + before((across, other), finishes)
            + self.drawing_number(theirs, self.right, None)
        )


def _sets(free: list[Edge], needs: Needs, pieces: Pieces) -> Iterator[Laid]:
    """All sets of edges that can be laid, in order, with what is lacking then and the pieces."""
    yield (), needs, pieces
    for place, edge in enumerate(free, 1):
        lacking, joined = needs.copy(), pieces.copy()
        if lay(edge, lacking, joined):
            for edges, *state in _sets(free[place:], lacking, joined):
                yield (edge, *edges), state[0], state[1]
