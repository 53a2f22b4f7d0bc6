"""The reader of the 8-puzzle, for single keys and for whole columns."""

from __future__ import annotations

from queries.board_facts import BoardFacts
from queries.goal_reader import GoalReader, refuse_key
from queries.query_options import SVG, Option, OptionValues
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
    sample_options = (options[0], *GoalReader.sample_options[1:])
    joined_characters = key_digits = 9
    explored = {"eight": 0, "eight_edge": 0}  # noqa: RUF012  # a class's constants

    def __init__(self, puzzle: GoalPuzzle, store: Store) -> None:
        super().__init__(puzzle, store)
        self._rows_by_goal: dict[str, pl.DataFrame] = {}

    def answer_keys(self, keys: pl.Series, options: OptionValues) -> Answers:
        from queries.answer_frames import merge_answers
        from queries.eight.vectorized import NO_RANK, read_states
        from queries.state_columns import explain_unreachable_states

        answer_singly, (states, state_ranks) = super().answer_keys, read_states(keys)
        answers = self._answer_ranks(state_ranks, options)
        if "goal" in options:
            is_unreachable = (state_ranks != NO_RANK) & answers["goal"].is_null()
            reasons = explain_unreachable_states(
                self.puzzle, str(options["goal"]), states, is_unreachable.to_numpy()
            )
            answers = answers.with_columns(error=reasons)
        return merge_answers(keys, answers, lambda missing: answer_singly(missing, options))

    def annotate_keys(self, keys: pl.Series, options: OptionValues) -> pl.DataFrame:
        from queries.eight.vectorized import rank_states

        return self._answer_ranks(rank_states(keys), options)

    def _answer_ranks(self, ranks: pl.Series, options: OptionValues) -> pl.DataFrame:
        rows = self.read_rows_to(str(options["goal"])) if "goal" in options else self.read_rows()
        answers = rows[ranks]
        if options.get("path"):
            from queries.eight.any_goal import find_solutions

            answers = answers.hstack(find_solutions(rows, ranks))
        if options.get("solutions"):
            from queries.eight.any_goal import every_solution

            solutions = every_solution(rows, ranks)
            if solutions is None:
                problem = "its best moves lead to other solutions than it counts"
                if "goal" not in options:
                    raise self.make_damage_error(self.puzzle.tables[0].name, problem, "parquet")
                view = self.puzzle.view_goal(str(options["goal"]))
                raise self.make_damage_error(self._tables[view.layout], problem)
            answers = answers.with_columns(solutions)
        return answers

    def read_rows(self) -> pl.DataFrame:
        """Return the added columns of all states by rank, and a last row of nulls for `NO_RANK`."""
        if self._rows is None:
            rows = super().read_rows().drop("state")
            self._rows = rows.extend(rows.clear(1))
        return self._rows

    def read_rows_to(self, goal: str) -> pl.DataFrame:
        """Return the rows of `read_rows` for any goal, computed from an index."""
        if goal not in self._rows_by_goal:
            from queries.eight.any_goal import answer_goal

            view = self.puzzle.view_goal(goal)
            name = self._tables[view.layout]
            records = self.open_index(name).read_records()
            rows = answer_goal(self.name_goal(goal), view, records, self.read_rows()["goal"])
            if rows["best_moves"].eq("").sum() != 1:
                raise self.make_damage_error(name, f"not every state has a move nearer to {goal}")
            rows = rows.cast(self.make_schema({"goal": goal}))
            self._rows_by_goal[goal] = rows.extend(rows.clear(1))
        return self._rows_by_goal[goal]

    def list_depth_rows(self, options: OptionValues) -> pl.DataFrame:
        import polars as pl

        rows = self.read_rows_to(str(options["goal"])) if "goal" in options else self.read_rows()
        return rows[:-1].insert_column(0, pl.Series("state", self.puzzle.list_states().astype(str)))

    def probe(self, key: str, options: OptionValues) -> BoardFacts:
        refuse_key(options)
        return BoardFacts(self, key, options, WIDTH)
