// The fewest moves from one 8-puzzle state to 123456780, searched again for every query:
// the usual program for this exercise.
// g++ -O2 -std=c++17 -o ask_eight ask_eight.cpp && ./ask_eight 378546201
#include <algorithm>
#include <iostream>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>

int main(int argc, char **argv) {
    const std::string goal = "123456780";
    const std::string start = argc > 1 ? argv[1] : "";
    std::string sorted = start;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != "012345678") {
        std::cerr << "usage: ask_eight STATE, nine different digits, 0 to 8\n";
        return 2;
    }
    const int down[] = {-1, 1, 0, 0};
    const int right[] = {0, 0, -1, 1};
    std::unordered_map<std::string, int> distance{{start, 0}};
    std::queue<std::string> waiting;
    waiting.push(start);
    while (!waiting.empty()) {
        std::string state = waiting.front();
        waiting.pop();
        const int moves = distance[state];
        if (state == goal) {
            std::cout << moves << '\n';
            return 0;
        }
        const int blank = static_cast<int>(state.find('0'));
        for (int way = 0; way < 4; way++) {
            const int row = blank / 3 + down[way], column = blank % 3 + right[way];
            if (row < 0 || row > 2 || column < 0 || column > 2)
                continue;
            std::swap(state[blank], state[3 * row + column]);
            if (distance.try_emplace(state, moves + 1).second)
                waiting.push(state);
            std::swap(state[blank], state[3 * row + column]);
        }
    }
    std::cout << "out of reach\n";
    return 1;
}
