"""Signals that end the process: it cleans up temporary files and exits at once.

The signals are blocked in every thread and one thread waits for them, so that no library's own
handler, no kernel that runs for seconds and no lock delays the exit. Where the system cannot do
that (Windows), an interrupt is Python's KeyboardInterrupt.
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

cleanup_lock = _thread.allocate_lock()
"""Held while something is created that needs a cleanup; for ever, once a signal has arrived."""
_cleanups: dict[object, Callable[[], object]] = {}
_received: list[int] = []
"""The number of the signal that ends the process, once one has arrived."""


class CleanupOnSignal:
    """Context manager that runs a cleanup if a signal ends the process during the block."""

    def __init__(self, cleanup: Callable[[], object]) -> None:
        self._cleanup = cleanup

    def __enter__(self) -> None:
        _cleanups[self] = self._cleanup

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        del _cleanups[self]


def watch_signals() -> None:
    """End the process with code 128 + signal at an interrupt, SIGTERM or a lost terminal.

    Call this once, before there are other threads. A signal that is ignored stays ignored
    (`nohup`).
    """
    if not hasattr(_signal, "sigwait"):
        return
    numbers = [getattr(_signal, name) for name in SIGNAL_NAMES]
    watched = [number for number in numbers if _signal.getsignal(number) != _signal.SIG_IGN]
    _signal.pthread_sigmask(_signal.SIG_BLOCK, watched)
    _thread.start_new_thread(_wait_for_signal, (watched,))


def get_received_signal() -> tuple[str, int]:
    """Return the name and the number of the signal that ends the process, for a cleanup."""
    (number,) = _received
    names = {getattr(_signal, name): name for name in SIGNAL_NAMES}
    return names[number], number


def _wait_for_signal(watched: list[int]) -> None:
    number = _signal.sigwait(watched)
    _received.append(number)
    cleanup_lock.acquire()
    for cleanup in list(_cleanups.values()):
        try:
            cleanup()
        except OSError:  # the folder was removed, or may no longer be written to
            continue
    os._exit(128 + number)
