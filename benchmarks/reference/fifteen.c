/* Shortest solutions of the 15-puzzle by IDA*, with the same tables as the program, in plain C.
 *
 *   fifteen FOLDER PATTERN... < boards     (a pattern is its tiles as 1-9, a-f; 16 numbers a board)
 *
 * The larger of the bounds of the board and its mirror image leads the search; both are changed by
 * one lookup a move. A position that was searched before is skipped. Prints, for each board: moves,
 * positions, processor seconds. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define ALL_BUT_LAST (((uint64_t)1 << 60) - 1)

enum { BLOCK = 4096, BODY = 4092, MAX_PATTERNS = 8 };

static int patterns, pattern_of[16], tile_at[16], tiles[MAX_PATTERNS], sets[MAX_PATTERNS];
static uint64_t offset[MAX_PATTERNS];
static uint8_t *distances;
static uint16_t set_rank[1 << 16], *order_map[MAX_PATTERNS];
static int mirror_tile[16], mirror_cell[16], neighbour[16][4], neighbours[16];
static int board[16], mask[2][MAX_PATTERNS], order[2][MAX_PATTERNS], value[2][MAX_PATTERNS];
static int limit, moves;
static uint64_t positions;
/* positions that were searched, by their place: the tiles on all cells but the last */
static struct {
    uint64_t key;
    int limit, room;
} seen[1 << 14];

static int rank_order(const int *o, int n) {
    int rank = 0;
    for (int i = 0; i < n; i++) {
        int smaller = 0;
        for (int j = i + 1; j < n; j++) smaller += o[j] < o[i];
        rank = rank * (n - i) + smaller;
    }
    return rank;
}

static void unrank_order(int rank, int n, int *o) {
    int digit[8], left[8];
    for (int base = 1; base <= n; base++) {
        digit[n - base] = rank % base;
        rank /= base;
    }
    for (int i = 0; i < n; i++) left[i] = i;
    for (int i = 0; i < n; i++) {
        o[i] = left[digit[i]];
        for (int j = digit[i]; j < n - 1; j++) left[j] = left[j + 1];
    }
}

/* the order after the tile at place i is put at place j, at (order * n + i) * n + j */
static uint16_t *make_order_map(int n, int orders) {
    uint16_t *map = malloc(sizeof *map * orders * n * n);
    for (int r = 0; r < orders; r++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                int o[8], moved, at = 0, after[8];
                unrank_order(r, n, o);
                moved = o[i];
                for (int k = 0; k < n; k++)
                    if (k != i) after[at++] = o[k];
                for (int k = n - 1; k > j; k--) after[k] = after[k - 1];
                after[j] = moved;
                map[(r * n + i) * n + j] = rank_order(after, n);
            }
    return map;
}

static inline void move_tile(int image, int tile, int from, int to, int *new_mask, int *new_order) {
    int p = pattern_of[tile], m = mask[image][p], o = order[image][p], low = from < to ? from : to;
    if (to - from == 4 || from - to == 4) {
        int passed = __builtin_popcount(m >> (low + 1) & 7);
        int i = __builtin_popcount(m & ((1 << from) - 1));
        o = order_map[p][(o * tiles[p] + i) * tiles[p] + (to > from ? i + passed : i - passed)];
    }
    *new_mask = m ^ 1 << from ^ 1 << to;
    *new_order = o;
}

/* whether this iteration searched a position with as much room for moves; remember it */
static int was_searched(uint64_t key, int room) {
    int place = (key ^ key >> 15 ^ key >> 29 ^ key >> 43) & 0x3fff;
    if (seen[place].key == key && seen[place].limit == limit && seen[place].room >= room) return 1;
    seen[place].key = key;
    seen[place].limit = limit;
    seen[place].room = room;
    return 0;
}

static int search(int depth, int blank, int previous, uint64_t key, int bound, int mirror_bound) {
    int cell[4], new_mask[4][2], new_order[4][2], new_value[4][2], bounds[4][2], visit[4];
    const uint8_t *entry[4][2];
    int count = 0, within = 0;
    positions++;
    for (int k = 0; k < neighbours[blank]; k++) {
        int c = neighbour[blank][k], t = board[c];
        if (c == previous) continue;
        move_tile(0, t, c, blank, &new_mask[count][0], &new_order[count][0]);
        move_tile(1, mirror_tile[t], mirror_cell[c], mirror_cell[blank], &new_mask[count][1],
                  &new_order[count][1]);
        for (int image = 0; image < 2; image++) {
            int p = pattern_of[image ? mirror_tile[t] : t];
            entry[count][image] = distances + offset[p] + (uint64_t)new_order[count][image] * sets[p] +
                                  set_rank[new_mask[count][image]];
        }
        cell[count++] = c;
    }
    for (int k = 0; k < count; k++)
        for (int image = 0; image < 2; image++) new_value[k][image] = *entry[k][image];
    for (int k = 0; k < count; k++) {
        int t = board[cell[k]], larger;
        bounds[k][0] = bound - value[0][pattern_of[t]] + new_value[k][0];
        bounds[k][1] = mirror_bound - value[1][pattern_of[mirror_tile[t]]] + new_value[k][1];
        larger = bounds[k][0] > bounds[k][1] ? bounds[k][0] : bounds[k][1];
        if (depth + larger - 1 > limit) return 0;
        if (depth + larger + 1 > limit) continue;
        int at = within++, total = bounds[k][0] + bounds[k][1];
        while (at && bounds[visit[at - 1]][0] + bounds[visit[at - 1]][1] > total) {
            visit[at] = visit[at - 1];
            at--;
        }
        visit[at] = k;
    }
    for (int v = 0; v < within; v++) {
        int k = visit[v], c = cell[k], t = board[c], found, old[2][3];
        uint64_t new_key = (key ^ (uint64_t)t << 4 * c ^ (uint64_t)t << 4 * blank) & ALL_BUT_LAST;
        if (bounds[k][0] && was_searched(new_key, limit - depth)) continue;
        for (int image = 0; image < 2; image++) {
            int p = pattern_of[image ? mirror_tile[t] : t];
            old[image][0] = mask[image][p];
            old[image][1] = order[image][p];
            old[image][2] = value[image][p];
            mask[image][p] = new_mask[k][image];
            order[image][p] = new_order[k][image];
            value[image][p] = new_value[k][image];
        }
        board[blank] = t;
        board[c] = 0;
        if (bounds[k][0] == 0) {
            moves = depth + 1;
            found = 1;
        } else
            found = search(depth + 1, c, blank, new_key, bounds[k][0], bounds[k][1]);
        board[c] = t;
        board[blank] = 0;
        for (int image = 0; image < 2; image++) {
            int p = pattern_of[image ? mirror_tile[t] : t];
            mask[image][p] = old[image][0];
            order[image][p] = old[image][1];
            value[image][p] = old[image][2];
        }
        if (found) return 1;
    }
    return 0;
}

