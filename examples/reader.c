/* A reader of the index files (docs/format/index.md) that needs only C99.

       gcc -O2 -o reader reader.c
       ./reader outputs eight 378546201
       ./reader outputs senet ABAAABBB.B...A.
       ./reader outputs knight b1 a3
       ./reader outputs 3x4 3a1b87254960

   Each key (for the knight, two squares) gets one line. "-" stands for a value that does not exist:

       eight   state, goal, distance, number of shortest solutions, every optimal first move,
               one shortest solution
       senet   position, plies, even plies, odd plies, number of shortest lines, throws, moves
       knight  start, finish, closed or open, squares
       3x4     state, distance, every optimal first move, one shortest solution; a board is any number
               of rows x columns up to 16 cells, also 4x3, and 3x4:0123456789ab has another goal

   Without keys on the command line, keys are read from standard input. The first key without an
   answer ends the program with a message: exit 1 if no answer exists, 2 for a bad key, 3 for a bad
   file. An output that cannot be written is exit 2. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, BODY = BLOCK - 4, SLOTS = 256, NO_MOVES = 255, WORD = 64 };

static void die(int code, const char *what, const char *problem) {
    fputs("reader: ", stderr);
    for (; *what; what++) fputc(*what < ' ' || *what > '~' ? '?' : *what, stderr);
    fprintf(stderr, " %s\n", problem);
    exit(code);
}

static uint64_t number(const unsigned char *bytes, int size) { /* lowest byte first */
    return size ? number(bytes + 1, size - 1) << 8 | *bytes : 0;
}

/* ---- the index: only this section knows the layout of a file ---- */

static FILE *file;
static char path[4096];
static size_t width;
static uint64_t count;
static unsigned char header[BLOCK], cache[SLOTS][BLOCK]; /* a block has one possible slot */
static uint64_t cached[SLOTS]; /* the number of the block in each slot, 0 for none */

static uint32_t sum(uint32_t crc, const unsigned char *bytes, size_t size) {
    for (size_t at = 0; at < size; at++) {
        crc ^= bytes[at];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
    }
    return crc;
}

/* Reads a block and returns whether it is complete and its checksum is right. */
static int read_block(uint64_t which, unsigned char *block) {
    unsigned char encoded[8];
    for (int at = 0; at < 8; at++) encoded[at] = which >> 8 * at & 255;
    if (fseek(file, (long)(BLOCK * which), SEEK_SET) || fread(block, 1, BLOCK, file) != BLOCK)
        return 0;
    uint32_t crc = sum(sum(0xFFFFFFFF, header + 24, 32), encoded, sizeof encoded);
    return ~sum(crc, block, BODY) == number(block + BODY, 4);
}

static void open_index(const char *folder, const char *name, size_t record) {
    char padded[64] = {0};
    if (snprintf(path, sizeof path, "%s/%s.idx", folder, name) >= (int)sizeof path)
        die(3, folder, "is too long a path");
    file = fopen(path, "rb");
    if (!file) die(3, path, "cannot be read");
    setvbuf(file, NULL, _IONBF, 0); /* unbuffered, because reading ahead is of no use here */
    int is_intact = read_block(0, header);
    if (memcmp(header, "PTIX", 4)) die(3, path, "is not an index");
    if (ftell(file) >= 6 && number(header + 4, 2) != 3) die(3, path, "is not of format version 3");
    if (!is_intact) die(3, path, "is damaged: its header is not whole");
    if (number(header + 6, 2) || number(header + 12, 4) != BLOCK)
        die(3, path, "is laid out in a later way");
    memcpy(padded, name, strlen(name) < 64 ? strlen(name) : 64);
    if (strlen(name) > 64 || number(header + 8, 4) != record || memcmp(header + 56, padded, 64))
        die(3, path, "is the index of another table");
    width = record;
    count = number(header + 16, 8);
    uint64_t each = BODY / width, blocks = count / each + (count % each > 0); /* cannot overflow */
    long size = fseek(file, 0, SEEK_END) ? -1 : ftell(file);
    if (size % BLOCK || (uint64_t)size / BLOCK - 1 != blocks)
        die(3, path, "is too short or too long");
}

static void read_record(uint64_t rank, unsigned char *into) {
    uint64_t each = BODY / width, which = 1 + rank / each, slot = which % SLOTS;
    if (rank >= count) die(3, path, "has too few records");
    if (cached[slot] != which) {
        cached[slot] = 0;
        if (!read_block(which, cache[slot])) die(3, path, "is damaged: a block is not whole");
        cached[slot] = which;
    }
    memcpy(into, cache[slot] + width * (rank % each), width);
}

/* ---- the 8-puzzle ---- */

struct eight { unsigned char distance, solutions; };

