"""Whether draws are random: all of a sample differ, and all outcomes are equally likely."""

from collections.abc import Callable

import polars as pl

LIMIT = 3.719
"""The standard errors that a normal variable deviates by once in 5,000 times."""


def check_uniform(draws: list[str], outcomes: set[str], at_once: int = 1) -> None:
    """Require that a sample has each outcome about as often as any other, by chi-squared.

    Values of one sample are distinct, so counts deviate less.
    """
    assert {*draws} <= outcomes
    mean, freedom = len(draws) / len(outcomes), len(outcomes) - 1
    squares = sum((draws.count(outcome) - mean) ** 2 / mean for outcome in outcomes)
    squares *= freedom / (len(outcomes) - at_once)
    assert abs(squares - freedom) < LIMIT * (2 * freedom) ** 0.5


def check_draws(draw: Callable[..., pl.DataFrame], outcomes: set[str], draws: int) -> None:
    """Draw half of the outcomes again and again: all of a sample differ, and are equally likely.

    A hundred draws of each outcome suffice.
    """
    size, drawn = max(1, len(outcomes) // 2), list[str]()
    for seed in range(min(draws, 100 * len(outcomes)) // size):
        sample = draw(size, seed=seed).to_series()
        assert sample.n_unique() == size
        drawn += sample.to_list()
    check_uniform(drawn, outcomes, size)
