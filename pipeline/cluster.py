"""Dask: a cluster's scheduler as an executor. Only this module imports Dask."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager, suppress
from typing import Any

from distributed import Client
from distributed.comm import CommClosedError
from distributed.comm.addressing import parse_address
from distributed.core import rpc
from distributed.scheduler import KilledWorker
from distributed.utils import LoopRunner

from puzzle_tablebase.errors import BadRequest, MachineLimit, quote
from puzzle_tablebase.stores import Address

CONNECT_SECONDS = 10
"""Seconds within which a scheduler must answer, at the start and after a lost connection."""


MEMORY = "memory"
"""The resource by which workers say how many bytes their tasks may use."""
WORKER_BYTES, MEMORY_SHARE = 300_000_000, 0.7
"""Bytes of a worker without a task; the share of its limit from which Dask moves data to disk."""


@contextmanager
def connect(address: str, connect_seconds: float = CONNECT_SECONDS) -> Iterator[DaskExecutor]:
    """Connect to a scheduler that has workers; yield its executor."""
    for name in [*logging.root.manager.loggerDict]:  # their messages are raised as errors too
        if name.partition(".")[0] in ("asyncio", "distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    shown = Address(address)
    try:
        parse_address(address, strict=True)
    except ValueError as error:
        problem = f"{quote(str(shown))} is no scheduler's address"
        raise BadRequest(problem, "Example: tcp://10.0.0.1:8786") from error

    async def identify() -> Any:
        async with rpc(address, timeout=connect_seconds) as peer:
            return await asyncio.wait_for(peer.identity(), connect_seconds)

    step = "Check the address and the cluster, or leave out --scheduler"
    try:
        # the client itself would wait for the first answer forever; and not asyncio.run: a notebook
        # runs an event loop in this thread already
        if LoopRunner(asynchronous=False).run_sync(identify)["type"] != "Scheduler":
            raise ValueError
        client = Client(address, timeout=connect_seconds, set_as_default=False)
        executor = DaskExecutor(client)
    except Exception as error:  # bytes of another protocol can fail anywhere, other versions too
        raise MachineLimit(f"No Dask scheduler answers at {shown}", step) from error
    try:
        if not executor.count_threads():
            raise MachineLimit(f"The scheduler {shown} has no workers", step)
        yield executor
    except (KilledWorker, CommClosedError, CancelledError) as error:
        is_killed = isinstance(error, KilledWorker)
        problem = "one task killed several workers" if is_killed else "it was lost"
        step = "Finished tasks are saved; run the command again to resume"
        raise MachineLimit(f"The scheduler {shown} failed: {problem}", step) from error
    finally:
        with suppress(OSError):  # a slow scheduler says goodbye too late: all results are here
            client.close()


class DaskExecutor(Executor):
    """Executor whose futures fail when the scheduler dies; with Dask's own they never end.

    `memory`: the bytes that each task reserves on its worker, if workers declare their memory.
    """

    def __init__(self, client: Client, memory: int = 0) -> None:
        self._client, self._memory = client, memory
        self._threads = 0

    def count_threads(self) -> int:
        """Count the threads of all workers, including those that joined later."""
        with suppress(OSError):  # the scheduler was lost: the tasks say so
            self._threads = sum(self._client.nthreads().values())
        return self._threads

    def find_task_memory(self) -> int | None:
        """Find the bytes that a task may use on any worker; None: workers have no limit."""
        shares = []
        for worker in self._client.scheduler_info()["workers"].values():
            limit, threads = worker["memory_limit"], worker["nthreads"]
            if MEMORY in worker["resources"]:
                shares.append(worker["resources"][MEMORY] / threads)
            elif limit:
                shares.append(max(0, MEMORY_SHARE * limit - WORKER_BYTES) / threads)
        return int(min(shares)) if shares else None

    def reserve(self, memory: int) -> DaskExecutor:
        """Return an executor whose tasks reserve memory on their worker.

        Raise MachineLimit if no worker has enough.
        """
        workers = self._client.scheduler_info()["workers"].values()
        most = [worker["resources"][MEMORY] for worker in workers if MEMORY in worker["resources"]]
        if not most:
            return self
        if max(most) < memory:
            problem = f"A task needs {memory / 1e9:.2f} GB, and no worker declares as much"
            raise MachineLimit(problem, "Start workers with more, or give a smaller --memory")
        return DaskExecutor(self._client, memory)

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a function on a worker and return the future of its result."""
        resources = {MEMORY: self._memory} if self._memory else None
        remote = self._client.submit(function, *args, **kwargs, pure=False, resources=resources)
        result = Future[Any]()

        def settle(_: object) -> None:
            if result.set_running_or_notify_cancel():
                try:
                    result.set_result(remote.result())
                except BaseException as error:
                    result.set_exception(error)

        def forget(_: object) -> None:
            if result.cancelled():
                remote.cancel()

        remote.add_done_callback(settle)
        result.add_done_callback(forget)
        return result
