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
BUCKETS = "s3", "gs", "az"
"""The schemes of a bucket's URL."""
PROCESS = os.getpid()
IGNORED_RANGE = "RangeNotSupported", "NotPartial"
MAX_REASON = 200
"""The most characters of a reason that a host has a part in."""
ELSEWHERE = (
    *("AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_SKIP_SIGNATURE"),
    *("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"),
)
"""Variables that give credentials, say where they are, or that none are needed."""


def read_seconds() -> float:
    """Return the seconds that one request of a reader has."""
    text = os.environ.get(SECONDS_VARIABLE, "")
    is_usable = text.isascii() and text.isdecimal() and 0 < len(text) <= 6 and int(text) > 0
    return int(text) if is_usable else REQUEST_SECONDS


def open_client(root: str, login: str, mode: Mode) -> Client:
    """Open a host or a bucket; no request is made. `login`: the name and password of a host."""
    if os.getpid() != PROCESS:  # the library's threads are not forked, and it would wait
        raise Unreachable("this process was forked from one that reads a URL; start it by spawn")
    return make_client(root, login, mode)


@functools.lru_cache
def make_client(root: str, login: str, mode: Mode) -> Client:
    try:
        # imported here, because most stores are folders
        from obstore.store import AzureStore, GCSStore, HTTPStore, S3Store
    except ImportError:
        raise Unreachable("tables at a URL need a package: pip install obstore") from None
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
    if scheme == "gs":
        return GCSStore.from_url(root, client_options=client, retry_config=retry)
    if scheme == "az":
        return AzureStore.from_url(root, client_options=client, retry_config=retry)
    if scheme == "s3":
        keys = find_profile()
        return S3Store.from_url(
            root, credential_provider=keys, client_options=client, retry_config=retry
        )
    return HTTPStore(root, client_options=client, retry_config=retry)


def find_profile() -> Boto3CredentialProvider | None:
    """Return what gets keys by the profile of the environment; None where keys are elsewhere."""
    if any(name in os.environ for name in ELSEWHERE):
        return None
    try:
        import boto3
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ImportError:
        return None
    return Boto3CredentialProvider(boto3.Session(region_name=os.environ.get("AWS_REGION")))


def explain_error(error: Exception) -> tuple[str, int]:
    """Return the reason of an error of the library, and the HTTP status, 0 if there was none.

    Its text has a sentence and its parts, whose last word is the cause.
    """
    sentence, _, parts = str(error).partition("\n\nDebug source")
    if status := re.search(r"status code: (\d{3}) ?([^:\n]*)", sentence):
        return f"HTTP status {status[1]}: {status[2]}".rstrip(": ."), int(status[1])
    # without the address, whose query may be secret; it may quote a header of any length
    words = " ".join(sentence.rpartition(" - ")[2].split()).rstrip(".")[:MAX_REASON]
    causes = re.findall(r"[A-Za-z][A-Za-z ]+", parts) if "reqwest::Error" in parts else []
    return f"{words} ({causes[-1]})" if causes else words, 0
