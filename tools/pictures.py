"""Take the screenshots that the docs show: `python -m tools.pictures`."""

import zlib
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import expect, sync_playwright

from puzzle_tablebase.queries.explorer.writer import write_explorer
from puzzle_tablebase.queries.report import write_report
from puzzle_tablebase.tables.store import Folder
from tests.support.explorer_browser import launch
from tests.support.shell import ROOT

PICTURES = {
    "play": "eight/play/283104765/123804765/UR/hint",
    "eight": "eight/378546201/123456780",
    "senet": "senet/B..AABA.BA.BB.A",
    "knight": "knight/b1/a3",
}
"""The address that each screenshot in the docs shows."""
HALFWAY = """() => {
    const slider = document.querySelector("#knight-player input");
    slider.value = 31;
    slider.dispatchEvent(new Event("input"));
}"""


def take_pictures(folder: Path) -> None:
    """Write `report.png`, and `explorer-NAME.png` for each view."""
    with (
        TemporaryDirectory() as place,
        sync_playwright() as driver,
        launch(driver, "chromium") as browser,
    ):
        report = Path(place) / "report.html"
        write_report(Folder(ROOT / "outputs"), report)
        page = browser.new_page(viewport={"width": 920, "height": 1100})
        page.goto(report.as_uri())
        page.locator("h2").first.evaluate("(title) => title.scrollIntoView()")
        (folder / report.with_suffix(".png").name).write_bytes(_smaller(page.screenshot()))
        target = Path(place) / "explorer.html"
        write_explorer(Folder(ROOT / "outputs"), str(target))
        page = browser.new_page(viewport={"width": 920, "height": 730}, reduced_motion="reduce")
        for name, address in PICTURES.items():
            page.goto("about:blank")
            page.goto(f"{target.as_uri()}#{address}")
            page.wait_for_selector(f"body[data-ready={address.partition('/')[0]}]")
            expect(page.locator("body")).not_to_contain_text("being counted")
            if name == "knight":
                page.evaluate(HALFWAY)
            (folder / f"explorer-{name}.png").write_bytes(_smaller(page.screenshot()))


def _smaller(png: bytes) -> bytes:
    """Return a PNG compressed again, because a browser compresses quickly rather than well."""
    chunks, at = [], 8
    while at < len(png):
        size = int.from_bytes(png[at : at + 4], "big")
        chunks.append((png[at + 4 : at + 8], png[at + 8 : at + 8 + size]))
        at += size + 12
    packed = b"".join(data for kind, data in chunks if kind == b"IDAT")
    kept_chunks = [chunk for chunk in chunks if chunk[0] not in (b"IDAT", b"IEND")]
    kept_chunks += [(b"IDAT", zlib.compress(zlib.decompress(packed), 9)), (b"IEND", b"")]
    return png[:8] + b"".join(
        len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
        for kind, data in kept_chunks
    )


if __name__ == "__main__":
    take_pictures(ROOT / "docs")
