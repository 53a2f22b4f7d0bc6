"""Tests of the published tables of the 8-puzzle and Senet, state for state against oracles."""

from itertools import islice, permutations
from pathlib import Path

import polars as pl
import pytest

from tests import first, wide
from tests.support import oracles, senet_walk

# ---- 8-puzzle -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "goal", "goal_state"),
    first(
        1,
        [
            ("eight_edge", "edge", "123456708"),
            ("eight", "corner", "123456780"),
            ("eight", "centre", "123804765"),
        ],
    ),
)
def test_the_8_puzzle_state_for_state(outputs: Path, name: str, goal: str, goal_state: str) -> None:
    distances, solutions = oracles.eight_search(goal_state)
    table = pl.read_parquet(outputs / f"{name}.parquet").filter(pl.col("goal") == goal)
    assert table["state"].to_list() == sorted(distances)
    ranks = {"".join(digits): rank for rank, digits in enumerate(permutations("012345678"))}
    for row in table.drop("goal").iter_rows():
        state = row[0]
        assert row == (
            state,
            distances[state],
            oracles.eight_best_moves(state, distances),
            solutions[state],
            *oracles.eight_features(state, goal_state).values(),
            ranks[state],
        )


# ---- Senet ----------------------------------------------------------------------------------


SEARCHES = senet_walk.layers, oracles.senet_layers


def test_the_fast_search_equals_the_plain_one() -> None:
    for fast_layer, plain_layer in zip(*(islice(search(), 5) for search in SEARCHES), strict=True):
        result = {row[0]: row[1:] for row in fast_layer.iter_rows()}
        assert result == {
            key: (line.number, line.dice, line.moves) for key, line in plain_layer.items()
        }


@wide
@pytest.mark.long
def test_senet_state_for_state(outputs: Path) -> None:
    """Compare every column with one search of the whole space."""
    layers = [
        layer.with_columns(pl.lit(plies, pl.Int8).alias("plies"))
        for plies, layer in enumerate(senet_walk.layers())
    ]
    table = pl.read_parquet(outputs / "senet.parquet")
    assert len(layers) > 16  # the even and the odd plies go on past the fewest of both
    expected = (
        pl.concat(layers)
        .sort("plies", maintain_order=True)
        .unique("position", keep="first", maintain_order=True)
    )
    for name, layers_of_parity in (("plies_even", layers[0::2]), ("plies_odd", layers[1::2])):
        plies = pl.concat(layers_of_parity).select("position", pl.col("plies").alias(name))
        expected = expected.join(plies, on="position", how="left")
    assert len(expected) == table["plies"].count()
    joined = table.join(expected, on="position", how="left", suffix=" expected")
    for name in table.columns[1:]:
        wrong = joined.filter(pl.col(name).ne_missing(pl.col(f"{name} expected")))
        assert wrong.is_empty(), f"{name}: {wrong.head(3).rows(named=True)}"


def test_senets_lines_are_legal(outputs: Path) -> None:
    """Replay some of the lines with the oracle, including some of the longest."""
    table = pl.read_parquet(outputs / "senet.parquet").drop_nulls("plies")
    longest = table.filter(pl.col("plies") == pl.col("plies").max())
    sampled = pl.concat([table.gather_every(601), longest.gather_every(50)])
    for row in sampled.iter_rows(named=True):
        assert oracles.senet_replay(row["dice"], row["moves"]) == row["position"]
        assert len(row["dice"]) == row["plies"]
        others = [row["plies_even"], row["plies_odd"]]
        assert min(plies for plies in others if plies is not None) == row["plies"]
