"""The program without the time that its libraries take to load: forked from a preloaded process.

Where a test runs `pipeline` to its end, and its start is not tested, it runs `warm("pipeline")`: a
script that passes its arguments, folder, environment and standard streams, whatever they are, to a
process forked for it, waits, and exits with the same code. The modules of the project are loaded
before, too. `warm("python") -c CODE` runs Python code in the same way.
"""

import atexit
import contextlib
import functools
import gc
import importlib
import os
import pkgutil
import select
import shutil
import signal
import socket
import sys
import tempfile
import threading
import traceback
from pathlib import Path
from typing import NamedTuple, NoReturn

import puzzle_tablebase

SHARED = "WARM_SCRIPTS"
LIBRARIES = (
    "numba",
    "numpy",
    "polars",
    "pyarrow.parquet",
    "rich.progress",
    "typer._adapters",
    "typer.rich_utils",
)

CLIENT = """#!{python} -ISE
import _socket, os, sys  # socket takes as long to load as Python to start

streams = []
for number in range(3):
    try:
        os.fstat(number)
        streams.append(number)
    except OSError:
        pass
server = _socket.socket(_socket.AF_UNIX)
server.connect("{address}")
variables = [name + b"=" + value for name, value in os.environb.items()]
words = [os.fsencode(word) for word in sys.argv]
asked = b"\\0".join([os.getcwdb(), b"%d" % len(words), *words, *variables])
passed = b"".join(number.to_bytes(4, sys.byteorder) for number in streams)
rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, passed)]
server.sendmsg([bytes(streams).ljust(4, b"\\xff")], rights)
server.sendall(asked)
server.shutdown(_socket.SHUT_WR)
code = int(server.recv(10) or 99)
if code < 0:
    os.kill(os.getpid(), -code)
os._exit(code)
"""


class Running(NamedTuple):
    """A forked process, a descriptor that reports its end, and the connection of its client."""

    child: int
    ended: int
    connection: socket.socket


def warm(name: str) -> str:
    """Return the path of the script that stands for this program."""
    return str(scripts() / name / name)


@functools.cache
def scripts() -> Path:
    """Return the folder of the scripts; their server lives as long as the process that started it.

    Processes that test in parallel share it: a variable holds its path.
    """
    if SHARED in os.environ:
        return Path(os.environ[SHARED])
    folder = Path(tempfile.mkdtemp(prefix="warm-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    address = str(folder / "socket")
    for name in ("pipeline", "python"):
        (folder / name).mkdir()
        (folder / name / name).write_text(CLIENT.format(python=sys.executable, address=address))
        (folder / name / name).chmod(0o755)
    ended, _life = os.pipe()
    ready, reported = os.pipe()
    os.posix_spawn(
        sys.executable,
        [sys.executable, "-c", f"from tests.support.preloaded import serve; serve({address!r})"],
        {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        file_actions=[(os.POSIX_SPAWN_DUP2, ended, 0), (os.POSIX_SPAWN_DUP2, reported, 1)],
        setpgroup=0,
    )
    for number in (ended, reported):
        os.close(number)
    assert os.read(ready, 1), "the process that knows the libraries did not start"
    os.close(ready)
    return folder


def serve(address: str) -> None:
    """Fork a process for every client, until standard input ends with the tests."""
    for library in LIBRARIES:
        importlib.import_module(library)
    for module in pkgutil.walk_packages(puzzle_tablebase.__path__, "puzzle_tablebase."):
        importlib.import_module(module.name)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(64)
        gc.freeze()
        os.write(1, b"!")
        poll = select.poll()
        for place in (sys.stdin, listening):
            poll.register(place, select.POLLIN)
        running: dict[int, Running] = {}
        while sys.stdin.fileno() not in (reported := dict(poll.poll())):
            if listening.fileno() in reported:
                connection, _ = listening.accept()
                child = os.fork()
                if child == 0:
                    for other in {*running.values()}:
                        os.close(other.ended)
                        other.connection.close()
                    listening.close()
                    _attend(connection)
                one = Running(child, os.pidfd_open(child), connection)
                poll.register(one.ended, select.POLLIN)
                poll.register(connection, 0)  # hung up on, that is
                running |= dict.fromkeys((one.ended, connection.fileno()), one)
            for one in {running[number] for number in reported.keys() & running.keys()}:
                for number in (one.ended, one.connection.fileno()):
                    poll.unregister(number)
                    del running[number]
                _end(one, options=one.connection.fileno() not in reported)


def _attend(connection: socket.socket) -> NoReturn:
    """Run the requested program in this forked process."""
    numbers, streams, _, _ = socket.recv_fds(connection, 4, 3)
    with connection.makefile("rb") as request:
        folder, count, *rest = request.read().split(b"\0")
    words, variables = rest[: int(count)], rest[int(count) :]
    connection.close()
    for number in range(3):
        with contextlib.suppress(OSError):
            os.close(number)
    for number, stream in zip(numbers, streams, strict=False):
        os.dup2(stream, number)
    for stream in streams:
        os.close(stream)
    os.chdir(folder)
    os.environb.clear()
    for variable in variables:
        name, _, value = variable.partition(b"=")
        os.environb[name] = value
    sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    program, *sys.argv = map(os.fsdecode, words)
    for number, standard in enumerate(("stdin", "stdout", "stderr")):
        setattr(sys, standard, None)
        if number in numbers:
            setattr(sys, standard, os.fdopen(number, "w" if number else "r", closefd=False))
        setattr(sys, f"__{standard}__", getattr(sys, standard))
    code = _run(program)
    threading._shutdown()  # type: ignore[attr-defined]  # what Python does at its end,
    atexit._run_exitfuncs()  # except freeing, module by module, all that was loaded
    os._exit(code)


def _run(program: str) -> int:
    try:
        if program.endswith("python"):
            _, code, *sys.argv[1:] = sys.argv
            exec(code, {"__name__": "__main__"})
            return 0
        from puzzle_tablebase.pipeline.run import main

        sys.argv.insert(0, program)
        return main()
    except SystemExit as end:
        return int(end.code or 0)
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()


def _end(one: Running, *, options: bool) -> None:
    """Send a process's exit code to its client, or kill the process if the client is gone."""
    if not options:
        os.kill(one.child, signal.SIGKILL)
    _, status = os.waitpid(one.child, 0)
    os.close(one.ended)
    with one.connection, contextlib.suppress(OSError):
        one.connection.sendall(b"%d" % os.waitstatus_to_exitcode(status))
