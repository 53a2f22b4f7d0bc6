"""The JavaScript package: its answers, its requests, and hosts that misbehave; and as npm packs it,
used from TypeScript, and in a page and a worker of a browser.
"""

import json
import os
import random
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser

from puzzle_tablebase.errors import TablebaseError, TableMissing
from puzzle_tablebase.pipeline.terminal import format_repair
from puzzle_tablebase.puzzles.sliding import parse_board
from puzzle_tablebase.queries.tables import open_tables
from tests.support.faults import PASSING, fail, make_faults
from tests.support.format_page import read_cases
from tests.support.hosts import Answer, Request, reserve_port, serve
from tests.support.reader_programs import query_package, run, tool
from tests.support.shell import ROOT, Completed
from tests.support.sliding_oracle import replay
from tests.support.tampered import link_copy, rewrite_index

PACKAGE = ROOT / "queries" / "javascript"
COMPILER = ROOT / "queries" / "node_modules" / ".bin" / "tsc"
FIFTEEN = "0123456789abcdef"
STATE, POSITION = "378546201", "ABAAABBB.B...A."
QUESTIONS = [["eight", STATE], ["senet", POSITION], ["knight", "b1", "a3"]]
FARTHEST = "0369147a258b"
REASONS = {
    "all absent": "HTTP status 404: Not Found",
    "absent": "HTTP status 404: Not Found",
    "expired": "HTTP status 403: Request has expired",
    "failing": "HTTP status 500",
    "compressed parts": "the host does not send bytes 0 to ",
    "another part": "the host does not send bytes 0 to ",
    "more": "the host does not send bytes 0 to 733183 as they are",
    "large": "104,857,600 bytes",
    "blank": "block 0",
    "manifest of HTML": "it is not a manifest",
    "later manifest": "it is of format version 9, not 5",
}
"""Lasting faults, each with a fact that its message has."""

Response = dict[str, Any]
Question = tuple[str, str, dict[str, Any]]


def test_answers_are_those_of_the_program(outputs: Path, large_boards: Path) -> None:
    """Query random keys, keys written as at the shell, and all cases."""
    rng = random.Random(31)
    states, goals = (["".join(rng.sample("012345678", 9)) for _ in range(n)] for n in (40, 10))
    squares = [f"{file}{rank}" for file in "abcdefgh" for rank in range(1, 9)]
    questions: list[Question] = [("eight", state, {}) for state in states]
    questions += [
        ("eight", state, {"goal": goal}) for goal in goals for state in (*states[:2], goal)
    ]
    questions += [("senet", "".join(rng.sample("AAAAABBBBB.....", 15)), {}) for _ in range(20)]
    pairs = [rng.sample(squares, 2) for _ in range(20)]
    pairs += [case["key"].split() for case in read_cases("knight")]
    questions += [("knight", start, {"to": finish}) for start, finish in (*pairs, (" B1 ", "A3"))]
    questions += [
        (case["puzzle"], case["key"], {"goal": case["goal"]} if "goal" in case else {})
        for case in (*read_cases("eight"), *read_cases("senet"))
    ]
    questions += [
        ("eight", states[0], {"goal": "edge"}),
        ("eight", "1 5 2 / 7 . 3 / 8 4 6", {}),
        ("eight", "[[3, 7, 8], [5, 4, 6], [2, 0, 1]]", {"goal": "1 2 3 4 5 6 7 _ 8"}),
        ("senet", "a b a b a b a b a b _ _ _ _ _", {}),
    ]
    responses = query_package(
        outputs, *([name, key, options.get("to", options)] for name, key, options in questions)
    )
    assert {each.get("error", [0])[0] for each in responses} == {0, 1, 2}
    require_answers(outputs, questions, responses)
    with open_tables(str(large_boards)) as tables:
        boards = {
            name: tables.sliding(name).sample(10, seed=5)["state"] for name in ("2x5", "5x2", "3x4")
        }
    wide = [("3x4", "1 2 3 4 | 5 6 7 8 | 9 10 0 11")]
    wide += [(board, state) for board, states in boards.items() for state in states]
    *responses, listed = query_package(
        large_boards, *(["sliding", *words] for words in wide), ["listBoards"]
    )
    require_answers(
        large_boards, [("sliding", key, {"board": name}) for name, key in wide], responses
    )
    assert all(each["progress"] == each["answer"]["distance"] for each in responses)
    assert listed["answer"] == {"2x5": ["1234567890"], "3x4": ["123456789ab0"]}


