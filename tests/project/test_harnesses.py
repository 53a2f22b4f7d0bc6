"""The examples for other people's harnesses, run by the packages themselves, as published.

The environment is made from `requirements-harnesses.lock`. Answers are made from a plain search.
"""

import http.server
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.oracles import eight_replay, eight_search
from tests.support.shell import ROOT, run
from tests.support.sliding_oracle import list_solutions

pytestmark = pytest.mark.nightly

GOAL = "123456780"
BACK = dict(zip("UDLR", "DURL", strict=True))
REASONING_GYM = """
import json, sys
import reasoning_gym, reasoning_gym_dataset
from reasoning_gym.composite import DatasetSpec
from reasoning_gym.dataset import ReseedingDataset
from reasoning_gym.factory import create_curriculum
from reasoning_gym.utils import extract_answer

options, completions = json.load(sys.stdin)
data = reasoning_gym.create_dataset("eight_puzzle", **options)
again = reasoning_gym.create_dataset("eight_puzzle", **options)
spec = DatasetSpec("eight_puzzle", 1, {"min_distance": 9, "max_distance": 9, "size": 100})
mixed = reasoning_gym.create_dataset("composite", size=5, seed=1, datasets=[spec])
stream, curriculum = iter(ReseedingDataset(data, len(data))), create_curriculum("eight_puzzle")
curriculum.increment_attr_level("distance")
json.dump({
    "entries": [*data],
    "is_same": [*data] == [*again],
    "mixed": [(each, mixed.score_answer(each["answer"], each)) for each in mixed],
    "stream": [next(stream)["metadata"]["state"] for _ in range(2 * len(data))],
    "level": vars(curriculum.generate_configuration({"seed": 3})),
    "scores": [
        data.score_answer(extract_answer(text), {"metadata": {"state": state}})
        for state, text in completions
    ],
}, sys.stdout)
"""
REFUSED = """
import json, sys
import reasoning_gym_dataset as made

problems = []
for given in json.load(sys.stdin):
    try:
        made.EightPuzzleDataset(made.EightPuzzleConfig(*given))
    except AssertionError as error:
        problems.append(str(error))
json.dump(problems, sys.stdout)
"""
VERIFIERS = """
import asyncio, json, sys
import verifiers.v1 as vf

def load(split, options):
    config = vf.SingleAgentEnvConfig(taskset={"id": "eight-puzzle-env", "split": split, **options})
    return [*vf.load_environment(config).taskset]

async def score(task, state, text):
    task = task.with_data(state=state)
    agent = vf.AgentInfo(config=vf.AgentConfig(), name="agent", trainable=False)
    trace = vf.Trace(
        task=vf.TraceTask(type="EightPuzzleTask", data=task.data), state=vf.State(), agent=agent
    )
    reply = vf.AssistantMessage(content=text)
    trace.nodes.append(vf.MessageNode(message=reply, sampled=True))
    await task.score(trace)
    return trace.reward, trace.metrics

options, completions = json.load(sys.stdin)
splits = {split: load(split, options) for split in ("train", "test")}
json.dump({
    "splits": {
        split: [task.data.model_dump(mode="json") for task in tasks]
        for split, tasks in splits.items()
    },
    "is_same": [task.key for task in splits["test"]]
    == [task.key for task in load("test", options)],
    "scores": [asyncio.run(score(splits["test"][0], *each)) for each in completions],
}, sys.stdout)
"""


