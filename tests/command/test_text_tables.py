"""Tables as text: every cell whole, foreign text as it is, and no columns that say nothing."""

from puzzle_tablebase.pipeline.terminal import format_table


def test_cells_are_whole_and_numbers_end_at_the_right() -> None:
    rows = [("t" * 500, "5", ""), ("[red]\x1b[31m日本[/] :smile:", "5,000", "")]
    names, *cells = format_table(("table", "rows", "saved"), rows).splitlines()
    assert names.split() == ["table", "rows"], "a column without a value is left out"
    assert [line.split() for line in cells] == [
        ["t" * 500, "5"],
        ["[red]\\x1b[31m日本[/]", ":smile:", "5,000"],
    ]
    assert cells[0].endswith("      5")
    assert format_table(("table", "rows"), []).split() == ["table", "rows"]
