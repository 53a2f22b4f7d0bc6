"""Make a training set of sliding boards, and reward what a model answers.

python examples/training_set.py FOLDER [BOARD] writes train.jsonl and test.jsonl: prompts with
boards of every distance, none of which is the mirror image of one in the other file.
Each row has the goal, the distance, one shortest solution and how many there are.
BOARD is 3x3, or another that is built, such as 3x4 after `pipeline precompute sliding_3x4`.
"""

import argparse
import re
import time
from pathlib import Path

import polars as pl

import puzzle_tablebase as pt

ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
PROMPT = """Slide tiles into the gap until the board is in order. 0 is the gap.

{board}

The order to reach:

{goal}

Write the moves of the gap, each as U, D, L or R, and as few as you can: <answer>URDL</answer>."""
NEARER = 0.1
"""The reward of legal moves that end nearer to the goal than they began, but not at it."""


class Task:
    """The boards of one size, with the goal in their last corner."""

    def __init__(self, board: str) -> None:
        tables = pt.open_tables()
        self.reader = tables.eight if board == "3x3" else tables.sliding(board)
        self.goal = self.reader.puzzle.parse_goal("corner")
        self.width = int(board.partition("x")[2])

    def draw(self, train: int, test: int, seed: int) -> pl.DataFrame:
        """Draw boards of every distance from 1, as many of each; their part is in `split`."""
        depths = self.reader.histogram().filter(pl.col("goal").is_in(["corner", self.goal]))
        return self.reader.sample(
            goal=self.goal,
            distance=f"1-{depths['distance'].max()}",
            spread=True,
            split=f"train={train},test={test}",
            seed=seed,
        )

    def count_solutions(self, solved: pl.DataFrame) -> list[int]:
        """Count the shortest solutions of annotated states.

        Tables of large boards have no such column. There, follow the best moves from all states at
        once, and add up the ways to the goal on the way back.
        """
        if "solutions" in solved.columns:
            return solved["solutions"].to_list()
        layers, counts = dict[int, dict[str, str]](), {self.goal: 1}
        for state, distance, best in solved.select("state", "distance", "best_moves").iter_rows():
            layers.setdefault(distance, {})[state] = best
        steps = list[tuple[str, list[str]]]()
        for distance in range(max(layers), 0, -1):
            layer, nexts = layers.get(distance, {}), dict[str, list[str]]()
            for state, best in layer.items():
                moves = dict(self.reader.moves(state))
                nexts[state] = [moves[letter] for letter in best]
            steps += nexts.items()
            known = layers.setdefault(distance - 1, {})
            new = [*{after for some in nexts.values() for after in some} - {*known}]
            found = self.reader.annotate(pl.DataFrame({"state": new}), goal=self.goal)
            known.update(found.select("state", "best_moves").iter_rows())
        for state, some in reversed(steps):
            counts[state] = sum(counts[after] for after in some)
        return [counts[state] for state in solved["state"]]

    def write_prompt(self, state: str) -> str:
        """Write the prompt for a state."""
        return PROMPT.format(board=self._draw(state), goal=self._draw(self.goal))

    def _draw(self, state: str) -> str:
        numbers = [str(int(mark, 16)) for mark in state]
        rows = [numbers[at : at + self.width] for at in range(0, len(numbers), self.width)]
        return "\n".join(" ".join(row) for row in rows)

    def reward(self, states: list[str], completions: list[str]) -> list[float]:
        """Return the reward of each completion.

        A shortest solution gets 1, a longer one the fewest moves divided by its own. Legal moves
        that end nearer to the goal get a little. Anything but letters gets nothing.
        """
        found = [ANSWER.search(text) for text in completions]
        answers = [match[1] if match else "no answer" for match in found]
        frame = pl.DataFrame({"state": states, "answer": answers})
        # only letters are moves here, so that a number is never a tile
        is_letters = frame["answer"].str.contains(r"^[UDLR\s,]*$")
        judged = self.reader.check_frame(frame, goal=self.goal)
        rewards = judged["score"].fill_null(0).set(~is_letters, 0.0)
        partial = (judged["result"].eq("incomplete") & is_letters).arg_true()
        if len(partial):
            rewards = rewards.scatter(partial, NEARER * self._get_nearer(judged[partial]))
        return rewards.to_list()

    def _get_nearer(self, judged: pl.DataFrame) -> pl.Series:
        """Return 1 for legal moves that end nearer to the goal, 0 for others."""
        pairs = judged.select("state", "answer").rows()
        ends = pl.Series("state", [self.reader.apply(*pair) for pair in pairs], dtype=pl.String)
        left = self.reader.annotate(ends, goal=self.goal)["distance"].cast(pl.Int64)
        return (left < judged["shortest"]).cast(pl.Float64)


def main() -> None:
    """Write the two files, and say how fast completions are rewarded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("board", nargs="?", default="3x3")
    parser.add_argument("--train", type=int, default=10_000)
    parser.add_argument("--test", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    task = Task(given.board)
    boards = task.draw(given.train, given.test, given.seed)
    prompts = pl.Series("prompt", map(task.write_prompt, boards["state"]))
    states = boards["state"].to_list()
    solved = task.reader.annotate(boards.select("state"), goal=task.goal, path=True)
    solutions = pl.Series("solutions", task.count_solutions(solved))
    rows = boards.select("split", prompts, "state", goal=pl.lit(task.goal)).hstack(
        [*solved.select("distance", "solution"), solutions]
    )
    given.folder.mkdir(parents=True, exist_ok=True)
    for (name,), part in rows.group_by("split"):
        part.drop("split").write_ndjson(given.folder / f"{name}.jsonl")
        print(f"{name}.jsonl: {len(part):,} boards, distances 1 to {part['distance'].max()}")
    texts = [f"<answer>{letters}</answer>" for letters in solved["solution"]]
    task.reward(states[:200], texts[:200])  # it reads the tables
    begin = time.process_time()
    rewards = task.reward(states, texts)
    rate = len(rewards) / (time.process_time() - begin)
    print(f"{len(rewards):,} solutions: mean reward {sum(rewards) / len(rewards):g}")
    print(f"{rate:,.0f} completions a second of processor time")


if __name__ == "__main__":
    main()
