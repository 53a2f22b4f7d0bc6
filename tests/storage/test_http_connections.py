"""Tables on hosts by https, and through proxies."""

import os
import ssl
from pathlib import Path

import pytest

from puzzle_tablebase.errors import TableUnreadable
from puzzle_tablebase.queries import open_tables
from puzzle_tablebase.tables.http_store import HttpStore
from tests.support.certificates import make_certificate
from tests.support.hosts import RETRIED_AT_ONCE, answer_connections, reserve_port, serve
from tests.support.proxy import run_proxy

STATE = "378546201"
LOGIN = "me:se%20cret"


@pytest.fixture(autouse=True)
def _without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*os.environ]:
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


def answer(url: str) -> int | None:
    with open_tables(HttpStore(url, RETRIED_AT_ONCE)) as tables:
        return tables.eight.probe(STATE).distance


def read_error(url: str) -> str:
    with pytest.raises(TableUnreadable) as caught:
        answer(url)
    text = str(caught.value)
    begin = f"{url}/manifest.json cannot be read: "
    assert text.startswith(begin)
    return text.removeprefix(begin).partition(". Check the address")[0]


def test_a_certificate_must_be_trusted(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = make_certificate(tmp_path)
    with serve(outputs, certificate=certificate) as host:
        invalid = "its certificate is not valid: "
        assert read_error(host.url) == f"{invalid}self-signed certificate"
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert answer(host.url) == 27
        assert (len(host.requests), host.connections) == (2, 2)  # and the one that was refused
        other_name = host.url.replace("127.0.0.1", "127.1")
        assert read_error(other_name).startswith(f"{invalid}Hostname mismatch")


def test_all_connections_share_the_settings_of_tls(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading the certificates takes longer than a lookup, so it is done once for each place."""
    made: list[ssl.SSLContext] = []
    create = ssl.create_default_context

    def record_context() -> ssl.SSLContext:
        made.append(create())
        return made[-1]

    monkeypatch.setattr(ssl, "create_default_context", record_context)
    certificate = make_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with serve(outputs, certificate=certificate) as host:
        assert [answer(host.url) for _ in range(3)] == [27] * 3
        assert (host.connections, len(made)) == (3, 1)


def test_an_expired_certificate_is_reported(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = make_certificate(tmp_path, days=-1)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with serve(outputs, certificate=certificate) as host:
        assert read_error(host.url) == "its certificate is not valid: certificate has expired"


def test_plain_http_at_a_place_of_https_is_reported(outputs: Path) -> None:
    with serve(outputs) as host:
        assert read_error(host.url.replace("http:", "https:")).startswith("TLS failed: ")


def test_https_is_not_read_as_plain_http(outputs: Path, tmp_path: Path) -> None:
    with serve(outputs, certificate=make_certificate(tmp_path)) as host:
        reason = read_error(host.url.replace("https:", "http:"))
        assert reason in ("it closes the connection before it answers", "connection reset by peer")


@pytest.mark.parametrize("login", ["", LOGIN])
@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY"])
def test_plain_http_passes_a_proxy(
    login: str, variable: str, outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(outputs) as host, run_proxy(login.replace("%20", " ")) as proxy:
        monkeypatch.setenv(variable, f"http://{f'{login}@' if login else ''}{proxy.place}")
        assert answer(f"{host.url}/tables") == 27
        assert proxy.requests == [
            f"GET {host.url}/tables/manifest.json",
            f"GET {host.url}/tables/eight.idx",
        ]
        assert not any("Proxy-Authorization" in request.headers for request in host.requests)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert answer(host.url) == 27
        assert len(proxy.requests) == 2


@pytest.mark.parametrize("login", ["", LOGIN])
def test_https_passes_a_proxy_in_a_tunnel(
    login: str, outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = make_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with (
        serve(outputs, certificate=certificate) as host,
        run_proxy(login.replace("%20", " ")) as proxy,
    ):
        monkeypatch.setenv("https_proxy", f"{f'{login}@' if login else ''}{proxy.place}")
        assert answer(host.url) == 27
        assert proxy.requests == [f"CONNECT {host.url.removeprefix('https://')}"]


def test_a_proxy_that_refuses_is_named_without_its_password(
    outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = "407 Proxy Authentication Required"
    with serve(outputs) as host, run_proxy(LOGIN) as proxy:
        monkeypatch.setenv("http_proxy", f"http://me:wrong@{proxy.place}")
        monkeypatch.setenv("https_proxy", f"http://me:wrong@{proxy.place}")
        assert read_error(host.url) == f"HTTP status {refused.replace(' ', ': ', 1)}"
        reason = read_error(host.url.replace("http:", "https:"))
        assert reason == f"the proxy refuses: {refused} (by the proxy http://{proxy.place})"


def test_a_proxy_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "http://host.example/tables"
    with reserve_port() as port:
        place = f"127.0.0.1:{port}"
        monkeypatch.setenv("http_proxy", f"http://me:secret@{place}")
        assert read_error(url) == f"connection refused (by the proxy http://{place})"
    monkeypatch.setenv("http_proxy", f"socks5://{place}")
    only = "is not one by http://, the only kind that works"
    assert read_error(url) == f"the proxy socks5://{place} {only}"


def test_a_proxy_that_closes_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with answer_connections() as place:
        monkeypatch.setenv("http_proxy", place)
        reason = f"it closes the connection before it answers (by the proxy {place})"
        assert read_error("http://host.example/tables") == reason
