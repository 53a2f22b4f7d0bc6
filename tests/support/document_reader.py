"""Ranked knight's tours, read as docs/format describes them, with the standard library only.

Written from that page alone: it shares no code with the program. In every layer of a sweep, a
square is identified by its number in the sweep; the virtual one is -1.
"""

import struct
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path
from typing import TypeVar

Thing = TypeVar("Thing")
Edge = tuple[int, int]  # the lower square first
Edges = tuple[Edge, ...]
Needs = dict[int, int]  # how many of its two edges each square lacks
Pieces = dict[int, int]  # from each end of a piece to its other end
Finish = tuple[set[Edge], int]  # edges of the cut, and a state of the other half
Turn = int | None  # the start that tours are numbered for; none for closed tours

VIRTUAL = -1
BLOCK, BODY, WIDTH = 4096, 4092, 1023
MATCHINGS = 2**26


def records(data: bytes) -> Iterator[bytes]:
    magic, version, _, width, size, count, seed = struct.unpack("<4sHHIIQ32s", data[:56])
    assert (magic, version, width, size) == (b"PTIX", 3, WIDTH, BLOCK)
    blocks = [data[at : at + BLOCK] for at in range(0, len(data), BLOCK)]
    for number, block in enumerate(blocks):
        checksum = zlib.crc32(seed + struct.pack("<Q", number) + block[:BODY])
        assert block[BODY:] == struct.pack("<I", checksum)
    for number in range(count):
        after, offset = divmod(number, BODY // width)
        yield blocks[1 + after][offset * width : (offset + 1) * width]


def layers(data: bytes) -> dict[int, dict[int, int]]:
    """Return the count of each state, by layer and key, in order."""
    result: dict[int, dict[int, int]] = defaultdict(dict)
    for record in records(data):
        layer, key, _ = struct.unpack("<HQQ", record[:18])
        values, value, shift = [0], 0, 0
        for byte in record[18:].partition(b"\0")[0]:
            value, shift = value + ((byte & 127) << shift), shift + 7
            if byte < 128:
                values.append(value)
                value = shift = 0
        for below, number in zip(values[::2], values[1::2], strict=True):
            key += below
            result[layer][key] = number
    return result


def fall(number: int, things: Iterable[tuple[Thing, int]]) -> tuple[Thing, int]:
    """Return the item whose range contains a number, and the position in that range."""
    for thing, ways in things:
        if number < ways:
            return thing, number
        number -= ways
    raise LookupError


def sum_before(wanted: Thing, things: Iterable[tuple[Thing, int]]) -> int:
    """Return the sum of the counts of all items before the wanted one."""
    number = 0
    for thing, ways in things:
        if thing == wanted:
            return number
        number += ways
    raise LookupError


def find_drawing_square(edge: Edge) -> int:
    """Return the square whose step draws an edge."""
    return edge[1] if edge[0] == VIRTUAL else edge[0]


def add_edge(edge: Edge, needs: Needs, pieces: Pieces) -> tuple[Needs, Pieces]:
    """Return the needs and the paths after one more edge."""
    one, other = edge
    far, end = pieces.get(one, one), pieces.get(other, other)
    others = {square: to for square, to in pieces.items() if square not in edge}
    needed = needs | {one: needs[one] - 1, other: needs[other] - 1}
    return needed, others | {far: end, end: far}


def iter_edge_sets(
    free: list[Edge], needs: Needs, pieces: Pieces
) -> Iterator[tuple[Edges, Needs, Pieces]]:
    """Yield every set of edges that fits and closes no cycle, with the needs and paths after it."""
    yield (), needs, pieces
    for at, (one, other) in enumerate(free):
        if needs[one] and needs[other] and pieces.get(one) != other:
            edge = one, other
            for edges, *remaining in iter_edge_sets(free[at + 1 :], *add_edge(edge, needs, pieces)):
                yield (edge, *edges), remaining[0], remaining[1]


def iter_previous_pieces(one: int, other: int, needs: Needs, pieces: Pieces) -> Iterator[Pieces]:
    """Yield the path ends that are possible before a step joined one cell to the other."""

    def changed(gone: int, *pairs: Edge) -> Pieces:
        rest = {end: far for end, far in pieces.items() if gone not in (end, far)}
        return rest | dict(pairs) | {far: end for end, far in pairs}

    ends = [square for square in (one, other) if needs.get(square) == 1]
    if one == other:
        yield pieces
    elif len(ends) == 2:
        if pieces[one] == other:
            yield changed(one)
    elif ends:
        yield changed(ends[0], (one + other - ends[0], pieces[ends[0]]))
    else:
        for lower, higher in sorted(pieces.items()):
            if lower < higher:
                yield changed(lower, (one, lower), (other, higher))
                yield changed(lower, (one, higher), (other, lower))


def is_one_cycle(pieces: Pieces, others: Pieces) -> bool:
    """Tell whether the paths of both halves, joined at their common ends, form one single cycle."""
    first = end = min(pieces, default=VIRTUAL)
    for ends in range(2, len(pieces) + 1, 2):
        end = others[pieces[end]]
        if end == first:
            return ends == len(pieces)
    return False


class NumberedTours:
    """Reader of the file `knight_closed_ranks_CxR.idx` or `knight_ranks_CxR.idx`."""

    def __init__(self, path: Path) -> None:
        _, *words, board = path.stem.split("_")
        files, ranks = map(int, board.split("x"))
        self.layers = layers(path.read_bytes())
        self.h, w = sorted((files, ranks))
        self.left, self.right = self.h * ((w - 1) // 2), self.h * ((w - 2) // 2)
        self.positions = positions = [
            (a, b) if files <= ranks else (b, a) for b in range(w) for a in range(self.h)
        ]
        number = {position: square for square, position in enumerate(positions)}
        self.names = [f"{chr(97 + file)}{1 + rank}" for file, rank in positions]
        self.squares = list(range(len(positions)))
        self.flip = {VIRTUAL: VIRTUAL}
        self.flip |= {s: len(positions) - self.h - s + 2 * (s % self.h) for s in self.squares}
        self.outside: list[int] = []
        self.edges = [
            (one, other)
            for (one, (file, rank)), (other, (f, r)) in combinations(enumerate(positions), 2)
            if {abs(file - f), abs(rank - r)} == {1, 2}
        ]
        self.own: dict[Turn, tuple[int, int]] = {None: (self.left, self.left + 1)}
        if words == ["ranks"]:
            mirrors = [(a, b) for a in (0, files - 1) for b in (0, ranks - 1)]
            mirrored = [[(abs(a - f), abs(b - r)) for f, r in positions] for a, b in mirrors]
            if files == ranks:
                mirrored += [[(r, f) for f, r in images] for images in mirrored]
            self.symmetries = [[number[image] for image in images] for images in mirrored]
            self.outside = [VIRTUAL]
            ends = [s for s, at in enumerate(positions) if len(positions) * sum(at) % 2 == 0]
            self.edges = [(VIRTUAL, square) for square in ends] + self.edges
            layer = self.left + 1
            for turn in sorted({self.turned(self.names[square])[0] or 0 for square in ends}):
                shared = min(turn, self.left)
                self.own[turn] = shared, layer
                layer += self.left - shared + 1
        self.middle = [*self.outside, *range(self.left, self.left + 2 * self.h)]
        self.by_needs: dict[int, list[int]] = defaultdict(list)
        for key in self.layers[self.right]:
            self.by_needs[key // MATCHINGS].append(key)
        self.cut = [edge for edge in self.edges if {*edge} <= {*self.middle}]
        self.finishes, self.steps_back = cache(self._finishes), cache(self._steps_back)

    def turned(self, start: str | None) -> tuple[Turn, list[int]]:
        """Return the square whose numbers a start's tours have, and the images of all squares."""
        if start is None:
            return None, self.squares
        square = self.names.index(start)
        result = [images for images in self.symmetries if images[square] < self.left + self.h]
        images = max(result, key=lambda images: images[square])
        return images[square], images

    def layer(self, n: int, turn: Turn) -> dict[int, int]:
        """Return the states after n steps, and after one more, those that tours pass."""
        shared, first_own = self.own[turn]
        return self.layers[n if n <= shared else first_own + n - shared - 1]

    def ways_on(self, key: int, turn: Turn) -> int:
        return self.layer(self.left + 1, turn)[key] // self.layer(self.left, turn)[key]

    def key(self, n: int, needs: Needs, pieces: Pieces) -> int:
        cells = [*self.outside, *range(n, n + 2 * self.h + 1)]
        needed = sum(needs[cell] << 2 * at for at, cell in enumerate(cells))
        matching, ends = 0, sorted(pieces)
        while ends:
            first, *others = ends
            matching = matching * len(others) + others.index(pieces[first])
            ends = [end for end in others if end != pieces[first]]
        return needed * MATCHINGS + matching

    def state(self, n: int, key: int) -> tuple[Needs, Pieces]:
        needed, matching = divmod(key, MATCHINGS)
        cells = [*self.outside, *range(n, n + 2 * self.h + 1)]
        needs = {cell: needed >> 2 * at & 3 for at, cell in enumerate(cells)}
        ends = [cell for cell in cells if needs[cell] == 1]
        digits = []
        for others in range(1, len(ends), 2):
            matching, digit = divmod(matching, others)
            digits.append(digit)
        pieces: Pieces = {}
        while ends:
            first, far = ends.pop(0), ends.pop(digits.pop())
            pieces |= {first: far, far: first}
        return needs, pieces

    def reached(self, steps: int, edges: list[Edge]) -> list[int]:
        """Return the states of a partial tour, before its first step and after each."""
        needs = dict.fromkeys(range(VIRTUAL, 2 * len(self.names)), 2)
        pieces: Pieces = {}
        keys = [self.key(0, needs, pieces)]
        for square in range(steps):
            for edge in edges:
                if find_drawing_square(edge) == square:
                    needs, pieces = add_edge(edge, needs, pieces)
            keys.append(self.key(square + 1, needs, pieces))
        return keys

    def _steps_back(self, n: int, key: int, turn: Turn) -> list[tuple[tuple[int, Edges], int]]:
        """List the states before the step of square n - 1, with the edges drawn, and counts."""
        steps, square = [], n - 1
        now, pieces = self.state(n, key)
        drawn = [edge for edge in self.edges if find_drawing_square(edge) == square]
        for edges in ((), *combinations(drawn, 1), *combinations(drawn, 2)):
            cells = [one + other - square for one, other in edges]
            needs = now | {cell: now[cell] + 1 for cell in cells} | {square: len(cells)}
            fits = max(needs.values()) == 2 == needs[n + 2 * self.h]
            if fits and (square != turn or VIRTUAL in cells):
                one, other = [square, square, *cells][-2:]
                for then in iter_previous_pieces(one, other, now, pieces):
                    was = self.key(square, needs, then)
                    steps.append(((was, edges), self.layer(square, turn).get(was, 0)))
        return steps

    def _finishes(self, key: int, turn: Turn) -> list[tuple[Finish, int]]:
        """List edges across the cut with the other half's state that they reach, and its count."""
        result: list[tuple[Finish, int]] = []
        needs, pieces = self.state(self.left, key)
        fixed = () if turn is None or turn < self.left else ((VIRTUAL, turn),)
        for edge in fixed:
            needs, pieces = add_edge(edge, needs, pieces)
        theirs = dict.fromkeys(range(VIRTUAL, len(self.names)), 2)
        for edges, lacking, remaining in iter_edge_sets(self.cut, needs, pieces):
            theirs |= {self.flip[cell]: 2 - lacking[cell] for cell in self.middle}
            needed = self.key(self.right, theirs, {}) // MATCHINGS
            for other in self.by_needs[needed]:
                far = self.state(self.right, other)[1]
                if is_one_cycle(remaining, {self.flip[end]: self.flip[far[end]] for end in far}):
                    ways = self.layers[self.right][other]
                    result.append((({*fixed, *edges}, other), ways))
        return result

    def total(self, start: str | None = None) -> int:
        """Count the ranked tours: those from a start, or the closed ones."""
        turn, _ = self.turned(start)
        return sum(self.layer(self.left + 1, turn).values()) if turn in self.own else 0

    def tour(self, number: int, start: str | None = None) -> list[str]:
        """Return the squares of the open tour from a start, or of the closed tour, of a number."""
        turn, images = self.turned(start)
        key, number = fall(number, self.layer(self.left + 1, turn).items())
        partial_tour, way = divmod(number, self.ways_on(key, turn))
        (across, other), way = fall(way, self.finishes(key, turn))
        theirs = self.partial_tour(way, self.right, other, None)
        edges = [
            *self.partial_tour(partial_tour, self.left, key, turn),
            *across,
            *self.flipped(theirs),
        ]
        second = (sum(edge) for edge in edges if 0 in edge)  # for a closed tour: it begins at a1
        walk = [0, min(second, key=lambda square: self.positions[square][::-1])]
        if turn is not None:
            walk = [VIRTUAL, turn]
        while len(walk) < len(self.names) + len(self.outside):
            beside = (sum(edge) - walk[-1] for edge in edges if walk[-1] in edge)
            walk += [square for square in beside if square != walk[-2]]
        return [self.names[images.index(square)] for square in walk if square != VIRTUAL]

    def number(self, tour: list[str]) -> int:
        """Return the number of an open tour among those from its start, or of a closed tour."""
        turn, images = self.turned(tour[0] if self.outside else None)
        walk = [*self.outside, *(images[self.names.index(name)] for name in tour)]
        edges = [(min(edge), max(edge)) for edge in zip(walk, walk[1:] + walk[:1], strict=True)]
        ours, theirs = self.reached(self.left, edges), self.reached(self.right, self.flipped(edges))
        number = sum_before(ours[-1], self.layer(self.left + 1, turn).items())
        number += self.drawing_number(ours, turn) * self.ways_on(ours[-1], turn)
        finish = {*edges} & {*self.cut}, theirs[-1]
        number += sum_before(finish, self.finishes(ours[-1], turn))
        return number + self.drawing_number(theirs, None)

    def partial_tour(self, number: int, n: int, key: int, turn: Turn) -> list[Edge]:
        """Return the edges of the partial tour with a number that leads to a state."""
        edges: list[Edge] = []
        for step in range(n, 0, -1):
            (key, drawn), number = fall(number, self.steps_back(step, key, turn))
            edges += drawn
        return edges

    def drawing_number(self, keys: list[int], turn: Turn) -> int:
        number = 0
        for step, (was, key) in enumerate(pairwise(keys), 1):
            states = [(state, ways) for (state, _), ways in self.steps_back(step, key, turn)]
            number += sum_before(was, states)
        return number

    def flipped(self, edges: Iterable[Edge]) -> list[Edge]:
        """Return edges with the square numbers of the other half."""
        called = [(self.flip[one], self.flip[other]) for one, other in edges]
        return [(min(edge), max(edge)) for edge in called]
