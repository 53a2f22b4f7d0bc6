// A reader of the index files (docs/index-format.md) that needs only Node, and no package.
//
//     node reader.mjs outputs eight 378546201
//     node reader.mjs outputs senet ABAAABBB.B...A.
//     node reader.mjs outputs knight b1 a3
//     node reader.mjs outputs 3x4 3a1b87254960
//
// Each key (for the knight, two squares) gets one line. "-" stands for a value that does not exist:
//
//     eight   state, goal, distance, number of shortest solutions, every optimal first move,
//             one shortest solution
//     senet   position, plies, even plies, odd plies, number of shortest lines, throws, moves
//     knight  start, finish, closed or open, squares
//     3x4     state, distance, every optimal first move, one shortest solution; also 2x6 and 2x7, of
//             states that reach the goal with the blank in the last corner
//
// Without keys on the command line, keys are read from standard input. The first key without an
// answer ends the program with a message: exit 1 if no answer exists, 2 for a bad key, 3 for a bad
// file. An output that cannot be written is exit 2.
import { fstatSync, openSync, readSync, writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";

// ---- the lines up to the next such heading are also in read_eight.html ----
function fail(code, problem) { throw Object.assign(new Error(problem), { code }); }
/** Returns a function from a rank to its record. `read(from, to)` returns those bytes of the index,
 * which has `bytes` bytes. Only this function knows the layout of the file. */
async function openIndex(read, bytes, name, width) {
  const must = (passed, problem) => { if (!passed) fail(3, `${name}.idx ${problem}`); };
  const view = (block) => new DataView(block.buffer, block.byteOffset, block.length);
  const block = (number) => read(4096 * number, 4096 * (number + 1)).catch(
    (error) => fail(3, `${name}.idx cannot be read: ${error.code ?? error.message}`));
  const first = await block(0);
  const header = new Uint8Array(4096);
  header.set(first); // a short header is padded, so that its version is checked first
  const isIntact = (number, block) => {
    const summed = new Uint8Array(32 + 8 + 4092);
    summed.set(header.subarray(24, 56));
    view(summed).setBigUint64(32, BigInt(number), true);
    summed.set(block.subarray(0, 4092), 40);
    let crc = ~0;
    for (const byte of summed) {
      crc ^= byte;
      for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return block.length === 4096 && ~crc >>> 0 === view(block).getUint32(4092, true);
  };
  const text = (from, to) => String.fromCharCode(...header.subarray(from, to));
  const number = (at) => view(header).getUint32(at, true);
  must(text(0, 4) === "PTIX", "is not an index");
  must(view(header).getUint16(4, true) === 2, "is not of format version 2");
  must(isIntact(0, first), "is damaged: its header is not whole");
  const later = view(header).getUint16(6, true) !== 0 || number(12) !== 4096;
  must(!later, "is laid out in a later way");
  const table = number(8) === width && text(56, 120) === name.padEnd(64, "\0");
  must(table, "is the index of another table");
  const count = Number(view(header).getBigUint64(16, true));
  const each = Math.floor(4092 / width);
  must(bytes === 4096 * (1 + Math.ceil(count / each)), "is too short or too long");
  const cache = new Map(); // checked blocks by number
  return async (rank) => {
    must(rank < count, `has no record ${rank}`);
    const at = 1 + Math.floor(rank / each);
    if (!cache.has(at)) {
      const bytesRead = await block(at);
      must(isIntact(at, bytesRead), `is damaged: block ${at} is not whole`);
      if (cache.size === 256) cache.clear();
      cache.set(at, bytesRead);
    }
    return cache.get(at).subarray(width * (rank % each), width * (rank % each + 1));
  };
}
/** Returns the answer for a state from the records of eight.idx. */
async function eight(record, state) {
  if ([...state].sort().join("") !== "012345678")
    fail(2, `${JSON.stringify(state)} is not a state, which has each digit 0-8 once: 378546201`);
  const smaller = (digits, i) => [...digits.slice(i)].filter((later) => later < digits[i]).length;
  const rank = (other) => [...other].reduce((sum, _, i) => sum * (9 - i) + smaller(other, i), 0);
  const distanceOf = async (other) => (await record(rank(other)))[0];
  const bestMoves = async (from) => { // the moves that lead nearer, each with the state after it
    const blank = from.indexOf("0");
    const legal = { U: blank > 2, D: blank < 6, L: blank % 3 > 0, R: blank % 3 < 2 };
    const nearer = await distanceOf(from) - 1;
    const moves = [];
    for (const way of [..."UDLR"].filter((way) => legal[way])) {
      const tile = from[blank + { U: -3, D: 3, L: -1, R: 1 }[way]];
      const after = from.replace(tile, "-").replace("0", tile).replace("-", "0");
      if (await distanceOf(after) === nearer) moves.push([way, after]);
    }
    return moves;
  };
  const tiles = state.replace("0", ""); // no move changes the parity of its pairs out of order
  const odd = [...tiles].reduce((sum, _, i) => sum + smaller(tiles, i), 0) % 2;
  const [distance, solutions] = await record(rank(state));
  const ways = await bestMoves(state);
  const best = ways.map(([way]) => way).join("");
  let solution = "";
  for (let [move] = ways; move; [move] = await bestMoves(move[1])) solution += move[0];
  return { state, goal: odd ? "centre" : "corner", distance, solutions, best, solution };
}
// ---- from here on only in this file ----

const NEVER = 255;

/** Returns the answer for a position from the records of senet.idx. */
async function senet(record, position) {
  if ([...position].sort().join("") !== ".....AAAAABBBBB") {
    fail(2, `${JSON.stringify(position)} is not a position, `
      + "five each of A, B and .: ABABABABAB.....");
  }
  const factorial = (n) => (n < 2 ? 1 : n * factorial(n - 1));
  const rank = (squares) => {
    const remaining = { ".": 5, A: 5, B: 5 };
    let total = 0;
    for (const piece of squares) {
      for (const smaller of ".AB".slice(0, ".AB".indexOf(piece))) {
        if (!remaining[smaller]) continue;
        const rest = { ...remaining, [smaller]: remaining[smaller] - 1 };
        const [empty, a, b] = Object.values(rest);
        total += factorial(empty + a + b) / (factorial(empty) * factorial(a) * factorial(b));
      }
      remaining[piece]--;
    }
    return total;
  };
  const bytes = await record(rank(position));
  const [even, , odd] = bytes;
  const plies = Math.min(even, odd);
  if (plies === NEVER) fail(1, `${position} is never reached from the opening`);
  const lines = new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
  const squares = [...position];
  const throws = [];
  const moves = [];
  for (let ply = plies; ply > 0; ply--) { // the line of play, followed backwards
    const last = (await record(rank(squares)))[ply % 2 ? 3 : 1];
    const [start, goal] = [last & 15, (last & 15) + (last >> 4)];
    [squares[start - 1], squares[goal - 1]] = [squares[goal - 1], squares[start - 1]];
    throws.unshift(last >> 4);
    moves.unshift(`${start}${squares[goal - 1] === "." ? "-" : "x"}${goal}`);
  }
  const format = (number) => (number === NEVER ? "" : number);
  const [dice, line] = [throws.join(""), moves.join(" ")];
  return { position, plies, even: format(even), odd: format(odd), lines, dice, line };
}

/** Returns the tour between two squares from the records of knight_tours_8x8.idx. */
async function knight(record, start, finish) {
  const [one, other] = [start, finish].map((name) => {
    if (!/^[a-h][1-8]$/.test(name)) {
      fail(2, `${JSON.stringify(name)} is not a square, one of a1 to h8: b1`);
    }
    return "abcdefgh".indexOf(name[0]) + 8 * (name[1] - 1);
  });
  const [files, ranks] = [one % 8 - other % 8, (one >> 3) - (other >> 3)].map(Math.abs);
  if ((files + ranks) % 2 === 0) {
    fail(1, `no tour leads from ${start} to ${finish}: it ends on the other colour`);
  }
  const squares = [...await record(32 * one + (other >> 1))];
  const path = squares.map((square) => "abcdefgh"[square % 8] + (1 + (square >> 3))).join("");
  return { start, finish, kind: files * ranks === 2 ? "closed" : "open", path };
}

/** Returns a function to the answer for a state of a board, from the records of its table. */
function board(rows, columns) {
  const cells = rows * columns;
  const marks = "0123456789abcdef".slice(0, cells);
  const goal = `${marks.slice(1)}0`;
  const place = (cell) => cell % columns * rows + Math.floor(cell / columns); // column by column
  const smaller = (state) => { // for each tile by place, the smaller ones after it
    const order = [];
    [...state].forEach((mark, cell) => { order[place(cell)] = mark; });
    const tiles = order.filter((mark) => mark !== "0");
    return tiles.map((tile, at) => tiles.slice(at).filter((later) => later < tile).length);
  };
  const isOdd = (state) => smaller(state).reduce((sum, count) => sum + count, 0) % 2;
  let orders = 1; // half the number of all orders
  for (let tile = 3; tile < cells; tile++) orders *= tile;
  return async (record, state) => {
    if ([...state].sort().join("") !== marks) {
      fail(2, `${JSON.stringify(state)} is not a state of ${rows}x${columns}, `
        + `which has each of ${marks} once: ${goal}`);
    }
    const value = async (other) => { // the distance modulo 4: the blank gives bit 0, the table bit 1
      const blank = other.indexOf("0");
      const order = smaller(other).reduce((sum, count, at) => sum * (cells - 1 - at) + count, 0);
      const rank = place(blank) * orders + Math.floor(order / 2);
      const byte = (await record(Math.floor(rank / 360)))[Math.floor(rank % 360 / 8)];
      const steps = rows - 1 - Math.floor(blank / columns) + columns - 1 - blank % columns;
      return steps % 2 + 2 * (byte >> rank % 8 & 1);
    };
    const nearer = async (from) => { // the moves to states whose value is one less
      const [blank, wanted] = [from.indexOf("0"), (await value(from) + 3) % 4];
      const column = blank % columns;
      const legal = {
        U: blank >= columns, D: blank + columns < cells, L: column > 0, R: column + 1 < columns,
      };
      const moves = [];
      for (const way of [..."UDLR"].filter((way) => legal[way])) {
        const tile = from[blank + { U: -columns, D: columns, L: -1, R: 1 }[way]];
        const after = from.replace(tile, "-").replace("0", tile).replace("-", "0");
        if (await value(after) === wanted) moves.push([way, after]);
      }
      return moves;
    };
    const lines = columns - 1 - state.indexOf("0") % columns;
    if ((isOdd(state) + isOdd(goal) + lines * (rows - 1)) % 2) {
      fail(1, `${state} does not reach ${goal}: swap any two tiles`);
    }
    const best = (await nearer(state)).map(([way]) => way).join("");
    let [here, solution] = [state, ""];
    while (here !== goal) {
      const [move] = await nearer(here);
      if (!move || solution.length === NEVER) {
        fail(3, `the index is damaged: no walk leads from ${state} to ${goal}`);
      }
      solution += move[0];
      [, here] = move;
    }
    return { state, distance: solution.length, best, solution };
  };
}

/** For each puzzle: the function that answers, the words in a key, the table and its width. */
const ANSWERS = {
  eight: [eight, 1, "eight", 2],
  senet: [senet, 1, "senet", 8],
  knight: [knight, 2, "knight_tours_8x8", 64],
  "3x4": [board(3, 4), 1, "sliding_3x4_12", 45],
  "2x6": [board(2, 6), 1, "sliding_2x6_12", 45],
  "2x7": [board(2, 7), 1, "sliding_2x7_14", 45],
};

function openFile(folder, name, width) {
  const path = `${folder}/${name}.idx`;
  let file;
  try {
    file = openSync(path);
  } catch (error) {
    fail(3, `${path} cannot be read: ${error.code}`);
  }
  const read = async (from, to) => {
    const bytes = new Uint8Array(to - from);
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from));
  };
  return openIndex(read, fstatSync(file).size, name, width);
}

/** Prints a line. console.log would not report a failed write. */
function print(line) {
  try {
    writeFileSync(1, `${line}\n`);
  } catch (error) {
    fail(2, `standard output cannot be written: ${error.code}`);
  }
}

async function main([folder, puzzle, ...words]) {
  if (!Object.hasOwn(ANSWERS, puzzle ?? "")) {
    fail(2, `usage: reader.mjs FOLDER ${Object.keys(ANSWERS).join("|")} [KEY...]`);
  }
  const [answer, size, name, width] = ANSWERS[puzzle];
  const record = await openFile(folder, name, width);
  const keys = words.length ? words : (await text(process.stdin)).match(/\S+/g) ?? [];
  for (let at = 0; at < keys.length; at += size) {
    if (at + size > keys.length) {
      fail(2, `${JSON.stringify(keys[at])} lacks the square where the tour ends: b1 a3`);
    }
    const values = Object.values(await answer(record, ...keys.slice(at, at + size)));
    print(values.map((word) => (word === "" ? "-" : word)).join(" "));
  }
}

main(process.argv.slice(2)).catch((error) => {
  console.error(`reader: ${error.message}`);
  process.exitCode = error.code ?? 2;
});
