"""A client of static HTTP hosts: whole files and ranges, on connections that stay open.

Hosts differ: they ignore ranges, redirect, cut connections and fail for a moment. A passing fault
is retried; any other is an Unreachable with the reason and the status.
"""

from __future__ import annotations

import base64
import functools
import http.client
import os
import re
import socket
import ssl
import time
from collections import defaultdict, deque
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from tablebase.errors import FileChanged, Unreachable, quote
from tablebase.stdio import explain_os_error
from tablebase.tables.range_file import Content

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS_VARIABLE = "PIPELINE_NETWORK_SECONDS"
"""The variable of the environment that gives each request another time."""
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
"""What the library raises if a connection fails."""


class HttpLimits(NamedTuple):
    """The limits of a client: how long it waits for a host, and how much it reads at once.

    `retry_delays`: the seconds before each further attempt. `wait_seconds`: the longest wait for a
    connection, or for the next bytes. `request_seconds`: that for an answer, all attempts together.
    `bytes_per_second`: the lowest speed at which one is still read; each byte that came lengthens
    the time. `whole_bytes`: the largest file that is read whole where the host ignores ranges.
    """

    retry_delays: tuple[float, ...] = (0.3, 1.0)
    wait_seconds: float = 15.0
    request_seconds: float = 60.0
    bytes_per_second: int = 20_000
    whole_bytes: int = 64 << 20


LIMITS = HttpLimits()


class _Passing(Unreachable):
    """A fault that may be over a moment later."""


class _Asked(NamedTuple):
    """The bytes from `first` to `last`; or a whole file, and where the host sends no part of it.

    `most`: the largest such file.
    """

    first: int
    last: int | None
    most: int


class _Deadline:
    """The time that is left for an answer."""

    def __init__(self, limits: HttpLimits) -> None:
        self.limits = limits
        text = os.environ.get(SECONDS_VARIABLE, "")
        is_given = re.fullmatch(r"[0-9]{1,6}", text)
        self._seconds = float(text) if is_given else limits.request_seconds
        self._end = time.monotonic() + self._seconds

    def count_remaining(self) -> float:
        return self._end - time.monotonic()

    def require_time(self) -> float:
        """Return the seconds that the next step may wait; raise TimeoutError if none are left."""
        if (remaining := self.count_remaining()) <= 0:
            raise TimeoutError
        return min(remaining, self.limits.wait_seconds)

    def add_bytes(self, size: int) -> None:
        """Add the time for bytes that came, up to the time that there was at the beginning."""
        most = time.monotonic() + self._seconds
        self._end = min(self._end + size / self.limits.bytes_per_second, most)


