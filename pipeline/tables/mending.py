"""The command that mends what is missing or damaged, as errors name it."""

from __future__ import annotations

from pipeline.tables import COMMAND

DEFAULT_FOLDER = "outputs"


def mending(stage: str, folder: str, *, force: bool = False) -> str:
    """The command that makes a stage's tables in a folder; no stage: all of them.

    >>> mending("eight", "my tables", force=True)
    "pipeline precompute eight --force --outputs 'my tables'"
    """
    words = [COMMAND, stage] if stage else [COMMAND]
    words += ["--force"] if force else []
    if folder != DEFAULT_FOLDER:
        # shlex would quote it too, but importing it costs more than a lookup
        plain = all(letter.isalnum() or letter in "/._-" for letter in folder)
        escaped = folder.replace("'", "'\\''")
        words += ["--outputs", folder if plain else f"'{escaped}'"]
    return " ".join(words)
