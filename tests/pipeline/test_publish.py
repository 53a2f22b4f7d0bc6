"""Lookups beside rebuilds that change the bytes of a table: each answer is right."""

import random
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import patch

import polars as pl
import pytest

from puzzle_tablebase.errors import TableUnreadable
from puzzle_tablebase.formats import index_writer, parquet
from puzzle_tablebase.pipeline.proofs.claims import Silence
from puzzle_tablebase.pipeline.verify import verify
from puzzle_tablebase.queries.tables import open_tables
from puzzle_tablebase.registry import MODULES
from puzzle_tablebase.stores import Folder
from tests import usual_or_nightly
from tests.support.build_recorder import build_tables
from tests.support.pancakes import PUZZLE


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(MODULES, PUZZLE.name, "tests.support.pancakes")
    build_tables(tmp_path, PUZZLE)
    return tmp_path


def build_anew(folder: Path, level: int) -> None:
    with patch.object(parquet, "COMPRESSION_LEVEL", level):
        build_tables(folder, PUZZLE, force=True)


def test_lookups_beside_rebuilds(folder: Path) -> None:
    """Let each build have a content hash of its own, and a seed, on which all blocks depend."""
    builds, lookups = usual_or_nightly((6, 100), (60, 1000))
    versions, states = set[bytes](), [*map(PUZZLE.unrank, range(PUZZLE.size))]
    with open_tables(str(folder)) as tables:
        expected = {state: tables.open(PUZZLE.name).probe(state).distance for state in states}

    def rebuild() -> None:
        for number in range(builds):
            hash_of_build = f"{number:064x}"
            with (
                patch.object(parquet.ContentHash, "hexdigest", return_value=hash_of_build),
                patch.object(index_writer, "make_seed", return_value=bytes.fromhex(hash_of_build)),
            ):
                build_anew(folder, 1 + number % 9)
            versions.add((folder / "pancakes.idx").read_bytes())

    def look_up(seed: int) -> int:
        draw, done = random.Random(seed), 0
        while done < lookups // 2 or not rebuilding.done():
            with open_tables(str(folder)) as tables:
                reader = tables.open(PUZZLE.name)
                for state in draw.sample(states, 5):
                    assert reader.probe(state).distance == expected[state]
                frame = reader.annotate(pl.DataFrame({"state": states}))
                assert frame["distance"].to_list() == [*expected.values()]
            done += 6
        return done

    with ThreadPoolExecutor(3) as pool:
        rebuilding = pool.submit(rebuild)
        answered = [*pool.map(look_up, range(2))]
        rebuilding.result()
    assert sum(answered) >= lookups
    assert len(versions) == builds


def test_a_table_that_is_built_anew_while_it_is_verified_is_not_refuted(folder: Path) -> None:
    claims = list[object]()

    class Rebuilding(Silence):
        def on_claim(self, claim: Mapping[str, object]) -> None:
            claims.append(claim)
            if len(claims) == 1:
                build_anew(folder, 1)

    verified = verify(Folder(folder), observer=Rebuilding())
    (trouble,) = verified.troubles
    assert isinstance(trouble, TableUnreadable)
    assert trouble.exit_code == 3
    assert verify(Folder(folder)).troubles == []
