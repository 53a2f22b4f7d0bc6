/* Every knight's tour of a board, or those that begin with some squares, in the order of the square
   numbers. A chunk of 65,536 tours is held in memory, one byte a square.
   gcc -O3 -march=native -std=c11 -o tours tours.c && ./tours 6x6 && ./tours 7x7 0 9 4 */
#define _POSIX_C_SOURCE 199309L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHUNK 65536

static const int steps[8][2] = {{-1, -2}, {1, -2}, {2, -1}, {2, 1},
                               {1, 2},   {-1, 2}, {-2, 1}, {-2, -1}};

static int squares;
static uint64_t jumps[64]; /* the squares a knight's move away */
static uint64_t end_color; /* the squares on which a tour from this start can end */
static int opening[64], opened;
static uint8_t path[64];
static uint8_t tours[CHUNK * 64];
static uint64_t total, closed, nodes;

static void make_jumps(int files, int ranks) {
    for (int square = 0; square < files * ranks; square++)
        for (int s = 0; s < 8; s++) {
            int file = square % files + steps[s][0], rank = square / files + steps[s][1];
            if (file >= 0 && file < files && rank >= 0 && rank < ranks)
                jumps[square] |= 1ull << (file + files * rank);
        }
}

static void keep(void) {
    memcpy(tours + total++ % CHUNK * (size_t)squares, path, (size_t)squares);
    closed += jumps[path[squares - 1]] >> path[0] & 1;
}

/* `end` is the mask of the square that must be the last one; 0 while none is fixed. */
static void extend(int here, uint64_t empty, int taken, uint64_t end) {
    nodes++;
    path[taken++] = (uint8_t)here;
    if (!empty) {
        keep();
        return;
    }
    uint64_t next = jumps[here] & empty;
    if (!(empty & (empty - 1))) { /* one square left */
        if (next)
            extend(__builtin_ctzll(next), 0, taken, end);
        return;
    }
    /* A neighbour with one exit is next or is the end; one with no exit can be neither. */
    uint64_t urgent = 0;
    int urgents = 0;
    for (uint64_t rest = next; rest; rest &= rest - 1) {
        uint64_t ways = jumps[__builtin_ctzll(rest)] & empty;
        if (!ways)
            return;
        if (!(ways & (ways - 1)) && !(rest & -rest & end)) {
            urgent |= rest & -rest;
            urgents++;
        }
    }
    next &= ~end;
    /* one of them is next; a second can be the end, if none is fixed and its colour is right */
    int allowed = 1 + (!end && (next & end_color));
    if (urgents > allowed)
        return;
    uint64_t rest = urgents == allowed ? urgent : next;
    if (taken < opened)
        rest &= 1ull << opening[taken];
    for (; rest; rest &= rest - 1) {
        uint64_t square = rest & -rest;
        extend(__builtin_ctzll(square), empty & ~square, taken, end | (urgent & ~square));
    }
}

int main(int argc, char **argv) {
    int files = 6, ranks = 6;
    char after;
    if (argc > 1 && (sscanf(argv[1], "%dx%d%c", &files, &ranks, &after) != 2 || files < 1 ||
                     ranks < 1 || files > 64 || ranks > 64 || files * ranks > 64)) {
        fprintf(stderr, "a board is FILESxRANKS with 64 squares at most: %s\n", argv[1]);
        return 2;
    }
    squares = files * ranks;
    make_jumps(files, ranks);
    for (int at = 2; at < argc && opened < squares; at++)
        opening[opened++] = atoi(argv[at]);
    uint64_t all = squares == 64 ? ~0ull : (1ull << squares) - 1;
    uint64_t color[2] = {0, 0};
    for (int square = 0; square < squares; square++)
        color[(square % files + square / files) & 1] |= 1ull << square;

    struct timespec from, to;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    for (int start = 0; start < squares; start++) {
        int own = (start % files + start / files) & 1;
        /* Colours alternate: with an odd number of squares a tour begins and ends on a1's. */
        if ((squares % 2 && own) || (opened && start != opening[0]))
            continue;
        end_color = color[squares % 2 ? own : !own];
        extend(start, all & ~(1ull << start), 0, 0);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    printf("%dx%d: tours %llu, closed %llu, nodes %llu\n", files, ranks, (unsigned long long)total,
           (unsigned long long)closed, (unsigned long long)nodes);
    double seconds = (double)(to.tv_sec - from.tv_sec);
    double nanoseconds = (double)(to.tv_nsec - from.tv_nsec);
    printf("%.2f ms\n", 1e3 * seconds + 1e-6 * nanoseconds);
    return 0;
}