static struct eight look_up(const char *state) {
    uint64_t rank = 0;
    unsigned char found[2];
    for (int i = 0; i < 9; i++) {
        rank *= (uint64_t)(9 - i);
        for (int j = i; j < 9; j++) rank += state[j] < state[i];
    }
    read_record(rank, found);
    return (struct eight){found[0], found[1]};
}

/* Returns the first move from `way` on, in the order U D L R (0-3), that leads nearer to the goal,
   and stores the state after it in `after`. Returns 4 if there is none. */
static int find_best_move(const char *state, int way, char after[10]) {
    int blank = (int)(strchr(state, '0') - state);
    const int legal[] = {blank > 2, blank < 6, blank % 3 > 0, blank % 3 < 2};
    const int step[] = {-3, 3, -1, 1};
    for (; way < 4; way++) {
        if (!legal[way]) continue;
        strcpy(after, state);
        after[blank] = state[blank + step[way]];
        after[blank + step[way]] = '0';
        if (look_up(after).distance + 1 == look_up(state).distance) break;
    }
    return way;
}

static void eight(const char *state, const char *unused) {
    (void)unused;
    for (const char *digit = "012345678"; *digit; digit++)
        if (strlen(state) != 9 || !strchr(state, *digit))
            die(2, state, "is not a state, which has each digit 0-8 once: 378546201");
    int odd = 0; /* whether the number of tile pairs out of order is odd, which no move changes */
    for (int i = 0; i < 9; i++)
        for (int j = i; j < 9; j++) odd ^= state[j] != '0' && state[j] < state[i];
    struct eight found = look_up(state);
    char here[10], after[10], best[5] = "-", solution[NO_MOVES + 1] = "-", *end = best;
    for (int way = 0; (way = find_best_move(state, way, after)) < 4; way++) *end++ = "UDLR"[way];
    strcpy(here, state);
    end = solution;
    for (int way; (way = find_best_move(here, 0, after)) < 4; strcpy(here, after))
        *end++ = "UDLR"[way];
    printf("%s %s %d ", state, odd ? "centre" : "corner", found.distance);
    printf("%d %s %s\n", found.solutions, best, solution);
}

/* ---- Senet ---- */

static uint64_t factorial(int n) { return n < 2 ? 1 : (uint64_t)n * factorial(n - 1); }

static void senet_record(const char *position, unsigned char found[8]) {
    int left[] = {5, 5, 5};
    uint64_t rank = 0, ways;
    for (int at = 0; at < 15; at++) {
        int piece = (int)(strchr(".AB", position[at]) - ".AB");
        for (int smaller = 0; smaller < piece; smaller++) {
            if (!left[smaller]) continue;
            left[smaller]--;
            ways = factorial(14 - at) / factorial(left[0]) / factorial(left[1]);
            rank += ways / factorial(left[2]);
            left[smaller]++;
        }
        left[piece]--;
    }
    read_record(rank, found);
}

static void senet(const char *position, const char *unused) {
    (void)unused;
    int pieces[3] = {0};
    for (const char *at = position; *at; at++)
        for (int piece = 0; piece < 3; piece++) pieces[piece] += *at == ".AB"[piece];
    if (strlen(position) != 15 || pieces[0] != 5 || pieces[1] != 5 || pieces[2] != 5)
        die(2, position, "is not a position, five each of A, B and .: ABABABABAB.....");
    unsigned char found[8];
    senet_record(position, found);
    int plies = found[0] < found[2] ? found[0] : found[2];
    if (plies == NO_MOVES) die(1, position, "is unreachable from the opening");
    int throw[NO_MOVES], start[NO_MOVES], swap[NO_MOVES];
    char squares[WORD];
    strcpy(squares, position);
    for (int ply = plies; ply > 0; ply--) { /* the line of play, followed backwards */
        unsigned char back[8];
        senet_record(squares, back);
        int last = back[2 * (ply % 2) + 1];
        throw[ply] = last / 16, start[ply] = last % 16;
        char *one = squares + start[ply] - 1, *other = one + throw[ply], moved = *other;
        *other = *one, *one = moved;
        swap[ply] = *other != '.';
    }
    printf("%s %d", position, plies);
    for (int parity = 0; parity < 2; parity++)
        if (found[2 * parity] == NO_MOVES) printf(" -");
        else printf(" %d", found[2 * parity]);
    printf(" %lu %s", (unsigned long)number(found + 4, 4), plies ? "" : "-");
    for (int ply = 1; ply <= plies; ply++) printf("%d", throw[ply]);
    for (int ply = 1; ply <= plies; ply++)
        printf(" %d%c%d", start[ply], swap[ply] ? 'x' : '-', start[ply] + throw[ply]);
    puts(plies ? "" : " -");
}

/* ---- the knight ---- */

