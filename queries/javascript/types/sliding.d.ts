/** What may stand between the cells of a board. */
export declare const SEPARATORS: RegExp;
/** The board of the 8-puzzle. */
export declare const EIGHT: {
    rows: number;
    columns: number;
    width: number;
    goals: {
        name: string;
        state: string;
        table: string;
    }[];
};
export type BoardAnswer = {
    state: string;
    /**
     * the name of the goal, or its state
     */
    goal: string;
    goal_state: string;
    /**
     * fewest moves; for boards of over 10 cells known after the walk
     */
    distance: number;
    /**
     * every optimal first move, in the order U D L R
     */
    best_moves: string;
    /**
     * the tile that each of them slides
     */
    best_tiles: string;
    /**
     * number of shortest solutions: of the 8-puzzle
     */
    solutions?: number;
    /**
     * a shortest solution
     */
    solution?: string;
    /**
     * the tile that each of its moves slides
     */
    tiles?: string;
    /**
     * the states on its way
     */
    path?: string[];
};
export type Goal = {
    name: string;
    state: string;
    table: string;
};
export type OnProgress = (update: {
    moves: number;
    state: string;
}) => void;
export type RecordRequest = {
    table: string;
    width: number;
    ranks?: number[];
    isWhole?: boolean;
    request?: string;
};
/**
 * An answer, with the names of the tables' columns.
 * @typedef {object} BoardAnswer
 * @property {string} state
 * @property {string} goal the name of the goal, or its state
 * @property {string} goal_state
 * @property {number} distance fewest moves; for boards of over 10 cells known after the walk
 * @property {string} best_moves every optimal first move, in the order U D L R
 * @property {string} best_tiles the tile that each of them slides
 * @property {number} [solutions] number of shortest solutions: of the 8-puzzle
 * @property {string} [solution] a shortest solution
 * @property {string} [tiles] the tile that each of its moves slides
 * @property {string[]} [path] the states on its way
 *
 * @typedef {object} Goal a goal that has a table
 * @property {string} name
 * @property {string} state
 * @property {string} table
 *
 * @typedef {(update: {moves: number, state: string}) => void} OnProgress
 *
 * A request of a question: records of a table by rank, or all of them. The caller reads them and passes them to the generator.
 * @typedef {{table: string, width: number, ranks?: number[], isWhole?: boolean, request?: string}} RecordRequest
 */
/** A board with the tables of some goals. */
export declare class Board {
    #private;
    rows: number;
    columns: number;
    /** The board whose tables have the answers of this one. @type {Board} */
    wide: Board;
    goals: Goal[];
    locate: (file: string) => string;
    cells: number;
    marks: string;
    isNotationOrder: boolean;
    isPacked: boolean;
    width: number;
    step: {
        U: number;
        D: number;
        L: number;
        R: number;
    };
    place: number[];
    cellAt: number[];
    evenPermutations: number;
    /**
     * `goals` are those of the board that has no more rows than columns, `width` the bytes of a record, if they are those of
     * the 8-puzzle, and `locate` says where a file is, for messages.
     * @param {{rows: number, columns: number, goals: Goal[], width?: number, locate?: (file: string) => string}} described
     */
    constructor({ rows, columns, goals, width, locate }: {
        rows: number;
        columns: number;
        goals: Goal[];
        width?: number;
        locate?: (file: string) => string;
    });
    /** Return the state that a text means: a character or a number for each cell, with or without separators. */
    parse(text: any): any;
    /** Return the state that a text means; throw an error if it means none. */
    requireState(text: any): any;
    /** Return each legal move in the order U D L R: letter, tile that slides, cell that it comes from, state after it. */
    moves(state: any): {
        letter: string;
        tile: any;
        cell: any;
        after: string;
    }[];
    /** Return the parities of the blank's moves, and of the permutation of the marks, between two states. */
    parities(state: any, goal: any): {
        moves: number;
        swaps: number;
    };
    /** Return whether moves lead from a state to another: whether the two parities agree. */
    canReach(state: any, goal: any): boolean;
    /** Throw an error if no moves lead from a state to another. */
    requireReachable(state: any, goal: any): void;
    rank(state: any): any;
    /** Return the state with a rank that reaches a goal; undefined if it reaches another one. */
    unrank(rank: any, goal: any): string;
    /**
     * Return the view of any goal as one that has a table: the board turned or mirrored, tiles renamed. `restoreState`
     * leads back from it.
     */
    viewGoal(goal: any): {
        tableGoal: Goal;
        mapState: (state: any) => string;
        restoreState: (state: any) => string;
    };
    /** Return the moves along a path of states. */
    trace(path: any): any;
    /** Return the states on the way of a solution, given as moves; see `walkSolution`. */
    walk(start: any, moves: any, distance: any, goal: any, fail: any): any[];
    /** Return the goal of a name or a state; without one, the first that a state reaches. */
    findGoal(state: any, goal: any): any;
    /**
     * Answer for a state.
     * @param {string} text
     * @param {{goal?: string | null, solution?: boolean, onProgress?: OnProgress}} [options] `solution: false`:
     *   distance and best moves alone, where the table has distances
     * @returns {Generator<RecordRequest, BoardAnswer, Uint8Array[]>}
     */
    answer(text: string, { goal, solution, onProgress }?: {
        goal?: string | null;
        solution?: boolean;
        onProgress?: OnProgress;
    }): Generator<RecordRequest, BoardAnswer, Uint8Array[]>;
}
/** Return the letters of moves. */
export declare const joinLetters: (moves: any) => any;
/** Return the tiles that moves slide. */
export declare const joinTiles: (moves: any) => any;
/** Return the state with the tiles in reading order and the blank on a cell. */
export declare function makeGoal(cells: any, blank: any): string;
/**
 * Return the goals of the sliding boards that have tables among some files, by board: rows x columns. The first is
 * nearest to the last corner, which is meant where none is named.
 */
export declare function listGoals(files: any): Record<string, Goal[]>;
/** Return the numbers of rows and columns of a board, given as text. */
export declare function parseBoard(text: any): number[];
/** Return the state with the contents of two cells swapped. */
export declare function swapCells(state: any, one: any, other: any): string;
