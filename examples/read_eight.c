/* Answers 8-puzzle states from eight.idx (docs/index-format.md). C99, the standard library alone.

       gcc -O2 -o read_eight read_eight.c
       ./read_eight eight.idx 378546201 [more states...]

   Prints one line a state: state, goal, distance, number of shortest solutions, every optimal
   first move, and one shortest solution; "-" stands for no moves. Without states on the command
   line it reads them from standard input. A bad state or file ends it with a message and exit 1. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 64, SIZE = HEADER + 2 * 362880 };
static unsigned char file[SIZE + 1]; /* room for a byte too many, so that a longer file shows */

static void die(const char *what, const char *problem) {
    for (; *what; what++) fputc(*what < ' ' || *what > '~' ? '?' : *what, stderr);
    fprintf(stderr, ": %s\n", problem);
    exit(1);
}

static void load(const char *path) {
    FILE *in = fopen(path, "rb");
    if (!in) die(path, "cannot be opened");
    size_t size = fread(file, 1, sizeof file, in);
    fclose(in);
    if (memcmp(file, "PTIX", 4)) die(path, "not an index");
    if (file[4] != 1 || file[5] != 0) die(path, "not of format version 1");
    /* width 2, count 362880 and name, as bytes: the machine's own byte order does not matter */
    if (memcmp(file + 6, "\2\0\x80\x89\5\0eight\0\0\0\0\0\0\0\0\0\0", 22))
        die(path, "the index of another table");
    if (size != SIZE) die(path, "too short or too long");
    uint32_t crc = 0xFFFFFFFF, stored = 0;
    for (size_t at = 0; at < SIZE; at++) {
        if (at == 60) at = HEADER; /* the checksum leaves out its own four bytes */
        crc ^= file[at];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
    }
    for (int at = 63; at >= 60; at--) stored = stored << 8 | file[at];
    if (~crc != stored) die(path, "damaged, its checksum is wrong");
}

/* The record of a state: distance, number of shortest solutions. Its rank says where. */
static const unsigned char *record(const char *state) {
    size_t rank = 0;
    for (int i = 0; i < 9; i++) {
        rank *= (size_t)(9 - i);
        for (int j = i; j < 9; j++) rank += state[j] < state[i];
    }
    return file + HEADER + 2 * rank;
}

/* The first move that leads nearer to the goal, in the order U D L R from a way (0-3) on: made in
   `after`, and returned as its way; 4 if there is none. */
static int downhill(const char *state, int way, char after[10]) {
    int blank = (int)(strchr(state, '0') - state);
    const int open[] = {blank > 2, blank < 6, blank % 3 > 0, blank % 3 < 2};
    const int step[] = {-3, 3, -1, 1};
    for (; way < 4; way++) {
        if (!open[way]) continue;
        strcpy(after, state);
        after[blank] = state[blank + step[way]];
        after[blank + step[way]] = '0';
        if (record(after)[0] + 1 == record(state)[0]) break;
    }
    return way;
}

static void answer(const char *state) {
    for (const char *digit = "012345678"; *digit; digit++)
        if (strlen(state) != 9 || !strchr(state, *digit))
            die(state, "not a state, which has each digit 0-8 once: 378546201");
    int odd = 0; /* tile pairs out of order: no move changes whether they are odd in number */
    for (int i = 0; i < 9; i++)
        for (int j = i; j < 9; j++) odd ^= state[j] != '0' && state[j] < state[i];
    printf("%s %s %d %d ", state, odd ? "centre" : "corner", record(state)[0], record(state)[1]);
    char here[10], after[10];
    const char *none = record(state)[0] ? "" : "-";
    for (int way = 0; (way = downhill(state, way, after)) < 4; way++) putchar("UDLR"[way]);
    printf("%s ", none);
    strcpy(here, state);
    for (int way; (way = downhill(here, 0, after)) < 4; strcpy(here, after)) putchar("UDLR"[way]);
    printf("%s\n", none);
}

int main(int argc, char **argv) {
    char word[64];
    if (argc < 2) die("usage", "read_eight eight.idx 378546201 [more states...]");
    load(argv[1]);
    for (int i = 2; i < argc; i++) answer(argv[i]);
    while (argc == 2 && scanf("%63s", word) == 1) answer(word);
    return 0;
}