def require_answers(folder: Path, questions: list[Question], responses: list[Response]) -> None:
    """Require the facts, or the codes of errors, of the program."""
    with open_tables(str(folder)) as tables:
        for (puzzle, key, options), each in zip(questions, responses, strict=True):
            if "error" in each:
                with pytest.raises(TablebaseError) as caught:
                    tables.answer(puzzle, key, **options)
                assert each["error"][0] == caught.value.exit_code
                continue
            expected = tables.answer(puzzle, key, **options).to_dict()
            answer = each["answer"]
            path = answer.pop("path") if "solution" in answer else []
            assert answer == {name: expected[name] for name in answer} != {}
            assert len(path) == len(answer.get("solution", "")) + bool(path)


def test_what_is_no_key_is_refused(outputs: Path) -> None:
    questions = list[list[Any]]()
    for empty in ("", 0, None, "9x9", "3x", "03x4"):
        questions += [["eight", empty], ["senet", empty], ["sliding", empty, STATE]]
        questions += [["knight", empty, "a3"], ["knight", "b1", empty]]
        questions += [["eight", STATE, {"goal": empty}]] * (empty is not None)
    for question, each in zip(questions, query_package(outputs, *questions), strict=True):
        assert each["error"][0] == 2, question


def test_an_answer_takes_few_requests(outputs: Path, large_boards: Path) -> None:
    with serve(outputs) as host:
        responses = query_package(host.url, *QUESTIONS)
        assert [each["requests"] for each in responses] == [2, 3, 1]
        assert [each["rounds"] for each in responses] == [2, 2, 1]
        parts = [request for request in host.requests if request.span]
        assert {request.headers["accept-encoding"] for request in parts} == {"identity"}
    with serve(large_boards) as host:
        short, whole, packed, again = query_package(
            host.url,
            ["sliding", "2x5", "9876543210", {"solution": False}],
            ["sliding", "2x5", "9876543210"],
            ["sliding", "3x4", FARTHEST],
            ["sliding", "3x4", FARTHEST],
        )
        assert "solution" not in short["answer"]
        assert short["rounds"] == 3, "one more, to see whether the host supports ranges"
        assert whole["rounds"] <= whole["answer"]["distance"]
        assert packed["rounds"] <= packed["answer"]["distance"] == 37
        assert packed["bytes"] < 400_000
        assert again["requests"] == 0


def test_passing_faults_change_no_answer_and_lasting_ones_are_told(outputs: Path) -> None:
    expected = [each["answer"] for each in query_package(outputs, *QUESTIONS)]
    names, size = [*PASSING, *REASONS], len(QUESTIONS)
    with serve(outputs, make_faults(names)) as host:
        locations = [f"{host.url}/{quote(name)}" for name in names]
        words = [question for each in locations for question in (["open", each], *QUESTIONS)]
        responses = query_package(outputs, *words)
    for at, (name, url) in enumerate(zip(names, locations, strict=True)):
        answers = responses[at * size : (at + 1) * size]
        if name in PASSING:
            assert [each.get("answer") for each in answers] == expected, (name, answers)
            continue
        code, message, _ = answers[0]["error"]
        assert (code, url in message, REASONS[name] in message) == (3, True, True), name


def test_a_location_that_is_not_there_is_told() -> None:
    with reserve_port() as port:
        for location in (f"http://127.0.0.1:{port}/tables", "/no/folder"):
            code, message, _ = query_package(location, ["eight", STATE])[0]["error"]
            assert (code, f"{location}/manifest.json" in message) == (3, True)


