"""Browsers for the tests of the pages."""

import hashlib
import json
import re
import shutil
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    Playwright,
    Request,
)

from puzzle_tablebase.queries.boards import BoardAnswer
from puzzle_tablebase.queries.knight.reader import KnightAnswer
from puzzle_tablebase.queries.senet import SenetAnswer

NAMES = {
    "chromium": ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"),
    "firefox": ("firefox-esr", "firefox"),
}
"""The browsers, each with the names that its program may have."""
FLAGS = (
    # a container's root has no sandbox; the other options stop the browser's own network requests
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


VIEWS = {
    "eight": (
        "eight/378546201/123456780",
        "eight/123456780/123804765",
        "eight/play/283104765/123804765/hint",
        "eight/play/123456708/123456780/LRR",
    ),
    "senet": (
        "senet/ABAAABBB.B...A.",
        "senet/BBBBBAAAAA.....",
        "senet/play/9-14,4x7/4",
        "senet/ABAAABBB.B...A./9-14,10-13,7-8/2",
        "senet/play/to=.B.AAABABB...AB/9-14/4/hints=1",
    ),
    "knight": (
        "knight/b1/a3",
        "knight/d4",
        "knight/6x6/a1/12345",
        "knight/5x5",
        "knight/play/6x6/a1b3c5",
    ),
}
"""Some addresses of each view: a plain answer first, then special cases."""
CONSOLE = """addEventListener("DOMContentLoaded", async () => {
    if (!document.querySelector("script[type=importmap]")) return;
    const { modules } = await import("#page/app.js");
    const names = ["tabled_game", "fifteen", "senet", "senet_search", "knight_tours"];
    const [{ EIGHT, SLIDING }, { FIFTEEN }, senet, { listBest, measure }, { BOARDS, ...tours }] =
        names.map((name) => modules[`#page/${name}.js`]);
    globalThis.explorer = {
        openEight: EIGHT.open, openSenet: senet.openSenet, openKnight: tours.openKnight,
        eight: (state, goal) => EIGHT.facts(state, goal),
        openSliding: (board) => SLIDING[board].open(),
        sliding: (board, state, goal) => SLIDING[board].facts(state, goal),
        async fifteen(state, goal) {
            await FIFTEEN.open();
            return FIFTEEN.solve(state, goal);
        },
        senet: senet.senetFacts, countLines: senet.countLines,
        drawTarget: senet.drawTarget, findMostPlies: senet.findMostPlies, listBest, measure,
        // a tour by its board, its start, and its number or its end
        knight(board, start, which) {
            const on = BOARDS[board];
            const from = on.numberOf(start);
            const number = typeof which === "number" ? which
                : tours.toursOf(on).numberTo(from, on.numberOf(which));
            return tours.knightFacts(on, from, number);
        },
        knightTotal(board, start) {
            return tours.toursOf(BOARDS[board]).total(BOARDS[board].numberOf(start));
        },
        completeTour: (board, squares) => tours.toursOf(BOARDS[board]).complete(squares),
    };
});"""
"""What the page's modules answer, as functions for tests."""
HASHED = """async (tables) => {
    const hashes = {};
    for (const [name, table] of Object.entries(tables)) {
        const bytes = await new Blob(table.planes).arrayBuffer();
        const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
        hashes[name] = [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    }
    return hashes;
}"""
"""The hash of the planes of each index that the page has opened, by its table's name."""
DESK: dict[str, Any] = {"viewport": {"width": 1200, "height": 860}, "reduced_motion": "reduce"}
MOVING: dict[str, Any] = {"viewport": {"width": 1200, "height": 860}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 360, "height": 740},
    "has_touch": True,
    "is_mobile": True,
    "reduced_motion": "reduce",
}


