"""Tables on web hosts and in buckets: `https://`, `s3://`, `gs://` and `az://`, by obstore.

A file is read by ranges of bytes, all of one version: if the host says that the file has changed
since the first range, reading fails. The manifest of a web host is fetched once. `bucket` writes to
buckets.

The library reads keys, proxies and certificates from the environment. S3's keys may also be in the
profiles of AWS's own tools (`~/.aws/credentials`), which `boto3` reads.
"""

from __future__ import annotations

import binascii
import contextlib
import errno
import functools
import io
import logging
import os
import re
import time
from datetime import timedelta
from typing import IO, TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from puzzle_tablebase.errors import (
    BadRequest,
    FileChanged,
    TablebaseError,
    Unreachable,
    make_printable,
    quote,
    raise_missing,
)
from puzzle_tablebase.stores import (
    BACKUP,
    CHANGED,
    MANIFEST,
    MAX_WHOLE_BYTES,
    STREAM_BYTES,
    Address,
    RandomAccessFile,
    Store,
    make_scheme_error,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal, TypeAlias

    from obstore import GetOptions, GetResult, ObjectMeta
    from obstore.auth.boto3 import Boto3CredentialProvider
    from obstore.store import AzureStore, ClientConfig, GCSStore, HTTPStore, RetryConfig, S3Store

    Client: TypeAlias = AzureStore | GCSStore | HTTPStore | S3Store
    Mode: TypeAlias = Literal["read", "read past caches", "write"]

TIMEOUT_VARIABLE = "PIPELINE_NETWORK_SECONDS"
"""The environment variable that sets the timeout of a request, in seconds."""
REQUEST_TIMEOUT = 15.0
"""The timeout of a reader's request, its response included, in seconds."""
ATTEMPTS = 3
"""How often a request is sent if it fails with a transient error."""
RETRY_DELAY = 0.3
"""The delay before the second attempt, in seconds; it doubles before the third."""
WRITE_TIMEOUT_FACTOR = 20
"""Factor of the timeout for a writer's requests: each sends a part of a file."""
BUCKETS = "s3", "gs", "az"
"""The schemes of a bucket's URL."""
PROCESS = os.getpid()
IGNORED_RANGE_SIGNS = "RangeNotSupported", "NotPartial"
MAX_REASON = 200
"""The most characters of a reason with text from a host."""
DEAD_PROXY = "127.0.0.1:0"
"""An address where nothing can listen: as a proxy, it blocks requests to other hosts."""
AWS_HOSTS = ("amazonaws.com", "169.254.169.254", "169.254.170.2", "169.254.170.23")
"""Hosts that may get S3's session token, or give one."""
CREDENTIAL_VARIABLES = (
    *("AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_SKIP_SIGNATURE"),
    *("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"),
)
"""Environment variables with credentials, or their location, or that turn signing off."""


def read_timeout() -> float:
    """Return the timeout of a reader's request in seconds, from the environment or the default."""
    text = os.environ.get(TIMEOUT_VARIABLE, "")
    is_usable = text.isascii() and text.isdecimal() and 0 < len(text) <= 6 and int(text) > 0
    return int(text) if is_usable else REQUEST_TIMEOUT


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
    except ModuleNotFoundError as error:
        raise_missing(error)
    seconds = read_timeout() * (WRITE_TIMEOUT_FACTOR if mode == "write" else 1)
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
    if hosts := list_trusted_hosts(root):
        client |= {"proxy_url": f"http://{DEAD_PROXY}", "proxy_excludes": ",".join(hosts)}
    retry: RetryConfig = {
        "max_retries": ATTEMPTS - 1,
        "retry_timeout": timedelta(seconds=ATTEMPTS * seconds),
        "backoff": {"init_backoff": timedelta(seconds=RETRY_DELAY)},
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


def list_trusted_hosts(root: str) -> list[str]:
    """List the hosts that may get the secrets of requests; [] if all may, or if a proxy is set.

    On a redirect to another host, the library sends along the query of a signed address, as the
    referrer, and S3's session token. So redirects to other hosts are not followed.
    """
    scheme, _, _, query, _ = urlsplit(root)
    has_proxy = {name.lower() for name in os.environ} & {"http_proxy", "https_proxy", "all_proxy"}
    if has_proxy or not (query or scheme == "s3"):
        return []
    named = [text for name, text in os.environ.items() if name.startswith("AWS_")]
    hosts = [urlsplit(text).hostname for text in (root, *named) if "://" in text]
    return [*filter(None, hosts), *(AWS_HOSTS if scheme == "s3" else ())]


def find_profile() -> Boto3CredentialProvider | None:
    """Return the credential provider of the AWS profile; None if keys are elsewhere."""
    if any(name in os.environ for name in CREDENTIAL_VARIABLES):
        return None
    try:
        import boto3
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ImportError:
        return None
    return Boto3CredentialProvider(boto3.Session(region_name=os.environ.get("AWS_REGION")))


def explain_error(error: Exception) -> tuple[str, int]:
    """Return the reason of an error of the library, and the HTTP status, 0 if there was none.

    The error's text is a sentence and its parts; the last part is the cause.
    """
    sentence, _, parts = str(error).partition("\n\nDebug source")
    if DEAD_PROXY in parts:
        return "it leads to another host, which must not learn the secret of the request", 0
    if status := re.search(r"status code: (\d{3}) ?([^:\n]*)", sentence):
        reason = make_printable(status[2][:MAX_REASON])
        return f"HTTP status {status[1]}: {reason}".rstrip(": ."), int(status[1])
    # without the address, whose query may be secret; it may quote a header of any length
    words = " ".join(sentence.rpartition(" - ")[2].split()).rstrip(".")[:MAX_REASON]
    words = words.removeprefix("HTTP error: ")
    causes = re.findall(r"[A-Za-z][A-Za-z ]+", parts) if "reqwest::Error" in parts else []
    return make_printable(f"{words} ({causes[-1]})" if causes else words), 0


DOWN_SECONDS = 5.0
"""Seconds for which a host that did not answer gets no further request."""
MAX_SMALL_BYTES = 1 << 20
"""Files up to this size are fetched whole, by one request."""
CHUNK_BYTES = STREAM_BYTES
"""The most bytes of one request for a range."""
MAX_CONCURRENT = 8
"""The most requests at a time."""


class Content(NamedTuple):
    """The bytes of a file or of a part of it, with the host's headers about the file."""

    data: bytes
    meta: ObjectMeta
    is_whole: bool = False
    """Whether a request for a part returned the whole file: the host ignores ranges."""

    @property
    def version(self) -> str:
        """A validator, which changes whenever the file does; "" if the host sends none."""
        modified = self.meta["last_modified"].timestamp()  # 0 if the host does not say
        return self.meta["e_tag"] or self.meta["version"] or (str(modified) if modified else "")


class RemoteStore(Store):
    """A store at a URL: a static web host, or a bucket."""

    def __init__(self, url: str) -> None:
        self.address = Address(url)
        try:
            scheme, netloc, path, query, _ = urlsplit(url)
        except ValueError:  # half an address of IPv6
            scheme = netloc = path = query = ""
        self._is_host = scheme in ("http", "https")
        login, _, host = netloc.rpartition("@")
        if not host or not (self._is_host or scheme in BUCKETS):
            raise make_scheme_error(self.address)
        if login and not self._is_host:  # the library would repeat it in its errors
            problem = f"The address of the bucket {quote(str(self.address))} has a password"
            raise BadRequest(problem, "Set it by variables: docs/hosting.md has them")
        path = path.rstrip("/")
        self._shown = str(self.address).rstrip("/")
        self._root, self._prefix = f"{scheme}://{netloc}", path.strip("/")
        self._login = ""
        if self._is_host:
            # the query, as of a signed address, is sent with each request and never shown
            self._root = f"{scheme}://{host}{path}" + (query and f"?{query}")
            self._prefix = ""
            self._login = unquote(login)
        self._manifest: bytes | None = None
        self._opened: set[str] | None = None
        """The files that were opened since the store was refreshed; None: it was not."""
        self._failure, self._down_until = "", 0.0

    def __str__(self) -> str:
        return self._shown

    def __reduce__(self) -> tuple[object, ...]:
        return RemoteStore, (self.address.full,)

    def locate(self, name: str) -> str:
        return f"{self._shown}/{name}"

    # ---- reading ---------------------------------------------------------------------------------

    def fetch(
        self,
        name: str,
        first: int = 0,
        end: int | None = None,
        *,
        is_fresh: bool = False,
        pinned: str | None = None,
    ) -> Content:
        """Fetch the bytes from `first` to before `end`, or the whole file.

        From a host that ignores ranges, fetch the whole file. `is_fresh`: bypass all caches.
        `pinned`: raise FileChanged unless the file has this ETag, if the host supports that.
        """
        options: GetOptions = {} if end is None else {"range": (first, end)}
        if pinned and not pinned.startswith("W/"):  # a weak ETag matches nothing, by the standard
            options["if_match"] = pinned
        with self.translate_errors(name):
            client = self.open_client("read past caches" if is_fresh else "read")
            try:
                result = client.get(self.locate_key(name), options=options)
            except Exception as error:
                if any(sign in str(error) for sign in IGNORED_RANGE_SIGNS):
                    whole = self.fetch(name, is_fresh=is_fresh, pinned=pinned)
                    return whole._replace(is_whole=True)
                raise
            size = result.meta["size"]
            if end is None and size > MAX_WHOLE_BYTES:
                raise Unreachable(f"it has {size:,} bytes, and {MAX_WHOLE_BYTES:,} are read whole")
            expected = size if end is None else max(0, min(end, size) - first)
            return Content(_read_body(result, expected), result.meta)

    def read(self, name: str, max_bytes: int | None = None) -> bytes:
        if name not in (MANIFEST, BACKUP):
            file = self.open_random_access(name)
            return file.read(file.size, 0)
        if name == MANIFEST and self._manifest is not None:
            return self._manifest
        data = self.fetch(name, is_fresh=self.must_reread(name)).data
        if self._is_host and name == MANIFEST:
            self._manifest = data
        return data

    def get_size(self, name: str) -> int:
        return len(self.read(name)) if name == MANIFEST else RemoteFile(self, name).size

    def open(self, name: str) -> IO[bytes]:
        if name == MANIFEST:
            return io.BytesIO(self.read(name))
        return self.open_random_access(name).open_stream()

    def open_random_access(self, name: str) -> RandomAccessFile:
        return RemoteFile(self, name)

    def list_names(self, prefix: str = "") -> list[str]:
        """List the names with a prefix in a bucket; static hosts list no files."""
        if self._is_host:
            return []
        folder, slash, prefix = prefix.rpartition("/")
        path = "/".join(filter(None, (self._prefix, folder)))
        with self.translate_errors():
            files = self.open_client("read").list_with_delimiter(path or None)["objects"]
        names = (file["path"].rpartition("/")[2] for file in files)
        return sorted(folder + slash + name for name in names if name.startswith(prefix) and name)

    def refresh(self) -> None:
        """Forget the manifest; bypass all caches when a file is opened the next time."""
        self._manifest, self._opened = None, set()

    def must_reread(self, name: str) -> bool:
        """Return whether a file is opened for the first time since `refresh`."""
        opened = self._opened
        if opened is None or name in opened:
            return False
        opened.add(name)
        return True

    # ---- the library -----------------------------------------------------------------------------

    def locate_key(self, name: str) -> str:
        return f"{self._prefix}/{name}" if self._prefix else name

    def open_client(self, mode: Mode) -> Client:
        if time.monotonic() < self._down_until:
            raise Unreachable(self._failure)
        return open_client(self._root, self._login, mode)

    @contextlib.contextmanager
    def translate_errors(self, name: str = "") -> Iterator[None]:
        """Turn any error of the library in the block into one of a store."""
        try:
            yield
        except (Unreachable, FileChanged, TablebaseError):
            raise
        except Exception as error:
            if isinstance(error, FileNotFoundError) and not self._is_host:
                raise FileNotFoundError(errno.ENOENT, "", self.locate(name)) from error
            reason, status = explain_error(error)
            if status == 416:
                raise FileChanged("it ends before the part that is needed") from error
            if status == 412:
                raise FileChanged(CHANGED) from error
            if not status:
                self._failure, self._down_until = reason, time.monotonic() + DOWN_SECONDS
            raise Unreachable(reason) from error


class RemoteFile(RandomAccessFile):
    """A file that is read by requests, many at a time, all of which must be of one version."""

    is_remote = True

    def __init__(self, store: RemoteStore, name: str) -> None:
        self._store, self._name = store, name
        is_fresh = store.must_reread(name)
        content = store.fetch(name, 0, 1, is_fresh=is_fresh)
        self._whole = content.data if content.is_whole else None
        """The file, if it is small or the host ignores ranges, once it was fetched."""
        if content.is_whole:
            note = "note: the host ignores ranges: %s is read whole"
            logging.getLogger(__name__).warning(note, make_printable(store.locate(name)))
        self.size, self._version = content.meta["size"], content.version
        self.is_pinned = bool(self._version)
        self._e_tag = content.meta["e_tag"]

    def read(self, size: int, at: int) -> bytes:
        (data,) = self.read_parts([(size, at)])
        return data

    def read_parts(self, parts: list[tuple[int, int]]) -> list[bytes]:
        spans = [(at, min(at + size, self.size)) for size, at in parts]
        if self._whole is None and self.size <= MAX_SMALL_BYTES:
            self._whole = self._fetch_known(0, None)
        if self._whole is not None:
            return [self._whole[at:end] for at, end in spans]
        # a request has few seconds
        begins = [range(at, end, CHUNK_BYTES) for at, end in spans]
        chunks = [
            (at, min(at + CHUNK_BYTES, end))
            for span, (_, end) in zip(begins, spans, strict=True)
            for at in span
        ]
        if len(chunks) < 2:
            fetched = iter([self._fetch_known(*chunk) for chunk in chunks])
        else:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(MAX_CONCURRENT) as pool:
                fetched = iter([*pool.map(lambda chunk: self._fetch_known(*chunk), chunks)])
        return [b"".join(next(fetched) for _ in span) for span in begins]

    def load(self) -> None:
        if self._whole is None:
            self._whole = self.read(self.size, 0)

    def open_source(self) -> IO[bytes]:
        self.load()  # where a read fails, polars would abort the process
        return io.BytesIO(self._whole or b"")

    def _fetch_known(self, at: int, end: int | None) -> bytes:
        """Fetch a range of the version that was opened.

        Bypass caches if they have another version, or if the host sends no validator.
        """
        for is_fresh in (False, True) if self.is_pinned else (True,):
            with contextlib.suppress(FileChanged):
                content = self._store.fetch(
                    self._name, at, end, is_fresh=is_fresh, pinned=self._e_tag
                )
                # a host without ETags pins none, and another may send what it likes
                if (content.meta["size"], content.version) == (self.size, self._version):
                    return content.data[at:end] if content.is_whole else content.data
        raise FileChanged(CHANGED)


def _read_body(result: GetResult, expected: int) -> bytes:
    """Read a response of `expected` bytes; raise Unreachable if it is shorter or compressed."""
    coding = result.attributes.get("Content-Encoding", "identity")
    if coding != "identity":
        problem = f"the host compresses files (Content-Encoding: {coding})"
        raise Unreachable(f"{problem}, so no part of them can be read")
    data = bytearray()
    for chunk in result.stream(CHUNK_BYTES):
        data += chunk
        if len(data) > expected:
            break
    if len(data) != expected:
        raise Unreachable(f"{len(data):,} bytes came instead of {expected:,}")
    return bytes(data)
