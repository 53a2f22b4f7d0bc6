"""A reward for a training loop: how good is each of a model's answers to a board?"""

import re

import polars as pl

import puzzle_tablebase as pt

EIGHT = pt.open_tables().eight
TRAIN = EIGHT.sample(1_000, seed=1, distance="5-25", spread=True, split="train=0.8,test=0.2")
ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)


def reward(states: list[str], completions: list[str]) -> list[float]:
    """Return 1 for a shortest solution, less for a longer one, a little for legal moves."""
    found = [ANSWER.search(text) for text in completions]
    answers = [match[1] if match else "no answer" for match in found]
    frame = pl.DataFrame({"state": states, "answer": answers})
    judged = EIGHT.check_frame(frame)
    has_moved = (pl.col("result") == "incomplete") & (pl.col("length") > 0)
    legal = pl.when(has_moved).then(0.05).otherwise(0.0)
    return judged.select(pl.max_horizontal("score", legal)).to_series().to_list()


if __name__ == "__main__":
    print(TRAIN["split"].value_counts(sort=True).to_dicts())
    answers = ["D", "L R D", "U", "", "5 moves"]
    texts = [*(f"<answer>{each}</answer>" for each in answers), "I give up"]
    print([round(each, 2) for each in reward(["123450786"] * len(texts), texts)])
