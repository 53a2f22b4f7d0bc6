"""The recipes of `docs/recipes.md` as a marimo notebook.

`marimo edit examples/analysis.py` opens it; `python examples/analysis.py` prints the answers. Run
it in the folder that has `outputs`.
"""

import marimo

app = marimo.App(width="medium")


@app.cell
def _():
    import marimo as mo
    import polars as pl

    def show(frame):
        """Return the frame, which a notebook shows as a table; print it as text in a script."""
        if not mo.running_in_notebook():
            print(frame)
        return frame

    return mo, pl, show


@app.cell
def _(mo):
    mo.md("# What the tables can answer")
    return


@app.cell
def _(mo):
    mo.md("""
    ## 1. How many states lie at each distance?

    The shape of the 8-puzzle: for each goal, the states that are so many moves away.
    """)
    return


@app.cell
def _(pl, show):
    answer_1 = (
        pl.scan_parquet("outputs/eight.parquet")
        .group_by("goal", "distance")
        .agg(pl.len().alias("states"))
        .sort("goal", "distance")
        .collect()
    )
    show(answer_1)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 2. Which states are the hardest?

    The states at the greatest distance from corner, with the number of their shortest solutions.
    """)
    return


@app.cell
def _(pl, show):
    answer_2 = (
        pl.scan_parquet("outputs/eight.parquet")
        .filter(pl.col("goal") == "corner")
        .filter(pl.col("distance") == pl.col("distance").max())
        .select("state", "distance", "solutions")
        .sort("state")
        .collect()
    )
    show(answer_2)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 3. How good is the Manhattan heuristic?

    By distance: its mean error, and the share of states for which it is exact.
    """)
    return


@app.cell
def _(pl, show):
    answer_3 = (
        pl.scan_parquet("outputs/eight_edge.parquet")
        .group_by("distance")
        .agg(
            (pl.col("distance") - pl.col("manhattan")).mean().alias("error"),
            (pl.col("distance") == pl.col("manhattan")).mean().alias("exact"),
        )
        .sort("distance")
        .collect()
    )
    show(answer_3)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 4. How far do the heuristics fall short?

    The two tables one below the other: for each goal, the mean of a heuristic less the distance.
    """)
    return


@app.cell
def _(pl, show):
    answer_4 = (
        pl.concat(
            [
                pl.scan_parquet("outputs/eight.parquet"),
                pl.scan_parquet("outputs/eight_edge.parquet"),
            ]
        )
        .group_by("goal")
        .agg(
            (pl.col("manhattan") - pl.col("distance")).mean().alias("manhattan"),
            (pl.col("misplaced") - pl.col("distance")).mean().alias("misplaced"),
        )
        .sort("goal")
        .collect()
    )
    show(answer_4)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 5. Where does the blank make a state hard?

    The mean distance by cell of the blank, 0-8 in reading order, for both layouts.
    """)
    return


@app.cell
def _(pl, show):
    answer_5 = (
        pl.scan_parquet("outputs/eight.parquet")
        .group_by("goal", "blank")
        .agg(pl.col("distance").mean().alias("mean"))
        .sort("goal", "blank")
        .collect()
    )
    show(answer_5)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 6. How fast do the states grow in number?

    By distance from corner: how many more states than one move nearer, and how many times as many.
    """)
    return


@app.cell
def _(pl, show):
    answer_6 = (
        pl.scan_parquet("outputs/eight.parquet")
        .filter(pl.col("goal") == "corner")
        .group_by("distance")
        .agg(pl.len().alias("states"))
        .sort("distance")
        .with_columns(
            pl.col("states").diff().alias("more"),
            (pl.col("states") / pl.col("states").shift()).alias("times"),
        )
        .collect()
    )
    show(answer_6)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 7. How far are the states that I have?

    A join with a list of one's own: two states, and one that is none.
    """)
    return


@app.cell
def _(pl, show):
    answer_7 = (
        pl.LazyFrame({"state": ["378546201", "123456789", "867254301"]})
        .join(pl.scan_parquet("outputs/eight.parquet"), on="state", how="left")
        .select("state", "distance", "best_moves")
        .sort("state")
        .collect()
    )
    show(answer_7)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 8. What does the table say of one state?

    Rows are in the order of states, so no more is read than the part of the file that can have it.
    """)
    return


@app.cell
def _(pl, show):
    answer_8 = (
        pl.scan_parquet("outputs/eight.parquet")
        .filter(pl.col("state") == "378546201")
        .select("state", "goal", "distance", "solutions")
        .collect()
    )
    show(answer_8)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 9. How often is the best move the only one?

    By distance from corner: the share of states with a single optimal first move.
    """)
    return


