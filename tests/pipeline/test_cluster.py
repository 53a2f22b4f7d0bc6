"""Tests with a Dask cluster on this machine, whose scheduler and workers are processes."""

import asyncio
import json
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from distributed import Client, LocalCluster, get_worker

from puzzle_tablebase.errors import MachineLimit
from puzzle_tablebase.pipeline.cluster import DaskExecutor, connect
from puzzle_tablebase.pipeline.recipes import board_shards
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.pipeline.workers import open_workers
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_tour_table
from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.stores import Folder
from puzzle_tablebase.two_bit_bfs import shards
from puzzle_tablebase.two_bit_bfs.space import WordSpace
from tests.support.build_recorder import SMALL, build_all, contents
from tests.support.hosts import answer_connections
from tests.support.shell import Cli, await_checkpoints, environment, start_build
from tests.support.sliding_tables import treat_as_large


class Cluster:
    """A scheduler and its workers, which write their logs into a folder."""

    def __init__(self, folder: Path, variables: dict[str, str]) -> None:
        self.folder, self.variables = folder, variables
        self.workers = list[subprocess.Popen[bytes]]()
        file = folder / "scheduler.json"
        words = ("--host=127.0.0.1", "--port=0", f"--scheduler-file={file}")
        self.scheduler = self._start("scheduler", *words)
        while not file.exists() or not file.read_bytes().endswith(b"}"):
            assert self.scheduler.poll() is None
            time.sleep(0.01)
        self.address = str(json.loads(file.read_bytes())["address"])

    def _start(self, program: str, *words: str) -> subprocess.Popen[bytes]:
        with (self.folder / "log.txt").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{program}", *words, "--no-dashboard"],
                cwd=self.folder,
                env=environment(self.variables),
                stdout=log,
                stderr=log,
            )

    def start_workers(self, number: int) -> None:
        words = (self.address, "--nthreads=1", "--no-nanny")
        self.workers += [self._start("worker", *words) for _ in range(number)]
        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(len(self.workers), timeout=60)


