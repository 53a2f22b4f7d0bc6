"""A client of static HTTP hosts: whole files and ranges, on connections that stay open.

Hosts differ: they ignore ranges, compress, redirect, hide headers, cut connections and fail for a
moment. A passing fault is retried; any other is an Unreachable with the reason and the status.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import http.client
import io
import os
import re
import socket
import ssl
import threading
import time
import zlib
from collections import defaultdict
from contextvars import ContextVar
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from puzzle_tablebase.errors import FileChanged, Unreachable, quote
from puzzle_tablebase.process import explain_os_error
from puzzle_tablebase.tables.range_file import Content

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_RETRY_AFTER = 5.0
"""The most seconds to wait because a host asks for it."""
SECONDS_VARIABLE = "PIPELINE_NETWORK_SECONDS"
"""The variable of the environment that gives a question another time."""
NOTICE_SECONDS = 2.0
"""The wait after which the caller is told of it."""
MIN_BYTES_PER_SECOND = 20_000
"""The lowest speed at which an answer is still read; each byte that came lengthens the time."""
CERTIFICATE_VARIABLES = "SSL_CERT_FILE", "SSL_CERT_DIR"
MAX_REASON_BYTES = 4096
"""Bytes of a refusal that are searched for its reason."""
MAX_REDIRECTS = 5
MAX_IDLE = 8
"""Open connections that are kept for each host."""
REDIRECTS = 301, 302, 303, 307, 308
PASSING = 408, 425, 429, 500, 502, 503, 504
"""Statuses that may differ a moment later."""
STALE = http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError
"""How a host that has closed an idle connection shows itself."""
FAILURES = OSError, http.client.HTTPException, ValueError
"""What the library raises when a request fails."""


class HttpLimits(NamedTuple):
    """The limits of a client: how long it waits for a host, and how much it reads at once.

    `retry_delays`: the seconds before each further attempt. `wait_seconds`: the longest wait for a
    connection, or for the next bytes. `question_seconds`: that for the answers to one question, all
    requests and attempts together. `whole_bytes`: the largest file that is read whole where the
    host ignores ranges.
    """

    retry_delays: tuple[float, ...] = (0.3, 1.0)
    wait_seconds: float = 15.0
    question_seconds: float = 60.0
    whole_bytes: int = 64 << 20


LIMITS = HttpLimits()


class _Passing(Exception):
    """A fault that may be over a moment later."""

    def __init__(self, error: Unreachable, delay: float = 0.0) -> None:
        super().__init__(str(error))
        self.error, self.delay = error, delay


class _Question:
    """The time that one question has; it passes while at least one request waits for a host."""

    def __init__(self, limits: HttpLimits) -> None:
        self.limits = limits
        text = os.environ.get(SECONDS_VARIABLE, "")
        is_given = re.fullmatch(r"[0-9]{1,6}", text)
        self.seconds = float(text) if is_given else limits.question_seconds
        self._lock = Lock()
        self._requests = 0
        self._begin = self._paused = time.monotonic()
        self._deadline = self._begin + self.seconds

    @contextlib.contextmanager
    def wait(self, on_wait: Callable[[int], None]) -> Iterator[None]:
        """Let the time pass during a request; tell the caller if the question waits long."""
        with self._lock:
            now = time.monotonic()
            if not self._requests:  # the time since the last request does not count
                self._begin += now - self._paused
                self._deadline += now - self._paused
            self._requests += 1
            seconds = max(0.0, NOTICE_SECONDS - (now - self._begin))
        notice = threading.Timer(seconds, on_wait, [int(self.seconds)])
        notice.daemon = True
        notice.start()
        try:
            yield
        finally:
            notice.cancel()
            notice.join()  # nothing is told once the answer is there
            with self._lock:
                self._requests -= 1
                self._paused = time.monotonic()

    def count_remaining(self) -> float:
        """Count the seconds that remain for a request that waits."""
        return self._deadline - time.monotonic()

    def add_bytes(self, size: int) -> None:
        """Add the time for bytes that came, up to the time that a question has at its beginning."""
        with self._lock:
            most = time.monotonic() + self.seconds
            self._deadline = min(self._deadline + size / MIN_BYTES_PER_SECOND, most)


_asked: ContextVar[_Question] = ContextVar("_asked")
"""The question of the requests that this thread makes."""


class _TimedReader(io.RawIOBase):
    """The bytes of a socket until the question's time is over, however slowly they come."""

    def __init__(self, raw: Any, connected: socket.socket) -> None:
        self._raw, self._socket = raw, connected
        self._question = _asked.get()

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        remaining = self._question.count_remaining()
        if remaining <= 0:
            raise TimeoutError
        self._socket.settimeout(min(remaining, self._question.limits.wait_seconds))
        size = int(self._raw.readinto(into))
        self._question.add_bytes(size)
        return size

    def close(self) -> None:
        self._raw.close()
        super().close()


