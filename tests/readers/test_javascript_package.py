"""The JavaScript package: the 15-puzzle, missing tables; and as npm packs it, used
from TypeScript, and in a page and a worker of a browser.
"""

import json
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from puzzle_tablebase.errors import TablebaseError
from puzzle_tablebase.puzzles.sliding import parse_board
from puzzle_tablebase.queries import open_tables
from tests.readers.test_javascript_reader import PACKAGE, ask
from tests.support.hosts import serve
from tests.support.reader_programs import run, tool
from tests.support.shell import ROOT, environment
from tests.support.sliding_oracle import replay
from tests.support.tampered import link_copy

COMPILER = ROOT / "queries" / "node_modules" / ".bin" / "tsc"
FIFTEEN = "0123456789abcdef"


def test_the_fifteen_puzzle_is_answered_as_at_the_shell(patterns_555: Path) -> None:
    rng, board = random.Random(15), parse_board("4x4")
    pairs = list[tuple[str, str]]()
    while len(pairs) < 4:
        state, goal = "".join(rng.sample(FIFTEEN, 16)), rng.choice((board.example, FIFTEEN))
        if board.can_reach(state, goal):
            pairs.append((state, goal))
    *told, wrong, beside, far = ask(
        patterns_555,
        *(["fifteen", state, {"goal": to.replace(board.example, "corner")}] for state, to in pairs),
        ["fifteen", "0"],
        ["fifteen", FIFTEEN, {"goal": "1023456789abcdef"}],
        ["fifteen", "0213456789abcdef", {"goal": FIFTEEN}],
    )
    assert [each["error"][0] for each in (wrong, beside, far)] == [2, 1, 1]
    with open_tables(str(patterns_555)) as tables:
        for (state, goal), each in zip(pairs, told, strict=True):
            answer = each["answer"]
            expected = tables.answer("fifteen", state, goal=goal).to_dict()
            for name in ("state", "distance", "bound"):
                assert answer[name] == expected[name]
            assert each["progress"] >= 1
            assert len(answer["solution"]) == answer["distance"]
            assert answer["path"] == replay(state, answer["solution"], 4, 4)
            assert answer["path"][-1] == goal


