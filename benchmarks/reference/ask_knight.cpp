// A knight's tour of the 8x8 board from one square, searched again for every query by
// Warnsdorff's rule with backtracking: the usual program for this exercise.
// Prints each square's move number, rank 8 first, then the jumps, 1 to 8.
// g++ -O2 -std=c++17 -o ask_knight ask_knight.cpp && ./ask_knight b1
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

const int N = 8;
// a jump: files to the right, ranks downwards; row 0 of the board is rank 8
const int right[] = {-1, 1, 2, 2, 1, -1, -2, -2};
const int down[] = {-2, -2, -1, 1, 2, 2, 1, -1};

int board[N][N]; // the move number, from 1; 0 for a free square
std::vector<int> jumps;

bool isFree(int row, int column) {
    return row >= 0 && row < N && column >= 0 && column < N && board[row][column] == 0;
}

int exits(int row, int column) {
    int count = 0;
    for (int jump = 0; jump < 8; jump++)
        count += isFree(row + down[jump], column + right[jump]);
    return count;
}

bool tour(int row, int column, int number) {
    board[row][column] = number;
    if (number == N * N)
        return true;
    std::vector<std::pair<int, int>> choices; // exits, jump
    for (int jump = 0; jump < 8; jump++)
        if (isFree(row + down[jump], column + right[jump]))
            choices.emplace_back(exits(row + down[jump], column + right[jump]), jump);
    std::sort(choices.begin(), choices.end());
    for (const auto &choice : choices) {
        const int jump = choice.second;
        jumps.push_back(jump + 1);
        if (tour(row + down[jump], column + right[jump], number + 1))
            return true;
        jumps.pop_back();
    }
    board[row][column] = 0;
    return false;
}

int main(int argc, char **argv) {
    const std::string square = argc > 1 ? argv[1] : "";
    if (square.size() != 2 || square[0] < 'a' || square[0] > 'h' || square[1] < '1' ||
        square[1] > '8') {
        std::cerr << "usage: ask_knight SQUARE, a1 to h8\n";
        return 2;
    }
    if (!tour('8' - square[1], square[0] - 'a', 1)) {
        std::cout << "no tour\n";
        return 1;
    }
    for (const auto &row : board) {
        for (int number : row)
            std::cout << std::setw(3) << number;
        std::cout << '\n';
    }
    for (size_t i = 0; i < jumps.size(); i++)
        std::cout << (i ? " " : "") << jumps[i];
    std::cout << '\n';
    return 0;
}
