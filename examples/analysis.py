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
        """The frame: as a table in the notebook, as text from a script."""
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
        .group_by(pl.col("goal").cast(pl.String), "distance")
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
    ## 4. Where does the blank make a state hard?

    The mean distance by cell of the blank, 0-8 in reading order, for both layouts.
    """)
    return


@app.cell
def _(pl, show):
    answer_4 = (
        pl.scan_parquet("outputs/eight.parquet")
        .group_by(pl.col("goal").cast(pl.String), "blank")
        .agg(pl.col("distance").mean().alias("mean"))
        .sort("goal", "blank")
        .collect()
    )
    show(answer_4)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 5. How far are the states that I have?

    A join with a list of one's own: two states, and one that is none.
    """)
    return


@app.cell
def _(pl, show):
    answer_5 = (
        pl.LazyFrame({"state": ["378546201", "123456789", "867254301"]})
        .join(pl.scan_parquet("outputs/eight.parquet"), on="state", how="left")
        .select("state", "distance", "best_moves")
        .sort("state")
        .collect()
    )
    show(answer_5)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 6. How often is the best move the only one?

    By distance from corner: the share of states with a single optimal first move.
    """)
    return


@app.cell
def _(pl, show):
    answer_6 = (
        pl.scan_parquet("outputs/eight.parquet")
        .filter(pl.col("goal") == "corner")
        .group_by("distance")
        .agg((pl.col("best_moves").str.len_chars() == 1).mean().alias("single"))
        .sort("distance")
        .collect()
    )
    show(answer_6)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 7. How many Senet positions are within n plies?

    The positions at each number of plies, and all up to there.
    """)
    return


@app.cell
def _(pl, show):
    answer_7 = (
        pl.scan_parquet("outputs/senet.parquet")
        .drop_nulls("plies")
        .group_by("plies")
        .agg(pl.len().alias("positions"))
        .sort("plies")
        .with_columns(pl.col("positions").cum_sum().alias("within"))
        .collect()
    )
    show(answer_7)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 8. Which Senet positions can most lines reach?

    The five positions with the most different shortest lines of play.
    """)
    return


@app.cell
def _(pl, show):
    answer_8 = (
        pl.scan_parquet("outputs/senet.parquet")
        .drop_nulls("lines")
        .sort(["lines", "position"], descending=[True, False])
        .select("position", "plies", "lines")
        .head(5)
        .collect()
    )
    show(answer_8)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 9. Who can have the move?

    Senet positions by whether they are reached with A to move, with B to move, or with both.
    """)
    return


@app.cell
def _(pl, show):
    answer_9 = (
        pl.scan_parquet("outputs/senet.parquet")
        .group_by(
            pl.col("plies_even").is_not_null().alias("a"),
            pl.col("plies_odd").is_not_null().alias("b"),
        )
        .agg(pl.len().alias("positions"))
        .sort("a", "b")
        .collect()
    )
    show(answer_9)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 10. Where do the most tours begin?

    Tours of 6x6 by start, and how many of them are closed, the most first.
    """)
    return


@app.cell
def _(pl, show):
    answer_10 = (
        pl.scan_parquet("outputs/knight_tours_6x6.parquet")
        .group_by(pl.col("start").cast(pl.String))
        .agg(pl.len().alias("tours"), pl.col("closed").sum())
        .sort(["tours", "start"], descending=[True, False])
        .collect()
    )
    show(answer_10)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 11. Which boards have tours?

    Every board of the counts that has any, with its tours and closed tours.
    """)
    return


@app.cell
def _(pl, show):
    answer_11 = (
        pl.scan_parquet("outputs/knight_counts.parquet")
        .group_by("board")
        .agg(pl.col("tours").sum(), pl.col("closed").sum())
        .filter(pl.col("tours") > 0)
        .sort("board")
        .collect()
    )
    show(answer_11)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 12. Where is the knight half-way?

    The square of the 32nd stop in the closed tours of the 8x8 table, the five most common.
    """)
    return


@app.cell
def _(pl, show):
    answer_12 = (
        pl.scan_parquet("outputs/knight_tours_8x8.parquet")
        .filter("closed")
        .group_by(pl.col("path").str.slice(62, 2).alias("square"))
        .agg(pl.len().alias("tours"))
        .sort(["tours", "square"], descending=[True, False])
        .head(5)
        .collect()
    )
    show(answer_12)
    return


if __name__ == "__main__":
    app.run()
