"""Every tour of a small board by the oracle, which searches once for symmetric squares."""

from functools import cache

from tests.support import oracles

Tour = tuple[int, ...]


def list_mirrors(files: int, ranks: int) -> list[list[int]]:
    """Return the images of all squares under each symmetry; the first symmetry is the identity."""
    squares = [divmod(square, files) for square in range(files * ranks)]
    result = []
    for left_right in (False, True):
        for up_down in (False, True):
            for swapped in (False, True) if files == ranks else (False,):
                turned = []
                for rank, file in squares:
                    to_file = files - 1 - file if left_right else file
                    to_rank = ranks - 1 - rank if up_down else rank
                    if swapped:
                        to_file, to_rank = to_rank, to_file
                    turned.append(to_file + files * to_rank)
                result.append(turned)
    return result


@cache
def all_tours(files: int, ranks: int) -> list[list[Tour]]:
    """Return every tour from each square, in ascending order."""
    result: dict[int, list[Tour]] = {}
    for start in range(files * ranks):
        if start in result:
            continue
        tours = oracles.knight_tours(files, ranks, start)
        for turned in list_mirrors(files, ranks):
            result.setdefault(
                turned[start], sorted(tuple(turned[square] for square in tour) for tour in tours)
            )
    return [result[start] for start in range(files * ranks)]