@pytest.fixture(scope="module")
def harnesses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the programs of an environment with both packages."""
    folder = tmp_path_factory.mktemp("harnesses") / "env"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = (folder / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "-q")
    subprocess.run([*pip, "install", "uv"], check=True)
    lock = ("--require-hashes", "-r", ROOT / "requirements-harnesses.lock")
    uv = (folder / "bin" / "uv", "pip", "install", "-q", "--python", folder / "bin" / "python")
    subprocess.run([*uv, *lock], check=True)
    subprocess.run([*uv, "--no-deps", ROOT], check=True)
    # what the page says to type
    install = next(line for line in list_commands() if line.startswith("pip install ./"))
    env = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    subprocess.run(["sh", "-c", f"{install} -q"], cwd=ROOT, env=env, check=True)
    return folder / "bin"


def list_blocks(language: str) -> list[str]:
    """List the blocks in a language of the page about training."""
    page = (ROOT / "docs" / "train.md").read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def list_commands() -> list[str]:
    """List the shell commands of the page."""
    return "".join(list_blocks("sh")).replace("\\\n", "").splitlines()


@pytest.fixture
def variables(harnesses: Path, outputs: Path) -> dict[str, str]:
    """Return the variables with which the environment finds the project and its tables."""
    return {
        "PATH": f"{harnesses}:{os.environ['PATH']}",
        "PIPELINE_OUTPUTS": str(outputs),
        "PYTHONPATH": str(ROOT / "examples"),
    }


def run_program(program: str, harnesses: Path, variables: dict[str, str], *facts: object) -> Any:
    """Run a program in the environment, with facts as its input; return its output."""
    command: list[str | Path] = [harnesses / "python", "-c", program]
    ended = run(command, env=variables, input=json.dumps(facts).encode())
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def list_completions(state: str) -> list[tuple[str, str, float]]:
    """List completions for a board, each with what it is and what it should score."""
    distances, _ = eight_search(GOAL)
    best = list_solutions(state, 3, 3, distances)[0]
    detour = f"{best[0]}{BACK[best[0]]}"
    return [
        ("shortest", f"Let me see.\n<answer>{best}</answer>", 1.0),
        ("shortest", f"<answer>UD</answer>? No: <answer> {' '.join(best)}\n</answer> ", 1.0),
        ("longer", f"<answer>{detour}{best}</answer>", len(best) / (len(best) + 2)),
        ("incomplete", f"<answer>{best[:-1]}</answer>", 0.0),
        ("illegal", f"<answer>UUU{best}</answer>", 0.0),
        ("unreadable", f"<answer>The moves are {best}</answer>", 0.0),
        ("incomplete", "<answer></answer>", 0.0),
        ("incomplete", f"{best}, without tags", 0.0),
        ("incomplete", "", 0.0),
    ]


def swap_tiles(state: str) -> str:
    """Return a board that cannot be solved."""
    return state.translate(str.maketrans("12", "21"))


def test_a_data_set_of_reasoning_gym(harnesses: Path, variables: dict[str, str]) -> None:
    options = {"min_distance": 12, "max_distance": 15, "size": 40, "seed": 7}
    state = "123456078"
    unsolvable = (swap_tiles(state), "<answer>RR</answer>", 0.0)
    cases = [*((state, *each[1:]) for each in list_completions(state)), unsolvable]
    requests = [options, [case[:2] for case in cases]]
    output = run_program(REASONING_GYM, harnesses, variables, *requests)
    assert output["scores"] == [score for *_, score in cases]
    distances, _ = eight_search(GOAL)
    states = [entry["metadata"]["state"] for entry in output["entries"]]
    assert len({*states}) == 40
    for entry, state in zip(output["entries"], states, strict=True):
        facts, answer = entry["metadata"], entry["answer"]
        assert facts["distance"] == len(answer) == distances[state]
        assert eight_replay(state, answer)[-1] == GOAL
        assert facts["difficulty"] == {"distance": [12, 15]}
        assert "\n".join(" ".join(state[at : at + 3]) for at in (0, 3, 6)) in entry["question"]
    depths = [distances[state] for state in states]
    assert {depth: depths.count(depth) for depth in depths} == dict.fromkeys(range(12, 16), 10)
    assert output["is_same"]
    assert len({*output["stream"]}) > 70, "the same boards under another seed"
    assert {entry["metadata"]["distance"] for entry, _ in output["mixed"]} == {9}
    assert {score for _, score in output["mixed"]} == {1.0}
    level = {"min_distance": 6, "max_distance": 15, "seed": 3, "size": 500}
    assert output["level"] == level


def test_too_few_boards_for_a_data_set(harnesses: Path, variables: dict[str, str]) -> None:
    code = "import reasoning_gym_dataset as m; m.EightPuzzleDataset(m.EightPuzzleConfig(1, 2))"
    ended = subprocess.run(
        [harnesses / "python", "-c", code], env=variables, capture_output=True, check=False
    )
    assert b"ValueError: Only 6 boards are at distances 1-2, fewer than 500" in ended.stderr


def test_other_configurations_are_refused(harnesses: Path, variables: dict[str, str]) -> None:
    output = run_program(
        REFUSED, harnesses, variables, (0, 2, 0, 1), (3, 2, 0, 1), (1, 32, 0, 1), (1, 2, 0, 0)
    )
    assert output == [
        "min_distance must be at least 1",
        "max_distance must be >= min_distance",
        "max_distance must be at most 31",
        "size must be positive",
    ]


def test_a_taskset_of_verifiers(harnesses: Path, variables: dict[str, str]) -> None:
    options = {"num_train": 80, "num_test": 40, "min_distance": 12, "max_distance": 15, "seed": 2}
    state = "123456078"
    unsolvable = ("incomplete", swap_tiles(state), "<answer>RR</answer>", 0.0)
    cases = [(result, state, *rest) for result, *rest in list_completions(state)] + [unsolvable]
    requests = [options, [case[1:3] for case in cases]]
    output = run_program(VERIFIERS, harnesses, variables, *requests)
    for (result, *_, score), (reward, metrics) in zip(cases, output["scores"], strict=True):
        assert (reward, metrics[result], sum(metrics.values())) == (score, 1, 1)
    distances, _ = eight_search(GOAL)
    forms = {}
    for split, size in (("train", 80), ("test", 40)):
        rows = output["splits"][split]
        states = [row["state"] for row in rows]
        assert [row["distance"] for row in rows] == [distances[state] for state in states]
        assert {*range(12, 16)} == {row["distance"] for row in rows}
        forms[split] = {min(state, mirror(state)) for state in states}
        assert len({*states}) == size
    assert not forms["train"] & forms["test"]
    assert output["is_same"]


def mirror(state: str) -> str:
    """Return the board that looks like this one in a mirror along the main diagonal."""
    turned = "".join(state[at] for at in (0, 3, 6, 1, 4, 7, 2, 5, 8))
    return turned.translate(str.maketrans("123456780", "147258360"))


def test_the_page_says_what_to_type(
    harnesses: Path, variables: dict[str, str], tmp_path: Path
) -> None:
    """Run the page's Python, and let verifiers check its environment, without a model.

    Its gold and noop checks: solutions earn all, and silence does not.
    """
    for block in list_blocks("py"):
        ended = run([harnesses / "python", "-c", block], env=variables)
        assert ended.code == 0, ended.err
    validate = next(line for line in list_commands() if line.startswith("vf-validate "))
    ended = run(["sh", "-c", f"{validate} --no-rich"], cwd=tmp_path, env=variables)
    assert ended.code == 0, ended.err
    (summary,) = (tmp_path / "outputs").glob("*/summary.json")
    checks = json.loads(summary.read_text())["checks"]
    assert [checks[name]["valid"] for name in ("gold", "noop")] == [5, 5]


@contextmanager
def serve_model(replies: dict[str, str]) -> Iterator[str]:
    """Serve a model that knows what to say to each board; yield its address."""

    class Model(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            board = request["messages"][-1]["content"].partition("Goal")[0]
            reply = replies["".join(filter(str.isdigit, board))]
            chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
            message = {"role": "assistant", "content": reply}
            choices = (
                {"delta": message, "finish_reason": None},
                {"delta": {}, "finish_reason": "stop"},
            )
            lines = [json.dumps({**chunk, "choices": [{"index": 0, **each}]}) for each in choices]
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write("".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode())

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


def test_an_evaluation_of_a_model(
    harnesses: Path, variables: dict[str, str], tmp_path: Path
) -> None:
    """Evaluate a model that is right, wrong and silent in turns, as the page says."""
    rows = run_program(VERIFIERS, harnesses, variables, {}, [])["splits"]["test"][:9]
    chosen = {row["state"]: list_completions(row["state"])[at] for at, row in enumerate(rows)}
    evaluate = next(line for line in list_commands() if line.startswith("vf-eval "))
    with serve_model({state: text or "." for state, (_, text, _) in chosen.items()}) as address:
        command = evaluate.replace("http://127.0.0.1:8000/v1", address)
        # the harness installs its packages as the caller's uv is set up
        env = {**os.environ, **variables}
        ended = run(["sh", "-c", f"{command} --no-rich"], cwd=tmp_path, env=env)
    assert ended.code == 0, ended.err
    (file,) = (tmp_path / "outputs").glob("*/traces.jsonl")
    episodes = [json.loads(line) for line in file.read_text().splitlines()]
    found = {
        episode["task"]["data"]["state"]: episode["traces"][0]["rewards"]["shortness"]["score"]
        for episode in episodes
    }
    assert found == pytest.approx({state: score for state, (*_, score) in chosen.items()})
