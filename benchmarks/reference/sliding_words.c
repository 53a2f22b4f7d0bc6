/* A breadth-first search of a sliding board in words of bits, 60 states in each: no state is looked
   at by itself. The arguments are the rows, the columns and the number of threads, and the blank's
   place in the goal, counted column by column from 0; without it the last corner. Prints the layers
   and the time of the search. See docs/sliding.md.

   With -DPLANES=1 there is one bit for each state, and none of earlier layers: a layer's neighbours
   are in the next layer or in the previous one, which the next one overwrites. So 2x7 takes 5.8 GB,
   and in the end only the numbers are left. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#ifndef PLANES
#define PLANES 2
#endif
enum { TAIL = 6, MAX_CELLS = 16, STEP = 1 << 14, LAST = PLANES - 1 };
typedef uint64_t word;
typedef struct { int from, count, at[3]; } move;
typedef struct { int far; word mask; } group;

static int line, cells, tiles, head, padding, threads, goal, side, level;
static long rows;
static int radix[MAX_CELLS], moves_to[MAX_CELLS];
static long weight[MAX_CELLS];
static move moves[MAX_CELLS][4];
static int odd_block[MAX_CELLS];
static group groups[5][2][9];   /* at most eight, and an empty one */
static word (*plane)[PLANES][6]; /* the bits of each state, by row */
static unsigned char *in_frontier;     /* rows with states of the last layer */
static unsigned char *odd_head;
static long next_task, found;

static void transpose_digits(long *x, long *y)
{
    long first = *y + (*y >= *x);
    *y = *x - (*x > first);
    *x = first;
}

/* the row before two tiles of the head were transposed */
static long row_before(long row, int at)
{
    long w = weight[at + 1], x = row / weight[at] % radix[at], y = row / w % radix[at + 1];
    long was = x * radix[at + 1] + y;
    transpose_digits(&x, &y);
    return row + (x * radix[at + 1] + y - was) * w;
}

static word first_two(const word *from, int a)
{
    word to = 0;
    for (int b = 0; b < 5; b++) {
        int source = b + (b >= a), group_of = a - (a > source);
        to |= (from[source] >> 12 * group_of & 0xfff) << 12 * b;
    }
    return to;
}

/* the words of a row after an adjacent transposition in its tail; odd: whether the tail is odd then */
static void transpose_tail(word *row, int at, int odd)
{
    word to[6] = {0};
    if (at == 4)
        return;
    if (at == 0)
        for (int a = 0; a < 6; a++)
            to[a] = first_two(row, a);
    else
        for (int parity = 0; parity < 2; parity++)
            for (const group *g = groups[at][parity]; g->mask; g++)
                for (int a = parity ^ odd; a < 6; a += 2)
                    to[a] |= (g->far > 0 ? row[a] << g->far : row[a] >> -g->far) & g->mask;
    memcpy(row, to, sizeof to);
}

static int frontier(const word (*state)[6], word *to)
{
    for (int a = 0; a < 6; a++)
        to[a] = state[0][a] & state[LAST][a];
    return 1;
}

/* the words that reach a row by transpositions `at` to `count`, or 0 if there are none */
static int pull(const move *m, int at, long block, long row, int odd, word *to)
{
    if (at == m->count)
        return in_frontier[block + row] ? frontier((const word (*)[6])plane[block + row], to) : 0;
    int where = m->at[at];
    if (where < head - 1)
        return pull(m, at + 1, block, row_before(row, where), odd, to);
    if (where >= head) {
        if (!pull(m, at + 1, block, row, odd ^ 1, to))
            return 0;
        transpose_tail(to, where - head, odd ^ odd_head[row]);
        return 1;
    }
    long last = row % radix[head - 1];
    int seen = 0;
    for (int a = 0; a < 6; a++) {
        long x = last, y = a;
        transpose_digits(&x, &y);
        long source = row - last + x;
        to[a] = 0;
        int after = at + 1;
        while (after < m->count && m->at[after] < head - 1)
            source = row_before(source, m->at[after++]);
        if (!in_frontier[block + source])
            continue;
        seen = 1;
        const word (*state)[6] = (const word (*)[6])plane[block + source];
        if (after == m->count) {
            to[a] = state[0][y] & state[LAST][y];
        } else {
            word all[6];
            frontier(state, all);
            for (int late = m->count - 1; late > after; late--)
                transpose_tail(all, m->at[late] - head, 0);
            if (m->at[after] == head)
                to[a] = first_two(all, (int)y);
            else {
                transpose_tail(all, m->at[after] - head, 0);
                to[a] = all[y];
            }
        }
    }
    return seen;
}

static void expand(int block, long first, long last)
{
    for (long row = first; row < last; row++) {
        word in[6] = {0}, one[6], any = 0;
        int seen = 0;
        for (int m = 0; m < moves_to[block]; m++) {
            const move *way = &moves[block][m];
            if (pull(way, 0, way->from * rows, row, odd_block[block], one)) {
                seen = 1;
                for (int a = 0; a < 6; a++)
                    in[a] |= one[a];
            }
        }
        if (!seen && (PLANES == 2 || !in_frontier[block * rows + row]))
            continue;
        word (*state)[6] = plane[block * rows + row];
        for (int a = 0; a < 6; a++) {
            word new = in[a] & ~(state[0][a] | state[LAST][a]);
            any |= new;
            state[0][a] = PLANES == 2 ? state[0][a] | new : new;
            state[LAST][a] |= new;
        }
        in_frontier[block * rows + row] = any != 0;
    }
}

