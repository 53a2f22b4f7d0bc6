// Searches for tours that begin with given squares.

/**
 * Find a tour that begins with some squares and that `accept(tour)` takes; tours are tried in ascending
 * order of their squares, or, `quick`, first where fewest jumps lead on. Return the tour and whether the
 * search came to its end; it gives up after `most` squares.
 *
 * A free square with one free neighbour is next, or else it is the end. With three of them there is
 * no tour; with two, one of them is next.
 */
export function searchTour(board, begun, accept, { quick = false, most = Infinity } = {}) {
  const { count, neighbours } = board;
  const free = new Uint8Array(count).fill(1);
  const ways = Uint8Array.from(neighbours, (list) => list.length);
  const path = [];
  let pressed = 0;
  let visits = 0;
  const visit = (here) => {
    visits++;
    path.push(here);
    if (path.length === count && accept(path)) return true;
    const before = pressed;
    let dead = false;
    free[here] = 0;
    if (ways[here] === 1) pressed--;
    for (const next of neighbours[here]) {
      ways[next]--;
      if (!free[next]) continue;
      if (ways[next] === 1) pressed++;
      else if (ways[next] === 0 && path.length < count - 1) dead = true;
    }
    if (!dead && pressed < 3 && visits < most) {
      const onward = path.length < begun.length ? [begun[path.length]] : neighbours[here];
      const ordered = quick ? [...onward].sort((one, other) => ways[one] - ways[other]) : onward;
      for (const next of ordered) {
        if (free[next] && (pressed < 2 || ways[next] === 1) && visit(next)) return true;
      }
    }
    for (const next of neighbours[here]) ways[next]++;
    free[here] = 1;
    pressed = before;
    path.pop();
    return false;
  };
  const tour = visit(begun[0]) ? path : null;
  return { tour, isSure: tour !== null || visits < most };
}

/** Yield every path of `length` squares from a start, in ascending order. */
export function* listBeginnings(board, path, length) {
  if (path.length === length) {
    yield path;
    return;
  }
  for (const next of board.neighbours[path.at(-1)]) {
    if (!path.includes(next)) yield* listBeginnings(board, [...path, next], length);
  }
}

/** Return whether a path begins with the squares of another. */
export function beginsWith(path, squares) {
  return squares.every((square, at) => path[at] === square);
}
