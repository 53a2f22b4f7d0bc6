"""`manifest.json`: what is published. A table that it does not list does not exist."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pipeline import __version__
from pipeline.errors import TableDamaged, TableVersionError
from pipeline.tables import COMMAND, FORMAT_VERSION, MANIFEST
from pipeline.tables.publish import appearing

Entry = dict[str, Any]
"""A table's facts: file, rows, bytes, sha256, content, parameters, made_by, index (or null)."""


def read_manifest(folder: Path) -> dict[str, Entry]:
    """The published tables by name; none where there is no manifest."""
    path = folder / MANIFEST
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise TableDamaged(
            str(path), f"it cannot be read ({error})", f"{COMMAND} --force"
        ) from error
    return parse_manifest(text, str(path))


def parse_manifest(text: str, path: str) -> dict[str, Entry]:
    try:
        manifest = json.loads(text)
        version = manifest["format_version"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise TableDamaged(path, "it is not a manifest", f"{COMMAND} --force") from error
    if version != FORMAT_VERSION:
        raise TableVersionError(path, version, FORMAT_VERSION, f"{COMMAND} --force")
    tables = manifest.get("tables")
    if not isinstance(tables, dict) or not all(map(_is_entry, tables.values())):
        raise TableDamaged(path, "its list of tables is broken", f"{COMMAND} --force")
    return tables


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    wanted = {"file": str, "rows": int, "bytes": int, "sha256": str, "content": str, "made_by": str}
    index = entry.get("index")
    return (
        all(isinstance(entry.get(key), kind) for key, kind in wanted.items())
        and isinstance(entry.get("parameters"), dict)
        and (
            index is None
            or (
                isinstance(index, dict)
                and isinstance(index.get("file"), str)
                and isinstance(index.get("bytes"), int)
                and isinstance(index.get("sha256"), str)
            )
        )
    )


def write_manifest(folder: Path, tables: dict[str, Entry]) -> None:
    manifest = {
        "format_version": FORMAT_VERSION,
        "made_by": f"puzzle-tablebase {__version__}",
        "indexes": {
            entry["index"]["file"]: entry["content"]
            for _, entry in sorted(tables.items())
            if entry["index"]
        },
        "tables": dict(sorted(tables.items())),
    }
    with appearing(folder / MANIFEST) as part:
        part.write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")
