"""Keys, region and endpoint of S3 from the files of AWS's own tools, `~/.aws/credentials`.

The environment's variables come first; the object stores' library reads those itself.
"""

from __future__ import annotations

import configparser
import os
from typing import TYPE_CHECKING

from tablebase.errors import Unreachable

if TYPE_CHECKING:
    from obstore.store import S3Config

FILES = {
    "AWS_SHARED_CREDENTIALS_FILE": "~/.aws/credentials",
    "AWS_CONFIG_FILE": "~/.aws/config",
}
"""The two files, by the variable that names another one."""
ELSEWHERE = (
    *("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"),
    *("AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_SKIP_SIGNATURE"),
)
"""Variables that say where else credentials are, or that none are needed."""

OTHER_WAYS = "sso_", "role_arn", "credential_process"
"""Beginnings of settings of profiles that have no keys: a program gets some for a while."""


def read_profile() -> S3Config:
    """Return what the profile of the environment says and the environment itself does not."""
    profile = os.environ.get("AWS_PROFILE", "default")
    settings = _read_settings(profile)
    found: S3Config = {}
    region, endpoint = settings.get("region"), settings.get("endpoint_url")
    if region and "AWS_REGION" not in os.environ and "AWS_DEFAULT_REGION" not in os.environ:
        found["region"] = region
    if endpoint and not any(name.startswith("AWS_ENDPOINT") for name in os.environ):
        found["endpoint"] = endpoint
    if "AWS_ACCESS_KEY_ID" in os.environ or any(name in os.environ for name in ELSEWHERE):
        return found
    if key := settings.get("aws_access_key_id"):
        found["access_key_id"] = key
        found["secret_access_key"] = settings.get("aws_secret_access_key", "")
        if token := settings.get("aws_session_token"):
            found["session_token"] = token
    elif any(name.startswith(OTHER_WAYS) for name in settings):
        needed = "aws configure export-credentials --format env"
        raise Unreachable(f"the profile {profile} has no keys of its own; get some by: {needed}")
    elif os.environ.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
        raise Unreachable("no credentials were found")
    return found


def _read_settings(profile: str) -> dict[str, str]:
    """Return a profile's settings from both files; those of the first one count."""
    settings: dict[str, str] = {}
    for variable, usual_path in FILES.items():
        # `%` is an ordinary character of a key
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        path = os.path.expanduser(os.environ.get(variable, usual_path))
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, OSError, UnicodeError) as error:
            raise Unreachable(f"{path} cannot be read: {error}") from error
        for section in (profile, f"profile {profile}"):
            if parser.has_section(section):
                settings = {**parser[section], **settings}
    return settings
