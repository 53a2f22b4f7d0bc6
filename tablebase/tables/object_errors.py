"""Errors of the object stores' library, as system errors with a reason that ends a sentence."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator

from tablebase.errors import Unreachable

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