class HttpClient:
    """Connections to hosts; threads share them, a forked process opens its own."""

    def __init__(self, limits: HttpLimits) -> None:
        self._limits = limits
        self._idle = defaultdict[tuple[int, str, str], deque[_Connection]](deque)
        """The idle connections by process, scheme and place."""
        self.is_lost = False
        """Whether the last request had no answer, after all attempts."""

    def fetch(
        self, url: str, first: int = 0, last: int | None = None, *, is_fresh: bool = False
    ) -> Content:
        """Fetch the bytes from `first` to `last`, or the whole file.

        If the host ignores ranges, it is the whole file. `is_fresh`: caches on the way must ask the
        host. FileNotFoundError is never raised: a missing file is an Unreachable with its status,
        as any other refusal.
        """
        headers = {"Accept-Encoding": "identity", "User-Agent": "puzzle-tablebase"}
        headers |= {} if last is None else {"Range": f"bytes={first}-{last}"}
        headers |= {"Cache-Control": "no-cache"} if is_fresh else {}
        asked, deadline = _Asked(first, last, self._limits.whole_bytes), _Deadline(self._limits)
        for delay in (*self._limits.retry_delays, None):
            try:
                content = self._follow(url, headers, asked, deadline)
            except _Passing:
                self.is_lost = True
                if delay is None or deadline.count_remaining() <= delay:
                    raise
                time.sleep(delay)
            else:
                self.is_lost = False
                return content
        raise AssertionError

    def _follow(
        self, url: str, headers: dict[str, str], asked: _Asked, deadline: _Deadline
    ) -> Content:
        """Send a request, and again to where the host redirects it."""
        here = url
        for _ in range(MAX_REDIRECTS + 1):
            is_own_host = urlsplit(here)[:2] == urlsplit(url)[:2]  # a password is for it alone
            login = _make_authorization(url) if is_own_host else {}
            found = self._request(here, headers | login, asked, deadline)
            if isinstance(found, Content):
                return found
            if here.startswith("https:") and not found.startswith("https:"):
                raise Unreachable("it redirects from https to another protocol")
            here = found
        raise Unreachable(f"it redirects more than {MAX_REDIRECTS} times")

    def _request(
        self, url: str, headers: dict[str, str], asked: _Asked, deadline: _Deadline
    ) -> Content | str:
        """Send one request; return what came, or the address of a redirect."""
        scheme, place, path, query, _ = urlsplit(url)
        if scheme not in ("http", "https") or not place:
            raise Unreachable(f"it redirects to {quote(url)}")
        place, target = place.rpartition("@")[2], (path or "/") + (query and f"?{query}")
        idle = self._idle[os.getpid(), scheme, place]
        while True:
            try:
                connection = idle.pop()
            except IndexError:
                connection = _Connection(scheme, place)
            try:
                response = connection.send(target, headers, deadline)
                read = functools.partial(_read_bytes, response, connection.socket, deadline)
                with response:
                    content = _read_content(response, read, url, asked)
                    is_open = response.isclosed() and not response.will_close
            except BaseException as error:
                connection.close()
                if isinstance(error, STALE) and connection.is_reused:
                    continue
                if isinstance(error, FAILURES) and not isinstance(error, Unreachable):
                    raise _Passing(_explain(error, connection.proxy)) from error
                raise
            if is_open and len(idle) < MAX_IDLE:
                idle.append(connection)
            else:
                connection.close()
            return content

    def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            _, idle = self._idle.popitem()
            for connection in idle:
                connection.close()

    __del__ = close


class _Connection:
    """A connection to a host, or to the proxy that the environment names for it."""

    socket: socket.socket

    def __init__(self, scheme: str, place: str) -> None:
        proxy = _find_proxy(scheme, place)
        kind, names, *_ = urlsplit(proxy)
        host = names.rpartition("@")[2] or place
        self.proxy = proxy and f"{kind}://{host}"
        """The proxy, without its password; empty if there is none."""
        self.is_reused = False
        if proxy and kind != "http":
            problem = f"the proxy {self.proxy} is not one by http://, the only kind that works"
            raise Unreachable(problem)
        login = _make_authorization(proxy, "Proxy-Authorization")
        # a proxy of plain HTTP needs the whole address
        self._base, self._headers = "", dict[str, str]()
        self._line: http.client.HTTPConnection
        try:
            if scheme == "https":
                context = _make_context(*map(os.environ.get, CERTIFICATE_VARIABLES))
                self._line = http.client.HTTPSConnection(host, context=context)
                if proxy:
                    self._line.set_tunnel(place, headers=login)
            else:
                self._line = http.client.HTTPConnection(host)
                if proxy:
                    self._base, self._headers = f"http://{place}", login
        except (ValueError, http.client.HTTPException) as error:  # a port that is no number
            raise Unreachable(str(error)) from error

    def send(
        self, target: str, headers: dict[str, str], deadline: _Deadline
    ) -> http.client.HTTPResponse:
        """Send a request; return its answer, of which only the head was read."""
        self.is_reused = self._line.sock is not None
        if not self.is_reused:
            self._line.timeout = deadline.require_time()
            self._line.connect()
            self.socket = self._line.sock
        self.socket.settimeout(deadline.require_time())
        self._line.request("GET", self._base + target, None, self._headers | headers)
        return self._line.getresponse()

    def close(self) -> None:
        self._line.close()


