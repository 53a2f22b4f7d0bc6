/* A search of all positions of Senet's opening (15 squares, five pieces a side): for every one and
   both parities, the fewest plies from the opening and the number of different shortest lines, in
   arrays by rank (the position's number in notation order, '.' < 'A' < 'B').
   gcc -O2 -std=c11 -o senet senet.c && ./senet */
#define _POSIX_C_SOURCE 199309L
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { POSITIONS = 756756, UNKNOWN = 255, HIGH = 6561, LOW = 2187 };

typedef struct {
    uint16_t side[2]; /* the squares of A and of B; square 1 is the highest bit, 15 the lowest */
} Position;

static uint8_t plies[2][POSITIONS];
static uint64_t lines[2][POSITIONS];
static Position layer[2][2 * POSITIONS];
static uint32_t first[HIGH];  /* rank of the first arrangement with these squares 1 to 8 */
static uint32_t offset[LOW];  /* number of these squares 9 to 15 among those with the same pieces */
static uint16_t ternary[256]; /* a mask's bits read as base-3 digits */

static uint32_t rank_of(Position p) {
    unsigned a = p.side[0], b = p.side[1];
    return first[ternary[a >> 7] + 2 * ternary[b >> 7]] +
           offset[ternary[a & 127] + 2 * ternary[b & 127]];
}

/* Base-3 numbers with digits . A B ascend in notation order, so counting up ranks them. */
static void make_ranks(void) {
    uint32_t with[8][8] = {{0}}; /* arrangements of squares 9 to 15, by their A and B */
    for (unsigned mask = 0; mask < 256; mask++)
        for (unsigned bit = 0, power = 1; bit < 8; bit++, power *= 3)
            ternary[mask] = (uint16_t)(ternary[mask] + (mask >> bit & 1) * power);
    for (int code = 0; code < LOW; code++) {
        int count[3] = {0};
        for (int rest = code, square = 0; square < 7; square++, rest /= 3)
            count[rest % 3]++;
        offset[code] = with[count[1]][count[2]]++;
    }
    uint32_t rank = 0;
    for (int code = 0; code < HIGH; code++) {
        int count[3] = {0};
        for (int rest = code, square = 0; square < 8; square++, rest /= 3)
            count[rest % 3]++;
        first[code] = rank;
        if (count[0] <= 5 && count[1] <= 5 && count[2] <= 5)
            rank += with[5 - count[1]][5 - count[2]];
    }
}

static unsigned search(void) {
    Position opening = {{0x5540, 0x2AA0}};
    unsigned ply = 0, waiting = 1, total = 0;
    memset(plies, UNKNOWN, sizeof plies);
    plies[0][rank_of(opening)] = 0;
    lines[0][rank_of(opening)] = 1;
    layer[0][0] = opening;
    for (; waiting; ply++) {
        const Position *here = layer[ply & 1];
        Position *there = layer[~ply & 1];
        unsigned mover = ply & 1, found = 0;
        total += waiting;
        for (unsigned i = 0; i < waiting; i++) {
            unsigned own = here[i].side[mover], rival = here[i].side[!mover];
            unsigned guarded = rival & (rival << 1 | rival >> 1);
            uint64_t ways = lines[mover][rank_of(here[i])];
            for (unsigned throw = 1; throw <= 5; throw++) {
                /* squares that a piece can reach: not its own side's, not a guarded one */
                unsigned targets = own >> throw & ~own & ~guarded;
                /* a piece closer to the end than the throw falls off the shifted mask */
                for (; targets; targets &= targets - 1) {
                    unsigned target = targets & -targets, start = target << throw;
                    Position next;
                    next.side[mover] = (uint16_t)(own ^ start ^ target);
                    next.side[!mover] = (uint16_t)(rival & target ? rival ^ start ^ target : rival);
                    uint32_t rank = rank_of(next);
                    uint8_t *depth = &plies[!mover][rank];
                    if (*depth == UNKNOWN) {
                        *depth = (uint8_t)(ply + 1);
                        there[found++] = next;
                    }
                    if (*depth == ply + 1)
                        lines[!mover][rank] += ways;
                }
            }
        }
        waiting = found;
    }
    return total;
}

int main(void) {
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    make_ranks();
    unsigned total = search();
    clock_gettime(CLOCK_MONOTONIC, &to);

    uint32_t histogram[UNKNOWN] = {0}, reached = 0;
    uint64_t all_lines = 0;
    for (int rank = 0; rank < POSITIONS; rank++) {
        int parity = plies[1][rank] < plies[0][rank];
        if (plies[parity][rank] == UNKNOWN)
            continue;
        reached++;
        histogram[plies[parity][rank]]++;
        all_lines += lines[parity][rank];
    }
    for (int d = 0; histogram[d]; d++)
        printf("%s%u", d ? " " : "", histogram[d]);
    printf("\npositions %u, with both parities %u, lines add up to %llu\n", reached, total,
           (unsigned long long)all_lines);
    double seconds = (double)(to.tv_sec - from.tv_sec);
    double nanoseconds = (double)(to.tv_nsec - from.tv_nsec);
    printf("%.2f ms\n", 1e3 * seconds + 1e-6 * nanoseconds);
    return 0;
}
