"""Azurite, Azure's own double of its stores: its account, and a container in it."""

import base64
import email.utils
import hashlib
import hmac
import urllib.request

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The key of this account in every Azurite: it is public."""
VERSION = "2021-08-06"


def create_container(url: str, name: str) -> None:
    """Create a container, by a request signed with the account's key."""
    headers = {"x-ms-date": email.utils.formatdate(usegmt=True), "x-ms-version": VERSION}
    lines = ["PUT", *[""] * 11, *(f"{header}:{value}" for header, value in headers.items())]
    lines += [f"/{ACCOUNT}/{ACCOUNT}/{name}", "restype:container"]
    digest = hmac.digest(base64.b64decode(KEY), "\n".join(lines).encode(), hashlib.sha256)
    signature = base64.b64encode(digest).decode()
    headers |= {"Authorization": f"SharedKey {ACCOUNT}:{signature}", "Content-Type": ""}
    place = f"{url}/{ACCOUNT}/{name}?restype=container"
    request = urllib.request.Request(place, data=b"", headers=headers, method="PUT")
    urllib.request.urlopen(request).close()
