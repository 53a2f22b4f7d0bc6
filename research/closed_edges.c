/* How many closed tours of a board use each edge, by listing all tours: a1 has two neighbours, so a
   tour goes from one of them to the other without a1, and is found once. Prints the number of tours,
   then each edge with its number. Squares are file + files * rank.
   gcc -O3 -march=native -std=c11 -o closed_edges closed_edges.c && ./closed_edges 6x6 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

static const int steps[8][2] = {{-1, -2}, {1, -2}, {2, -1}, {2, 1},
                               {1, 2},   {-1, 2}, {-2, 1}, {-2, -1}};
static uint64_t jumps[64];    /* the squares a knight's move away */
static uint64_t uses[64][64]; /* tours that go from one square to the other */

/* Return the number of paths from a square through all empty ones to `end`, which is one of them. */
static uint64_t extend(int here, uint64_t empty, uint64_t end) {
    uint64_t next = jumps[here] & empty, urgent = 0, found = 0;
    if (empty == end) {
        found = next != 0;
        uses[here][__builtin_ctzll(end)] += found;
        return found;
    }
    next &= ~end;
    for (uint64_t rest = next; rest; rest &= rest - 1) {
        uint64_t ways = jumps[__builtin_ctzll(rest)] & empty;
        if (!ways)
            return 0;
        if (!(ways & (ways - 1)))
            urgent |= rest & -rest;
    }
    if (urgent & (urgent - 1)) /* two squares that are left or entered now or never */
        return 0;
    for (uint64_t rest = urgent ? urgent : next; rest; rest &= rest - 1) {
        int square = __builtin_ctzll(rest);
        uint64_t ways = extend(square, empty & ~(1ull << square), end);
        uses[here][square] += ways;
        found += ways;
    }
    return found;
}

int main(int argc, char **argv) {
    int files, ranks;
    if (argc != 2 || sscanf(argv[1], "%dx%d", &files, &ranks) != 2 || files < 3 || ranks < 3 ||
        files * ranks > 64)
        return 2;
    int squares = files * ranks;
    for (int square = 0; square < squares; square++)
        for (int s = 0; s < 8; s++) {
            int file = square % files + steps[s][0], rank = square / files + steps[s][1];
            if (file >= 0 && file < files && rank >= 0 && rank < ranks)
                jumps[square] |= 1ull << (file + files * rank);
        }
    int first = 2 + files, last = 1 + 2 * files;
    uint64_t all = squares == 64 ? ~0ull : (1ull << squares) - 1;
    uint64_t total = extend(first, all & ~1ull & ~(1ull << first), 1ull << last);
    uses[0][first] = uses[0][last] = total;
    printf("%" PRIu64 "\n", total);
    for (int one = 0; one < squares; one++)
        for (int two = one + 1; two < squares; two++)
            if (jumps[one] >> two & 1)
                printf("%d %d %" PRIu64 "\n", one, two, uses[one][two] + uses[two][one]);
    return 0;
}
