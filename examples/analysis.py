"""The recipes of `docs/recipes.md` as a marimo notebook, which `make docs` writes.

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

    By distance: by how many moves it falls short on average, and the share of states for which it
    is exact.
    """)
    return


@app.cell
def _(pl, show):
    answer_3 = (
        pl.scan_parquet("outputs/eight_edge.parquet")
        .group_by("distance")
        .agg(
            (pl.col("distance") - pl.col("manhattan")).mean().alias("mean_shortfall"),
            (pl.col("distance") == pl.col("manhattan")).mean().alias("share_exact"),
        )
        .sort("distance")
        .collect()
    )
    show(answer_3)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 4. How far are the states that I have?

    A join with your own list: two states and one invalid key. In pandas, too, as an example of all
    others.
    """)
    return


@app.cell
def _(pl, show):
    answer_4 = (
        pl.LazyFrame({"state": ["378546201", "123456789", "867254301"]})
        .join(pl.scan_parquet("outputs/eight.parquet"), on="state", how="left")
        .select("state", "distance", "best_moves")
        .sort("state")
        .collect()
    )
    show(answer_4)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 5. How many Senet positions are within n plies?

    The positions at each number of plies, and all up to there.
    """)
    return


@app.cell
def _(pl, show):
    answer_5 = (
        pl.scan_parquet("outputs/senet.parquet")
        .drop_nulls("plies")
        .group_by("plies")
        .agg(pl.len().alias("positions"))
        .sort("plies")
        .with_columns(pl.col("positions").cum_sum().alias("within"))
        .collect()
    )
    show(answer_5)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 6. Which Senet positions can most lines reach?

    The five positions with the most different shortest lines of play.
    """)
    return


@app.cell
def _(pl, show):
    answer_6 = (
        pl.scan_parquet("outputs/senet.parquet")
        .drop_nulls("lines")
        .sort(["lines", "position"], descending=[True, False])
        .select("position", "plies", "lines")
        .head(5)
        .collect()
    )
    show(answer_6)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 7. Where do the most tours begin?

    Tours of 6x6 by start, and how many of them are closed, the most first.
    """)
    return


@app.cell
def _(pl, show):
    answer_7 = (
        pl.scan_parquet("outputs/knight_tours_6x6.parquet")
        .group_by("start")
        .agg(pl.len().alias("tours"), pl.col("closed").sum())
        .sort(["tours", "start"], descending=[True, False])
        .collect()
    )
    show(answer_7)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 8. Are there as many tours as were counted?

    The lists of 5x5 and 6x6, concatenated, and joined with the counts on board and start.
    """)
    return


@app.cell
def _(pl, show):
    answer_8 = (
        pl.scan_parquet(["outputs/knight_tours_5x5.parquet", "outputs/knight_tours_6x6.parquet"])
        .group_by("board", "start")
        .agg(pl.len().alias("listed"))
        .join(pl.scan_parquet("outputs/knight_counts.parquet"), on=["board", "start"])
        .select("board", "start", "listed", (pl.col("tours") - pl.col("listed")).alias("missing"))
        .sort("board", "start")
        .collect()
    )
    show(answer_8)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 9. Which moves join the states near the goal?

    The graph as an edge list: each state within ten moves of corner with each state one move away.
    Without the filter of the distance, it has all 483,840 moves.
    """)
    return


@app.cell
def _(pl, show):
    answer_9 = (
        pl.scan_parquet("outputs/eight.parquet")
        .filter(pl.col("goal") == "corner", pl.col("distance") <= 10)
        .join(pl.LazyFrame({"cell": range(9)}, schema={"cell": pl.Int16}), how="cross")
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
    show(answer_9)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 10. Which states stand for their mirror images?

    Across the diagonal of corner, every state has a mirror image at the same distance. By distance:
    the states, and those that stand for both, the first of the two in notation order. A few are
    their own image.
    """)
    return


@app.cell
def _(pl, show):
    answer_10 = (
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
            (pl.col("state") <= pl.col("image")).sum().alias("representatives"),
            (pl.col("state") == pl.col("image")).sum().alias("own_images"),
        )
        .sort("distance")
        .collect()
    )
    show(answer_10)
    return


@app.cell
def _(mo):
    mo.md("""
    ## 11. Which rows does one file have that another lacks?

    `pipeline diff` names the tables that differ between two folders. An anti-join on all columns
    has the rows: name the table's file in each folder, leave out the selection, and swap the two
    for the other direction. Here the files are those of two goals, and the rows the states with
    other best moves.
    """)
    return


@app.cell
def _(pl, show):
    answer_11 = (
        pl.scan_parquet("outputs/eight_edge.parquet")
        .select("state", "best_moves")
        .join(
            pl.scan_parquet("outputs/eight.parquet").select("state", "best_moves"),
            on=["state", "best_moves"],
            how="anti",
            nulls_equal=True,
        )
        .sort("state")
        .collect()
    )
    show(answer_11)
    return


if __name__ == "__main__":
    app.run()
