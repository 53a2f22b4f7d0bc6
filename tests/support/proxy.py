"""A proxy on loopback: of plain HTTP by whole addresses, and of any other protocol by tunnels."""

from __future__ import annotations

import base64
import http.client
import http.server
import selectors
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from tests.support.hosts import run_server


class Proxy:
    """A running proxy; with a login it refuses all who do not send it."""

    def __init__(self, login: str = "") -> None:
        self.requests = list[str]()
        """The first two words of each request."""
        proxy, expected = self, f"Basic {base64.b64encode(login.encode()).decode()}"

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def is_refused(self) -> bool:
                proxy.requests.append(f"{self.command} {self.path}")
                if not login or self.headers.get("Proxy-Authorization") == expected:
                    return False
                self.send_response(407)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return True

            def do_GET(self) -> None:
                if self.is_refused():
                    return
                place = urlsplit(self.path)
                host = http.client.HTTPConnection(place.netloc)
                headers = {
                    name: value
                    for name, value in self.headers.items()
                    if not name.lower().startswith("proxy-")
                }
                host.request("GET", place.path, None, headers)
                answer = host.getresponse()
                body = answer.read()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
                host.close()

            def do_CONNECT(self) -> None:
                if self.is_refused():
                    return
                host, _, port = self.path.partition(":")
                with socket.create_connection((host, int(port))) as other:
                    self.send_response(200)
                    self.end_headers()
                    pass_bytes(self.connection, other)
                self.close_connection = True

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.place = f"127.0.0.1:{self.server.server_port}"


def pass_bytes(one: socket.socket, other: socket.socket) -> None:
    """Pass what each of two connections sends to the other until one ends."""
    with selectors.DefaultSelector() as selector:
        selector.register(one, selectors.EVENT_READ, other)
        selector.register(other, selectors.EVENT_READ, one)
        while True:
            for key, _ in selector.select():
                assert isinstance(key.fileobj, socket.socket)
                data = key.fileobj.recv(1 << 16)
                if not data:
                    return
                key.data.sendall(data)


@contextmanager
def run_proxy(login: str = "") -> Iterator[Proxy]:
    proxy = Proxy(login)
    with run_server(proxy.server):
        yield proxy
