"""`verify` finds every kind of false value, and names its claim and row.

Senet has its false tables in `test_senet`, of a smaller board.
"""

import json
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from puzzle_tablebase.pipeline.kinds import KINDS
from tests.support.count_boards import TABLE
from tests.support.false_tables import ANY, CASES, Case
from tests.support.made_once import make_once
from tests.support.small_tables import LIST, PAIR_COUNTS, build_small_tables, use_small_tables
from tests.support.tampered import falsify, link_copy, open_one, prove_one, story

EVIDENCE = {TABLE.name: [LIST], PAIR_COUNTS[0]: [LIST]}
"""The tables that are proved before another one."""
SISTERS = {
    *(
        (name, number)
        for name, numbers in (("eight", (2, 5)), ("eight_edge", (0, 1, 2, 3)))
        for number in numbers
    ),
}
"""False values of large tables, as others there or in smaller ones."""


@pytest.fixture
def make_folder(
    outputs: Path,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[str], Path]:
    """Return a function that copies the true table of a name, as files that may be changed."""
    use_small_tables(monkeypatch)

    def copy(name: str) -> Path:
        is_default = name.startswith(("eight", "knight_tours"))
        made = make_once(tmp_path_factory, "small_tables", build_small_tables)
        (tmp_path / name).mkdir()
        return link_copy(outputs if is_default else made, tmp_path / name)

    return copy


@pytest.mark.parametrize(
    ("name", "case"),
    [
        pytest.param(
            name,
            case,
            id=f"{name}-{number}",
            marks=[pytest.mark.slow] * ((name, number) in SISTERS),
        )
        for name, cases in CASES.items()
        for number, case in enumerate(cases)
    ],
)
def test_a_false_table_is_refuted(
    make_folder: Callable[[str], Path], name: str, case: Case
) -> None:
    change, row, claim, values = case
    evidence, row_group = EVIDENCE.get(name, ()), 100 if "tours" in name else 1 << 17
    failure = falsify(make_folder(name), name, change, *evidence, row_group=row_group)
    assert fnmatchcase(failure.claim["claim"], f"{claim}*")
    assert row in (ANY, failure.row)
    assert fnmatchcase(f"{failure.found} | {failure.expected}", values)
    assert json.dumps(failure.to_dict())


@pytest.mark.parametrize("name", CASES)
def test_every_claim_has_a_false_table_that_it_refutes(
    make_folder: Callable[[str], Path], golden: Callable[[str, str], None], name: str
) -> None:
    result = prove_one(make_folder(name), name, *EVIDENCE.get(name, ()))
    golden(f"claims_{name}", story(result))
    refuted = [claim for cases in CASES.values() for _, _, claim, _ in cases]
    for claim in result.claims:
        assert any(fnmatchcase(claim["claim"], f"{text}*") for text in refuted), claim


def test_every_proof_has_false_tables(make_folder: Callable[[str], Path]) -> None:
    covered = {open_one(make_folder(name), name).definition.recipe.kind for name in CASES}
    assert covered == {name for name, kind in KINDS.items() if kind.prove} - {"senet"}
