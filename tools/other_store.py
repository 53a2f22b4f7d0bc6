"""The object stores' tests against further servers: LocalStack and Azurite. `make stores` runs it.

LocalStack gets its own virtual environment, because its packages conflict with the project's.
Azurite needs npm; its 374 packages take longer to install than its tests to run.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.shell import ROOT

LOCALSTACK = (
    "localstack-core[base-runtime]==4.9.2",
    # the server needs interfaces that later versions no longer have
    "cbor2<5.8",
    "cryptography<45",
    "pyopenssl<25",
    "service_identity",
)
AZURITE = "azurite@3.35.0"
START_SECONDS = 60
"""The longest time that a server may take to answer, in seconds."""


def install_localstack(folder: Path) -> Path:
    """Install LocalStack and return the path of the Python that has it."""
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *LOCALSTACK], check=True)
    return python


def find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def run_localstack(folder: Path) -> Iterator[dict[str, str]]:
    """Yield the variables by which the tests find it."""
    python = install_localstack(folder)
    address = f"127.0.0.1:{find_free_port()}"
    settings = {"SERVICES": "s3", "STRICT_SERVICE_LOADING": "1", "GATEWAY_LISTEN": address}
    settings |= {"HOME": str(folder), "TMPDIR": str(folder), "PATH": os.environ["PATH"]}
    settings |= {"DISABLE_EVENTS": "1", "SKIP_SSL_CERT_DOWNLOAD": "1"}
    url = f"http://{address}"
    command = [str(python), "-m", "localstack.runtime.main"]
    with run_server(command, f"{url}/_localstack/health", folder / "log.txt", settings):
        yield {"OBJECT_STORE": url}


@contextmanager
def run_azurite(folder: Path) -> Iterator[dict[str, str]]:
    """Yield the variables by which the tests find it."""
    words = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", AZURITE]
    subprocess.run([*words, "--prefix", str(folder)], check=True)
    port = find_free_port()
    program = folder / "node_modules" / ".bin" / "azurite-blob"
    command = [str(program), "--location", str(folder / "blobs"), "--blobPort", str(port)]
    command += ["--skipApiVersionCheck", "--disableTelemetry"]
    url = f"http://127.0.0.1:{port}"
    with run_server(command, url, folder / "azurite.txt", dict(os.environ)):
        yield {"AZURE_STORE": url}


@contextmanager
def run_server(command: list[str], url: str, log: Path, env: dict[str, str]) -> Iterator[None]:
    """Run a server from its first answer, whatever it is, to the end of the block."""
    with log.open("wb") as file:
        server = subprocess.Popen(command, env=env, stdout=file, stderr=file)
    try:
        for _ in range(START_SECONDS):
            try:
                urllib.request.urlopen(url, timeout=5).close()
                break
            except urllib.error.HTTPError:
                break
            except OSError:
                time.sleep(1)
        else:
            raise SystemExit(log.read_text())
        yield
    finally:
        server.kill()
        server.wait()


def main() -> int:
    """Run the tests against each server and return pytest's exit code."""
    codes = list[int]()
    clouds = "tests/storage/test_other_clouds.py"
    of_amazon = ["tests/storage/test_object_store.py", clouds, "-k", "not google"]
    for run, words in ((run_localstack, of_amazon), (run_azurite, [clouds])):
        with tempfile.TemporaryDirectory() as name, run(Path(name)) as variables:
            tests = [sys.executable, "-m", "pytest", "-q", *words]
            env = {**os.environ, **variables}
            codes.append(subprocess.run(tests, cwd=ROOT, env=env, check=False).returncode)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
