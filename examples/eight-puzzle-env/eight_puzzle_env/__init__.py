from eight_puzzle_env.taskset import EightPuzzleTaskset

__all__ = ["EightPuzzleTaskset"]
