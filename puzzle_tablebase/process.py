"""The process: signals that end it, and standard streams that lose no byte.

At a signal the process cleans up temporary files and exits at once. The signals are blocked in
every thread and one thread waits for them, so that no library's own handler, no kernel that runs
for seconds and no lock delays the exit. Until something needs a cleanup, the system's default
action ends the process, so a single lookup starts no thread.

A raw stream may write fewer bytes than it was given and report that only in its return value, and
standard output is raw under PYTHONUNBUFFERED.
"""

from __future__ import annotations

# not `threading`, nor `signal` itself: importing them takes longer than an answer
import _thread
import errno
import io
import os
import sys

from puzzle_tablebase.errors import OutputError, TablebaseError, Unreachable

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Callable

    from _typeshed import ReadableBuffer
else:
    import _signal

SIGNALS = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)
MAX_WAIT_SECONDS = 0.5
"""The longest wait for a file that is being created when a signal arrives."""

is_single_query = False
"""Whether the process answers one key and ends, so that it needs no other imports."""
cleanup_lock = _thread.allocate_lock()
"""Serializes file creation and renames with the cleanup after a signal, which never releases it."""
_cleanups: dict[object, Callable[[], object]] = {}
_to_watch: list[int] = []
"""The signals that nothing waits for yet."""


class CleanupOnSignal:
    """Context manager that runs a cleanup if a signal ends the process during the block."""

    def __init__(self, cleanup: Callable[[], object]) -> None:
        self._cleanup = cleanup

    def __enter__(self) -> None:
        _cleanups[self] = self._cleanup

    def __exit__(self, error_type: object, error: object, trace: object) -> None:
        del _cleanups[self]


def take_over_signals() -> None:
    """End the process at an interrupt, SIGTERM or a lost terminal, until `watch_signals` is called.

    Call this once. Ignored signals stay ignored (`nohup`).
    """
    _to_watch[:] = [each for each in SIGNALS if _signal.getsignal(each) != _signal.SIG_IGN]
    for number in _to_watch:
        _signal.signal(number, _signal.SIG_DFL)  # instead of Python's KeyboardInterrupt


def watch_signals() -> None:
    """Wait for the signals that were taken over, to run cleanups and exit with 128 + signal.

    Call this before there are other threads. It does nothing if the signals were not taken over, or
    if it was called before.
    """
    if _to_watch:
        watched = _to_watch[:]
        _to_watch.clear()
        _signal.pthread_sigmask(_signal.SIG_BLOCK, watched)
        _thread.start_new_thread(_wait_for_signal, (watched,))


def _wait_for_signal(watched: list[int]) -> None:
    number = _signal.sigwait(watched)
    cleanup_lock.acquire(timeout=MAX_WAIT_SECONDS)
    for cleanup in reversed(list(_cleanups.values())):  # the last one first, as blocks end
        try:
            cleanup()
        except BaseException:  # noqa: S112  the process must end after any failure
            continue
    os._exit(128 + number)


# ---- standard streams ----------------------------------------------------------------------------


class RawOutput(io.FileIO):
    """The raw stream of a new file or of an open descriptor; it repeats short writes.

    The first failure raises the error that `make_error` makes, even inside a library, and later
    output is discarded. Without `make_error`, failures are ignored, as for progress and messages.
    """

    def __init__(
        self, file: str | int, make_error: Callable[[OSError], TablebaseError] | None
    ) -> None:
        is_new = isinstance(file, str)  # nothing that is there under its name is written to
        super().__init__(file, "xb" if is_new else "wb", closefd=is_new)
        self._make_error = make_error
        self._is_failed = False
        self.failure: TablebaseError | None = None
        """What was raised: a library may have swallowed it."""

    def write(self, data: ReadableBuffer) -> int:
        if not self._is_failed:
            try:
                return os.write(self.fileno(), data)
            except OSError as error:
                self._is_failed = True
                if self._make_error:
                    self.failure = self._make_error(error)
                    raise self.failure from error
        return memoryview(data).nbytes


def make_output_error(output: str, error: OSError) -> OutputError:
    """Make the error of an output that cannot be written; `output` is its name for messages."""
    is_gone = isinstance(error, BrokenPipeError)
    reason = explain_os_error(error)
    return OutputError(output, reason, is_full=is_full_disk(error), is_gone=is_gone)


def explain_os_error(error: OSError) -> str:
    """Return the reason of a system error, as the end of a sentence."""
    if error.errno == errno.EBADF:
        return "it is closed"
    if isinstance(error, Unreachable):  # its names of variables and files have a case
        return str(error)
    # not error.strerror: some libraries put texts of their own there
    return (os.strerror(error.errno) if error.errno else str(error)).lower()


def is_full_disk(error: BaseException) -> bool:
    """Return whether an error says that no more bytes can be written."""
    full = errno.ENOSPC, errno.EDQUOT, errno.EFBIG
    return isinstance(error, OSError) and error.errno in full


def wrap_standard_outputs() -> RawOutput:
    """Wrap standard output and error so that no byte is lost; return the writer of standard output.

    Call this once, before any file is opened: it opens the descriptors of closed streams again, so
    that no other file gets their numbers. Non-blocking streams, which a parent process may leave,
    would lose bytes, so it makes them block.
    """
    for number, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)):
        if stream is None:
            os.open(os.devnull, 0 if number else os.O_WRONLY)  # every use is an error
        else:
            os.set_blocking(number, True)
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)))
    stdout = RawOutput(1, lambda error: make_output_error("standard output", error))
    stderr = RawOutput(2, None)
    codings = [stream.encoding if stream else "utf-8" for stream in (sys.stdout, sys.stderr)]
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(stdout), codings[0], "backslashreplace")
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(stderr), codings[1], "backslashreplace", line_buffering=True
    )
    return stdout
