"""Clients of web hosts and buckets, by obstore: their limits and keys, and why a request failed.

The library reads the environment: keys, proxies, certificates. Keys of S3 may also be in the
profiles of AWS's own tools (`~/.aws/credentials`), which `boto3` reads.
"""

from __future__ import annotations

import binascii
import functools
import os
import re
from datetime import timedelta
from typing import TYPE_CHECKING

from puzzle_tablebase.errors import Unreachable

if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    from obstore.auth.boto3 import Boto3CredentialProvider
    from obstore.store import AzureStore, ClientConfig, GCSStore, HTTPStore, RetryConfig, S3Store

    Client: TypeAlias = AzureStore | GCSStore | HTTPStore | S3Store
    Mode: TypeAlias = Literal["read", "read past caches", "write"]

SECONDS_VARIABLE = "PIPELINE_NETWORK_SECONDS"
"""The variable of the environment that sets the seconds of one request."""
REQUEST_SECONDS = 15.0
"""The most seconds of one request of a reader, its answer included."""
ATTEMPTS = 3
"""How often a request is sent, if it fails in a way that may pass."""
RETRY_SECONDS = 0.3
"""The wait before the second attempt; it doubles before the third."""
WRITE_FACTOR = 20
"""How much longer a writer's requests may take: each sends a part of a file."""
SERVICES = {"s3": "s3", "gs": "gs", "gcs": "gs", "az": "az", "abfs": "az", "abfss": "az"}
"""The service of each scheme of a bucket's URL."""
_using_processes = set[int]()
"""The processes that have used a remote store: this one, and one that it was forked from."""

IGNORED_RANGE = "RangeNotSupported", "NotPartial"
# patterns that only an error compiles
STATUS = r"status code: (\d{3}) ?([^:\n]*)"
SERVERS_REASON = r"<(?:AuthenticationErrorDetail|Details|Message)>([^<\n]{1,300})"
CAUSE = r"[A-Za-z][A-Za-z ]+"
GENERAL = r"^((Generic \w+|HTTP) error: )+"
CREDENTIAL_HOSTS = "//169.254.169.254", "//metadata.google.internal", "//metadata/"
"""Hosts that give a machine in a cloud its credentials: they are asked when there are no others."""
MISSING_BUCKETS = "<Code>NoSuchBucket</Code>", "<Code>ContainerNotFound</Code>"


def read_seconds() -> float:
    """Return the seconds that one request of a reader has."""
    text = os.environ.get(SECONDS_VARIABLE, "")
    is_usable = text.isascii() and text.isdecimal() and 0 < len(text) <= 6 and int(text) > 0
    return int(text) if is_usable else REQUEST_SECONDS


def open_client(root: str, login: str, mode: Mode) -> Client:
    """Open a host or a bucket; no request is made. `login`: the name and password of a host."""
    _using_processes.add(os.getpid())
    if len(_using_processes) > 1:  # the library's threads are not forked, and it would wait
        problem = "this process was forked from one that reads a URL; start it by spawn"
        raise Unreachable(problem)
    return make_client(root, login, mode)


@functools.lru_cache
def make_client(root: str, login: str, mode: Mode) -> Client:
    try:
        # imported here, because most stores are folders
        from obstore.store import AzureStore, GCSStore, HTTPStore, S3Store
    except ImportError:
        problem = "tables at a URL need a package: pip install obstore"
        raise Unreachable(problem) from None
    seconds = read_seconds() * (WRITE_FACTOR if mode == "write" else 1)
    scheme = root.partition(":")[0]
    headers = {"Accept-Encoding": "identity"}
    if login:
        code = binascii.b2a_base64(login.encode(), newline=False)  # importing base64 is slower
        headers["Authorization"] = f"Basic {code.decode()}"
    if mode == "read past caches":
        headers["Cache-Control"] = "no-cache"
    client: ClientConfig = {
        "allow_http": scheme != "https",  # an endpoint of a bucket names its own protocol
        "connect_timeout": timedelta(seconds=min(seconds, 5)),
        "default_headers": headers,
        "timeout": timedelta(seconds=seconds),
        "user_agent": "puzzle-tablebase",
    }
    retry: RetryConfig = {
        "max_retries": ATTEMPTS - 1,
        "retry_timeout": timedelta(seconds=ATTEMPTS * seconds),
        "backoff": {"init_backoff": timedelta(seconds=RETRY_SECONDS)},
    }
    if scheme in ("http", "https"):
        return HTTPStore(root, client_options=client, retry_config=retry)
    if SERVICES[scheme] == "gs":
        url = root.replace("gcs:", "gs:", 1)
        return GCSStore.from_url(url, client_options=client, retry_config=retry)
    if SERVICES[scheme] == "az":
        return AzureStore.from_url(root, client_options=client, retry_config=retry)
    return S3Store.from_url(
        root, credential_provider=find_profile(), client_options=client, retry_config=retry
    )


MAX_REASON = 200
"""The most characters of a reason that a host has a part in."""

ELSEWHERE = (
    *("AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_SKIP_SIGNATURE"),
    *("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"),
)
"""Variables that give credentials, say where they are, or that none are needed."""


def find_profile() -> Boto3CredentialProvider | None:
    """Return what gets keys by the profile of the environment; None where keys are elsewhere."""
    if any(name in os.environ for name in ELSEWHERE):
        return None
    file = os.environ.get("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials")
    try:
        import boto3
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ImportError:
        if "AWS_PROFILE" in os.environ or os.path.exists(os.path.expanduser(file)):
            problem = "keys in the profiles of AWS need a package: pip install boto3"
            raise Unreachable(problem) from None
        return None
    session = boto3.Session(region_name=os.environ.get("AWS_REGION"))
    if session.get_credentials() is None:
        raise Unreachable("no credentials were found")
    return Boto3CredentialProvider(session)


def explain_error(error: Exception) -> tuple[str, int]:
    """Return the reason of an error of the library, and the HTTP status, 0 if there was none.

    Its text has a sentence, which may end with the server's answer, and its parts, whose last word
    is the cause.
    """
    sentence, _, parts = str(error).partition("\n\nDebug source")
    if any(host in sentence for host in CREDENTIAL_HOSTS):
        return "no credentials were found", 0
    if status := re.search(STATUS, sentence):
        reason = re.search(SERVERS_REASON, sentence)
        words = " ".join((reason[1] if reason else status[2]).split())
        return f"HTTP status {status[1]}: {words}".rstrip(": ."), int(status[1])
    # without the address, whose query may be secret
    words = " ".join(re.sub(GENERAL, "", sentence.rpartition(" - ")[2]).split()).rstrip(".")
    if len(words) > MAX_REASON:  # it may quote a header of any length
        words = f"{words[:MAX_REASON]}…"
    causes = re.findall(CAUSE, parts) if "reqwest::Error" in parts else []
    return f"{words} ({causes[-1]})" if causes else words, 0


def is_bucket_missing(error: BaseException) -> bool:
    """Return whether an error says that the bucket itself does not exist."""
    return any(code in str(error) for code in MISSING_BUCKETS)