def test_missing_tables_are_told_as_at_the_shell(large_boards: Path) -> None:
    """The same command, and the number that the program exits with."""
    goal = {"goal": "1023456789ab"}
    asked: list[tuple[list[Any], dict[str, Any]]] = [
        (["sliding", "3x3", "123456780"], {"board": "3x3"}),
        (["sliding", "4x3", "1023456789ab", goal], {"board": "4x3", **goal}),
        (["fifteen", FIFTEEN, {"goal": FIFTEEN}], {"patterns": "5-5-5", "goal": FIFTEEN}),
        (["senet", "ABABABABAB....."], {}),
    ]
    told = ask(large_boards, *(question for question, _ in asked))
    with open_tables(str(large_boards)) as tables:
        for (question, options), each in zip(asked, told, strict=True):
            key = question[2 if question[0] == "sliding" else 1]
            with pytest.raises(TablebaseError) as raised:
                tables.answer(question[0], key, **options)
            expected = str(raised.value).partition("Run: ")[2].partition(" --outputs")[0]
            code, message, _ = each["error"]
            assert (code, message.partition("Run: ")[2]) == (3, expected)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder where the package is installed, which packs to the same bytes twice."""
    folder = tmp_path_factory.mktemp("user")
    copy = tmp_path_factory.mktemp("other") / "package"
    shutil.copytree(PACKAGE, copy)  # all its files are newer
    archives = list[Path]()
    for name, source in (("first", PACKAGE), ("second", copy)):
        (folder / name).mkdir()
        words = ("--silent", "--pack-destination", str(folder / name))
        archives.append(folder / name / run_npm(source, "pack", *words).split()[-1])
    assert archives[0].read_bytes() == archives[1].read_bytes()
    (folder / "package.json").write_text('{"type": "module"}')
    run_npm(folder, "install", "--offline", "--no-audit", "--no-fund", str(archives[0]))
    return folder


def run_npm(folder: Path, *words: str) -> str:
    command = [tool("npm"), *words]
    return subprocess.run(
        command, cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True, check=True
    ).stdout


TYPED = """
import { openTables, TablebaseError } from "puzzle-tablebase-reader";
const tables = openTables("https://example.org/tables", { retryDelays: [] });
const distance: number = (await tables.eight("378546201", { goal: "edge" })).distance;
const solutions: number | undefined = (await tables.sliding("4x2", "12345670")).solutions;
const path: string[] = (await tables.fifteen("x", { onProgress: ({ bound }) => bound + 1 })).path;
const plies: number = (await tables.senet("x")).plies;
const closed: boolean = (await tables.knight("b1", "a3")).closed;
const place: string = new TablebaseError(3, "x", { place: "y" }).place;
export { closed, distance, path, place, plies, solutions };
"""
WORKER = """
import { openTables } from "./index.js";
onmessage = async ({ data }) => {
    const { distance } = await openTables(data).eight("378546201");
    postMessage(distance);
};
"""
IN_PAGE = """async () => {
    const { openTables } = await import("./index.js");
    const { closed } = await openTables(".").knight("b1", "a3");
    const worker = new Worker("worker.js", { type: "module" });
    const said = new Promise((done) => { worker.onmessage = ({ data }) => done(data); });
    worker.postMessage(new URL(".", location.href).href);
    return [closed, await said];
}"""


def test_the_example_of_its_page_runs(installed: Path, outputs: Path) -> None:
    (example,) = re.findall(r"```js\n(.*?)```", (PACKAGE / "README.md").read_text("utf-8"), re.S)
    with serve(outputs) as host:
        example = example.replace("https://example.org", host.url)
        printed = f"{example}console.log(distance, best_moves, solution);"
        (installed / "page.mjs").write_text(printed)
        said = run(tool("node"), installed / "page.mjs")
    assert said == (0, "27 ULR UULDDRURULLDDRRULDLURULDDRR\n", "")


@pytest.mark.parametrize("source", ["installed", "a folder"])
def test_strict_typescript_knows_its_types(installed: Path, source: str) -> None:
    if not COMPILER.exists():  # `make check` installs it
        tool("tsc")
    name = "puzzle-tablebase-reader"
    typed = TYPED if source == "installed" else TYPED.replace(name, str(PACKAGE / "index.js"))
    options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2022"]
    for text, is_right in ((typed, True), (typed.replace("plies: number", "plies: string"), False)):
        (installed / "use.ts").write_text(text)
        said = run(COMPILER, installed / "use.ts", *options)
        assert (said.code == 0) == is_right, said.out


def test_the_types_name_what_there_is() -> None:
    types = (PACKAGE / "index.d.ts").read_text()
    exported = re.findall(r"^export (?:const|class|function) (\w+)", types, re.MULTILINE)
    (body,) = re.findall(r"^export class Tables {(.*?)^}", types, re.MULTILINE | re.DOTALL)
    methods = re.findall(r"^  (\w+)\(", body, re.MULTILINE)
    script = f"""
        import * as made from {json.dumps(str(PACKAGE / "index.js"))};
        const own = Object.getOwnPropertyNames(made.Tables.prototype);
        console.log(JSON.stringify([Object.keys(made), own]));
    """
    said = run(tool("node"), "--input-type=module", "-e", script)
    names, own = json.loads(said.out)
    assert sorted(exported) == sorted(names)
    inner = {"constructor", "readManifest", "find"}
    assert {*methods} == {*own} - inner


def test_a_page_and_a_worker_use_the_installed_package(
    installed: Path, outputs: Path, browser: Browser, tmp_path: Path
) -> None:
    package = installed / "node_modules" / "puzzle-tablebase-reader"
    folder = link_copy(outputs, tmp_path)
    for file in package.glob("*.js"):
        shutil.copy(file, folder)
    (folder / "worker.js").write_text(WORKER)
    (folder / "page.html").write_text("<!doctype html><title>A page</title>")
    with serve(folder) as host:
        page = browser.new_page()
        page.goto(f"{host.url}/page.html")
        assert page.evaluate(IN_PAGE) == [True, 27]
        page.close()
