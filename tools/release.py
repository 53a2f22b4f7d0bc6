"""Everything that a release uploads, made in `dist/` and checked: `python -m tools.release`.

Nothing is uploaded. The packages are made twice, from two clones of the last commit, and must be
the same bytes; the wheel then builds the tables, which are proved for the data set.

| folder | contents |
| --- | --- |
| `dist/python/` | the wheel and the source archive |
| `dist/npm/` | the JavaScript package |
| `dist/tables/` | the default tables, as `pipeline copy` reads them from a release |
| `dist/site/` | the site; in it, `v5/` or so is the data set |
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from puzzle_tablebase import FORMAT_VERSION, __version__
from tools.try_wheel import try_wheel

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
VERSIONS = {
    "CITATION.cff": r"^version: (.*)$",
    "CHANGELOG.md": r"^## (\S+)",
    "queries/javascript/package.json": r'^  "version": "(.*)",$',
}
"""Files that repeat the version, which `puzzle_tablebase/__init__.py` states, and where in each."""


def find_other_versions() -> dict[str, str]:
    """Return the versions of the files that do not repeat the package's."""
    found = {}
    for name, pattern in VERSIONS.items():
        first = re.search(pattern, (ROOT / name).read_text("utf-8"), re.MULTILINE)
        found[name] = first[1] if first else ""
    return {name: version for name, version in found.items() if version != __version__}


def is_dated() -> bool:
    """Return whether the changelog has the version's date."""
    heading = rf"^## {re.escape(__version__)} \(\d{{4}}-\d\d-\d\d\)$"
    return bool(re.search(heading, (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE))


def git(*words: str) -> str:
    return subprocess.run(
        ["git", "-C", ROOT, *words], check=True, capture_output=True, text=True
    ).stdout.strip()


def build_packages(folder: Path, python: Path) -> dict[str, bytes]:
    """Build the packages twice, from clones; return their files by names if they are the same."""
    env = {**os.environ, "SOURCE_DATE_EPOCH": git("log", "-1", "--format=%ct"), "PYTHONPATH": ""}
    builds = []
    for name, umask in (("first", 0o022), ("second", 0o077)):
        clone, made = folder / name, folder / f"{name}-dist"
        package = clone / "queries/javascript"
        commands: list[tuple[list[str | Path], Path]] = [
            (["git", "clone", "--quiet", ROOT, clone], folder),
            ([python, "-m", "build", "--outdir", made], clone),
            (["chmod", "-R", "u=rwX,go=rX", package], clone),  # npm packs what the umask left
            (["npm", "pack", "--silent", "--pack-destination", made], package),
        ]
        for command, where in commands:
            subprocess.run(
                command, cwd=where, env=env, umask=umask, check=True, stdout=subprocess.DEVNULL
            )
            (clone / "README.md").touch()
        builds.append({path.name: path.read_bytes() for path in sorted(made.iterdir())})
    if builds[0] != builds[1]:
        differ = [name for name in builds[0] if builds[0][name] != builds[1].get(name)]
        raise SystemExit(f"Two builds differ: {', '.join(differ) or [*builds[1]]}")
    return builds[0]


def write_packages() -> Path:
    """Write the checked packages to `dist/`; return the wheel."""
    with tempfile.TemporaryDirectory() as name:
        temporary = Path(name)
        venv.create(temporary / "tools", with_pip=True)
        python = temporary / "tools" / "bin" / "python"
        pip: list[str | Path] = [python, "-m", "pip", "install", "--quiet", "build", "twine"]
        subprocess.run(pip, check=True)
        for file, content in build_packages(temporary, python).items():
            folder = DIST / ("npm" if file.endswith(".tgz") else "python")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(content)
        made = sorted((DIST / "python").iterdir())
        subprocess.run([python, "-m", "twine", "check", "--strict", *made], check=True)
    (wheel,) = (DIST / "python").glob("*.whl")
    return wheel


def main() -> None:
    """Make all that a release uploads, or exit with what is wrong."""
    if others := find_other_versions():
        raise SystemExit(f"The version is {__version__}, but {json.dumps(others)}")
    if git("status", "--porcelain"):
        raise SystemExit("Commit first: a release is made of the last commit.")
    tag, tags = f"v{__version__}", git("tag", "--list", "v*", "--points-at", "HEAD").split()
    if tags and (tags != [tag] or not is_dated()):
        raise SystemExit(f"{', '.join(tags)}: expected {tag}, and its day in CHANGELOG.md")
    shutil.rmtree(DIST, ignore_errors=True)
    wheel = write_packages()
    try_wheel(wheel, DIST / "tables")
    for path in (DIST / "tables").glob(".*"):  # the lock and the log of the build
        path.unlink()
    pipeline = Path(sys.executable).with_name("pipeline")
    day = git("log", "-1", "--format=%cs")
    site: list[str | Path] = [
        pipeline,
        "site",
        DIST / "site",
        "--date",
        day,
        "--outputs",
        DIST / "tables",
    ]
    subprocess.run(site, check=True)
    sums = ROOT / "dist" / "site" / "SHA256SUMS"
    subprocess.run(["sha256sum", "--quiet", "-c", sums.name], cwd=sums.parent, check=True)
    folders = ["python", "npm", "tables", f"site/v{FORMAT_VERSION}"]
    for folder in folders:
        files = [path for path in (DIST / folder).rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files)
        sys.stdout.write(f"dist/{folder}: {len(files)} files, {size / 1e6:.1f} MB\n")
    if not tags:
        sys.stdout.write(f"Ready for {tag}; nothing was uploaded. docs/release.md goes on.\n")


if __name__ == "__main__":
    main()