class _TimedResponse(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp = io.BufferedReader(_TimedReader(self.fp.detach(), sock))


class HttpClient:
    """Connections to hosts; threads share them, a forked process opens its own."""

    def __init__(self, on_wait: Callable[[int], None], limits: HttpLimits) -> None:
        self._limits = limits
        self._on_wait = on_wait
        """The callback that gets the seconds a question has, when it has waited for a while."""
        self._idle = defaultdict[tuple[str, str], list[_Plain]](list)
        """The open connections to each host: a list is changed by one thread at a time."""
        self._process = os.getpid()
        self.is_lost = False
        """Whether the last request had no answer, after all attempts."""

    @contextlib.contextmanager
    def ask_one_question(self) -> Iterator[_Question]:
        """Count all requests of a block as one question, if they do not belong to one already."""
        if question := _asked.get(None):
            yield question
            return
        token = _asked.set(question := _Question(self._limits))
        try:
            yield question
        finally:
            _asked.reset(token)

    def fetch(
        self, url: str, first: int = 0, last: int | None = None, *, is_fresh: bool = False
    ) -> Content:
        """Fetch the bytes from `first` to `last`, or the whole file.

        If the host ignores ranges, it is the whole file or its beginning up to `last`. `is_fresh`:
        caches on the way must ask the host. FileNotFoundError is never raised: a missing file is
        an Unreachable with its status, as any other refusal.
        """
        with self.ask_one_question() as question, question.wait(self._on_wait):
            for delay in (*self._limits.retry_delays, None):
                try:
                    if question.count_remaining() <= 0:
                        raise _explain(TimeoutError())
                    content = self._follow(url, first, last, is_fresh)
                    self.is_lost = False
                    return content
                except _Passing as fault:
                    self.is_lost = True
                    wait = max(delay or 0.0, fault.delay)
                    if delay is None or question.count_remaining() <= wait:
                        raise fault.error from None
                    time.sleep(wait)
        raise AssertionError

    def _follow(self, url: str, first: int, last: int | None, is_fresh: bool) -> Content:
        here = url
        for _ in range(MAX_REDIRECTS + 1):
            headers = {"Accept-Encoding": "identity", "User-Agent": "puzzle-tablebase"}
            if last is not None:
                headers["Range"] = f"bytes={first}-{last}"
            if is_fresh:
                headers["Cache-Control"] = "no-cache"
            if urlsplit(here)[:2] == urlsplit(url)[:2]:  # a password is for its own host alone
                headers |= _make_authorization(url)
            found = self._request(here, headers, first, last)
            if isinstance(found, Content):
                return found
            if here.startswith("https:") and not found.startswith("https:"):
                raise Unreachable("it redirects from https to another protocol")
            here = found
        raise Unreachable(f"it redirects more than {MAX_REDIRECTS} times")

    def _request(
        self, url: str, headers: dict[str, str], first: int, last: int | None
    ) -> Content | str:
        """Send one request; return what came, or the address of a redirect."""
        scheme, place, path, query, _ = urlsplit(url)
        if scheme not in ("http", "https") or not place:
            raise Unreachable(f"it redirects to {quote(url)}")
        origin, target = (scheme, place.rpartition("@")[2]), (path or "/") + (query and f"?{query}")
        while True:
            connection = self._take(origin)
            is_reused = connection.sock is not None
            try:
                connection.request(
                    "GET", connection.base + target, None, connection.own_headers | headers
                )
                response = connection.getresponse()
                assert isinstance(response, _TimedResponse)
                try:
                    content = _read_content(response, url, first, last)
                except BaseException:
                    response.close()  # the connection may have left its socket to it
                    raise
            except BaseException as error:
                connection.close()
                if is_reused and isinstance(error, STALE):
                    continue
                if isinstance(error, Unreachable) or not isinstance(error, FAILURES):
                    raise
                raise _explain(error, connection.proxy) from error
            idle = self._idle[origin]
            if response.isclosed() and not response.will_close and len(idle) < MAX_IDLE:
                idle.append(connection)
            else:
                connection.close()
            return content

    def _take(self, origin: tuple[str, str]) -> _Plain:
        if self._process != os.getpid():
            self._idle, self._process = defaultdict(list), os.getpid()
        with contextlib.suppress(IndexError):
            return self._idle[origin].pop()
        try:
            return _make_connection(*origin)
        except (ValueError, http.client.HTTPException) as error:  # a port that is no number
            raise Unreachable(str(error)) from error

    def close(self) -> None:
        """Close the idle connections; those of a process that forked this one stay open."""
        for idle in [*self._idle.values()] if self._process == os.getpid() else []:
            with contextlib.suppress(IndexError):  # until there is none
                while True:
                    idle.pop().close()

    __del__ = close


class _Plain(http.client.HTTPConnection):
    """A connection, and what a proxy on the way needs to be told."""

    response_class = _TimedResponse
    proxy = ""
    """The proxy, without its password; empty if there is none."""
    base = ""
    """What comes before the path in a request: a proxy of plain HTTP needs the whole address."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.own_headers: dict[str, str] = {}
        # the library's own function gives each of a host's addresses the whole time
        self._create_connection = _connect_to_any


class _Secure(http.client.HTTPSConnection, _Plain):
    """A connection by TLS."""


def _connect_to_any(address: tuple[str, int], timeout: float, source: None) -> socket.socket:
    """Connect to the first address of a host that answers, all of them within the time."""
    deadline = time.monotonic() + timeout
    places = [place for *_, place in socket.getaddrinfo(*address, type=socket.SOCK_STREAM)]
    for at, place in enumerate(places[:-1]):
        seconds = max(0.1, (deadline - time.monotonic()) / (len(places) - at))
        with contextlib.suppress(OSError):
            return socket.create_connection((str(place[0]), address[1]), seconds)
    seconds = max(0.1, deadline - time.monotonic())
    return socket.create_connection((str(places[-1][0]), address[1]), seconds)


@functools.cache
def _make_context(*places: str | None) -> ssl.SSLContext:
    """Make the settings of TLS for all connections; reading the certificates takes a while.

    `places`: where the environment says that the certificates are.
    """
    return ssl.create_default_context()


def _make_connection(scheme: str, place: str) -> _Plain:
    """Make a connection to a host, or to the proxy that the environment names for it."""
    proxy = _find_proxy(scheme, place)
    shown, host = "", place
    if proxy:
        kind, names, *_ = urlsplit(proxy)
        host = names.rpartition("@")[2]
        shown = f"{kind}://{host}"
        if kind != "http":
            raise Unreachable(f"the proxy {shown} is not one by http://, the only kind that works")
    login = _make_authorization(proxy, "Proxy-Authorization")
    question = _asked.get()
    timeout = max(0.1, min(question.count_remaining(), question.limits.wait_seconds))
    connection: _Plain
    if scheme == "https":
        context = _make_context(*map(os.environ.get, CERTIFICATE_VARIABLES))
        connection = _Secure(host, timeout=timeout, context=context)
        if proxy:
            connection.set_tunnel(place, headers=login)
    else:
        connection = _Plain(host, timeout=timeout)
        if proxy:
            connection.base, connection.own_headers = f"http://{place}", login
    connection.proxy = shown
    return connection


def _find_proxy(scheme: str, place: str) -> str:
    if not any(name.lower().endswith("_proxy") for name in os.environ):
        return ""
    from urllib.request import getproxies, proxy_bypass

    proxy = "" if proxy_bypass(place) else getproxies().get(scheme, "")
    return proxy if "://" in proxy or not proxy else f"http://{proxy}"


def _make_authorization(url: str, header: str = "Authorization") -> dict[str, str]:
    """Return the header of the name and password in a URL; none if it has none."""
    user, _, _ = urlsplit(url).netloc.rpartition("@")
    return {header: f"Basic {base64.b64encode(unquote(user).encode()).decode()}"} if user else {}


def _read_content(
    response: _TimedResponse, url: str, first: int, last: int | None
) -> Content | str:
    """Read an answer to its end, if that is what was asked for."""
    status = response.status
    if status in REDIRECTS and (location := response.getheader("Location")):
        response.read(MAX_REASON_BYTES)
        return urljoin(url, location)
    if status == 416:
        response.read(MAX_REASON_BYTES)
        raise FileChanged(f"it ends before byte {first:,}")
    if status not in (200, 206):
        raise _refuse(response)
    if status == 200:
        data, total = _read_whole(response, last)
        return Content(data, 0, total)
    if last is None:
        raise Unreachable("the host sends a part instead of the whole file", status)
    if coding := _find_coding(response):
        problem = f"the host compresses parts of files (Content-Encoding: {coding})"
        raise Unreachable(f"{problem}, so they cannot be read", status)
    begin, total = _parse_range(response.getheader("Content-Range"), first)
    if begin != first:
        raise Unreachable(f"the host sends another part than byte {first:,} and after", status)
    expected = last + 1 - first if total is None else max(0, min(last + 1, total) - first)
    data = _read_bytes(response, expected + 1)
    if len(data) > expected or (total is not None and len(data) < expected):
        counts = f"{len(data):,} bytes came instead of {expected:,}"
        raise _Passing(Unreachable(counts, 0 if len(data) < expected else status))
    return Content(data, first, total)


def _read_whole(response: _TimedResponse, last: int | None) -> tuple[bytes, int | None]:
    """Read a whole file, or its beginning up to `last` if it is large."""
    size, coding = response.length, _find_coding(response)
    if coding and coding not in ("gzip", "x-gzip", "deflate"):
        raise Unreachable(f"the host compresses files (Content-Encoding: {coding})", 200)
    limit = _asked.get().limits.whole_bytes
    if not coding and size is not None and size > limit:
        if last is None or last >= limit:
            raise Unreachable(_explain_large(f"{size:,}", limit, last), 200)
        return _read_bytes(response, last + 1), size
    data = _read_bytes(response, limit + 1)
    if size is not None and len(data) < min(size, limit + 1):
        raise _Passing(Unreachable(f"{len(data):,} bytes came instead of {size:,}"))
    is_large = len(data) > limit
    if coding:
        decoder = zlib.decompressobj(zlib.MAX_WBITS | 32)
        try:
            data = decoder.decompress(data, limit + 1)
        except zlib.error:
            raise _Passing(Unreachable(f"its {coding} coding is damaged", 200)) from None
        is_large = is_large or len(data) > limit
        if not decoder.eof and not is_large:
            raise _Passing(Unreachable("the connection was cut", 200))
    if is_large:
        if last is None or last >= limit:
            raise Unreachable(_explain_large(f"over {limit:,}", limit, last), 200)
        return data[: last + 1], None
    return data, len(data)


def _explain_large(size: str, limit: int, last: int | None) -> str:
    if last is None:
        return f"it has {size} bytes, and at most {limit:,} are read at once"
    problem = f"this host ignores ranges; the file has {size} bytes"
    return f"{problem}, and at most {limit:,} are read whole"


def _read_bytes(response: _TimedResponse, limit: int) -> bytes:
    """Read up to `limit` bytes; they end early where the connection does."""
    parts, size = list[bytes](), 0
    while size < limit and (data := response.read1(min(limit - size, 1 << 18))):
        parts.append(data)
        size += len(data)
    if not response.isclosed() and response.length == 0:
        response.read()  # which notices the end, so that the connection can be used again
    return b"".join(parts)


def _find_coding(response: _TimedResponse) -> str:
    coding = (response.getheader("Content-Encoding") or "").strip().lower()
    return "" if coding == "identity" else coding


def _parse_range(header: str | None, first: int) -> tuple[int, int | None]:
    """Return the first byte and the file's size; hosts that hide the header send what was asked."""
    match = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", (header or "").strip())
    if not header:
        return first, None
    if not match:
        return -1, None
    return int(match[1]), None if match[2] == "*" else int(match[2])


def _refuse(response: _TimedResponse) -> Exception:
    """Make the error of a status that is no success; the host's own reason is part of it."""
    status = response.status
    text = response.read(MAX_REASON_BYTES).decode("utf-8", "replace")
    reason = f"HTTP status {status}: {http.client.responses.get(status, response.reason)}"
    if message := re.search(r"<(AuthenticationErrorDetail|Message)>([^<]{1,200})<", text):
        reason += f" ({' '.join(message[2].split()).rstrip('.')})"
    error = Unreachable("".join(filter(str.isprintable, reason)).rstrip(": "), status)
    if status not in PASSING:
        return error
    delay = response.getheader("Retry-After") or ""
    return _Passing(error, min(float(delay), MAX_RETRY_AFTER) if delay.isdecimal() else 0.0)


def _explain(error: Exception, proxy: str = "") -> Exception:
    """Make the error of a connection that failed, with the proxy that it went to."""
    reason, is_passing = _find_reason(error)
    made = Unreachable(f"{reason} (by the proxy {proxy})" if proxy else reason)
    return _Passing(made) if is_passing else made


def _find_reason(error: Exception) -> tuple[str, bool]:
    """Return why a connection failed, and whether that may be over a moment later."""
    if isinstance(error, STALE):
        return "it closes the connection before it answers", True
    if isinstance(error, OSError) and str(error).startswith("Tunnel connection failed: "):
        return f"the proxy refuses: {str(error).partition(': ')[2]}", False
    if isinstance(error, TimeoutError):
        return "it does not answer, or too slowly", True
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not valid: {error.verify_message}", False
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {error.reason or error}", True
    if isinstance(error, socket.gaierror):
        return error.strerror or str(error), False
    if isinstance(error, http.client.IncompleteRead):
        return "the connection was cut", True
    if isinstance(error, OSError):
        return explain_os_error(error), True
    if isinstance(error, http.client.BadStatusLine | http.client.UnknownProtocol):
        return "the answer is not HTTP", False
    return f"{type(error).__name__}: {quote(str(error))}", False