@functools.cache
def _make_context(*places: str | None) -> ssl.SSLContext:
    """Make the settings of TLS for all connections; reading the certificates takes a while.

    `places`: where the environment says that the certificates are.
    """
    return ssl.create_default_context()


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
    response: http.client.HTTPResponse,
    read: Callable[[int], bytes],
    url: str,
    asked: _Asked,
) -> Content | str:
    """Read an answer to its end, if that is what was asked for."""
    status, (first, last, most) = response.status, asked
    if status in REDIRECTS and (location := response.getheader("Location")):
        read(MAX_REASON_BYTES)
        return urljoin(url, location)
    if status == 416:
        read(MAX_REASON_BYTES)
        raise FileChanged(f"it ends before byte {first:,}")
    if status not in (200, 206):
        raise _refuse(response, read(MAX_REASON_BYTES))
    coding = response.getheader("Content-Encoding", "identity").strip().lower()
    if coding != "identity":
        raise Unreachable(f"the host compresses files (Content-Encoding: {coding})", status)
    if status == 200:
        data = _read_whole(response, read, most)
        return Content(data, 0, len(data))
    found = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", response.getheader("Content-Range", "").strip())
    if last is None or not found or int(found[1]) != first:
        raise Unreachable("the host sends another part than it was asked for", status)
    total = int(found[2])
    expected = max(0, min(last + 1, total) - first)
    data = read(expected + 1)
    if len(data) != expected:
        raise _Passing(f"{len(data):,} bytes came instead of {expected:,}")
    return Content(data, first, total)


def _read_whole(
    response: http.client.HTTPResponse, read: Callable[[int], bytes], most: int
) -> bytes:
    """Read a whole file; raise Unreachable if it has more bytes than `most`."""
    size = response.length
    data = read(most + 1) if size is None or size <= most else b""
    if max(size or 0, len(data)) > most:
        problem = f"the host sends it whole, and it has more than {most:,} bytes"
        raise Unreachable(problem, response.status)
    if size is not None and len(data) < size:
        raise _Passing(f"{len(data):,} bytes came instead of {size:,}")
    return data


def _read_bytes(
    response: http.client.HTTPResponse, connected: socket.socket, deadline: _Deadline, limit: int
) -> bytes:
    """Read up to `limit` bytes; they end early where the connection does."""
    parts, size = list[bytes](), 0
    while size < limit:
        connected.settimeout(deadline.require_time())
        if not (data := response.read1(min(limit - size, 1 << 18))):
            break
        deadline.add_bytes(len(data))
        parts.append(data)
        size += len(data)
    if not response.isclosed() and response.length == 0:
        response.read()  # which notices the end, so that the connection can be used again
    return b"".join(parts)


def _refuse(response: http.client.HTTPResponse, data: bytes) -> Unreachable:
    """Make the error of a status that is no success; the host's own reason is part of it."""
    status, text = response.status, data.decode("utf-8", "replace")
    reason = f"HTTP status {status}: {http.client.responses.get(status, response.reason)}"
    if message := re.search(r"<(AuthenticationErrorDetail|Message)>([^<]{1,200})<", text):
        reason += f" ({' '.join(message[2].split()).rstrip('.')})"
    kind = _Passing if status in PASSING else Unreachable
    return kind("".join(filter(str.isprintable, reason)).rstrip(": "), status)


def _explain(error: Exception, proxy: str) -> str:
    """Return the reason why a connection failed, with the proxy that it went to."""
    reason = f"{type(error).__name__}: {quote(str(error))}"
    if isinstance(error, STALE):
        reason = "it closes the connection before it answers"
    elif isinstance(error, TimeoutError):
        reason = "it does not answer, or too slowly"
    elif isinstance(error, http.client.IncompleteRead):
        reason = "the connection was cut"
    elif isinstance(error, http.client.BadStatusLine | http.client.UnknownProtocol):
        reason = "the answer is not HTTP"
    elif isinstance(error, ssl.SSLCertVerificationError):
        reason = f"its certificate is not valid: {error.verify_message}"
    elif isinstance(error, ssl.SSLError):
        reason = f"TLS failed: {error.reason or error}"
    elif isinstance(error, socket.gaierror):
        reason = error.strerror or str(error)
    elif str(error).startswith("Tunnel connection failed: "):
        reason = f"the proxy refuses: {str(error).partition(': ')[2]}"
    elif isinstance(error, OSError):
        reason = explain_os_error(error)
    return f"{reason} (by the proxy {proxy})" if proxy else reason
