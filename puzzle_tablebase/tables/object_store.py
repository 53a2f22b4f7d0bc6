"""Tables in object stores: `s3://bucket/prefix`, and `gs://` and `az://` likewise.

There is no rename and no lock. A file appears in one step of the object store, once its upload is
complete. The manifest lists what is published, and is replaced only if it has not changed since it
was read.

Errors of the stores' library become system errors, with a reason that ends a sentence. The library
reads the environment's variables. Without keys there, those of S3 come from the profiles of AWS's
own tools (`~/.aws/credentials`), which `boto3` reads.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import io
import os
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias, cast
from urllib.parse import urlsplit

from puzzle_tablebase.errors import BadRequest, StoreError, Unreachable, quote
from puzzle_tablebase.process import explain_os_error
from puzzle_tablebase.tables.range_file import READ_BYTES, Content, RangeFile, SequentialReader
from puzzle_tablebase.tables.store import LOCK, RandomAccessFile, Store

if TYPE_CHECKING:
    from obstore import GetOptions, ObjectMeta, PutMode, UpdateVersion, WritableFile
    from obstore.auth.boto3 import Boto3CredentialProvider
    from obstore.store import AzureStore, ClientConfig, GCSStore, RetryConfig, S3Store

    from puzzle_tablebase.tables.store import NewFiles

    Bucket: TypeAlias = AzureStore | GCSStore | S3Store


STATUS = re.compile(r"status code: (\d{3}) ?([^:\n]*)")
SERVERS_REASON = re.compile(r"<(?:AuthenticationErrorDetail|Details|Message)>([^<\n]{1,300})")
MISSING_BUCKETS = "NoSuchBucket", "ContainerNotFound"
CREDENTIAL_HOSTS = "//169.254.169.254", "//metadata.google.internal", "//metadata/"
"""Hosts that give a machine in a cloud its credentials: they are asked when there are no others."""
GENERAL = re.compile(r"^(Generic \w+|HTTP) error: ")
CERTIFICATE_ERROR = re.compile(r"InvalidCertificate\(\s*(?:Other\(\s*OtherError\(\s*)?(\w+)")
SYSTEM_ERROR = re.compile(r"Os \{\s*code: (\d+)")
OTHER_REASONS = {
    "dns error": "its name is not known",
    "InvalidContentType": "its answer is not TLS",
    "Parse(": "the answer is not HTTP",
    "timed out": "it does not answer, or too slowly",
    "Account must be specified": "no credentials were found: set AZURE_STORAGE_ACCOUNT_NAME",
    "Received redirect without LOCATION": "the bucket is in another region: set AWS_REGION",
    "error sending request": "it closes the connection before it answers",
    "error decoding response body": "the connection was cut",
    "error reading a body": "the connection was cut",
}
"""Reasons by what is found in the library's description, the first one that fits."""


@contextlib.contextmanager
def translate_read_errors(root: str, path: str) -> Iterator[None]:
    """Turn any error of the library in the block into Unreachable.

    A file that does not exist is a FileNotFoundError, unless its bucket is missing. `root`: the URL
    of the bucket. `path`: that of the file.
    """
    try:
        yield
    except Unreachable:
        raise
    except Exception as error:
        if isinstance(error, FileNotFoundError) and not is_bucket_missing(error):
            missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            raise missing from error
        raise Unreachable(*_explain(str(error), root)) from error


def is_bucket_missing(error: BaseException) -> bool:
    """Return whether an error says that the bucket itself does not exist."""
    return any(f"<Code>{code}</Code>" in str(error) for code in MISSING_BUCKETS)


def _explain(text: str, root: str) -> tuple[str, int]:
    """Return the reason of an error, and the HTTP status, 0 if there was none.

    The library's text has a sentence, the server's answer, and a description of the error's parts.
    """
    if any(f"<Code>{code}</Code>" in text for code in MISSING_BUCKETS):
        return f"the bucket {root.rpartition('/')[2]} does not exist", 404
    if any(host in text for host in CREDENTIAL_HOSTS):
        return "no credentials were found", 0
    sentence, _, description = text.partition("\n\nDebug source")
    if status := STATUS.search(sentence):
        reason = SERVERS_REASON.search(sentence)
        words = " ".join((reason[1] if reason else status[2]).split())
        return f"HTTP status {status[1]}: {words}".rstrip(": ."), int(status[1])
    system_error = SYSTEM_ERROR.search(description)
    if system_error and "ConnectError" in description:
        return os.strerror(int(system_error[1])).lower(), 0
    if certificate_error := CERTIFICATE_ERROR.search(description):
        return f"its certificate is not valid: {certificate_error[1]}", 0
    for sign, reason_of_sign in OTHER_REASONS.items():
        if sign in text:
            return reason_of_sign, 0
    words = GENERAL.sub("", sentence.rpartition(" - ")[2])
    return " ".join(words.split()).rstrip("."), 0


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