static int square(const char *name) { /* file + 8 * rank, a1 = 0 */
    if (strlen(name) != 2 || name[0] < 'a' || name[0] > 'h' || name[1] < '1' || name[1] > '8')
        die(2, name, "is not a square, one of a1 to h8: b1");
    return name[0] - 'a' + 8 * (name[1] - '1');
}

static void knight(const char *start, const char *finish) {
    int one = square(start), other = square(finish);
    int files = abs(one % 8 - other % 8), ranks = abs(one / 8 - other / 8);
    if ((files + ranks) % 2 == 0) {
        char subject[WORD];
        snprintf(subject, sizeof subject, "no tour leads from %.2s to %.2s:", start, finish);
        die(1, subject, "it ends on the other colour");
    }
    unsigned char tour[64];
    read_record((uint64_t)(32 * one + other / 2), tour);
    printf("%s %s %s ", start, finish, files * ranks == 2 ? "closed" : "open");
    for (int at = 0; at < 64; at++) printf("%c%d", 'a' + tour[at] % 8, 1 + tour[at] / 8);
    puts("");
}

/* ---- sliding boards ---- */

enum { MOST_CELLS = 16, SMALL_CELLS = 10 };
static const char MARKS[] = "0123456789abcdef";

/* A board, its goal, and how its states are read in the goal's file. */
static struct {
    int rows, columns, cells, high, wide; /* the file is of a board of high x wide cells */
    char goal[MOST_CELLS + 1];
    int way[MOST_CELLS]; /* for each cell of that board, the cell of this one */
    int blank;           /* the cell of the goal's blank on that board */
    char names[128];     /* the tile's mark there, by its mark here */
} game;

static int find(const char *state, char mark) { return (int)(strchr(state, mark) - state); }

static int is_state(const char *text) {
    if (strlen(text) != (size_t)game.cells) return 0;
    for (int at = 0; at < game.cells; at++)
        if (!strchr(text, MARKS[at])) return 0;
    return 1;
}

/* Stores a way to lay the board on the wide one: flipped, and with rows as columns if `turned`. */
static void lay(int way[], int turned, int flip) {
    for (int at = 0; at < game.cells; at++) {
        int row = at / game.wide, column = at % game.wide;
        if (flip & 1) row = game.high - 1 - row;
        if (flip & 2) column = game.wide - 1 - column;
        way[at] = turned ? column * game.columns + row : row * game.columns + column;
    }
}

/* Chooses the way that lays the goal's blank on the last cell, and names the tiles after the goal. */
static void set_goal(const char *goal) {
    int way[MOST_CELLS], tiles = 0;
    strcpy(game.goal, goal);
    game.blank = -1;
    for (int turned = game.rows > game.columns; turned <= (game.rows >= game.columns); turned++)
        for (int flip = 0; flip < 4; flip++) {
            int at = 0;
            lay(way, turned, flip);
            while (goal[way[at]] != '0') at++;
            if (at <= game.blank) continue;
            game.blank = at;
            memcpy(game.way, way, sizeof way);
        }
    for (int at = 0; at < game.cells; at++) {
        char mark = goal[game.way[at]];
        game.names[(unsigned char)mark] = mark == '0' ? '0' : MARKS[++tiles];
    }
}

/* Returns how many pairs of tiles are out of order. */
static int count_pairs(const char *state) {
    int pairs = 0;
    for (const char *one = state; *one; one++)
        for (const char *later = one; *later; later++) pairs += *later != '0' && *later < *one;
    return pairs;
}

/* Returns the distance modulo 4. */
static int board_value(const char *state) {
    char order[MOST_CELLS];
    int tiles = 0, place = 0, row = 0, column = 0;
    for (int at = 0; at < game.cells; at++) { /* place by place: column by column */
        int cell = at % game.high * game.wide + at / game.high;
        char mark = game.names[(unsigned char)state[game.way[cell]]];
        if (mark != '0') order[tiles++] = mark;
        else place = at, row = cell / game.wide, column = cell % game.wide;
    }
    uint64_t number_of_order = 0, rank;
    for (int i = 0; i < tiles; i++) {
        number_of_order *= (uint64_t)(tiles - i);
        for (int j = i; j < tiles; j++) number_of_order += order[j] < order[i];
    }
    rank = (uint64_t)place * (factorial(tiles) / 2) + number_of_order / 2;
    unsigned char record[45];
    if (game.cells <= SMALL_CELLS) {
        read_record(rank, record);
        return *record % 4;
    }
    read_record(rank / 360, record);
    int steps = abs(row - game.blank / game.wide) + abs(column - game.blank % game.wide);
    return steps % 2 + 2 * (record[rank % 360 / 8] >> rank % 8 & 1);
}

