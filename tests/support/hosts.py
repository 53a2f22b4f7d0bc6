"""Static hosts on loopback: one that can be told to misbehave, nginx, and Python's own."""

from __future__ import annotations

import http.server
import mimetypes
import shutil
import socket
import socketserver
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

NGINX = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")


class Request(NamedTuple):
    folder: str
    name: str
    span: tuple[int, int] | None
    headers: dict[str, str]


class Answer:
    """What a host sends, before and after a fault changes it."""

    def __init__(self, file: Path, status: int, headers: dict[str, str], body: bytes) -> None:
        self.file, self.status, self.headers, self.body = file, status, headers, body
        self.sent = len(body)
        """Bytes of the body that are sent before the connection is cut."""
        self.delay = 0.0
        self.reason: str | None = None
        """The phrase beside the status, if it is not the usual one."""
        self.is_last = False
        """Whether the connection ends without notice after the answer."""

    def replace_body(self, body: bytes) -> None:
        self.body, self.sent = body, len(body)


Fault = Callable[[Request, Answer], None]


class Host:
    """A server of a folder that counts requests and takes a fault."""

    def __init__(
        self, folder: Path, fault: Fault | None = None, certificate: Path | None = None
    ) -> None:
        self.folder, self.fault = folder, fault
        self.requests = list[Request]()
        self.sent = 0
        host = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                host.answer(self)

            do_HEAD = do_GET

            def log_message(self, *_: object) -> None:
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_: Any) -> None:
                pass  # a client may go away

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        scheme = "http"
        if certificate:
            scheme, context = "https", ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            # the handshake in the thread of each connection, as its first read
            self.server.socket = context.wrap_socket(
                self.server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.url = f"{scheme}://127.0.0.1:{self.server.server_port}"

    def answer(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        path = unquote(handler.path.partition("?")[0]).strip("/")
        folder, _, name = path.rpartition("/")
        text = handler.headers.get("Range", "").removeprefix("bytes=")
        span = (int(text.split("-")[0]), int(text.split("-")[1])) if text else None
        request = Request(folder.rpartition("/")[2], name, span, dict(handler.headers.items()))
        self.requests.append(request)
        answer = self.read(request, path)
        if self.fault:
            self.fault(request, answer)
        time.sleep(answer.delay)
        body = answer.body[: answer.sent]
        handler.send_response(answer.status, answer.reason)
        for header, value in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
            handler.send_header(header, value)
        handler.end_headers()
        if handler.command == "HEAD":
            return
        self.sent += len(body)
        handler.wfile.write(body)
        if answer.is_last or len(body) < len(answer.body):
            handler.close_connection = True

    def read(self, request: Request, path: str) -> Answer:
        """Return the right answer to a request, which may name a folder that is not there."""
        files = (self.folder / path, self.folder / request.name)
        file = next(filter(Path.is_file, files), files[1])
        if not file.is_file():
            return Answer(file, 404, {}, b"")
        data = file.read_bytes()
        version = f'"{len(data)}-{file.stat().st_mtime_ns}"'
        headers = {"ETag": version, "Accept-Ranges": "bytes"}
        headers["Last-Modified"] = "Wed, 21 Oct 2015 07:28:00 GMT"  # buckets say it
        if media_type := mimetypes.guess_type(file.name)[0]:
            headers["Content-Type"] = media_type  # else no browser takes a module
        if request.span is None:
            return Answer(file, 200, headers, data)
        first, last = request.span
        if first >= len(data):
            return Answer(file, 416, {"Content-Range": f"bytes */{len(data)}"}, b"")
        part = data[first : last + 1]
        headers["Content-Range"] = f"bytes {first}-{first + len(part) - 1}/{len(data)}"
        return Answer(file, 206, headers, part)


@contextmanager
def serve(
    folder: Path, fault: Fault | None = None, certificate: Path | None = None
) -> Iterator[Host]:
    host = Host(folder, fault, certificate)
    with run_server(host.server):
        yield host


@contextmanager
def run_server(server: socketserver.BaseServer) -> Iterator[None]:
    """Run a server in a thread."""
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield
    server.shutdown()
    server.server_close()
    thread.join()


@contextmanager
def answer_connections(answer: bytes | Callable[[socket.socket], object]) -> Iterator[str]:
    """Yield the address of a server that sends these bytes to each connection, and closes it.

    A function does with the connection what it likes instead.
    """

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):  # the client may go away
                self.request.recv(1 << 16)  # unread bytes would make the close a reset
                if callable(answer):
                    answer(self.request)
                else:
                    self.request.sendall(answer)

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with run_server(server):
        yield f"http://127.0.0.1:{server.server_address[1]}"


@contextmanager
def reserve_port() -> Iterator[int]:
    """Reserve a port: no other process gets it, and only a server that asks to share it listens."""
    with socket.socket() as reserved:
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        reserved.bind(("127.0.0.1", 0))
        yield int(reserved.getsockname()[1])


NGINX_LINES = """\
daemon off; master_process off; pid {work}/pid; error_log {work}/errors;
events {{}}
http {{
  access_log {work}/requests; default_type application/octet-stream;
  client_body_temp_path {work}/a; proxy_temp_path {work}/b; fastcgi_temp_path {work}/c;
  uwsgi_temp_path {work}/d; scgi_temp_path {work}/e;
  server {{ listen 127.0.0.1:{port} reuseport; root {folder}; {options} }}
}}
"""


@contextmanager
def run_nginx(folder: Path, work: Path, options: str = "") -> Iterator[str]:
    """Serve a folder by nginx, with these lines in its configuration."""
    with reserve_port() as port:
        lines = NGINX_LINES.format(work=work, port=port, folder=folder, options=options)
        (work / "nginx.conf").write_text(lines)
        command = [str(NGINX), "-p", str(work), "-e", str(work / "errors"), "-c"]
        with _run([*command, str(work / "nginx.conf")]) as server:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=60).close()
                    break
                except ConnectionRefusedError:
                    assert server.poll() is None, "nginx ended"
                    time.sleep(0.02)
            yield f"http://127.0.0.1:{port}"


@contextmanager
def run_python_server(folder: Path) -> Iterator[str]:
    """Serve a folder by `python -m http.server`, which ignores ranges."""
    command = [sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1", "0"]
    with _run([*command, "--directory", str(folder)]) as server:
        assert server.stdout
        begin = server.stdout.readline().decode()  # Serving HTTP on 127.0.0.1 port 12345 (...
        yield f"http://127.0.0.1:{begin.split(' port ')[1].split()[0]}"


@contextmanager
def _run(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        try:
            yield server
        finally:
            server.terminate()