ATTEMPTS = 20
"""Most attempts to update a file that other builds keep changing."""
PART_BYTES = 32 << 20
"""Bytes of each part of a large upload, of which S3 takes 10,000."""
MAX_PARTS_TOGETHER = 3
"""The most parts of a file that are sent at the same time."""
SERVICES = {"s3": "s3", "gs": "gs", "gcs": "gs", "az": "az", "abfs": "az", "abfss": "az"}
"""The service of each scheme of a URL."""
OTHER_VERSION: UpdateVersion = {"e_tag": f'"{0:032}"', "version": "1"}
"""A version that no file has."""
CLIENT: ClientConfig = {
    "allow_http": True,  # an endpoint names its own protocol
    "connect_timeout": "5s",
    "timeout": "2h",  # of a whole transfer; a stalled one ends earlier
}
WAITS = {False: "20s", True: "5min"}
"""The longest wait for bytes: of a reader, and of a writer, who sends a whole part before."""
RETRY: RetryConfig = {"max_retries": 3, "retry_timeout": timedelta(seconds=60)}


class ObjectStore(Store):
    """A store whose files are objects."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        try:
            scheme, place, path, _, _ = urlsplit(self._url)
        except ValueError:  # half an address of IPv6
            scheme = place = path = ""
        if SERVICES.get(scheme) is None or not place:
            hint = "Choose a folder, or a URL with s3://, gs://, az:// or https://"
            raise BadRequest(f"{quote(url)} is not a supported store", hint)
        self._root = f"{scheme}://{place}"
        self._prefix = path.strip("/")

    def __str__(self) -> str:
        return self._url

    def locate(self, name: str) -> str:
        return f"{self._url}/{name}"

    def list_names(self, begin: str = "") -> list[str]:
        folder, slash, begin = begin.rpartition("/")
        place = "/".join(filter(None, (self._prefix, folder)))
        with self._translate_read_errors():
            files = self._open_bucket().list_with_delimiter(place or None)["objects"]
        names = (file["path"].rpartition("/")[2] for file in files)
        return sorted(folder + slash + name for name in names if name.startswith(begin) and name)

    def get_size(self, name: str) -> int:
        return self.get_version(name)[0]

    def get_version(self, name: str) -> tuple[int, str]:
        try:
            with self._translate_read_errors(name):
                head = self._open_bucket().head(self._locate_key(name))
            return head["size"], head["e_tag"] or ""
        except (FileNotFoundError, Unreachable) as error:
            if isinstance(error, Unreachable) and not error.status:
                raise
            content = self._fetch_part(name, 0, 0)  # its answer has a reason
        assert content.total is not None
        return content.total, ""

    def read(self, name: str) -> bytes:
        return self._fetch(name)[0]

    def _fetch(self, name: str) -> tuple[bytes, UpdateVersion]:
        """Fetch a whole file, with what shows its version."""
        data, meta = self._get(name, {})
        if len(data) != meta["size"]:
            raise Unreachable(f"{len(data):,} bytes came instead of {meta['size']:,}")
        version: UpdateVersion = {}
        if e_tag := meta["e_tag"]:
            version["e_tag"] = e_tag
        if number := meta["version"]:
            version["version"] = number
        return data, version

    def _fetch_part(self, name: str, first: int, last: int) -> Content:
        data, meta = self._get(name, {"range": (first, last + 1)})
        return Content(data, first, meta["size"])

    def _get(self, name: str, options: GetOptions) -> tuple[bytes, ObjectMeta]:
        with self._translate_read_errors(name):
            result = self._open_bucket().get(self._locate_key(name), options=options)
            return bytes(result.bytes()), result.meta

    def open(self, name: str) -> IO[bytes]:
        return io.BufferedReader(SequentialReader(self.open_random_access(name)), READ_BYTES)

    def open_random_access(self, name: str) -> RandomAccessFile:
        return RangeFile(functools.partial(self._fetch_part, name), self.get_size(name))

    @contextlib.contextmanager
    def write_files(self, *names: str) -> Iterator[NewFiles]:
        from obstore import open_writer

        with contextlib.ExitStack() as cleanup:
            uploads = list[_Upload]()
            for name in names:
                with self._translate_store_errors():
                    file = open_writer(
                        self._open_bucket(is_writing=True),
                        self._locate_key(name),
                        buffer_size=PART_BYTES,
                        max_concurrency=MAX_PARTS_TOGETHER,
                    )
                cleanup.callback(_abort, file)
                uploads.append(_Upload(file, self._translate_store_errors))
            yield _Uploads(uploads, cleanup, self._translate_store_errors)

    def update(self, name: str, change: Callable[[bytes | None], bytes]) -> None:
        for _ in range(ATTEMPTS):
            old_data: bytes | None
            mode: PutMode
            try:
                old_data, mode = self._fetch(name)
            except FileNotFoundError:
                old_data, mode = None, "create"
            if self._put_if(name, change(old_data), mode):
                return
        raise StoreError(self._url, f"other builds keep changing {name}", "Try again later.")

    def remove(self, name: str) -> None:
        with self._translate_store_errors(), contextlib.suppress(FileNotFoundError):
            self._open_bucket(is_writing=True).delete(self._locate_key(name))

    def make_ready(self) -> None:
        # this prefix alone: the user may not be allowed to list others
        with self._translate_store_errors():
            next(iter(self._open_bucket().list(self._prefix or None)), None)
        # the file stays, as the lock file in a folder does
        is_created = self._put_if(LOCK, b"", "create")
        if (is_created and self._put_if(LOCK, b"", "create")) or self._put_if(
            LOCK, b"", OTHER_VERSION
        ):
            problem = "it ignores conditional writes"
            hint = "Choose a store with conditional puts, or a folder."
            raise StoreError(self._url, problem, hint)

    def _put_if(self, name: str, text: bytes, condition: Literal["create"] | UpdateVersion) -> bool:
        """Write a file on a condition that the store checks; return whether it held."""
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        with self._translate_store_errors():
            try:
                bucket = self._open_bucket(is_writing=True)
                bucket.put(self._locate_key(name), text, mode=condition, use_multipart=False)
            except (AlreadyExistsError, PreconditionError):
                return False
            except FileNotFoundError as error:  # the file that was to be replaced
                if is_bucket_missing(error):
                    raise
                return False
        return True

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Make the store ready; there is no lock.

        Builds at the same time write equal files, or their manifest entries differ.
        """
        self.make_ready()
        yield

    def _locate_key(self, name: str) -> str:
        """Return the path of a file in its bucket."""
        return f"{self._prefix}/{name}" if self._prefix else name

    def _translate_read_errors(self, name: str = "") -> contextlib.AbstractContextManager[None]:
        return translate_read_errors(self._root, self.locate(name))

    @contextlib.contextmanager
    def _translate_store_errors(self) -> Iterator[None]:
        try:
            with self._translate_read_errors():
                yield
        except OSError as error:
            hint = "Choose another place with --outputs."
            raise StoreError(self._url, explain_os_error(error), hint) from error

    def _open_bucket(self, *, is_writing: bool = False) -> Bucket:
        _using_processes.add(os.getpid())
        if len(_using_processes) > 1:  # the library's threads are not forked, and it would wait
            problem = "this process was forked from one that uses object stores; start it by spawn"
            raise Unreachable(problem)
        return open_bucket(self._root, is_writing)


