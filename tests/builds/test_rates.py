"""Tests of the estimated costs of tables: near those of the builds that were logged."""

import json
from pathlib import Path

from puzzle_tablebase.pipeline.searches import estimate_cost
from tests.support.default_tables import DEFAULT_TABLES

FACTOR = 20
"""How far a busy machine may be from the one that rates were measured on; hours are not seconds."""
LONG = 0.5
"""Seconds below which a search takes less than all else of a build."""


def test_estimates_are_near_what_a_build_took(outputs: Path) -> None:
    runs = [json.loads(line) for line in (outputs / ".runs.jsonl").read_text().splitlines()]
    took = {run["table"]: run["seconds"] for run in runs if run["outcome"] == "completed"}
    compared = 0
    for table in DEFAULT_TABLES:
        cost = estimate_cost(table)
        if cost and table.name in took and max(cost.seconds, took[table.name]) > LONG:
            assert took[table.name] / FACTOR < cost.seconds < took[table.name] * FACTOR, table.name
            compared += 1
    assert compared > 2
