"""Installed packages as an installer writes them: a module, and metadata with its entry point."""

from pathlib import Path
from textwrap import dedent


def install(site: Path, package: str, puzzle: str, code: str) -> None:
    """Install a package of one module into a folder, with an entry point for one puzzle."""
    module = package.replace("-", "_")
    about = site / f"{module}-1.0.dist-info"
    about.mkdir(parents=True)
    (site / f"{module}.py").write_text(dedent(code))
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[puzzle_tablebase.plugins]\n{puzzle} = {module}\n")
