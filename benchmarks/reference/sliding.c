/* A breadth-first search of a sliding board of up to 12 cells, with one byte a state: each state of
   a layer is unranked, its moves are made, and each neighbour is ranked. The arguments are the rows
   and columns; the goal is the last corner. Prints the layers and the time of the search. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rows, columns, cells, tiles;
static long orders;
static long weight[16];

/* half the number of the tiles' order: of two that differ in their last two tiles one is even */
static long rank_of(const unsigned char *board, int blank)
{
    unsigned left = (1u << tiles) - 1;
    long order = 0;
    for (int at = 0, place = 0; place < tiles - 1; at++) {
        if (at == blank)
            continue;
        unsigned bit = 1u << (board[at] - 1);
        order += __builtin_popcount(left & (bit - 1)) * weight[place++];
        left &= ~bit;
    }
    return blank * (orders / 2) + order / 2;
}

static int unranked(long rank, unsigned char *board)
{
    int blank = (int)(rank / (orders / 2)), odd = 0;
    long order = rank % (orders / 2) * 2;
    unsigned char left[16], found[16];
    for (int tile = 0; tile < tiles; tile++)
        left[tile] = (unsigned char)(tile + 1);
    for (int place = 0; place < tiles; place++) {
        int at = (int)(order / weight[place]);
        order %= weight[place];
        odd ^= at & 1;
        found[place] = left[at];
        memmove(left + at, left + at + 1, (size_t)(tiles - place - at - 1));
    }
    if (odd != ((columns - 1) * abs(blank / columns - (rows - 1)) & 1)) {
        unsigned char last = found[tiles - 1];
        found[tiles - 1] = found[tiles - 2];
        found[tiles - 2] = last;
    }
    for (int at = 0, place = 0; at < cells; at++)
        board[at] = at == blank ? 0 : found[place++];
    return blank;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    rows = atoi(argv[1]), columns = atoi(argv[2]), cells = rows * columns, tiles = cells - 1;
    if (rows < 2 || columns < 2 || cells > 12)
        return 2;
    weight[tiles - 1] = 1;
    for (int place = tiles - 2; place >= 0; place--)
        weight[place] = weight[place + 1] * (tiles - 1 - place);
    orders = weight[0] * tiles;
    long states = orders / 2 * cells;
    unsigned char *depth = malloc((size_t)states), board[16];
    if (!depth)
        return 1;
    struct timespec begun, ended;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    memset(depth, 255, (size_t)states);
    for (int at = 0; at < tiles; at++)
        board[at] = (unsigned char)(at + 1);
    depth[rank_of(board, tiles)] = 0;
    long found = 1;
    for (int layer = 0; found; layer++) {
        printf("%d %ld\n", layer, found);
        found = 0;
        for (long rank = 0; rank < states; rank++) {
            if (depth[rank] != layer)
                continue;
            int blank = unranked(rank, board), column = blank % columns;
            int ways[4] = {blank >= columns ? blank - columns : -1,
                           blank + columns < cells ? blank + columns : -1,
                           column ? blank - 1 : -1, column + 1 < columns ? blank + 1 : -1};
            for (int way = 0; way < 4; way++) {
                int to = ways[way];
                if (to < 0)
                    continue;
                board[blank] = board[to];
                board[to] = 0;
                long after = rank_of(board, to);
                if (depth[after] == 255) {
                    depth[after] = (unsigned char)(layer + 1);
                    found++;
                }
                board[to] = board[blank];
                board[blank] = 0;
            }
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("%.3f ms\n", (double)(ended.tv_sec - begun.tv_sec) * 1e3 +
                            (double)(ended.tv_nsec - begun.tv_nsec) / 1e6);
    return 0;
}
