"""The 8-puzzle as a data set of reasoning-gym: solvable boards whose difficulty is exact.

Importing this module registers it:

    dataset = reasoning_gym.create_dataset("eight_puzzle", max_distance=15, size=200, seed=42)

The boards of a data set are distinct, and evenly spread over the distances. A shortest
solution scores 1, a longer one the fewest moves divided by its own, and any other answer 0.
Build the tables with `pipeline precompute eight`, or name their folder or host in PIPELINE_OUTPUTS.
"""

from dataclasses import dataclass
from typing import Any

from reasoning_gym.coaching import BaseCurriculum, RangeAttributeDefinition
from reasoning_gym.factory import ProceduralDataset, register_dataset

import puzzle_tablebase as pt

DATASET_NAME = "eight_puzzle"
GOAL = "123456780"
FARTHEST = 31
"""The distance of the two boards that are farthest from the goal."""
QUESTION_TEMPLATE = """Solve this 8-puzzle in as few moves as possible. 0 is the gap.

{board}

The goal:

{goal}

Each move slides the gap one cell up, down, left or right: U, D, L or R.
Answer with the moves alone, for example: URDDL
"""


def draw_board(state: str) -> str:
    """Draw a state of nine digits as three lines."""
    return "\n".join(" ".join(state[row : row + 3]) for row in (0, 3, 6))


@dataclass
class EightPuzzleConfig:
    """Configuration of the 8-puzzle: the fewest moves that its boards need, from and to."""

    min_distance: int = 6
    max_distance: int = 25
    seed: int | None = None
    size: int = 500

    def validate(self) -> None:
        """Validate configuration parameters."""
        assert self.min_distance >= 1, "min_distance must be at least 1"
        assert self.min_distance <= self.max_distance, "max_distance must be >= min_distance"
        assert self.max_distance <= FARTHEST, f"max_distance must be at most {FARTHEST}"
        assert self.size > 0, "size must be positive"


class EightPuzzleDataset(ProceduralDataset):
    """Boards of the 8-puzzle, drawn from the table of all states, with shortest solutions."""

    def __init__(self, config: EightPuzzleConfig) -> None:
        super().__init__(config=config, seed=config.seed, size=config.size)
        self.table = pt.open_tables().eight
        distances = f"{config.min_distance}-{config.max_distance}"
        self.boards = self.table.sample(
            config.size, seed=self.seed, goal=GOAL, distance=distances, spread=True
        )
        if len(self.boards) < config.size:
            found = f"Only {len(self.boards)} boards are at distances {distances}"
            raise ValueError(f"{found}, fewer than {config.size}")

    def __getitem__(self, idx: int) -> dict[str, Any]:
        """Return the board of an index, with one of its shortest solutions as the answer."""
        state, distance = self.boards.select("state", "distance").row(idx)
        return {
            "question": QUESTION_TEMPLATE.format(board=draw_board(state), goal=draw_board(GOAL)),
            "answer": self.table.solution(state, GOAL),
            "metadata": {
                "source_dataset": DATASET_NAME,
                "source_index": idx,
                "state": state,
                "distance": distance,
                "difficulty": {"distance": (self.config.min_distance, self.config.max_distance)},
            },
        }

    def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
        """Return the fewest moves divided by those of a solution, and 0 for any other answer."""
        return self.table.check(entry["metadata"]["state"], answer, goal=GOAL).score


class EightPuzzleCurriculum(BaseCurriculum):
    """Levels of rising distance."""

    def __init__(self) -> None:
        super().__init__(EightPuzzleCurriculum.__name__, EightPuzzleConfig)
        self._define_attributes(
            RangeAttributeDefinition(
                name="distance",
                levels=[6, 10, 15, 20, 25, FARTHEST],
                description="Fewest moves that solve a board",
                lower_field_name="min_distance",
                upper_field_name="max_distance",
                ensure_interval=True,
            )
        )


register_dataset(DATASET_NAME, EightPuzzleDataset, EightPuzzleConfig, EightPuzzleCurriculum)