def test_a_named_pipe_is_not_waited_for(copy: Path) -> None:
    (copy / "eight.idx").unlink()
    os.mkfifo(copy / "eight.idx")
    (response,) = query_package(str(copy), ["eight", STATE])
    assert response["error"][:2] == [3, f"{copy}/eight.idx cannot be read: it is not a file."]


def test_a_reason_controls_no_terminal(outputs: Path) -> None:
    def refuse(_: Request, answer: Answer) -> None:
        answer.status, answer.reason = 403, "Red \x7f" + "x" * 5000

    with serve(outputs, refuse) as host:
        (response,) = query_package(host.url, ["eight", STATE])
    code, message, status = response["error"]
    assert (code, status) == (3, 403)
    assert r"HTTP status 403: Red \u{7f}xx" in message
    assert message.isprintable()
    assert len(message) < 400


def test_a_reason_is_not_looked_for_without_end(outputs: Path) -> None:
    with serve(outputs, fail(403, b" " * (1 << 17) + b"<Message>Late</Message>")) as host:
        (response,) = query_package(host.url, ["eight", STATE])
    assert response["error"][1].endswith("HTTP status 403: Forbidden.")


@pytest.mark.parametrize(
    "start", ["ftp://", "file://", "https:/", "https//", "//", "", "https://h:x/", "s3://"]
)
def test_no_message_has_the_password_of_an_address(start: str) -> None:
    script = f"""import {{ openTables }} from {json.dumps(str(PACKAGE / "index.js"))};
    try {{ await openTables("{start}u:S3cret@h/x").eight("{STATE}"); }}
    catch (error) {{ console.log(error.code, error.name, error); }}"""
    completed = run(tool("node"), "--input-type=module", "--eval", script)
    assert completed.out.startswith("2 TablebaseError")
    assert "S3cret" not in completed.out + completed.err


def test_a_table_published_anew_is_opened_once_more(copy: Path) -> None:
    questions = [["senet", POSITION], ["senet", "ABABABABAB....."]]
    with serve(copy) as host:

        def publish(request: Request, answer: Answer) -> None:
            if request.name == "senet.idx" and len(host.requests) == 4:
                rewrite_index(copy)
                host.fault = None

        host.fault = publish
        responses = query_package(host.url, *questions, ["senet", ".....BBBBBAAAAA"])
        assert [each["answer"]["plies"] for each in responses[:2]] == [2, 0]
        assert [request.name for request in host.requests].count("manifest.json") == 2
        last = host.requests[-1]
        assert "no-cache" in last.headers.get("cache-control", "")


def test_index_files_are_read_by_many_questions_at_once() -> None:
    program = Path(__file__).with_name("test_index_file.mjs")
    text = run(tool("node"), "--test", program)
    assert text.code == 0, text.out


def test_the_fifteen_puzzle_is_answered_as_at_the_shell(patterns_555: Path) -> None:
    rng, board = random.Random(15), parse_board("4x4")
    pairs = list[tuple[str, str]]()
    while len(pairs) < 4:
        state, goal = "".join(rng.sample(FIFTEEN, 16)), rng.choice((board.example, FIFTEEN))
        if board.can_reach(state, goal):
            pairs.append((state, goal))
    questions = [(state, {"goal": to.replace(board.example, "corner")}) for state, to in pairs]
    questions += [("0", {}), (FIFTEEN, {"goal": "1023456789abcdef"})]
    questions += [("0213456789abcdef", {"goal": FIFTEEN})]
    *responses, wrong, beside, far = query_package(
        patterns_555, *(["fifteen", *each] for each in questions)
    )
    assert [each["error"][0] for each in (wrong, beside, far)] == [2, 1, 1]
    with open_tables(str(patterns_555)) as tables:
        for (state, goal), each in zip(pairs, responses, strict=True):
            answer = each["answer"]
            expected = tables.answer("fifteen", state, goal=goal).to_dict()
            for name in ("state", "distance", "heuristic"):
                assert answer[name] == expected[name]
            assert each["progress"] >= 1
            assert answer["path"] == replay(state, answer["solution"], 4, 4)
            assert (len(answer["path"]) - 1, answer["path"][-1]) == (answer["distance"], goal)


