/* Breadth-first search of the 8-puzzle from one goal: the distance and the number of shortest
   solutions of every state, in arrays by rank (the state's number in notation order).
   gcc -O2 -std=c11 -o eight eight.c && ./eight 123456780 */
#define _POSIX_C_SOURCE 199309L
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { STATES = 362880, UNKNOWN = 255 };

static const int factorial[9] = {40320, 5040, 720, 120, 24, 6, 2, 1, 1};
static const int steps[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}}; /* of the blank: U D L R */

static uint8_t distance[STATES];
static uint8_t solutions[STATES];
static uint32_t queue[STATES];
static uint8_t bits[512]; /* how many bits of a mask are set */

static uint32_t rank_of(const uint8_t *cells) {
    uint32_t rank = 0;
    unsigned used = 0;
    for (int i = 0; i < 9; i++) {
        unsigned below = (1u << cells[i]) - 1;
        rank += (uint32_t)((cells[i] - bits[used & below]) * factorial[i]);
        used |= 1u << cells[i];
    }
    return rank;
}

static void state_of(uint32_t rank, uint8_t *cells) {
    uint8_t left[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    for (int i = 0; i < 9; i++) {
        uint32_t pick = rank / (uint32_t)factorial[i];
        rank %= (uint32_t)factorial[i];
        cells[i] = left[pick];
        memmove(left + pick, left + pick + 1, 8 - pick);
    }
}

static uint32_t search(uint32_t goal) {
    uint32_t read = 0, written = 0;
    memset(distance, UNKNOWN, sizeof distance);
    distance[goal] = 0;
    solutions[goal] = 1;
    queue[written++] = goal;
    while (read < written) {
        uint32_t here = queue[read++];
        uint8_t cells[9];
        state_of(here, cells);
        int blank = 0;
        while (cells[blank])
            blank++;
        for (int s = 0; s < 4; s++) {
            int row = blank / 3 + steps[s][0], column = blank % 3 + steps[s][1];
            if (row < 0 || row > 2 || column < 0 || column > 2)
                continue;
            int tile = 3 * row + column;
            cells[blank] = cells[tile];
            cells[tile] = 0;
            uint32_t next = rank_of(cells);
            cells[tile] = cells[blank];
            cells[blank] = 0;
            if (distance[next] == UNKNOWN) {
                distance[next] = (uint8_t)(distance[here] + 1);
                queue[written++] = next;
            }
            if (distance[next] == distance[here] + 1)
                solutions[next] = (uint8_t)(solutions[next] + solutions[here]);
        }
    }
    return written;
}

int main(int argc, char **argv) {
    const char *goal = argc > 1 ? argv[1] : "123456780";
    uint8_t cells[9];
    unsigned seen = 0;
    for (int i = 0; i < 9 && goal[i] >= '0' && goal[i] <= '8'; i++) {
        cells[i] = (uint8_t)(goal[i] - '0');
        seen |= 1u << cells[i];
    }
    if (strlen(goal) != 9 || seen != 511) {
        fprintf(stderr, "a goal is nine different digits, 0 to 8: %s\n", goal);
        return 2;
    }
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int mask = 1; mask < 512; mask++)
        bits[mask] = (uint8_t)(bits[mask >> 1] + (mask & 1));
    uint32_t states = search(rank_of(cells));
    clock_gettime(CLOCK_MONOTONIC, &to);

    uint32_t histogram[UNKNOWN] = {0};
    uint64_t all_distances = 0, all_solutions = 0;
    for (int rank = 0; rank < STATES; rank++) {
        if (distance[rank] == UNKNOWN)
            continue;
        histogram[distance[rank]]++;
        all_distances += distance[rank];
        all_solutions += solutions[rank];
    }
    for (int d = 0; histogram[d]; d++)
        printf("%s%u", d ? " " : "", histogram[d]);
    printf("\nstates %u, distances add up to %llu, solutions to %llu\n", states,
           (unsigned long long)all_distances, (unsigned long long)all_solutions);
    double seconds = (double)(to.tv_sec - from.tv_sec);
    double nanoseconds = (double)(to.tv_nsec - from.tv_nsec);
    printf("%.2f ms\n", 1e3 * seconds + 1e-6 * nanoseconds);
    return 0;
}
