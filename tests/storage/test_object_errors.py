"""Object stores that cannot be used: one sentence for each cause, and nothing of the library's."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from puzzle_tablebase.errors import OutputError, Unreachable
from puzzle_tablebase.output import write_output
from puzzle_tablebase.tables.object_store import ObjectStore, open_bucket
from tests.support.certificates import make_certificate
from tests.support.hosts import answer_connections, reserve_port
from tests.support.object_store import LoopbackStore

FILE = 'HTTP/1.1 200 OK\r\nContent-Length: {}\r\nETag: "a"\r\n'
FILE += "Last-Modified: Wed, 21 Oct 2015 07:28:00 GMT\r\n\r\n"


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in [*os.environ]:
        if name.startswith(("AWS_", "GOOGLE_", "AZURE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    open_bucket.cache_clear()
    yield
    open_bucket.cache_clear()


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    return monkeypatch


def read_error(url: str = "s3://puzzles/tables") -> str:
    with pytest.raises(Unreachable) as caught:
        ObjectStore(url).get_size("manifest.json")
    return str(caught.value)


ANSWERS: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "it closes the connection before it answers"),
    "another protocol": (b"SSH-2.0-OpenSSH\r\n\r\n", "the answer is not HTTP"),
    "another region": (
        b"HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n\r\n",
        "the bucket is in another region: set AWS_REGION",
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_the_answer_of_a_server_is_explained(name: str, keys: pytest.MonkeyPatch) -> None:
    data, reason = ANSWERS[name]
    with answer_connections(data) as url:
        keys.setenv("AWS_ENDPOINT_URL", url)
        assert read_error() == reason


def test_a_file_that_is_cut_is_not_read(keys: pytest.MonkeyPatch) -> None:
    head = FILE.replace("200 OK", "206 Partial Content\r\nContent-Range: bytes 0-99/100")
    with answer_connections(head.format(100).encode() + b"few bytes") as url:
        keys.setenv("AWS_ENDPOINT_URL", url)
        with pytest.raises(Unreachable, match="response body error"):
            ObjectStore("s3://puzzles/tables").read("manifest.json")


def test_a_refused_connection_is_reported(keys: pytest.MonkeyPatch) -> None:
    with reserve_port() as port:
        keys.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        assert read_error() == "connection refused"


def test_a_certificate_must_be_trusted(keys: pytest.MonkeyPatch, tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)
    answer = FILE.format(5).encode()
    with answer_connections(answer, certificate) as url:
        keys.setenv("AWS_ENDPOINT_URL", url)
        assert read_error() == "its certificate is not valid: UnknownIssuer"
        for variable in ("SSL_CERT_FILE", "AWS_CA_BUNDLE"):
            keys.setenv(variable, str(certificate))
            open_bucket.cache_clear()
            assert ObjectStore("s3://puzzles/tables").get_size("manifest.json") == 5
            keys.setenv(variable, str(tmp_path / "none"))
            open_bucket.cache_clear()
            assert read_error() == f"{variable} names {tmp_path}/none: no such file or directory"
            keys.delenv(variable)
        with answer_connections(answer) as plain:
            keys.setenv("AWS_ENDPOINT_URL", plain.replace("http:", "https:"))
            open_bucket.cache_clear()
            assert read_error() == "its answer is not TLS"


@pytest.mark.parametrize("url", ["az://puzzles/tables", "abfss://puzzles/tables"])
def test_azure_needs_an_account(url: str) -> None:
    assert read_error(url) == "no credentials were found: set AZURE_STORAGE_ACCOUNT_NAME"
    with pytest.raises(OutputError, match="set AZURE_STORAGE_ACCOUNT_NAME"):
        write_output(f"{url}/answers.csv", b"")


def test_a_key_file_of_google_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GOOGLE_SERVICE_ACCOUNT", str(tmp_path / "none.json"))
    assert str(tmp_path / "none.json") in read_error("gs://puzzles/tables")


PROFILES = """\
[default]
aws_access_key_id = one%
aws_secret_access_key = secret
[other]
aws_access_key_id = two
aws_secret_access_key = secret
aws_session_token = passing
"""
CONFIG = """\
[default]
region = eu-west-1
[profile program]
credential_process = echo '{"Version": 1, "AccessKeyId": "three", "SecretAccessKey": "secret"}'
"""


@pytest.mark.parametrize(
    ("profile", "seen"),
    [
        ("", ("one%/", "/eu-west-1/")),
        ("other", ("two/", "x-amz-security-token")),
        ("program", ("three/",)),
    ],
)
def test_keys_come_from_profiles(
    profile: str, seen: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = list[str]()
    with LoopbackStore().serve() as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.variables["AWS_ENDPOINT_URL"])
        server.watch = lambda environ: requests.append(environ.get("HTTP_AUTHORIZATION", ""))
        (tmp_path / "credentials").write_text(PROFILES)
        (tmp_path / "config").write_text(CONFIG)
        if profile:
            monkeypatch.setenv("AWS_PROFILE", profile)
        with pytest.raises(Unreachable, match="the bucket absent does not exist"):
            ObjectStore("s3://absent/tables").read("manifest.json")
    for text in seen:
        assert text in requests[0]


def test_a_profile_that_does_not_exist_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "none")
    assert read_error() == "The config profile (none) could not be found"


def test_profiles_need_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "credentials").write_text(PROFILES)
    monkeypatch.setitem(sys.modules, "boto3", None)
    assert read_error() == "keys in the profiles of AWS need a package: pip install boto3"