def test_missing_tables_are_told_as_at_the_shell(large_boards: Path) -> None:
    """The same command, and the number that the program exits with."""
    goal = {"goal": "1023456789ab"}
    questions: list[tuple[list[Any], dict[str, Any]]] = [
        (["sliding", "3x3", "123456780"], {"board": "3x3"}),
        (["sliding", "4x3", "1023456789ab", goal], {"board": "4x3", **goal}),
        (["fifteen", FIFTEEN, {"goal": FIFTEEN}], {"patterns": "5-5-5", "goal": FIFTEEN}),
        (["senet", "ABABABABAB....."], {}),
    ]
    responses = query_package(large_boards, *(question for question, _ in questions))
    with open_tables(str(large_boards)) as tables:
        for (question, options), each in zip(questions, responses, strict=True):
            key = question[2 if question[0] == "sliding" else 1]
            with pytest.raises(TableMissing) as raised:
                tables.answer(question[0], key, **options)
            expected = format_repair(raised.value).partition(" --outputs")[0]
            code, message, _ = each["error"]
            assert (code, message.partition("Run: ")[2]) == (3, expected)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pack the package and install it; return the folder."""
    folder = tmp_path_factory.mktemp("user")
    completed = run(tool("npm"), "pack", PACKAGE, "--silent", "--pack-destination", folder)
    (folder / "package.json").write_text('{"type": "module"}')
    words = ("--offline", "--no-audit", "--no-fund", "--prefix", folder)
    completed = run(tool("npm"), "install", *words, folder / completed.out.split()[-1])
    assert completed.code == 0, completed.err
    return folder


TYPED = """
import { type BoardAnswer, openTables, TablebaseError } from "puzzle-tablebase-reader";
const tables = openTables("https://example.org/tables", { retryDelays: [] });
const distance: number = (await tables.eight("378546201", { goal: "edge" })).distance;
const solutions: number | undefined = (await tables.sliding("4x2", "12345670")).solutions;
const path: string[] = (await tables.fifteen("x", { onProgress: ({ least }) => least + 1 })).path;
const plies: number = (await tables.senet("x")).plies;
const closed: boolean = (await tables.knight("b1", "a3")).closed;
const address: string = new TablebaseError(3, "x", { address: "y" }).address;
const answer: BoardAnswer = await tables.eight("378546201");
export { answer, closed, distance, path, address, plies, solutions };
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
    const message = new Promise((done) => { worker.onmessage = ({ data }) => done(data); });
    worker.postMessage(new URL(".", location.href).href);
    return [closed, await message];
}"""


def test_the_example_of_its_page_runs(installed: Path, outputs: Path) -> None:
    (example,) = re.findall(r"```js\n(.*?)```", (PACKAGE / "README.md").read_text("utf-8"), re.S)
    with serve(outputs) as host:
        example = example.replace("https://example.org", host.url)
        printed = f"{example}console.log(distance, best_moves, solution);"
        (installed / "page.mjs").write_text(printed)
        completed = run(tool("node"), installed / "page.mjs")
    assert completed == (0, "27 ULR UULDDRURULLDDRRULDLURULDDRR\n", "")


def compile_types(*words: str | Path) -> Completed:
    """Run the compiler, which `make check` installs."""
    return run(COMPILER if COMPILER.exists() else tool("tsc"), *words)


def test_strict_typescript_knows_its_types(installed: Path) -> None:
    options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2022"]
    for text, is_right in ((TYPED, True), (TYPED.replace("plies: number", "plies: string"), False)):
        (installed / "use.ts").write_text(text)
        completed = compile_types(installed / "use.ts", *options)
        assert (completed.code == 0) == is_right, completed.out


def test_the_types_are_those_of_the_code(tmp_path: Path) -> None:
    completed = compile_types("-p", PACKAGE, "--outDir", tmp_path)
    assert completed.code == 0, completed.out
    made, kept = (
        {path.name: path.read_text() for path in folder.glob("*.d.ts")}
        for folder in (tmp_path, PACKAGE / "types")
    )
    assert made == kept, "run: make docs"


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