def hash_planes(file: Path, most: int = 64) -> str:
    """Return the hash of an index's records, grouped by their bytes: the first ones first."""
    data = file.read_bytes()
    width, count = struct.unpack_from("<I4xQ", data, 8)
    blocks = [data[at : at + 4092 // width * width] for at in range(4096, len(data), 4096)]
    records = b"".join(blocks)[: width * count]
    return hashlib.sha256(
        b"".join(records[at::width] for at in range(min(width, most)))
    ).hexdigest()


def find_browser(name: str) -> str | None:
    """Return the path of an installed browser, or None."""
    return next(filter(None, map(shutil.which, NAMES[name])), None)


@contextmanager
def launch(driver: Playwright, name: str) -> Iterator[Browser]:
    """Start an installed browser, headless, and close it at the end."""
    path = find_browser(name)
    browser = (
        driver.chromium.launch(executable_path=path, args=list(FLAGS))
        if name == "chromium"
        # over WebDriver BiDi, which every Firefox supports, but which cannot reduce a window's
        # motion
        else driver.firefox.launch(
            executable_path=path,
            channel="moz-firefox",
            firefox_user_prefs={"ui.prefersReducedMotion": 1},
        )
    )
    yield browser
    browser.close()


def broken_rules(page: Page, *among: str) -> list[tuple[str, list[str]]]:
    """List the accessibility rules (all, or the named groups) that a page breaks, with the
    elements.
    """
    if not page.evaluate("'axe' in globalThis"):
        page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text("utf-8"))
    options = {"resultTypes": ["violations"], **({"runOnly": among} if among else {})}
    result = page.evaluate("(options) => axe.run(options)", options)
    return [
        (rule["id"], [node["html"][:120] for node in rule["nodes"]])
        for rule in result["violations"]
    ]


class Explorer:
    """The page in a browser. Console output and network requests are recorded as errors."""

    def __init__(self, file: Path, context: BrowserContext) -> None:
        self.file = file
        self.context = context
        self.page = context.new_page()
        self.page.add_init_script(CONSOLE)
        self.said: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        context.on("request", self.ask)

    def ask(self, request: Request) -> None:
        if not request.url.startswith((self.file.as_uri(), "data:", "about:")):
            self.said.append(f"asked for {request.url}")

    def close(self) -> None:
        """Close the page; the browser's context stays for the next one."""
        self.page.close()
        self.context.remove_listener("request", self.ask)

    def open(self, address: str = "") -> Page:
        """Open the page at an address, loaded again."""
        view = address.partition("/")[0]
        ready = view if view in {*VIEWS, "sliding", "fifteen"} else "eight"
        self.page.goto("about:blank")
        self.page.goto(f"{self.file.as_uri()}#{address}" if address else self.file.as_uri())
        self._wait(ready)
        return self.page

    def go(self, address: str) -> Page:
        """Go to another address in the page that is open, as by a link: this takes no time."""
        assert self.address() != address, "nothing would happen"
        self.page.evaluate("delete document.body.dataset.ready")
        self.page.goto(f"{self.file.as_uri()}#{address}")
        self.page.wait_for_selector("body[data-ready]")
        return self.page

    def reload(self) -> None:
        """Load the page again, at the address that it has."""
        self.page.reload()
        self._wait(self.address().partition("/")[0])

    def _wait(self, view: str) -> None:
        self.page.wait_for_selector(f"body[data-ready={view}]")
        self.page.wait_for_function("globalThis.explorer")

    def address(self) -> str:
        return str(self.page.evaluate("location.hash.slice(1)"))

    def facts(self, view: str) -> dict[str, str]:
        """Return the rows of a view's answer."""
        rows = self.page.locator(f"#{view}-facts")
        terms, text = (rows.locator(tag).all_inner_texts() for tag in ("dt", "dd"))
        return dict(zip(terms, text, strict=True))

    def text(self, place: str) -> str:
        return self.page.locator(place).inner_text()


def read_board(shown: Explorer) -> str:
    """Return the position of Senet's board."""
    labels = shown.page.locator("#senet-board button").evaluate_all(
        "squares => squares.map((square) => square.getAttribute('aria-label'))"
    )
    return "".join(re.sub(r".*?: (\w+).*", r"\1", label) for label in labels).replace("empty", ".")


def find_differences(
    answers: list[dict[str, Any]], expected: list[dict[str, object]]
) -> list[tuple[dict[str, object], dict[str, Any]]]:
    """Return the page's answers that differ from the library's, in the keys that both have.

    Each key of the page is the name of a declared fact, but for the squares that it draws.
    """
    declared = {*BoardAnswer.facts, *SenetAnswer.facts, *KnightAnswer.facts, "squares"}
    assert {key for answer in answers for key in answer} <= declared
    return [
        (right, answer)
        for answer, right in zip(answers, json.loads(json.dumps(expected)), strict=True)
        if any(answer[key] != right[key] for key in right.keys() & answer.keys())
    ]
