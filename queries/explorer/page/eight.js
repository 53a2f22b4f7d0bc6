// The 8-puzzle: a game on 3x3 whose tables are in notation order and have the numbers of solutions.
import { once, openIndex } from "#page/reader.js";
import { makeGame } from "#page/slide.js";

const STATES = 362880;

const tables = {};

export const openEight = once(async () => {
  const names = ["eight", "eight_edge"];
  const opened = await Promise.all(names.map((name) => openIndex(name, 2, STATES)));
  names.forEach((name, at) => { tables[name] = opened[at]; });
  return tables;
});

function rank(state) {
  let found = 0;
  for (let at = 0; at < 9; at++) {
    let smaller = 0;
    for (let later = at + 1; later < 9; later++) if (state[later] < state[at]) smaller++;
    found = found * (9 - at) + smaller;
  }
  return found;
}

function unrank(number) {
  const places = [];
  for (let left = 1, rest = number; left <= 9; left++) {
    places.unshift(rest % left);
    rest = Math.floor(rest / left);
  }
  const digits = [..."012345678"];
  return places.map((place) => digits.splice(place, 1)[0]).join("");
}

export const EIGHT = {
  ...makeGame({
    rows: 3,
    columns: 3,
    layouts: [
      { name: "corner", state: "123456780", table: "eight", label: "Gap last" },
      { name: "centre", state: "123804765", table: "eight", label: "Gap in the centre" },
      { name: "edge", state: "123456708", table: "eight_edge", label: "Gap at the edge" },
    ],
    rank,
    unrank,
    width: 2,
    records: (table) => tables[table].records,
  }),
  title: "8-puzzle",
  first: () => "378546201",
  address: [],
  open: openEight,
};
