/* A reader of the index files (docs/index-format.md) that needs only C99.

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
       3x4     state, distance, every optimal first move, one shortest solution; also 2x6 and 2x7, of
               states that reach the goal with the blank in the last corner

   Without keys on the command line, keys are read from standard input. The first key without an
   answer ends the program with a message: exit 1 if no answer exists, 2 for a bad key, 3 for a bad
   file. An output that cannot be written is exit 2. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, BODY = BLOCK - 4, SLOTS = 256, NEVER = 255, WORD = 64 };

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
    if (number(header + 4, 2) != 2) die(3, path, "is not of format version 2");
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
    char here[10], after[10], best[5] = "-", solution[NEVER + 1] = "-", *end = best;
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
    if (plies == NEVER) die(1, position, "is never reached from the opening");
    int throw[NEVER], start[NEVER], swap[NEVER];
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
        if (found[2 * parity] == NEVER) printf(" -");
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

static int rows, columns, cells;

/* Counts, for each tile by place (column by column), the smaller ones after it; returns the sum. */
static int count_smaller(const char *state, int smaller[16]) {
    char order[16];
    int tiles = 0, sum = 0;
    for (int place = 0; place < cells; place++) {
        char mark = state[place % rows * columns + place / rows];
        if (mark != '0') order[tiles++] = mark;
    }
    for (int i = 0; i < tiles; i++) {
        smaller[i] = 0;
        for (int j = i; j < tiles; j++) smaller[i] += order[j] < order[i];
        sum += smaller[i];
    }
    return sum;
}

/* Returns the distance modulo 4: the blank's cell gives bit 0, the table bit 1. */
static int board_value(const char *state) {
    int smaller[16], blank = (int)(strchr(state, '0') - state);
    int row = blank / columns, column = blank % columns;
    uint64_t order = 0, rank;
    count_smaller(state, smaller);
    for (int i = 0; i < cells - 1; i++) order = order * (uint64_t)(cells - 1 - i) + (uint64_t)smaller[i];
    rank = (uint64_t)(column * rows + row) * (factorial(cells - 1) / 2) + order / 2;
    unsigned char record[45];
    read_record(rank / 360, record);
    return (rows - 1 - row + columns - 1 - column) % 2 + 2 * (record[rank % 360 / 8] >> rank % 8 & 1);
}

/* Like find_best_move: the first move from `way` on that leads to a value that is one less. */
static int find_nearer(const char *state, int way, char after[16]) {
    int blank = (int)(strchr(state, '0') - state), column = blank % columns;
    const int legal[] = {blank >= columns, blank + columns < cells, column > 0, column + 1 < columns};
    const int step[] = {-columns, columns, -1, 1};
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
    char goal[16] = "", here[16], after[16], best[5] = "-", solution[NEVER + 1] = "-", *end = best;
    memcpy(goal, "123456789abcdef", (size_t)cells - 1);
    goal[cells - 1] = '0';
    for (const char *mark = goal; *mark; mark++)
        if (strlen(state) != (size_t)cells || !strchr(state, *mark))
            die(2, state, "is not a state, which has each tile and 0 once: 3a1b87254960 for 3x4");
    int unused_counts[16], lines = columns - 1 - (int)(strchr(state, '0') - state) % columns;
    int odd = count_smaller(state, unused_counts) + count_smaller(goal, unused_counts);
    if ((odd + lines * (rows - 1)) % 2) die(1, state, "does not reach the goal: swap any two tiles");
    for (int way = 0; (way = find_nearer(state, way, after)) < 4; way++) *end++ = "UDLR"[way];
    strcpy(here, state);
    end = solution;
    for (; strcmp(here, goal); strcpy(here, after)) {
        int way = find_nearer(here, 0, after);
        if (way == 4 || end == solution + NEVER) die(3, path, "is damaged: a walk misses the goal");
        *end++ = "UDLR"[way];
    }
    printf("%s %d %s %s\n", state, (int)(end - solution), best, solution);
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
    {"3x4", "sliding_3x4_12", 45, 1, board},
    {"2x6", "sliding_2x6_12", 45, 1, board},
    {"2x7", "sliding_2x7_14", 45, 1, board},
};
enum { KINDS = sizeof PUZZLES / sizeof *PUZZLES };

int main(int argc, char **argv) {
    int at = 0, given = 3;
    while (argc > 2 && at < KINDS && strcmp(argv[2], PUZZLES[at].puzzle)) at++;
    if (argc < 3 || at == KINDS)
        die(2, "usage:", "reader FOLDER eight|senet|knight|3x4|2x6|2x7 [KEY...]");
    if (PUZZLES[at].answer == board) {
        rows = argv[2][0] - '0', columns = argv[2][2] - '0';
        cells = rows * columns;
    }
    open_index(argv[1], PUZZLES[at].table, PUZZLES[at].width);
    for (;;) {
        char typed[2][WORD];
        const char *word[2] = {NULL, NULL};
        for (int i = 0; i < PUZZLES[at].words; i++)
            if (argc > 3) word[i] = given < argc ? argv[given++] : NULL;
            else word[i] = scanf("%63s", typed[i]) == 1 ? typed[i] : NULL;
        if (!word[0]) break;
        if (PUZZLES[at].words == 2 && !word[1])
            die(2, word[0], "lacks the square where the tour ends: b1 a3");
        PUZZLES[at].answer(word[0], word[1]);
    }
    if (fflush(stdout) || ferror(stdout)) die(2, "standard output", "cannot be written");
    return 0;
}