static void solve(const int *cells) {
    uint64_t key = 0;
    int blank = 0, bounds[2] = {0, 0}, count[2][MAX_PATTERNS] = {{0}}, orders[2][MAX_PATTERNS][8];
    memcpy(board, cells, sizeof board);
    memset(mask, 0, sizeof mask);
    for (int c = 0; c < 16; c++) {
        int t = cells[c], m = cells[mirror_cell[c]];
        if (!t) blank = c;
        for (int image = 0; image < 2; image++) {
            int tile = image ? mirror_tile[m] : t;
            if (!tile) continue;
            int p = pattern_of[tile];
            mask[image][p] |= 1 << c;
            orders[image][p][count[image][p]++] = tile_at[tile];
        }
    }
    for (int image = 0; image < 2; image++)
        for (int p = 0; p < patterns; p++) {
            int o = order[image][p] = rank_order(orders[image][p], tiles[p]);
            value[image][p] = distances[offset[p] + (uint64_t)o * sets[p] + set_rank[mask[image][p]]];
            bounds[image] += value[image][p];
        }
    limit = bounds[0] > bounds[1] ? bounds[0] : bounds[1];
    moves = positions = 0;
    memset(seen, 0, sizeof seen);
    for (int c = 0; c < 15; c++) key |= (uint64_t)cells[c] << 4 * c;
    if (bounds[0])
        while (!search(0, blank, -1, key, bounds[0], bounds[1])) limit += 2;
}

static int read_table(const char *folder, int p, const char *marks) {
    char path[1000], block[BLOCK];
    uint64_t size = 1, at = offset[p];
    for (int i = 0; i < tiles[p]; i++) size *= 16 - i;
    snprintf(path, sizeof path, "%s/fifteen_%s.idx", folder, marks);
    FILE *file = fopen(path, "rb");
    if (!file || fread(block, 1, BLOCK, file) != BLOCK) return 0;
    for (uint64_t left = size; left;) {
        uint64_t used = left < BODY ? left : BODY;
        if (fread(block, 1, BLOCK, file) != BLOCK) return 0;
        memcpy(distances + at, block, used);
        at += used;
        left -= used;
    }
    fclose(file);
    return 1;
}

int main(int argc, char **argv) {
    int cells[16], count[17] = {0};
    uint64_t total = 0;
    for (int m = 0; m < 1 << 16; m++) set_rank[m] = count[__builtin_popcount(m)]++;
    for (int c = 0; c < 16; c++) {
        mirror_cell[c] = c % 4 * 4 + c / 4;
        if (c >= 4) neighbour[c][neighbours[c]++] = c - 4;
        if (c < 12) neighbour[c][neighbours[c]++] = c + 4;
        if (c % 4) neighbour[c][neighbours[c]++] = c - 1;
        if (c % 4 < 3) neighbour[c][neighbours[c]++] = c + 1;
    }
    for (int t = 1; t < 16; t++) mirror_tile[t] = mirror_cell[t - 1] + 1;
    patterns = argc - 2;
    for (int p = 0; p < patterns; p++) {
        const char *marks = argv[p + 2];
        int orders = 1;
        tiles[p] = strlen(marks);
        for (int i = 0; i < tiles[p]; i++) {
            int t = marks[i] <= '9' ? marks[i] - '0' : marks[i] - 'a' + 10;
            pattern_of[t] = p;
            tile_at[t] = i;
            orders *= i + 1;
        }
        sets[p] = count[tiles[p]];
        offset[p] = total;
        total += (uint64_t)orders * sets[p];
        order_map[p] = make_order_map(tiles[p], orders);
    }
    distances = mmap(0, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(distances, total, MADV_HUGEPAGE);
    for (int p = 0; p < patterns; p++)
        if (!read_table(argv[1], p, argv[p + 2])) return 1;
    for (;;) {
        struct timespec begin, end;
        for (int c = 0; c < 16; c++)
            if (scanf("%d", cells + c) != 1) return 0;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
        solve(cells);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
        printf("%d %llu %.9f\n", moves, (unsigned long long)positions,
               end.tv_sec - begin.tv_sec + 1e-9 * (end.tv_nsec - begin.tv_nsec));
    }
}
