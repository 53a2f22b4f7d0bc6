"""eight-puzzle-env: solve an 8-puzzle in as few moves as possible (single-turn).

The model is shown a board and wraps its moves in `<answer>` tags. The reward is the fewest moves
divided by its own if they solve the board, so a shortest solution earns 1. Boards come from the
table of all states: each can be solved, and its difficulty is its exact distance. The splits share
no board, not even a mirrored one.
"""

import re
from functools import cache
from typing import Any, Literal

import verifiers.v1 as vf
from pydantic import Field

import puzzle_tablebase as pt

GOAL = "123456780"
ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
SYSTEM = """Slide the gap, 0, until the board is the goal, in as few moves as possible.
Each move takes the gap one cell up, down, left or right: U, D, L or R.
Think step by step, then write the moves alone in tags: <answer>URDDL</answer>"""


@cache
def open_table() -> Any:
    """Open the table in PIPELINE_OUTPUTS, a folder or a host; by default, in `outputs`."""
    return pt.open_tables().eight


def draw_board(state: str) -> str:
    """Draw a state of nine digits as three lines."""
    return "\n".join(" ".join(state[row : row + 3]) for row in (0, 3, 6))


class EightPuzzleData(vf.TaskData):
    state: str
    """The board as nine digits, row by row."""
    distance: int
    """The fewest moves that solve it."""

    def judge(self, reply: str) -> Any:
        """Judge the moves in the last tags of a reply."""
        answers = ANSWER.findall(reply)
        return open_table().check(self.state, answers[-1] if answers else None, goal=GOAL)


class EightPuzzleTask(vf.Task[EightPuzzleData]):
    @vf.stop
    async def single_turn(self, trace: vf.Trace) -> bool:
        return trace.num_turns >= 1

    @vf.reward(weight=1.0)
    async def shortness(self, trace: vf.Trace) -> float:
        """Return the fewest moves divided by those of a solution, 0 for any other answer."""
        return self.data.judge(trace.last_reply).score

    @vf.metric
    async def judgement(self, trace: vf.Trace) -> dict[str, float]:
        """Record what the answer is."""
        result = self.data.judge(trace.last_reply).result
        results = ("shortest", "longer", "incomplete", "illegal", "unreadable")
        return {each: float(result == each) for each in results}

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Check that the table's own solution earns the full reward."""
        solution = open_table().solution(self.data.state, GOAL)
        judged = self.data.judge(f"<answer>{solution}</answer>")
        return len(solution) == self.data.distance and judged.score == 1


class EightPuzzleConfig(vf.TasksetConfig):
    split: Literal["train", "test"] = "train"
    """The part of the boards to load."""
    num_train: int = Field(1000, ge=1)
    """Boards in the split `train`."""
    num_test: int = Field(100, ge=1)
    """Boards in the split `test`."""
    min_distance: int = Field(10, ge=1, le=31)
    """The fewest moves that a board needs."""
    max_distance: int = Field(25, ge=1, le=31)
    """The most moves that a board needs."""
    seed: int = Field(0, ge=0)


class EightPuzzleTaskset(vf.Taskset[EightPuzzleTask, EightPuzzleConfig]):
    def load(self) -> list[EightPuzzleTask]:
        config = self.config
        boards = open_table().sample(
            split=f"train={config.num_train},test={config.num_test}",
            distance=f"{config.min_distance}-{config.max_distance}",
            goal=GOAL,
            spread=True,
            seed=config.seed,
        )
        rows = boards.filter(split=config.split).select("state", "distance").rows()
        return [
            EightPuzzleTask(
                EightPuzzleData(
                    name=f"{state} in {distance}",
                    prompt=f"Board:\n{draw_board(state)}\n\nGoal:\n{draw_board(GOAL)}",
                    system_prompt=SYSTEM,
                    state=state,
                    distance=distance,
                ),
                config.task,
            )
            for state, distance in rows
        ]
