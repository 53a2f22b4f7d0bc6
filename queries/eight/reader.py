"""The 8-puzzle's answers, one at a time or whole columns."""

from __future__ import annotations

from queries.goal_reader import GoalReader
from queries.query_options import SVG, Asked, Option
from queries.sliding.board_facts import BoardFacts
from tablebase.puzzles.eight import WIDTH

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

    from queries.answer_frames import Answers
    from tablebase.puzzle import GoalPuzzle
    from tablebase.tables.store import Store


class EightReader(GoalReader):
    options = (
        Option(
            "goal",
            "Goal to reach: a layout (corner, centre, edge) or any state (default: the layout "
            "that the state can reach).",
            "GOAL",
        ),
        *GoalReader.options[1:],
        SVG,
    )
    joins = 9
    explored = {"eight": 0, "eight_edge": 0}  # noqa: RUF012  # a class's constants

    def __init__(self, asked_of: GoalPuzzle, store: Store) -> None:
        super().__init__(asked_of, store)
        self._rows_to: dict[str, pl.DataFrame] = {}

    def answers(self, keys: pl.Series, asked: Asked) -> Answers:
        from queries.answer_frames import matched
        from queries.eight.vectorized import NO_RANK, ranks
        from queries.state_columns import WHITE_SPACE, unreached

        alone, states = super().answers, ranks(keys)
        found = self._answers_at(states, asked)
        if "goal" in asked:
            which = (states != NO_RANK) & found["goal"].is_null()
            bare = keys.str.replace_all(WHITE_SPACE, "")
            why = unreached(self.puzzle, str(asked["goal"]), bare, which.to_numpy())
            found = found.with_columns(error=why)
        return matched(keys, found, lambda some: alone(some, asked))

    def annotations(self, keys: pl.Series, asked: Asked) -> pl.DataFrame:
        from queries.eight.vectorized import ranks

        return self._answers_at(ranks(keys), asked)

    def _answers_at(self, states: pl.Series, asked: Asked) -> pl.DataFrame:
        rows = self.rows_to(str(asked["goal"])) if "goal" in asked else self.rows()
        found = rows[states]
        if asked.get("path"):
            from queries.eight.any_goal import walked

            found = found.hstack(walked(rows, states))
        if asked.get("solutions"):
            from queries.eight.any_goal import every_solution

            solutions = every_solution(rows, states)
            if solutions is None:
                problem = "its best moves lead to other solutions than it counts"
                if "goal" not in asked:
                    raise self.damaged(self.puzzle.tables[0].name, problem, "parquet")
                view = self.puzzle.view(str(asked["goal"]))
                raise self.damaged(self._tables[view.layout], problem)
            found = found.with_columns(solutions)
        return found

    def rows(self) -> pl.DataFrame:
        """The columns that are added, and after the last row one of nulls: that of `NO_RANK`."""
        if self._rows is None:
            rows = super().rows().drop("state")
            self._rows = rows.extend(rows.clear(1))
        return self._rows

    def rows_to(self, goal: str) -> pl.DataFrame:
        """The same for a goal of one's own, found from an index."""
        if goal not in self._rows_to:
            from queries.eight.any_goal import answers_to

            view = self.puzzle.view(goal)
            name = self._tables[view.layout]
            records = self.index(name).records()
            rows = answers_to(self.name_of(goal), view, records, self.rows()["goal"])
            if rows["best_moves"].eq("").sum() != 1:
                raise self.damaged(name, f"not every state has a move nearer to {goal}")
            rows = rows.cast(self.schema({"goal": goal}))
            self._rows_to[goal] = rows.extend(rows.clear(1))
        return self._rows_to[goal]

    def facts(self, key: str, asked: Asked) -> BoardFacts:
        return BoardFacts(self, key, asked, WIDTH)
