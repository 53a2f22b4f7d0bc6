// The puzzles of a day: they follow from the date alone, so that they are the same for all who have the page.

const DAY_MS = 86400000;
/** The factors by which MurmurHash3 mixes its last bits. */
const MIXERS = [0x85ebca6b, 0xc2b2ae35];

/** Return a number below `count`: always the same one for a seed, and one that has nothing in common for its neighbours. */
export function drawNumber(seed, count) {
  let mixed = seed;
  for (const factor of MIXERS) mixed = Math.imul(mixed ^ (mixed >>> 16), factor);
  return ((mixed ^ (mixed >>> 16)) >>> 0) % count;
}

/** Return the visitor's day: its name, such as 2026-11-25, and its number since 1970. */
export function findDay(now = new Date()) {
  const midnight = new Date(Date.UTC(now.getFullYear(), now.getMonth(), now.getDate()));
  return { name: midnight.toISOString().slice(0, 10), number: midnight / DAY_MS };
}
