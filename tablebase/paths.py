"""Paths and URLs as users write them."""

from __future__ import annotations

import os

from tablebase.errors import BadRequest, quote

SCHEMES = "abfs", "abfss", "az", "gcs", "gs", "http", "https", "s3"
"""Schemes of URLs; any other name with a colon is a folder."""


def expand_path(text: str) -> str:
    """Return a path or URL, with the home folder in place of a leading `~`.

    Raise BadRequest for a URL without its slashes, which would name a folder.

    >>> expand_path("s3://bucket/tables"), expand_path("tables/~")
    ('s3://bucket/tables', 'tables/~')
    """
    scheme, colon, rest = text.partition(":")
    if colon and scheme.lower() in SCHEMES and not rest.startswith("//"):
        url = f"{scheme}://{rest.lstrip('/')}"
        hint = f"Write {quote(url)}, or {quote(f'./{text}')} for a path"
        raise BadRequest(f"{quote(text)} is not a URL: // is missing after the colon", hint)
    return os.path.expanduser(text)
