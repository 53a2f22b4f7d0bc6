"""Tests with a Dask cluster on this machine, whose scheduler and workers are processes."""

import asyncio
import json
import os
import signal
import socketserver
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

from puzzle_tablebase.errors import MachineLimit
from puzzle_tablebase.pipeline.cluster import connect
from puzzle_tablebase.pipeline.tasks import open_tasks
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_tour_table
from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.stores import BACKUP
from puzzle_tablebase.stores.folder import Folder
from puzzle_tablebase.stores.remote import RemoteStore
from tests.support.build_recorder import SMALL, build_all, contents
from tests.support.object_store import bucket
from tests.support.shell import SCRIPT, Cli, environment, run, start_build


@dataclass
class Cluster:
    address: str
    folder: Path
    scheduler: subprocess.Popen[Any]
    workers: list[subprocess.Popen[Any]] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)

    def start_worker(self) -> None:
        words = ["worker", self.address, "--nthreads=1", "--no-nanny", "--no-dashboard"]
        self.workers.append(start_dask_process(self.folder, words, self.variables))


def start_dask_process(
    folder: Path, words: list[str], variables: dict[str, str]
) -> subprocess.Popen[Any]:
    with (folder / "log.txt").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]],
            cwd=folder,
            env=environment(variables),
            stdout=log,
            stderr=log,
        )


@contextmanager
def run_cluster(folder: Path, **variables: str) -> Iterator[Cluster]:
    file = folder / "scheduler.json"
    words = ["scheduler", "--host=127.0.0.1", "--port=0", f"--scheduler-file={file}"]
    scheduler = start_dask_process(folder, [*words, "--no-dashboard"], variables)
    running = Cluster("", folder, scheduler, variables=variables)
    try:
        running.address = await_address(scheduler, file)
        for _ in range(2):
            running.start_worker()
        await_workers(running, 2)
        yield running
    finally:
        for process in (*running.workers, scheduler):
            process.kill()
            process.wait()


def await_address(scheduler: subprocess.Popen[Any], file: Path) -> str:
    """Wait for the file in which a scheduler says which port the system gave it."""
    while True:
        with suppress(FileNotFoundError, json.JSONDecodeError):
            return str(json.loads(file.read_text("utf-8"))["address"])
        assert scheduler.poll() is None
        time.sleep(0.01)


def await_workers(running: Cluster, number: int) -> None:
    with Client(running.address, set_as_default=False) as client:
        client.wait_for_workers(number, timeout=60)


@pytest.fixture(scope="module")
def running_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with run_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture
def own_cluster(tmp_path: Path) -> Iterator[Cluster]:
    # as Dask's nannies set it
    with run_cluster(tmp_path, MALLOC_TRIM_THRESHOLD_="65536") as running:
        yield running


@pytest.mark.nightly
def test_a_cluster_builds_the_same_bytes(running_cluster: Cluster, tmp_path: Path) -> None:
    remote, local = tmp_path / "there", tmp_path / "here"
    tours = (*SMALL, make_tour_table(KnightBoard(13, 3)))
    tables = [(KNIGHT, tours), (SLIDING, SLIDING.find_tables("sliding_2x4"))]
    with open_tasks(running_cluster.address) as tasks:
        assert (tasks.jobs, tasks.is_remote) == (2, True)
        build_all(Folder(remote), tables, None, tasks.executor, jobs=tasks.jobs)
    build_all(Folder(local), tables, jobs=2)
    assert contents(remote) == contents(local)
    assert len(contents(local)) == len(tours) + 4 + 1


def test_an_invalid_scheduler_address_is_refused(cli: Cli, tmp_path: Path) -> None:
    for words in ((), ("--dry-run",)):
        text = cli("precompute", *words, "--scheduler", "here", "--outputs", str(tmp_path))
        assert (text.code, text.out) == (2, "")
        assert "'here' is no scheduler's address" in text.err.splitlines()[-1]


