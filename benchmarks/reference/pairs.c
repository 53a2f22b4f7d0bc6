/* One knight's tour of the 8x8 board for every ordered pair of squares that a tour can join.
   Squares with the fewest exits are tried first, with ties broken by a seed. Each free square but
   the end needs two ways in or out. After 2,000 nodes the search starts again with the next seed.
   gcc -O2 -std=c11 -o pairs pairs.c && ./pairs */
#define _POSIX_C_SOURCE 199309L
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SQUARES = 64, BUDGET = 2000, TRIES = 1000 };

static const int steps[8][2] = {{-1, -2}, {1, -2}, {2, -1}, {2, 1},
                               {1, 2},   {-1, 2}, {-2, 1}, {-2, -1}};

static uint64_t jumps[SQUARES];
static uint8_t order[SQUARES]; /* each square's position in this seed's tie-break */
static uint8_t path[SQUARES];
static uint8_t tours[2048][SQUARES];
static int budget;

static void shuffle(uint32_t seed) {
    uint32_t state = seed * 2654435761u + 1;
    for (int i = 0; i < SQUARES; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        uint32_t other = state % (uint32_t)(i + 1);
        order[i] = order[other];
        order[other] = (uint8_t)i;
    }
}

/* `left` is the square before `here`: only its neighbours have lost an exit. */
static bool extend(int left, int here, uint64_t empty, int taken, uint64_t end) {
    path[taken++] = (uint8_t)here;
    if (empty == end) {
        path[taken] = (uint8_t)__builtin_ctzll(end);
        return jumps[here] & end;
    }
    if (budget-- == 0)
        return false;
    for (uint64_t rest = jumps[left] & empty; rest; rest &= rest - 1) {
        uint64_t ways = jumps[__builtin_ctzll(rest)] & (empty | 1ull << here);
        bool one = !(ways & (ways - 1));
        if (!ways || (one && !(rest & -rest & end)))
            return false;
    }
    int choice[8], choices = 0;
    for (uint64_t rest = jumps[here] & empty & ~end; rest; rest &= rest - 1) {
        int square = __builtin_ctzll(rest);
        int key = __builtin_popcountll(jumps[square] & empty) << 12 | order[square] << 6 | square;
        int at = choices++;
        for (; at && choice[at - 1] > key; at--)
            choice[at] = choice[at - 1];
        choice[at] = key;
    }
    for (int i = 0; i < choices && budget > 0; i++) {
        int square = choice[i] & 63;
        if (extend(here, square, empty & ~(1ull << square), taken, end))
            return true;
    }
    return false;
}

static int join(int start, int end) {
    for (int attempt = 1; attempt <= TRIES; attempt++) {
        shuffle((uint32_t)attempt);
        budget = BUDGET;
        if (extend(start, start, ~(1ull << start), 0, 1ull << end))
            return attempt;
    }
    return 0;
}

static bool is_tour(const uint8_t *tour, int start, int end) {
    uint64_t seen = 1ull << tour[0];
    for (int i = 1; i < SQUARES; i++) {
        if (!(jumps[tour[i - 1]] >> tour[i] & 1))
            return false;
        seen |= 1ull << tour[i];
    }
    return seen == ~0ull && tour[0] == start && tour[SQUARES - 1] == end;
}

static bool can_join(int start, int end) { /* 64 squares: the two ends differ in colour */
    return (start % 8 + start / 8 + end % 8 + end / 8) % 2 == 1;
}

int main(void) {
    for (int square = 0; square < SQUARES; square++)
        for (int s = 0; s < 8; s++) {
            int file = square % 8 + steps[s][0], rank = square / 8 + steps[s][1];
            if (file >= 0 && file < 8 && rank >= 0 && rank < 8)
                jumps[square] |= 1ull << (file + 8 * rank);
        }
    int found = 0, most = 0, tries = 0;
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int start = 0; start < SQUARES; start++)
        for (int end = 0; end < SQUARES; end++) {
            if (!can_join(start, end))
                continue;
            int needed = join(start, end);
            if (!needed) {
                fprintf(stderr, "no tour from %d to %d in %d tries\n", start, end, TRIES);
                return 1;
            }
            tries += needed;
            most = needed > most ? needed : most;
            memcpy(tours[found++], path, SQUARES);
        }
    clock_gettime(CLOCK_MONOTONIC, &to);

    int good = 0, closed = 0, row = 0;
    for (int start = 0; start < SQUARES; start++)
        for (int end = 0; end < SQUARES; end++)
            if (can_join(start, end)) {
                good += is_tour(tours[row++], start, end);
                closed += (int)(jumps[end] >> start & 1);
            }
    printf("pairs %d, true tours %d, closed %d, tries %d, most for one pair %d\n", found, good,
           closed, tries, most);
    double seconds = (double)(to.tv_sec - from.tv_sec);
    double nanoseconds = (double)(to.tv_nsec - from.tv_nsec);
    printf("%.2f ms\n", 1e3 * seconds + 1e-6 * nanoseconds);
    return 0;
}