/* Like find_best_move: the first move from `way` on that leads to a value that is one less. */
static int find_nearer(const char *state, int way, char after[MOST_CELLS + 1]) {
    int blank = find(state, '0'), column = blank % game.columns;
    const int legal[] = {blank >= game.columns, blank + game.columns < game.cells, column > 0,
                         column + 1 < game.columns};
    const int step[] = {-game.columns, game.columns, -1, 1};
    for (; way < 4; way++) {
        if (!legal[way]) continue;
        strcpy(after, state);
        after[blank] = state[blank + step[way]];
        after[blank + step[way]] = '0';
        if (board_value(after) == (board_value(state) + 3) % 4) break;
    }
    return way;
}

static void board(const char *state, const char *unused) {
    (void)unused;
    char here[MOST_CELLS + 1], after[MOST_CELLS + 1], best[5] = "-", solution[NO_MOVES + 1] = "-";
    char *end = best;
    if (!is_state(state))
        die(2, state, "is not a state, which has each tile and 0 once: 3a1b87254960 for 3x4");
    int pairs = count_pairs(state) + count_pairs(game.goal);
    int lines = find(state, '0') / game.columns - find(game.goal, '0') / game.columns;
    if ((pairs + lines * (game.columns - 1)) % 2)
        die(1, state, "does not reach the goal: swap any two tiles");
    if (strcmp(state, game.goal))
        for (int way = 0; (way = find_nearer(state, way, after)) < 4; way++) *end++ = "UDLR"[way];
    strcpy(here, state);
    end = solution;
    for (; strcmp(here, game.goal); strcpy(here, after)) {
        int way = find_nearer(here, 0, after);
        if (way == 4 || end == solution + NO_MOVES) die(3, path, "is damaged: a walk misses the goal");
        *end++ = "UDLR"[way];
    }
    printf("%s %d %s %s\n", state, (int)(end - solution), best, solution);
}

/* Takes ROWSxCOLUMNS or ROWSxCOLUMNS:GOAL; returns whether it is a board, and stores its table. */
static int parse_board(const char *text, char table[32]) {
    char standard[MOST_CELLS + 1] = "";
    if (strlen(text) < 3 || text[1] != 'x' || (text[3] && text[3] != ':')) return 0;
    game.rows = text[0] - '0', game.columns = text[2] - '0';
    game.cells = game.rows * game.columns;
    if (game.rows < 2 || game.rows > 8 || game.columns < 2 || game.columns > 8) return 0;
    if (game.cells > MOST_CELLS) return 0;
    game.high = game.rows < game.columns ? game.rows : game.columns;
    game.wide = game.cells / game.high;
    memcpy(standard, MARKS + 1, (size_t)game.cells - 1);
    standard[game.cells - 1] = '0';
    const char *goal = text[3] ? text + 4 : standard;
    if (!is_state(goal)) die(2, goal, "is not a goal, which has each tile and 0 once");
    set_goal(goal);
    sprintf(table, "sliding_%dx%d_%d", game.high, game.wide, game.blank + 1);
    return 1;
}

/* ---- the command ---- */

static const struct {
    const char *puzzle, *table;
    size_t width;
    int words;
    void (*answer)(const char *, const char *);
} PUZZLES[] = {
    {"eight", "eight", 2, 1, eight},
    {"senet", "senet", 8, 1, senet},
    {"knight", "knight_tours_8x8", 64, 2, knight},
};
enum { KINDS = sizeof PUZZLES / sizeof *PUZZLES };

int main(int argc, char **argv) {
    int at = 0, given = 3, words = 1;
    char table[32];
    void (*answer)(const char *, const char *) = board;
    while (argc > 2 && at < KINDS && strcmp(argv[2], PUZZLES[at].puzzle)) at++;
    if (argc > 2 && at < KINDS) {
        words = PUZZLES[at].words, answer = PUZZLES[at].answer;
        open_index(argv[1], PUZZLES[at].table, PUZZLES[at].width);
    } else if (argc > 2 && parse_board(argv[2], table))
        open_index(argv[1], table, game.cells <= SMALL_CELLS ? 1 : 45);
    else
        die(2, "usage:", "reader FOLDER eight|senet|knight|ROWSxCOLUMNS[:GOAL] [KEY...]");
    for (;;) {
        char typed[2][WORD];
        const char *word[2] = {NULL, NULL};
        for (int i = 0; i < words; i++)
            if (argc > 3) word[i] = given < argc ? argv[given++] : NULL;
            else word[i] = scanf("%63s", typed[i]) == 1 ? typed[i] : NULL;
        if (!word[0]) break;
        if (words == 2 && !word[1])
            die(2, word[0], "lacks the square where the tour ends: b1 a3");
        answer(word[0], word[1]);
    }
    if (fflush(stdout) || ferror(stdout)) die(2, "standard output", "cannot be written");
    return 0;
}