@contextmanager
def serve_answer(answer: bytes | None) -> Iterator[int]:
    """Open a port that answers with these bytes; for None, accept no connection."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.sendall(answer)

    with socketserver.TCPServer(("127.0.0.1", 0), Handler) as server:
        if answer is not None:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
        yield server.server_address[1]
        if answer is not None:
            server.shutdown()
            thread.join()


HTTP, FOREIGN = b"HTTP/1.1 400 Bad Request\r\n\r\n", struct.pack("<4Q", 24, 1, 8, 0)


@pytest.mark.parametrize(
    ("answer", "seconds"), [(HTTP, 30), (FOREIGN, 30), (b"", 1), (None, 1)], ids=str
)
def test_a_server_that_is_no_scheduler_is_reported_soon(answer: bytes | None, seconds: int) -> None:
    with serve_answer(answer) as port:
        require_no_scheduler(f"tcp://127.0.0.1:{port}", seconds)


def require_no_scheduler(address: str, seconds: float) -> None:
    with pytest.raises(MachineLimit, match=f"No Dask scheduler answers at {address}"):
        connect(address, seconds).__enter__()


def test_a_thread_may_run_an_event_loop_already() -> None:
    async def connect() -> None:
        require_no_scheduler("tcp://127.0.0.1:1", 1)

    # in a thread of its own, because a browser's driver leaves its event loop running in this one
    with ThreadPoolExecutor(1) as threads:
        threads.submit(asyncio.run, connect()).result()


@pytest.mark.nightly
def test_a_worker_is_no_scheduler(running_cluster: Cluster) -> None:
    with Client(running_cluster.address, set_as_default=False) as client:
        require_no_scheduler(next(iter(client.scheduler_info()["workers"])), 10)


@pytest.mark.nightly
@pytest.mark.parametrize("victim", ["two workers", "scheduler", "driver", "slow worker"])
def test_a_killed_or_slow_process_loses_nothing(
    own_cluster: Cluster, cli: Cli, tmp_path: Path, outputs: Path, victim: str
) -> None:
    own_cluster.start_worker()
    await_workers(own_cluster, 3)
    folder = tmp_path / "outputs"
    build = start_build(folder, "knight", "--scheduler", own_cluster.address)
    while not list(folder.glob(".work/knight_tours_6x6.*.kept")):
        assert build.poll() is None
        time.sleep(0.1)
    if victim == "slow worker":
        own_cluster.workers[0].send_signal(signal.SIGSTOP)
        time.sleep(5)
        own_cluster.workers[0].send_signal(signal.SIGCONT)
    victims = {"two workers": own_cluster.workers[:2], "scheduler": [own_cluster.scheduler]}
    for process in victims.get(victim, [build] * (victim == "driver")):
        process.kill()
    build.communicate(timeout=300)
    assert build.returncode == {"scheduler": 3, "driver": -signal.SIGKILL}.get(victim, 0)
    words = ("precompute", "knight", "--outputs", str(folder), "--quiet")
    assert cli(*words) == (0, "", "")
    for name, data in contents(folder).items():
        if name != "manifest.json":
            assert data == (outputs / name).read_bytes(), name


def get_memory(process: subprocess.Popen[Any], kind: str) -> float:
    """Return the memory of one kind that a process uses, in MiB."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith(kind)]
    return int(line.split()[1]) / 1024


@pytest.mark.nightly
def test_a_large_board_in_four_shards(own_cluster: Cluster, cli: Cli, tmp_path: Path) -> None:
    """Kill one worker; the others may use 150 MiB more than an idle worker.

    Only memory of their own counts, as the pages of libraries are shared by all processes.
    """
    words = ("precompute", "sliding_3x4", "--quiet", "--outputs")
    for _ in range(2):
        own_cluster.start_worker()
    await_workers(own_cluster, 4)
    remote, local = tmp_path / "there", tmp_path / "here"
    victim, *survivors = own_cluster.workers
    idle = max(get_memory(worker, "RssAnon") for worker in survivors)
    build = start_build(remote, "sliding_3x4", "--quiet", "--scheduler", own_cluster.address)
    peak = 0.0
    while build.poll() is None:
        peak = max(peak, *(get_memory(worker, "RssAnon") for worker in survivors))
        if len(list(remote.glob(".work/sliding_3x4_12.*.kept"))) > 250:
            victim.kill()
        time.sleep(0.05)
    assert (build.communicate(), build.returncode) == (("", ""), 0)
    total = max(get_memory(worker, "VmHWM") for worker in survivors)
    print(f"idle {idle:.0f} MiB, at most {peak:.0f} MiB; with libraries {total:.0f} MiB")
    assert peak <= idle + 150
    assert cli(*words, str(local)).code == 0
    assert contents(remote) == contents(local)


@pytest.mark.nightly
def test_cluster_and_object_store(tmp_path: Path, outputs: Path) -> None:
    with bucket("puzzles") as store, run_cluster(tmp_path, **store.variables) as running:
        url = "s3://puzzles/made"
        words = f"precompute knight --quiet --outputs {url} --scheduler {running.address}"
        assert run([SCRIPT, *words.split()], env=store.variables).code == 0
        published = RemoteStore(url)
        for name in ("knight_tours_6x6.parquet", "knight_tours_8x8.idx"):
            assert published.read(name) == (outputs / name).read_bytes()
        assert published.list_names(".") == [".lock", BACKUP]


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "puzzle_tablebase.pipeline.cluster")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MachineLimit, match=r"pip install -e '\.\[cluster\]'"):
        open_tasks("tcp://127.0.0.1:1").__enter__()
    assert os.environ.get("DASK_SCHEDULER_ADDRESS") is None