@app.cell
def _(pl, show):
    answer_9 = (
        pl.scan_parquet("outputs/eight.parquet")
        .filter(pl.col("goal") == "corner")
        .group_by("distance")
        .agg((pl.col("best_moves").str.len_chars() == 1).mean().alias("single"))
        .sort("distance")
        .collect()
    )
    show(answer_9)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 10. How many Senet positions are within n plies?

    The positions at each number of plies, and all up to there.
    """)
    return


@app.cell
def _(pl, show):
    answer_10 = (
        pl.scan_parquet("outputs/senet.parquet")
        .drop_nulls("plies")
        .group_by("plies")
        .agg(pl.len().alias("positions"))
        .sort("plies")
        .with_columns(pl.col("positions").cum_sum().alias("within"))
        .collect()
    )
    show(answer_10)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 11. Which Senet positions can most lines reach?

    The five positions with the most different shortest lines of play.
    """)
    return


@app.cell
def _(pl, show):
    answer_11 = (
        pl.scan_parquet("outputs/senet.parquet")
        .drop_nulls("lines")
        .sort(["lines", "position"], descending=[True, False])
        .select("position", "plies", "lines")
        .head(5)
        .collect()
    )
    show(answer_11)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 12. Who can have the move?

    Senet positions by whether they are reached with A to move, with B to move, or with both.
    """)
    return


@app.cell
def _(pl, show):
    answer_12 = (
        pl.scan_parquet("outputs/senet.parquet")
        .group_by(
            pl.col("plies_even").is_not_null().alias("a"),
            pl.col("plies_odd").is_not_null().alias("b"),
        )
        .agg(pl.len().alias("positions"))
        .sort("a", "b")
        .collect()
    )
    show(answer_12)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 13. How much later can B have the move?

    Senet positions by odd plies less even plies; none where only one of the two is possible.
    """)
    return


@app.cell
def _(pl, show):
    answer_13 = (
        pl.scan_parquet("outputs/senet.parquet")
        .group_by((pl.col("plies_odd") - pl.col("plies_even")).alias("later"))
        .agg(pl.len().alias("positions"))
        .sort("later", nulls_last=True)
        .collect()
    )
    show(answer_13)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 14. Where do the most tours begin?

    Tours of 6x6 by start, and how many of them are closed, the most first.
    """)
    return


@app.cell
def _(pl, show):
    answer_14 = (
        pl.scan_parquet("outputs/knight_tours_6x6.parquet")
        .group_by("start")
        .agg(pl.len().alias("tours"), pl.col("closed").sum())
        .sort(["tours", "start"], descending=[True, False])
        .collect()
    )
    show(answer_14)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 15. Which boards have tours?

    Every board of the counts that has any, with its tours and closed tours.
    """)
    return


@app.cell
def _(pl, show):
    answer_15 = (
        pl.scan_parquet("outputs/knight_counts.parquet")
        .group_by("board")
        .agg(pl.col("tours").sum(), pl.col("closed").sum())
        .filter(pl.col("tours") > 0)
        .sort("board")
        .collect()
    )
    show(answer_15)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 16. Are there as many tours as were counted?

    The lists of 5x5 and 6x6, one below the other, joined with the counts on board and start.
    """)
    return


@app.cell
def _(pl, show):
    answer_16 = (
        pl.scan_parquet(["outputs/knight_tours_5x5.parquet", "outputs/knight_tours_6x6.parquet"])
        .group_by("board", "start")
        .agg(pl.len().alias("listed"))
        .join(pl.scan_parquet("outputs/knight_counts.parquet"), on=["board", "start"])
        .select("board", "start", "listed", (pl.col("tours") - pl.col("listed")).alias("missing"))
        .sort("board", "start")
        .collect()
    )
    show(answer_16)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 17. Which squares gain most by a larger board?

    A join across boards: the tours from the same square of 5x5 and of 6x6.
    """)
    return


@app.cell
def _(pl, show):
    answer_17 = (
        pl.scan_parquet("outputs/knight_tours_5x5.parquet")
        .group_by("start")
        .agg(pl.len().alias("five"))
        .join(
            pl.scan_parquet("outputs/knight_tours_6x6.parquet")
            .group_by("start")
            .agg(pl.len().alias("six")),
            on="start",
        )
        .with_columns((pl.col("six") / pl.col("five")).alias("times"))
        .sort(["times", "start"], descending=[True, False])
        .collect()
    )
    show(answer_17)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 18. Where do the tours from each square end?

    The ends that rank first for each start of 6x6, and their share of the tours from there.
    """)
    return


@app.cell
def _(pl, show):
    answer_18 = (
        pl.scan_parquet("outputs/knight_tours_6x6.parquet")
        .group_by("start", "finish")
        .agg(pl.len().alias("tours"))
        .with_columns(
            pl.col("tours").rank("min", descending=True).over("start").alias("place"),
            (pl.col("tours") / pl.col("tours").sum().over("start")).alias("share"),
        )
        .filter(pl.col("place") == 1)
        .sort("start", "finish")
        .collect()
    )
    show(answer_18)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 19. Which are the first tours from c3 to each end?

    Two for each end of 6x6. A path begins with its start: a range of paths reads few of the rows.
    """)
    return