static long close_layer(int block, long first, long last)
{
    long count = 0;
    for (long row = block * rows + first; row < block * rows + last; row++)
        if (in_frontier[row]) {
            in_frontier[row] = PLANES == 1;
            for (int a = 0; a < 6; a++) {
                word both = plane[row][0][a] & plane[row][LAST][a];
                if (PLANES == 2)
                    plane[row][level >> 1 & LAST][a] &= ~both;
                count += __builtin_popcountll(both);
            }
        }
    return count;
}

static void *work(void *closing)
{
    long steps = (rows + STEP - 1) / STEP, count = 0, task;
    while ((task = __atomic_fetch_add(&next_task, 1, __ATOMIC_RELAXED)) < steps * cells) {
        int block = (int)(task / steps);
        long first = task % steps * STEP, last = first + STEP < rows ? first + STEP : rows;
        if ((block / line + block % line + side) % 2 == !closing) {
            if (closing)
                count += close_layer(block, first, last);
            else
                expand(block, first, last);
        }
    }
    __atomic_fetch_add(&found, count, __ATOMIC_RELAXED);
    return NULL;
}

static void run(void *closing)
{
    pthread_t thread[64];
    next_task = found = 0;
    for (int at = 0; at < threads; at++)
        pthread_create(&thread[at], NULL, work, closing);
    for (int at = 0; at < threads; at++)
        pthread_join(thread[at], NULL);
}

static void make_tables(void)
{
    rows = 1;
    for (int at = head - 1; at >= 0; at--) {
        radix[at] = tiles - at;
        weight[at] = rows;
        rows *= radix[at];
    }
    odd_head = malloc((size_t)rows);
    for (long row = 0; row < rows; row++) {
        long odd = 0;
        for (int at = 0; at < head; at++)
            odd += row / weight[at] % radix[at];
        odd_head[row] = odd & 1;
    }
    for (int to = 0; to < cells; to++) {
        odd_block[to] = (goal / line - to / line) * (line - 1) & 1;
        int ways[4] = {to - line, to % line ? to - 1 : -1, (to + 1) % line ? to + 1 : -1, to + line};
        for (int way = 0; way < 4; way++) {
            int from = ways[way];
            if (from < 0 || from >= cells)
                continue;
            move *m = &moves[to][moves_to[to]++];
            m->from = from;
            int low = (from < to ? from : to) + padding;
            for (int at = 0; abs(from - to) == line && at < line - 1; at++)
                m->at[m->count++] = from < to ? low + at : low + line - 2 - at;
        }
    }
    for (int at = 1; at < 4; at++)
        for (int odd = 0; odd < 2; odd++)
            for (int bit = 0; bit < 60; bit++) {
                long digit[4] = {bit / 12, bit / 3 % 4, bit % 3, 0};
                digit[3] = (odd + digit[0] + digit[1] + digit[2]) % 2;
                transpose_digits(&digit[at - 1], &digit[at]);
                int far = bit - (int)(12 * digit[0] + 3 * digit[1] + digit[2]), g = 0;
                while (groups[at][odd][g].mask && groups[at][odd][g].far != far)
                    g++;
                groups[at][odd][g].far = far;
                groups[at][odd][g].mask |= 1ul << bit;
            }
}

int main(int argc, char **argv)
{
    if (argc != 4 && argc != 5)
        return 2;
    line = atoi(argv[1]), cells = line * atoi(argv[2]), threads = atoi(argv[3]);
    goal = argc == 5 ? atoi(argv[4]) : cells - 1;
    if (line < 2 || line > 4 || cells > 15 || cells < 4 || threads < 1 || threads > 64 ||
        goal < 0 || goal >= cells)
        return 2;
    tiles = cells - 1;
    head = tiles > TAIL ? tiles - TAIL : 0;
    padding = tiles < TAIL ? TAIL - tiles : 0;
    struct timespec begun, ended;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    make_tables();
    size_t bytes = (size_t)(rows * cells) * sizeof *plane;
    plane = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    in_frontier = calloc((size_t)(rows * cells), 1);
    if (plane == MAP_FAILED || !in_frontier)
        return 1;
    madvise(plane, bytes, MADV_HUGEPAGE);
    long root = (long)goal * rows;
    plane[root][0][0] = 1;
    plane[root][LAST][0] = 1;
    in_frontier[root] = 1;
    side = (goal / line + goal % line) % 2;
    for (found = 1; found; level++, side ^= 1) {
        run(NULL);
        run(&found);
        if (found)
            printf("%d %ld\n", level, found);
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("%.3f ms\n", (double)(ended.tv_sec - begun.tv_sec) * 1e3 +
                            (double)(ended.tv_nsec - begun.tv_nsec) / 1e6);
    return 0;
}
