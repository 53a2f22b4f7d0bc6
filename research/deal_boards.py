"""Deal boards as a public environment does, and print them with their turn limits, as JSON.

    python deal_boards.py NAME SIZE SEED

`environments.py` runs this with the Python of an environment that has the package and little else.
A board is a list of numbers in reading order, 0 for the blank; the limit may be None. If the
environment cannot be made, the name of the error is printed instead.
"""

import json
import platform
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

Deal = tuple[list[int], int | None]
Dealer = Callable[[int, int], Iterator[Deal]]


def deal_textarena(size: int, seed: int) -> Iterator[Deal]:
    """Deal boards of `FifteenPuzzle-v0`."""
    import textarena

    random.seed(seed)
    env = textarena.make("FifteenPuzzle-v0")
    for _ in range(size):
        env.reset(num_players=1)
        state = env.state
        yield flatten(state.game_state["board"]), state.max_turns


def deal_gem(name: str, size: int, seed: int) -> Iterator[Deal]:
    """Deal boards of one of gem's registered environments."""
    import gem

    random.seed(seed)
    env = gem.make(f"game:FifteenPuzzle-v0-{name}")
    for _ in range(size):
        env.reset()
        yield flatten(env.board), env.max_turns


def deal_jumanji(size: int, seed: int) -> Iterator[Deal]:
    """Deal boards of `SlidingTilePuzzle-v0`."""
    import jax
    import jumanji

    env = jumanji.make("SlidingTilePuzzle-v0")
    keys = jax.random.split(jax.random.PRNGKey(seed), size)
    states, _ = jax.jit(jax.vmap(env.reset))(keys)
    for board in states.puzzle.tolist():
        yield flatten(board), env.time_limit


def deal_sliding_puzzles(width: int, size: int, seed: int) -> Iterator[Deal]:
    """Deal boards of `SlidingPuzzles-v0` of this width and height."""
    import gymnasium

    name = "sliding_puzzles:SlidingPuzzles-v0"
    env = gymnasium.make(name, w=width, disable_env_checker=True).unwrapped
    env.set_seed(seed)
    for _ in range(size):
        board, _ = env.reset()
        yield flatten(board.tolist()), env.max_steps


def deal_puzzle15gym(width: int, size: int, seed: int) -> Iterator[Deal]:
    """Deal boards of `Puzzle3x3Random-v0` and the like."""
    import gymnasium

    random.seed(seed)
    name = f"puzzle15Gym:Puzzle{width}x{width}Random-v0"
    env = gymnasium.make(name, disable_env_checker=True)
    for _ in range(size):
        board, _ = env.unwrapped.reset()
        yield flatten([board.tolist()]), env.spec.max_episode_steps


def deal_slidingpuzzle(width: int, size: int, seed: int) -> Iterator[Deal]:
    """Deal boards as `slidingpuzzle.shuffle` does."""
    import slidingpuzzle

    random.seed(seed)
    for _ in range(size):
        board = slidingpuzzle.shuffle(slidingpuzzle.new_board(width, width))
        yield flatten(board.tolist()), None


def flatten(rows: list[list[Any]]) -> list[int]:
    """Return the cells of a board in one list; packages write the blank as None, -1 or 0."""
    return [max(int(cell or 0), 0) for row in rows for cell in row]


DEALERS: dict[str, Dealer] = {
    "textarena": deal_textarena,
    "gem-easy": lambda size, seed: deal_gem("easy", size, seed),
    "gem-random": lambda size, seed: deal_gem("random", size, seed),
    "gem-hard": lambda size, seed: deal_gem("hard", size, seed),
    "jumanji": deal_jumanji,
    "sliding-puzzles-3": lambda size, seed: deal_sliding_puzzles(3, size, seed),
    "sliding-puzzles-4": lambda size, seed: deal_sliding_puzzles(4, size, seed),
    "puzzle15gym-3": lambda size, seed: deal_puzzle15gym(3, size, seed),
    "puzzle15gym-4": lambda size, seed: deal_puzzle15gym(4, size, seed),
    "puzzle15gym-5": lambda size, seed: deal_puzzle15gym(5, size, seed),
    "slidingpuzzle-3": lambda size, seed: deal_slidingpuzzle(3, size, seed),
    "slidingpuzzle-4": lambda size, seed: deal_slidingpuzzle(4, size, seed),
}
"""How each environment deals, by the name that it has in `environments.py`."""


def main() -> None:
    """Print the boards of the environment that the command line names."""
    name, size, seed = sys.argv[1:]
    warnings.simplefilter("ignore")
    answer: dict[str, object] = {"python": platform.python_version()}
    try:
        answer["dealt"] = [*DEALERS[name](int(size), int(seed))]
    except Exception as error:  # a fault of the package, which the table shows
        answer["error"] = type(error).__name__
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