@contextmanager
def run_cluster(folder: Path, **variables: str) -> Iterator[Cluster]:
    running = Cluster(folder, variables)
    try:
        running.start_workers(2)
        yield running
    finally:
        for process in (*running.workers, running.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    # as Dask's nannies set it
    with run_cluster(tmp_path, MALLOC_TRIM_THRESHOLD_="65536") as running:
        yield running


@pytest.mark.slow
def test_workers_build_a_board_in_shards_of_the_memory(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let workers in threads of this process build a board that is treated as large."""
    treat_as_large(monkeypatch, 8)
    counted, count_shards = list[tuple[int, int]](), shards.count_shards

    def count(space: WordSpace, task_bytes: int, jobs: int) -> int:
        counted.append((task_bytes, jobs))
        return count_shards(space, task_bytes, jobs)

    monkeypatch.setattr(board_shards, "count_shards", count)
    here, there = tmp_path / "here", tmp_path / "there"
    words = ("precompute", "sliding_2x4_8", "--quiet", "--memory", "2", "--outputs")
    assert cli(*words, str(here)) == (0, "", "")
    options: Any = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(processes=False, protocol="tcp", **options) as cluster:
        address = str(cluster.scheduler_address)
        with open_workers(address) as workers:
            assert workers.executor
            assert workers.executor.submit(abs, -2).result(60) == 2
        assert cli(*words, str(there), "--scheduler", address) == (0, "", "")
    assert {*counted} == {(2_000_000_000, 2)}
    assert contents(there) == contents(here)


@pytest.mark.nightly
def test_a_cluster_builds_the_same_bytes(cluster: Cluster, tmp_path: Path) -> None:
    remote, local = tmp_path / "there", tmp_path / "here"
    tours = (*SMALL, make_tour_table(KnightBoard(13, 3)))
    tables = [(KNIGHT, tours), (SLIDING, SLIDING.find_tables("sliding_2x4"))]
    with open_workers(cluster.address) as workers:
        assert (workers.jobs, workers.is_remote) == (2, True)
        build_all(Folder(remote), tables, None, workers.executor, jobs=workers.jobs)
    build_all(Folder(local), tables, jobs=2)
    assert contents(remote) == contents(local)
    assert len(contents(local)) == len(tours) + 4 + 1
    with Client(cluster.address, set_as_default=False) as client:
        (worker, _) = client.scheduler_info()["workers"]
    require_no_scheduler(worker)


def test_an_invalid_scheduler_address_is_refused(cli: Cli, tmp_path: Path) -> None:
    for words in ((), ("--dry-run",)):
        completed = cli("precompute", *words, "--scheduler", "here", "--outputs", str(tmp_path))
        assert (completed.code, completed.out) == (2, "")


HTTP, FOREIGN = b"HTTP/1.1 400 Bad Request\r\n\r\n", struct.pack("<4Q", 24, 1, 8, 0)


def keep_waiting(_: object) -> None:
    time.sleep(2)


@pytest.mark.parametrize(
    ("answer", "seconds"), [(HTTP, 30), (FOREIGN, 30), (b"", 1), (keep_waiting, 1)]
)
def test_a_server_that_is_no_scheduler_is_reported_soon(
    answer: bytes | Callable[[object], None], seconds: int
) -> None:
    with answer_connections(answer) as url:
        require_no_scheduler(url.replace("http", "tcp"), seconds)


def require_no_scheduler(address: str, seconds: float = 10) -> None:
    with pytest.raises(MachineLimit, match=address):
        connect(address, seconds).__enter__()


def test_a_scheduler_without_workers_is_refused() -> None:
    options: Any = {"n_workers": 0, "dashboard_address": "127.0.0.1:0", "protocol": "tcp"}
    with LocalCluster(processes=False, **options) as cluster:
        address = str(cluster.scheduler_address)
        with pytest.raises(MachineLimit, match=f"{address} has no workers"):
            connect(address).__enter__()


def test_a_thread_may_run_an_event_loop_already() -> None:
    async def connect() -> None:
        require_no_scheduler("tcp://127.0.0.1:1", 1)

    # in a thread of its own, because a browser's driver leaves its event loop running in this one
    with ThreadPoolExecutor(1) as threads:
        threads.submit(asyncio.run, connect()).result()


@pytest.mark.nightly
@pytest.mark.parametrize("victim", ["two workers", "scheduler", "driver", "slow worker"])
def test_a_killed_or_slow_process_loses_nothing(
    cluster: Cluster, cli: Cli, tmp_path: Path, outputs: Path, victim: str
) -> None:
    cluster.start_workers(1)
    folder = tmp_path / "outputs"
    build = start_build(folder, "knight", "--scheduler", cluster.address)
    await_checkpoints(build, folder, "knight_tours_6x6")
    if victim == "slow worker":
        cluster.workers[0].send_signal(signal.SIGSTOP)
        time.sleep(5)
        cluster.workers[0].send_signal(signal.SIGCONT)
    victims = {"two workers": cluster.workers[:2], "scheduler": [cluster.scheduler]}
    for process in victims.get(victim, [build] * (victim == "driver")):
        process.kill()
    build.communicate(timeout=300)
    assert build.returncode == {"scheduler": 3, "driver": -signal.SIGKILL}.get(victim, 0)
    words = ("precompute", "knight", "--outputs", str(folder), "--quiet")
    assert cli(*words) == (0, "", "")
    for name, data in contents(folder).items():
        if name != "manifest.json":
            assert data == (outputs / name).read_bytes(), name


@pytest.mark.nightly
@pytest.mark.parametrize("victim", ["two workers", "scheduler", "driver"])
def test_a_killed_process_costs_a_board_no_more_than_its_level(
    cluster: Cluster, cli: Cli, tmp_path: Path, victim: str
) -> None:
    cluster.start_workers(1)
    there, here = tmp_path / "there", tmp_path / "here"
    build = start_build(there, "sliding_3x4", "--quiet", "--scheduler", cluster.address)
    while not [*there.glob(".work/sliding_3x4_12.*.030-000")]:
        assert build.poll() is None
        time.sleep(0.01)
    victims: dict[str, list[subprocess.Popen[Any]]] = {
        "two workers": [*cluster.workers[:2]],
        "scheduler": [cluster.scheduler],
        "driver": [build],
    }
    for process in victims[victim]:
        process.kill()
    build.communicate(timeout=300)
    assert build.returncode == {"scheduler": 3, "driver": -signal.SIGKILL}.get(victim, 0)
    if victim != "two workers":  # it goes on where it was, without a cluster
        assert [*there.glob(".work/sliding_3x4_12.*.029-000")]
    words = ("precompute", "sliding_3x4", "--quiet", "--outputs")
    for folder in (there, here):
        assert cli(*words, str(folder)) == (0, "", "")
    assert contents(there) == contents(here)
    assert not (there / ".work").exists()


def say_where(number: int) -> str:
    time.sleep(0.1)
    return str(get_worker().address)


@pytest.mark.slow
def test_workers_that_join_later_are_used_and_each_has_its_memory() -> None:
    options: Any = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    options |= {"resources": {"memory": 5e8}, "protocol": "tcp", "processes": False}
    with LocalCluster(**options) as running:
        address = str(running.scheduler_address)
        with open_workers(address) as workers:
            assert (workers.jobs, workers.memory) == (1, 500_000_000)
            assert workers.cluster
            tasks = Tasks(workers, executor=workers.cluster.reserve(300_000_000))
            used = set[str]()
            for worker in tasks.run(say_where, [(number,) for number in range(20)], is_saved=False):
                used.add(worker)
                if len(used) == 1:
                    running.scale(2)
            assert len(used) == 2
            with pytest.raises(MachineLimit, match=r"needs 0.60 GB, and no worker declares"):
                workers.cluster.reserve(600_000_000)
        with open_workers(address, memory=10**8) as workers:
            assert workers.memory == 10**8


running = list[int]()
"""The tasks that workers in this process are at."""


def count_running(number: int) -> int:
    """Return how many tasks run at the same time as this one."""
    running.append(number)
    time.sleep(0.1)
    count = len(running)
    running.remove(number)
    return count


@pytest.mark.parametrize(("memory", "together"), [(0, 2), (200_000_000, 2), (300_000_000, 1)])
def test_a_worker_runs_as_many_tasks_as_its_memory_allows(memory: int, together: int) -> None:
    options: Any = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": "127.0.0.1:0"}
    options |= {"resources": {"memory": 5e8}, "protocol": "tcp", "processes": False}
    with LocalCluster(**options) as workers, connect(str(workers.scheduler_address)) as executor:
        reserving = executor.reserve(memory)
        tasks = [reserving.submit(count_running, number) for number in range(4)]
        assert max(task.result(60) for task in tasks) == together


def test_tasks_that_were_cancelled_are_not_run_by_workers() -> None:
    begun.clear()
    options: Any = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    options |= {"protocol": "tcp", "processes": False}
    with LocalCluster(**options) as workers, connect(str(workers.scheduler_address)) as executor:
        first, *others = [executor.submit(note_and_wait, number) for number in range(5)]
        while not begun:
            time.sleep(0.01)
        assert all(task.cancel() for task in others)
        last = executor.submit(note_and_wait, 9)
        assert (first.result(60), last.result(60)) == (0, 9)
    assert begun == [0, 9]


begun = list[int]()
"""The tasks that workers in this process have begun."""


def note_and_wait(number: int) -> int:
    begun.append(number)
    time.sleep(0.3)
    return number


class Workers(NamedTuple):
    """A client that knows of some workers: the threads, the limit and the memory of each."""

    workers: tuple[tuple[int, int, float | None], ...]

    def scheduler_info(self) -> dict[str, Any]:
        named = {
            f"tcp://worker:{number}": {
                "nthreads": threads,
                "memory_limit": limit,
                "resources": {} if declared is None else {"memory": declared},
            }
            for number, (threads, limit, declared) in enumerate(self.workers)
        }
        return {"workers": named}


@pytest.mark.parametrize(
    ("workers", "memory"),
    [
        ((), None),
        (((2, 0, None),), None),
        (((2, 10**10, 3e9),), 1_500_000_000),
        (((1, 0, 3e9), (2, 0, 2e9)), 1_000_000_000),
        (((2, 0, 2e9), (1, 0, 3e9)), 1_000_000_000),
        # of a limit, a share, without what a worker takes
        (((2, 10**10, None),), 3_350_000_000),
        (((2, 10**10, None), (8, 0, None), (1, 0, 9e9)), 3_350_000_000),
        (((4, 10**8, None),), 0),
    ],
)
def test_a_task_may_use_what_the_smallest_worker_has_for_each_thread(
    workers: tuple[tuple[int, int, float | None], ...], memory: int | None
) -> None:
    client: Any = Workers(workers)
    assert DaskExecutor(client).find_task_memory() == memory


def get_memory(process: subprocess.Popen[bytes]) -> float:
    """Return the memory of a process that no other shares, in MiB."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0]) / 1024


@pytest.mark.nightly
def test_a_large_board_in_four_shards(cluster: Cluster, cli: Cli, tmp_path: Path) -> None:
    """Kill one worker; the others may use 150 MiB more than an idle worker."""
    words = ("precompute", "sliding_3x4", "--quiet", "--outputs")
    cluster.start_workers(2)
    remote, local = tmp_path / "there", tmp_path / "here"
    victim, *survivors = cluster.workers
    idle = max(get_memory(worker) for worker in survivors)
    build = start_build(remote, "sliding_3x4", "--quiet", "--scheduler", cluster.address)
    peak = 0.0
    while build.poll() is None:
        peak = max(peak, *(get_memory(worker) for worker in survivors))
        if [*remote.glob(".work/sliding_3x4_12.*.030-000")]:
            victim.kill()
        time.sleep(0.05)
    assert (build.communicate(), build.returncode) == (("", ""), 0)
    assert peak <= idle + 150
    assert cli(*words, str(local)).code == 0
    assert contents(remote) == contents(local)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "puzzle_tablebase.pipeline.cluster")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MachineLimit, match="cluster"):
        open_workers("tcp://127.0.0.1:1").__enter__()
    assert os.environ.get("DASK_SCHEDULER_ADDRESS") is None
