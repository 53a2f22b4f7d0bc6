"""The verdicts that docs/trust.md gives, compared with those that the program gives."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from puzzle_tablebase.pipeline.proofs.verdicts import TableVerdict
from tests.support.shell import ROOT

PAGE = ROOT / "docs" / "trust.md"


class Row(NamedTuple):
    """A row of the page: tables by name, `CxR` for any board, `T` for any tiles; or any table.

    `…` in `how` stands for any text.
    """

    tables: str
    boards: str
    verdict: str
    how: str

    def list_names(self) -> list[str]:
        """List the patterns of the names of its tables."""
        names = re.findall(r"`([a-z]\w+)`", self.tables)
        return [re.sub("[CRN]", "[0-9]+", name).replace("T", "[0-9a-f]+") for name in names]

    def covers(self, verdict: TableVerdict) -> bool:
        names = self.list_names()
        how = ".*".join(map(re.escape, self.how.split("…")))
        return (
            (not names or any(re.fullmatch(name, verdict.table) for name in names))
            and verdict.verdict == self.verdict
            and re.fullmatch(how, verdict.how) is not None
        )


def require_rows(verdicts: Iterable[TableVerdict], expected: int) -> None:
    """Require that each verdict matches one row of the page, and all together so many rows.

    A row that names a table goes before one that holds for any.
    """
    lines = [line.strip("|").split("|") for line in PAGE.read_text("utf-8").splitlines()]
    page_rows = [Row(*map(str.strip, cells)) for cells in lines if len(cells) == 4][2:]
    covered = set()
    for verdict in verdicts:
        matching = [row for row in page_rows if row.covers(verdict)]
        named = [row for row in matching if row.list_names()]
        assert len(named or matching) == 1, (verdict, matching)
        covered |= {*(named or matching)}
    assert len(covered) == expected, {*page_rows} - covered
