// Searches for tours, of boards small enough to be searched to the end, or for a while.

/**
 * Find a tour that begins with some squares, and ends on the square `end` if there is one; squares with the fewest jumps
 * onward are tried first (Warnsdorff's rule). Return the tour, and whether the result is proven: the search gives up after
 * `most` squares.
 *
 * A free square with one free neighbour is forced: it is next, or else it is the end. If the end may be any square, with
 * three of them there is no tour, and with two, one of them is next.
 */
export function searchTour(board, begun, { end = null, most = Infinity } = {}) {
  const { count, neighbours } = board;
  const free = new Uint8Array(count).fill(1);
  const ways = Uint8Array.from(neighbours, (list) => list.length);
  const path = [];
  const room = end === null ? 2 : 1;
  let forced = 0;
  let visits = 0;
  const visit = (here) => {
    visits++;
    path.push(here);
    if (path.length === count) return true;
    const before = forced;
    let dead = false;
    free[here] = 0;
    if (ways[here] === 1) forced--;
    for (const next of neighbours[here]) {
      ways[next]--;
      if (!free[next]) continue;
      if (ways[next] === 1 && next !== end) forced++;
      else if (ways[next] === 0 && path.length < count - 1) dead = true;
    }
    if (!dead && forced <= room && visits < most) {
      const isLast = path.length === count - 1;
      const onward = path.length < begun.length ? [begun[path.length]] : neighbours[here];
      for (const next of [...onward].sort((one, other) => ways[one] - ways[other])) {
        const isOpen =
          free[next] && (forced < room || ways[next] === 1) && (isLast || next !== end);
        if (isOpen && visit(next)) return true;
      }
    }
    for (const next of neighbours[here]) ways[next]++;
    free[here] = 1;
    forced = before;
    path.pop();
    return false;
  };
  const tour = visit(begun[0]) ? path : null;
  return { tour, isProven: tour !== null || visits < most };
}