_using_processes = set[int]()
"""The processes that have used an object store: this one, and one that it was forked from."""


@functools.lru_cache
def open_bucket(root: str, is_writing: bool) -> Bucket:
    """Open a bucket, or a container of Azure; no request is made."""
    # imported here, because most stores are folders
    from obstore.store import AzureStore, GCSStore, S3Store

    service = SERVICES[root.partition(":")[0]]
    client: ClientConfig = {**CLIENT, "read_timeout": WAITS[is_writing]}
    for name in ("AWS_CA_BUNDLE", "SSL_CERT_FILE"):
        if path := os.environ.get(name):
            try:
                with open(path, "rb") as file:
                    client["root_certificate"] = file.read()
            except OSError as error:
                problem = f"{name} names {path}: {explain_os_error(error)}"
                raise Unreachable(problem) from error
            break
    if service == "gs":
        url = root.replace("gcs:", "gs:", 1)
        return GCSStore.from_url(url, client_options=client, retry_config=RETRY)
    if service == "az":
        return AzureStore.from_url(root, client_options=client, retry_config=RETRY)

    return S3Store.from_url(
        root, credential_provider=find_profile(), client_options=client, retry_config=RETRY
    )


class _Upload(io.RawIOBase):
    """A new file that is written sequentially."""

    def __init__(
        self,
        file: WritableFile,
        translate_errors: Callable[[], contextlib.AbstractContextManager[None]],
    ) -> None:
        self.file = file
        self.digest, self.size = hashlib.sha256(), 0
        self._translate_errors = translate_errors

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self.digest.update(view)
        self.size += len(view)
        with self._translate_errors():
            return self.file.write(view)


class _Uploads:
    """New files of a bucket, which appear when their uploads are completed."""

    def __init__(
        self,
        uploads: list[_Upload],
        cleanup: contextlib.ExitStack,
        translate_errors: Callable[[], contextlib.AbstractContextManager[None]],
    ) -> None:
        self._uploads, self._cleanup = uploads, cleanup
        self._translate_errors = translate_errors

    def __getitem__(self, number: int) -> IO[bytes]:
        return cast("IO[bytes]", self._uploads[number])

    def finish(self) -> list[tuple[int, str]]:
        """Return the bytes and the SHA-256 of each file."""
        return [(upload.size, upload.digest.hexdigest()) for upload in self._uploads]

    def publish(self) -> None:
        """Complete the uploads."""
        with self._translate_errors():
            for upload in self._uploads:
                upload.file.close()
            self._cleanup.pop_all()


def _abort(file: WritableFile) -> None:
    """End an upload that was not completed; what was sent of it is removed."""
    error = InterruptedError(errno.EINTR, "")
    with contextlib.suppress(Exception):  # what stays of it is invisible
        file.__exit__(type(error), error, None)
