"""The faults of hosts, by name: one table for the tests of Python, JavaScript and the page."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from itertools import count
from typing import NamedTuple

from puzzle_tablebase.stores import BACKUP, MANIFEST
from tests.support.hosts import Answer, Fault, Request

EXPIRED = b"<?xml?><Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"
ALWAYS = 1_000_000


def fail(status: int, body: bytes = b"", **headers: str) -> Fault:
    def change(request: Request, answer: Answer) -> None:
        answer.status = status
        answer.replace_body(body)
        answer.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    return change


def lose_connection(request: Request, answer: Answer) -> None:
    answer.sent = len(answer.body) // 2


def flip(request: Request, answer: Answer) -> None:
    if len(answer.body) < 2:  # it asks for the size
        return
    middle = len(answer.body) // 2
    answer.replace_body(answer.body[:middle] + b"?!" + answer.body[middle + 2 :])


def blank(request: Request, answer: Answer) -> None:
    answer.replace_body(bytes(len(answer.body)))


def delay(seconds: float) -> Fault:
    def change(request: Request, answer: Answer) -> None:
        answer.delay = seconds

    return change


def hide(request: Request, answer: Answer) -> None:
    answer.headers = {}


def end(request: Request, answer: Answer) -> None:
    answer.is_last = True


def send_whole(request: Request, answer: Answer) -> None:
    if answer.status == 206:
        fail(200, answer.file.read_bytes())(request, answer)


def compress(request: Request, answer: Answer) -> None:
    answer.replace_body(gzip.compress(answer.body, 1))
    answer.headers["Content-Encoding"] = "gzip"


def compress_whole(request: Request, answer: Answer) -> None:
    send_whole(request, answer)
    compress(request, answer)


def spoil_parts(change: Fault) -> Fault:
    """Make a fault of answers to ranges alone."""

    def change_part(request: Request, answer: Answer) -> None:
        if request.span is not None:
            change(request, answer)

    return change_part


def name_brotli(request: Request, answer: Answer) -> None:
    answer.headers["Content-Encoding"] = "br"


def send_other_part(request: Request, answer: Answer) -> None:
    answer.headers["Content-Range"] = "bytes 5-9/733184"


def send_more(request: Request, answer: Answer) -> None:
    answer.headers.pop("Content-Range")
    answer.replace_body(answer.body + b"more")


def truncate_text(request: Request, answer: Answer) -> None:
    fail(200, answer.body[:500])(request, answer)


class Spoiled(NamedTuple):
    """A fault that changes the first answers for a file; an empty name means every file."""

    change: Fault
    file: str = "eight.idx"
    times: int = ALWAYS


PASSING = {
    "lost once": Spoiled(lose_connection, times=1),
    "lost twice": Spoiled(lose_connection, times=2),
    "500 once": Spoiled(fail(500), times=1),
    "503 twice": Spoiled(fail(503, Retry_After="0"), times=2),
    "429 for the manifest": Spoiled(fail(429), MANIFEST, 1),
    "lost manifest": Spoiled(lose_connection, MANIFEST, 1),
    "flipped once": Spoiled(flip, times=1),
    "slow once": Spoiled(delay(1.0), times=1),
    "without ranges": Spoiled(send_whole, ""),
    "compressed files": Spoiled(compress_whole, ""),
    "headers hidden": Spoiled(hide, ""),
    "connections end": Spoiled(end, ""),
    "redirect": Spoiled(fail(302, Location="/elsewhere/eight.idx"), times=1),
    "redirect of the manifest": Spoiled(fail(308, Location="b/manifest.json"), MANIFEST, 1),
}
"""Faults that change no answer: each with the file and the number of answers that it changes."""
LASTING = {
    "expired": Spoiled(fail(403, EXPIRED)),
    "denied": Spoiled(fail(403, b"<html>no</html>")),
    "absent": Spoiled(fail(404)),
    "failing": Spoiled(fail(500)),
    "busy": Spoiled(fail(503)),
    "teapot": Spoiled(fail(418)),
    "ends early": Spoiled(fail(416)),
    "lost": Spoiled(lose_connection),
    "flipped": Spoiled(flip),
    "blank": Spoiled(blank),
    "slow": Spoiled(delay(1.0)),
    "brotli": Spoiled(name_brotli),
    "compressed parts": Spoiled(spoil_parts(compress)),
    "parts absent": Spoiled(spoil_parts(fail(404)), ""),
    "another part": Spoiled(spoil_parts(send_other_part)),
    "more": Spoiled(spoil_parts(send_more)),
    "large": Spoiled(spoil_parts(fail(200, Content_Length=str(100 << 20)))),
    "loop": Spoiled(fail(302, Location="eight.idx")),
    "ftp": Spoiled(fail(302, Location="ftp://127.0.0.1/x")),
    "all absent": Spoiled(fail(404), ""),
    "all denied": Spoiled(fail(403), ""),
    "all failing": Spoiled(fail(500), ""),
    "manifest absent": Spoiled(fail(404), MANIFEST),
    "manifest denied": Spoiled(fail(403), MANIFEST),
    "manifest failing": Spoiled(fail(500), MANIFEST),
    "manifest of HTML": Spoiled(fail(200, b"<html>"), MANIFEST),
    "manifest without tables": Spoiled(fail(200, b'{"format_version":5}'), MANIFEST),
    "half a manifest": Spoiled(truncate_text, MANIFEST),
    "later manifest": Spoiled(fail(200, b'{"format_version": 9}'), MANIFEST),
}
"""Faults that leave no answer."""
FAULTS = PASSING | LASTING


def make_fault(name: str, file: str | None = None) -> Fault:
    """Make a fault from the table, for its file or for another."""
    spoiled = FAULTS[name]
    return spoil(spoiled.times, spoiled.change, spoiled.file if file is None else file)


def spoil(times: int, change: Fault, file: str = "eight.idx") -> Fault:
    """Make a fault that changes the first answers for a file; a lasting one of the manifest changes
    those for its copy too."""
    left = count(times, -1)
    names = {file, BACKUP} if file == MANIFEST and times == ALWAYS else {file}

    def fault(request: Request, answer: Answer) -> None:
        if names & {"", request.name} and next(left) > 0:
            change(request, answer)

    return fault


def make_faults(names: Iterable[str]) -> Fault:
    """Make a fault for each folder of a host, named after it, so that one host has them all."""
    faults = {name: make_fault(name) for name in names}

    def fault(request: Request, answer: Answer) -> None:
        if request.folder in faults:
            faults[request.folder](request, answer)

    return fault


def fail_after(answers: int) -> Fault:
    """Make a fault that lets the first answers pass and refuses all others."""
    left = count(answers, -1)

    def fault(request: Request, answer: Answer) -> None:
        if next(left) <= 0:
            fail(403)(request, answer)

    return fault
