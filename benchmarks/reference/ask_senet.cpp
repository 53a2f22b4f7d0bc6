// A shortest sequence of throws from Senet's opening to one position, searched again for every
// query: the usual program for this exercise.
// g++ -O2 -std=c++17 -o ask_senet ask_senet.cpp && ./ask_senet ABAAABBB.B...A.
#include <algorithm>
#include <iostream>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>

struct Step {
    std::string from; // the position before
    int thrown;
};

int main(int argc, char **argv) {
    const std::string opening = "ABABABABAB.....";
    const std::string wanted = argc > 1 ? argv[1] : "";
    std::string sorted = wanted;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != ".....AAAAABBBBB") {
        std::cerr << "usage: ask_senet POSITION, 15 characters, five each of A B .\n";
        return 2;
    }
    // by side to move, 0 for A: a position can occur with either side to move
    std::unordered_map<std::string, Step> reached[2];
    reached[0][opening] = {"", 0};
    std::queue<std::pair<std::string, int>> waiting;
    waiting.push({opening, 0});
    while (!waiting.empty()) {
        const auto [position, side] = waiting.front();
        waiting.pop();
        if (position == wanted) {
            std::string throws;
            int mover = side;
            for (const Step *step = &reached[mover][position]; step->thrown;
                 mover = 1 - mover, step = &reached[mover][step->from])
                throws = std::to_string(step->thrown) + (throws.empty() ? "" : " ") + throws;
            std::cout << throws << '\n';
            return 0;
        }
        const char mover = "AB"[side], rival = "BA"[side];
        for (int thrown = 1; thrown <= 5; thrown++)
            for (int start = 0; start + thrown < 15; start++) {
                const int target = start + thrown;
                if (position[start] != mover || position[target] == mover)
                    continue;
                const bool left = position[target - 1] == rival;
                const bool right = target < 14 && position[target + 1] == rival;
                if (position[target] == rival && (left || right))
                    continue; // guarded
                std::string next = position;
                std::swap(next[start], next[target]);
                if (reached[1 - side].try_emplace(next, Step{position, thrown}).second)
                    waiting.push({next, 1 - side});
            }
    }
    std::cout << "out of reach\n";
    return 1;
}
