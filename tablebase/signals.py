"""Signals that end the process: it cleans up temporary files and exits at once.

The signals are blocked in every thread and one thread waits for them, so that no library's own
handler, no kernel that runs for seconds and no lock delays the exit. Until something needs a
cleanup, the system ends the process itself: a lone lookup starts no thread. Where the system cannot
do that (Windows), an interrupt is Python's KeyboardInterrupt.
"""

from __future__ import annotations

# not `threading`, nor `signal` itself: importing them takes longer than an answer
import _thread
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Callable
else:
    import _signal

SIGNAL_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")

MAX_WAIT_SECONDS = 0.5
"""The longest wait for a file that is being created when a signal arrives."""

cleanup_lock = _thread.allocate_lock()
"""Held while something is created that needs a cleanup, or renamed that a cleanup would remove; for
ever, once a signal has arrived."""
_cleanups: dict[object, Callable[[], object]] = {}
_to_watch: list[int] = []
"""The signals that nothing waits for yet."""


class CleanupOnSignal:
    """Context manager that runs a cleanup if a signal ends the process during the block."""

    def __init__(self, cleanup: Callable[[], object]) -> None:
        self._cleanup = cleanup

    def __enter__(self) -> None:
        _cleanups[self] = self._cleanup

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        del _cleanups[self]


def take_over_signals() -> None:
    """End the process at an interrupt, SIGTERM or a lost terminal, until `watch_signals` is called.

    Call this once. A signal that is ignored stays ignored (`nohup`).
    """
    if not hasattr(_signal, "sigwait"):
        return
    numbers = [getattr(_signal, name) for name in SIGNAL_NAMES]
    _to_watch[:] = [number for number in numbers if _signal.getsignal(number) != _signal.SIG_IGN]
    for number in _to_watch:
        _signal.signal(number, _signal.SIG_DFL)  # in place of Python's KeyboardInterrupt


def watch_signals() -> None:
    """Wait for the signals that were taken over, to run cleanups and exit with 128 + signal.

    Call this before there are other threads. It does nothing in a process whose signals were not
    taken over, and the second time.
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
        except BaseException:  # noqa: S112  whatever failed: the process must end
            continue
    os._exit(128 + number)
