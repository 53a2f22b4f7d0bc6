"""The verdicts that docs/trust.md gives, compared with those that the program gives."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from puzzle_tablebase.pipeline.proofs import TableVerdict
from tests.support.shell import ROOT

PAGE = ROOT / "docs" / "trust.md"
BOARD = re.compile(r"[0-9]+x[0-9]+")


class Row(NamedTuple):
    """A row of the page: tables by name, `CxR` for any board, `T` for any tiles.

    `…` in `how` stands for any text.
    """

    tables: str
    boards: str
    verdict: str
    how: str

    def covers(self, verdict: TableVerdict) -> bool:
        names = re.findall(r"`([a-z]\w+)`", self.tables)
        patterns = [re.sub("[CRN]", "[0-9]+", name).replace("T", "[0-9a-f]+") for name in names]
        how = ".*".join(map(re.escape, self.how.split("…")))
        return (
            (not names or any(re.fullmatch(pattern, verdict.table) for pattern in patterns))
            and verdict.verdict == self.verdict
            and re.fullmatch(how, verdict.how) is not None
        )


def rows(heading: str) -> list[Row]:
    """Return the rows of the table below a heading."""
    _, _, below = PAGE.read_text("utf-8").partition(f"\n### {heading}\n")
    section, _, _ = below.partition("\n#")
    lines = [line.strip("|").split("|") for line in section.splitlines() if line[:1] == "|"]
    return [Row(*(cell.strip() for cell in cells)) for cells in lines[2:]]


def require_same(heading: str, verdicts: Iterable[TableVerdict], *, whole: bool = True) -> None:
    """Require that each verdict matches one row of the page.

    With `whole`, also require that each row has a verdict, and lists all boards that have it if it
    lists any.
    """
    page_rows = rows(heading)
    assert page_rows
    result: dict[Row, list[str | None]] = {row: [] for row in page_rows}
    for verdict in verdicts:
        covering = [row for row in page_rows if row.covers(verdict)]
        assert len(covering) == 1, (verdict, covering)
        result[covering[0]].append(verdict.board)
    for row, boards in result.items() if whole else ():
        assert boards, f"nothing is so: {row}"
        if named := BOARD.findall(row.boards):
            assert sorted(named) == sorted(map(str, boards))