@app.cell
def _(pl, show):
    answer_19 = (
        pl.scan_parquet("outputs/knight_tours_6x6.parquet")
        .filter(pl.col("path") >= "c3", pl.col("path") < "c4")
        .filter(pl.col("number").rank("ordinal").over("finish") <= 2)
        .select("finish", "number", "path")
        .sort("finish", "number")
        .collect()
    )
    show(answer_19)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 20. Where is the knight half-way?

    The square of the 32nd stop in the closed tours of the 8x8 table, the five most common.
    """)
    return


@app.cell
def _(pl, show):
    answer_20 = (
        pl.scan_parquet("outputs/knight_tours_8x8.parquet")
        .filter("closed")
        .group_by(pl.col("path").str.slice(62, 2).alias("square"))
        .agg(pl.len().alias("tours"))
        .sort(["tours", "square"], descending=[True, False])
        .head(5)
        .collect()
    )
    show(answer_20)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 21. Which moves join the states near the goal?

    The graph as an edge list: each state within ten moves of corner with each state one move away.
    Without the filter of the distance, it has all 483,840 moves.
    """)
    return


@app.cell
def _(pl, show):
    answer_21 = (
        pl.scan_parquet("outputs/eight.parquet")
        .filter(pl.col("goal") == "corner", pl.col("distance") <= 10)
        .join(pl.LazyFrame({"cell": range(9)}, schema={"cell": pl.Int8}), how="cross")
        .filter(
            (pl.col("blank") // 3 - pl.col("cell") // 3).abs()
            + (pl.col("blank") % 3 - pl.col("cell") % 3).abs()
            == 1
        )
        .with_columns(pl.min_horizontal("blank", "cell").alias("low"))
        .with_columns(pl.max_horizontal("blank", "cell").alias("high"))
        .with_columns(
            pl.concat_str(
                pl.col("state").str.slice(0, "low"),
                pl.col("state").str.slice("high", 1),
                pl.col("state").str.slice(pl.col("low") + 1, pl.col("high") - pl.col("low") - 1),
                pl.col("state").str.slice("low", 1),
                pl.col("state").str.slice(pl.col("high") + 1),
            ).alias("next")
        )
        .select("state", "next")
        .sort("state", "next")
        .collect()
    )
    show(answer_21)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 22. How many moves lead nearer?

    The graph as a join: each move of the states within 20 moves of corner, joined with the
    distance of the state that it leads to. `nearer` moves are part of a shortest solution.
    """)
    return


@app.cell
def _(pl, show):
    answer_22 = (
        pl.scan_parquet("outputs/eight.parquet")
        .filter(pl.col("goal") == "corner", pl.col("distance") <= 20)
        .join(pl.LazyFrame({"cell": range(9)}, schema={"cell": pl.Int8}), how="cross")
        .filter(
            (pl.col("blank") // 3 - pl.col("cell") // 3).abs()
            + (pl.col("blank") % 3 - pl.col("cell") % 3).abs()
            == 1
        )
        .with_columns(pl.min_horizontal("blank", "cell").alias("low"))
        .with_columns(pl.max_horizontal("blank", "cell").alias("high"))
        .with_columns(
            pl.concat_str(
                pl.col("state").str.slice(0, "low"),
                pl.col("state").str.slice("high", 1),
                pl.col("state").str.slice(pl.col("low") + 1, pl.col("high") - pl.col("low") - 1),
                pl.col("state").str.slice("low", 1),
                pl.col("state").str.slice(pl.col("high") + 1),
            ).alias("next")
        )
        .join(
            pl.scan_parquet("outputs/eight.parquet").select(
                pl.col("state").alias("next"), pl.col("distance").alias("then")
            ),
            on="next",
        )
        .group_by("distance")
        .agg(
            pl.len().alias("moves"),
            (pl.col("then") < pl.col("distance")).sum().alias("nearer"),
        )
        .sort("distance")
        .collect()
    )
    show(answer_22)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 23. Which states stand for their mirror images?

    Across the diagonal of corner, every state has a mirror image at the same distance. By
    distance: the states, and those that stand for both, the first of the two in notation order. A
    few are their own image.
    """)
    return


@app.cell
def _(pl, show):
    answer_23 = (
        pl.scan_parquet("outputs/eight.parquet")
        .filter(pl.col("goal") == "corner")
        .with_columns(
            pl.concat_str(pl.col("state").str.slice(int(cell), 1) for cell in "036147258")
            .str.replace_many([*"234678"], [*"472836"])
            .alias("image")
        )
        .group_by("distance")
        .agg(
            pl.len().alias("states"),
            (pl.col("state") <= pl.col("image")).sum().alias("kept"),
            (pl.col("state") == pl.col("image")).sum().alias("own"),
        )
        .sort("distance")
        .collect()
    )
    show(answer_23)
    return


if __name__ == "__main__":
    app.run()
