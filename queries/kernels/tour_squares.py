"""A kernel that writes the squares of many tours in their order."""

from __future__ import annotations

from tablebase.frontier.compiled import Array
from tablebase.jit import compiled
from tablebase.puzzles.knight.tour_ranker import NO_SQUARE


@compiled
def follow_tours(
    tours: Array, neighbours: Array, starts: Array, image: Array, square: Array, paths: bool,
    virtual: int,
) -> bool:  # fmt: skip
    """Write each tour's squares in their order, by following its edges from the start.

    `image` has the sweep's square of each square of the board, and `square` is its inverse, both by
    start. False if the edges are not one tour.
    """
    for tour in range(len(tours)):
        begin = image[starts[tour], starts[tour]]
        previous, here = virtual if paths else NO_SQUARE, begin
        for at in range(len(image)):
            one, two = neighbours[tour, here]
            if one == NO_SQUARE or two == NO_SQUARE or here == virtual or (at and here == begin):
                return False
            tours[tour, at] = square[starts[tour], here]
            if previous != NO_SQUARE:
                successor = two if one == previous else one
            else:
                successor = one if square[starts[tour], one] < square[starts[tour], two] else two
            previous, here = here, successor
        if here != (virtual if paths else begin):
            return False
    return True
