"""Digests of code that a test has as text."""

from puzzle_tablebase.code_digest import CodeReader, Source


def digest_sources(sources: dict[str, bytes], root: str = "rules:make") -> str:
    """Return the digest of the code that `root` uses, in modules with these texts."""
    found = {name: Source(text) for name, text in sources.items()}
    return CodeReader(found.get).digest((root,))
