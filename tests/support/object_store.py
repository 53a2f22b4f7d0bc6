"""A real object store on loopback, into which tests can inject faults.

It is moto's, in this process.
"""

import os
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

from puzzle_tablebase.stores.remote import make_client
from tests.support.hosts import run_server

Answer = tuple[str, list[tuple[str, str]], bytes]
"""Status, headers and body of a response."""
Fault = Callable[[str, str, Callable[[], Answer]], Answer]
"""Function that answers a method and an address; it may call the store for an answer, or not."""


class LoopbackStore:
    """The server, and the environment variables by which a process finds it."""

    def __init__(self) -> None:
        self._store: Any = DomainDispatcherApplication(create_backend_app)
        self._server = make_server("127.0.0.1", 0, self._answer, threaded=True)
        self.scheme = "s3"
        """The scheme of the URLs of its buckets."""
        self.usual: Fault | None = None
        self.fault: Fault | None = None
        """What changes the answers; `usual`: outside of the test of a fault."""
        self.ignored_headers = list[str]()
        """Request headers that the server ignores."""
        self.requests = list[str]()
        self.watch: Callable[[dict[str, Any]], object] = lambda environ: None
        """Function that gets each request's environment."""
        self.variables = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self._server.server_port}",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    @contextmanager
    def serve(self) -> Iterator["LoopbackStore"]:
        with run_server(self._server):
            yield self

    def _answer(self, environ: dict[str, Any], start: Any) -> list[bytes]:
        self.watch(environ)
        method = environ["REQUEST_METHOD"]
        address = f"{environ['PATH_INFO']}?{environ['QUERY_STRING']}"
        for header in self.ignored_headers:
            environ.pop(header, None)
        self.requests.append(f"{method} {address} {environ.get('HTTP_RANGE', '')}".strip())
        text: list[Any] = []

        def respond() -> Answer:
            body = b"".join(
                self._store(environ, lambda *on_progress, **_: text.extend(on_progress[:2]))
            )
            return text[0], text[1], body

        if isinstance(self.fault, Generations):
            self.fault.request.required = environ.get("HTTP_X_GOOG_IF_GENERATION_MATCH", "")
        status, headers, body = self.fault(method, address, respond) if self.fault else respond()
        start(status, headers)
        return [body]


class Generations:
    """The part of Google's stores that S3 lacks: a file has a number, which a put may require.

    Set as the server's fault; the rest of Google's interface with XML is S3's.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._last = 1_600_000_000_000_000
        self.request = threading.local()
        """The number that the request of this thread requires, as text: `required`."""
        self._lock = threading.Lock()

    def __call__(self, method: str, address: str, respond: Callable[[], Answer]) -> Answer:
        key = address.partition("?")[0]
        with self._lock:
            required = self.request.required
            if method == "PUT" and required not in ("", str(self._numbers.get(key, 0))):
                text = b"<Error><Code>PreconditionFailed</Code><Message>No</Message></Error>"
                return "412 PRECONDITION FAILED", [("Content-Length", str(len(text)))], text
            status, headers, body = respond()
            if status[:1] == "2" and (method == "PUT" or "uploadId=" in address):
                self._last += 1
                self._numbers[key] = self._last
            if status[:1] == "2" and method == "DELETE":
                self._numbers.pop(key, None)
            number = self._numbers.get(key, 0)  # before another request can change it
        return status, [*headers, ("x-goog-generation", str(number))], body


def reject_put(method: str, address: str, respond: Callable[[], Answer]) -> Answer:
    """Reject every PUT."""
    if method == "PUT":
        text = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
        return "403 FORBIDDEN", [("Content-Length", str(len(text)))], text
    return respond()


@contextmanager
def bucket(name: str) -> Iterator[LoopbackStore]:
    """Yield a store with one bucket; this process finds it too."""
    before = dict(os.environ)
    make_client.cache_clear()
    with LoopbackStore().serve() as store:
        os.environ.update(store.variables)
        try:
            url = f"{store.variables['AWS_ENDPOINT_URL']}/{name}"
            urllib.request.urlopen(urllib.request.Request(url, method="PUT")).close()
            store.requests.clear()
            yield store
        finally:
            os.environ.clear()
            os.environ.update(before)
            make_client.cache_clear()
