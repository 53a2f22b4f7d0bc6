"""A folder in a bucket with one writer at a time, which holds a claim.

A claim is a small file that says who copies, and since when. A conditional write creates it only if
there is none. Each file appears in one step, when all of it is sent.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import socket
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from threading import Thread
from typing import TYPE_CHECKING, cast

from obstore.exceptions import AlreadyExistsError, PreconditionError

from puzzle_tablebase.errors import BadRequest, StoreError, make_printable
from puzzle_tablebase.process import CleanupOnSignal, explain_os_error
from puzzle_tablebase.stores import Store
from puzzle_tablebase.stores.remote import ATTEMPTS, BUCKETS, RemoteStore

if TYPE_CHECKING:
    from obstore import PutMode, UpdateVersion

CLAIM = ".claim"
PART_BYTES = 8 << 20
"""Bytes of each part of a large upload, at least."""
MAX_PARTS = 9_000
"""The most parts of an upload; S3 takes 10,000."""
MAX_FILE_BYTES = 5 << 40
"""The largest file that stores take, in 10,000 parts of up to 5 GiB."""
MAX_CONCURRENT = 4
"""The most parts of a file that are sent at the same time, and so kept in memory."""
RELEASE_SECONDS = 0.4
"""How long the exit after a signal waits until the claim is removed."""
OTHER_VERSION: UpdateVersion = {"e_tag": f'"{0:032}"', "version": "1"}
"""A version that no file has."""


class Bucket(RemoteStore):
    """A folder in a bucket, written only while it is claimed."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.address.full if isinstance(store, RemoteStore) else str(store))
        if str(self).partition(":")[0] not in BUCKETS:
            problem = f"{self} is a web host, which only its owner can write to"
            raise BadRequest(problem, "Copy to a folder or a bucket")
        self._claim = b""

    @contextlib.contextmanager
    def claim(self, *, is_taken_over: bool = False) -> Iterator[None]:
        """Claim the bucket's folder for the block; raise StoreError if another writer holds it.

        `is_taken_over`: replace another claim, such as that of a killed copy.
        """
        self._claim = format_claim()
        self._obtain(is_taken_over=is_taken_over)
        with CleanupOnSignal(self._release_soon):
            try:
                if any(
                    self._put_if(CLAIM, self._claim, each) for each in ("create", OTHER_VERSION)
                ):
                    problem, hint = "it ignores conditional writes", "Choose another store."
                    raise StoreError(str(self), problem, hint)
                yield
            finally:
                self._release()

    def _obtain(self, *, is_taken_over: bool) -> None:
        condition: PutMode = "create"
        for _ in range(ATTEMPTS):
            if self._put_if(CLAIM, self._claim, condition):
                return
            other, condition = self._read_version(CLAIM)
            if other == self._claim:  # it was put: the request was sent twice
                return
            if other is not None and not is_taken_over:
                problem = f"{describe_claim(other)} is copying to it"
                raise StoreError(str(self), problem, is_claimed=True)
        raise StoreError(str(self), "other copies keep claiming it")

    def write(self, name: str, data: bytes) -> None:
        """Write a small file."""
        self.require_claim()
        with self._translate_write_errors():
            client = self.open_client("write")
            client.put(self.locate_key(name), data, use_multipart=False)

    def update(self, name: str, change: Callable[[bytes | None], bytes]) -> None:
        """Replace a file by `change` of its contents (None: no file), if it is still the same."""
        for _ in range(ATTEMPTS):
            self.require_claim()
            old_data, version = self._read_version(name)
            if self._put_if(name, change(old_data), version):
                return
        raise StoreError(str(self), f"another program keeps changing {name}")

    def require_parts(self, size: int) -> None:
        """Raise StoreError if a file is too large for a bucket."""
        if size > MAX_FILE_BYTES:
            problem = f"a file has {size:,} bytes, and a bucket takes {MAX_FILE_BYTES:,}"
            raise StoreError(str(self), problem, "Copy to a folder.")

    def send(self, name: str, chunks: Iterator[bytes], size: int) -> None:
        """Upload a file of `size` bytes; it does not appear if reading the chunks fails.

        While a chunk is read, no other request can be made.
        """
        if size <= PART_BYTES:
            self.write(name, b"".join(chunks))
            return
        self.require_claim()
        errors, part = list[Exception](), max(PART_BYTES, size // MAX_PARTS + 1)

        def iter_chunks() -> Iterator[bytes]:
            try:
                yield from chunks
            except Exception as error:
                errors.append(error)
                raise

        client, key = self.open_client("write"), self.locate_key(name)
        try:
            client.put(key, iter_chunks(), chunk_size=part, max_concurrency=MAX_CONCURRENT)
        except Exception:
            if errors:  # of the source: it is no error of the bucket
                raise errors[0] from None
            with self._translate_write_errors():
                raise

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        self.require_claim()
        with self._translate_write_errors(), contextlib.suppress(FileNotFoundError):
            self.open_client("write").delete(self.locate_key(name))

    def require_claim(self) -> None:
        """Raise StoreError if another copy has taken over the claim."""
        other, _ = self._read_version(CLAIM)
        if other != self._claim:
            who = f"{describe_claim(other)} has taken it over" if other else "its claim was removed"
            raise StoreError(str(self), who)

    def _read_version(self, name: str) -> tuple[bytes | None, PutMode]:
        """Read a small file, and the condition for replacing it."""
        with self._translate_write_errors():
            try:
                data, meta, _ = self.fetch(name)
            except FileNotFoundError:
                return None, "create"
        known = {"e_tag": meta["e_tag"], "version": meta["version"]}
        return data, cast("UpdateVersion", {key: text for key, text in known.items() if text})

    def _put_if(self, name: str, text: bytes, condition: PutMode) -> bool:
        """Write a file on a condition that the store checks; return whether it held."""
        with self._translate_write_errors():
            try:
                client = self.open_client("write")
                client.put(self.locate_key(name), text, mode=condition, use_multipart=False)
            except (AlreadyExistsError, PreconditionError):
                return False
            except FileNotFoundError:
                if condition == "create":  # nothing is replaced, so the bucket is missing
                    raise
                return False
        return True

    def _release(self) -> None:
        """Remove the claim, unless another copy holds it; if that fails, it stays."""
        with contextlib.suppress(StoreError):
            self.remove(CLAIM)

    def _release_soon(self) -> None:
        thread = Thread(target=self._release, daemon=True)
        thread.start()
        thread.join(RELEASE_SECONDS)

    @contextlib.contextmanager
    def _translate_write_errors(self) -> Iterator[None]:
        """Turn the errors of requests in the block into StoreError."""
        try:
            with self.translate_errors():
                yield
        except OSError as error:
            raise StoreError(str(self), explain_os_error(error)) from error


def format_claim() -> bytes:
    """Return the claim of this process: who writes, and since when; no two are equal."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        user = str(os.getuid())
    claim = {
        "writer": f"{user}@{socket.gethostname()}, process {os.getpid()}",
        "since": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "token": os.urandom(8).hex(),
    }
    return json.dumps(claim).encode()


def describe_claim(data: bytes) -> str:
    """Describe the holder of a claim, as the subject of a sentence."""
    try:
        claim = json.loads(data)
        return make_printable(f"since {claim['since']}, {claim['writer']}"[:200])
    except (ValueError, TypeError, KeyError, RecursionError):
        return "another program"
