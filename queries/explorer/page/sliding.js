// The sliding boards of the page: their games, by board. docs/sliding.md describes the order of ranks:
// places are numbered column by column; the blank's place comes first, then the order of the tiles.
import { once, openIndex } from "#page/reader.js";
import { makeGame } from "#page/slide.js";
import { inOrder } from "#page/slide_rules.js";

/** The boards, rows x columns, each with the cells of the blank in its goals, counted from 1. */
function carriedBoards() {
  const boards = {};
  for (const { id } of document.querySelectorAll("script[id^='sliding_']")) {
    const [, board, cell] = id.match(/^sliding_(\dx\d)_(\d+)\.idx$/);
    (boards[board] ??= []).push(Number(cell));
  }
  return boards;
}

function makeBoard(board, goals) {
  const [rows, columns] = board.split("x").map(Number);
  const cells = rows * columns;
  const places = Array.from({ length: cells }, (_, cell) => (cell % columns) * rows + Math.floor(cell / columns));
  const cellAt = places.map((_, place) => places.indexOf(place));
  const weights = [1];
  while (weights.length < cells - 3) weights.unshift(weights[0] * (weights.length + 2));
  const orders = weights[0] * (cells - 1);
  const tables = {};
  const layouts = goals.map((cell) => {
    const state = inOrder(cells, cell - 1);
    const [row, column] = [Math.ceil(cell / columns), ((cell - 1) % columns) + 1];
    const label = cell === cells ? "Gap last" : `Gap in row ${row}, column ${column}`;
    return { name: state, state, label, table: `sliding_${board}_${cell}` };
  });

  function rank(state) {
    const left = [...inOrder(cells, cells - 1).slice(0, -1)];
    let found = places[state.indexOf("0")] * orders;
    cellAt.filter((cell) => state[cell] !== "0").forEach((cell, at) => {
      found += left.indexOf(state[cell]) * (weights[at] ?? 0);
      left.splice(left.indexOf(state[cell]), 1);
    });
    return found;
  }

  function unrank(number, goal) {
    const left = [...inOrder(cells, cells - 1).slice(0, -1)];
    const order = [];
    let rest = number % orders;
    for (const weight of weights) {
      order.push(left.splice(Math.floor(rest / weight), 1)[0]);
      rest %= weight;
    }
    const blank = Math.floor(number / orders);
    const laid = (last) => places.map((place) => [...order, ...last].toSpliced(blank, 0, "0")[place]).join("");
    return [left, left.toReversed()].map(laid).find((state) => game.joined(state, goal));
  }

  const game = makeGame({
    rows, columns, layouts, rank, unrank, width: 1, records: (table) => tables[table].records,
  });
  return {
    ...game,
    title: `Sliding board ${rows}×${columns}`,
    first: () => game.hardest(layouts[0].state)[0],
    address: [board],
    open: once(async () => {
      await Promise.all(layouts.map(async ({ table }) => {
        tables[table] = await openIndex(table, 1, cells * orders);
      }));
      return tables;
    }),
  };
}

export const SLIDING = Object.fromEntries(
  Object.entries(carriedBoards()).map(([board, goals]) => [board, makeBoard(board, goals)]),
);
