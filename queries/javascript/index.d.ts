/** The kinds of trouble: the program `pipeline` exits with the same numbers. */
export const NO_ANSWER = 1;
export const BAD_REQUEST = 2;
export const UNUSABLE = 3;

/** A question without an answer, a bad key, or tables that cannot be used. */
export class TablebaseError extends Error {
  constructor(code: number, message: string, details?: { place?: string; status?: number });
  /** `NO_ANSWER`, `BAD_REQUEST` or `UNUSABLE`. */
  code: number;
  /** The file or address that cannot be used; empty if the trouble is another. */
  place: string;
  /** The HTTP status; 0 if there was none. */
  status: number;
}

export interface HttpOptions {
  /** A function to use in place of the usual one. */
  fetch?: typeof globalThis.fetch;
  /** Milliseconds before each further attempt. */
  retryDelays?: number[];
  /** Indexes up to this size are read whole; 1 MiB by default. */
  wholeBytes?: number;
}

/** An answer for a board, with the names of the tables' columns. */
export interface BoardAnswer {
  state: string;
  /** The name of the goal, or its state. */
  goal: string;
  goal_state: string;
  /** Fewest moves; for boards of over 10 cells known after the walk. */
  distance: number;
  /** Every optimal first move, in the order U D L R. */
  best_moves: string;
  /** The tile that each of them slides. */
  best_tiles: string;
  /** Number of shortest solutions, of the 8-puzzle alone. */
  solutions?: number;
  /** A shortest solution, the tile that each of its moves slides, and the states on its way. */
  solution?: string;
  tiles?: string;
  path?: string[];
}

/** An answer of the 15-puzzle, with the lower bound that the search began with and the positions searched. */
export type FifteenAnswer = Omit<Required<BoardAnswer>, "best_moves" | "best_tiles" | "solutions">
  & { bound: number; positions: number };

export interface SenetAnswer {
  position: string;
  /** Fewest plies from the opening; fewest even and fewest odd ones. */
  plies: number;
  plies_even: number | null;
  plies_odd: number | null;
  /** The throws and the moves of a shortest line, such as `5-10 4x7`. */
  dice: string;
  moves: string;
  /** Number of shortest lines. */
  lines: number;
}

export interface KnightAnswer {
  board: string;
  start: string;
  finish: string;
  /** Whether the knight can jump from finish to start. */
  closed: boolean;
  /** The squares, two characters each. */
  path: string;
}

/** Is told of each move of a walk. */
export type OnProgress = (told: { moves: number; state: string }) => void;

/** The tables of one place. A part that has been read is kept; the manifest is read once. */
export class Tables {
  /** Where the files are; of a host, the requests and bytes so far too. */
  readonly source: { locate(file: string): string; requests?: number; bytes?: number };
  /** `goal`: `corner`, `centre`, `edge` or any state; by default the one of the first two that the state reaches. */
  eight(state: string, options?: { goal?: string | null; solution?: boolean }): Promise<BoardAnswer>;
  /** `board`: rows x columns, such as `3x4`. `goal`: any state, or `corner`, the default. */
  sliding(
    board: string, state: string, options?: { goal?: string | null; solution?: boolean; onProgress?: OnProgress },
  ): Promise<BoardAnswer>;
  /** `goal`: `corner`, the default, or a state with the blank in a corner. A search, which takes the thread that asks. */
  fifteen(
    state: string, options?: { goal?: string; onProgress?: (told: { bound: number }) => void },
  ): Promise<FifteenAnswer>;
  senet(position: string, options?: { onProgress?: OnProgress }): Promise<SenetAnswer>;
  /** The tour of 8x8 between two squares. */
  knight(start: string, finish: string): Promise<KnightAnswer>;
  /** The published sliding boards, each with the states of its goals. */
  listBoards(): Promise<Record<string, string[]>>;
  /** The index of a table whose records have `width` bytes; `request` is what builds it, for messages. */
  openIndex(name: string, width: number, request?: string): {
    records(ranks: number[]): Promise<Uint8Array[]>;
    allRecords(): Promise<Uint8Array>;
  };
}

/** Open tables by the address of a host, or of its manifest, or by a folder in Node. */
export function openTables(place: string | URL, options?: HttpOptions): Tables;
