"""The object store's tests against a second kind of server, LocalStack: `make stores`.

The server gets its own virtual environment, because its packages conflict with the project's.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

from tests.support.shell import ROOT

SERVER = (
    "localstack-core[base-runtime]==4.9.2",
    # the server needs interfaces that later versions no longer have
    "cbor2<5.8",
    "cryptography<45",
    "pyopenssl<25",
    "service_identity",
)
START_SECONDS = 60
"""The longest time that the server may take to answer, in seconds."""


def install_server(folder: Path) -> Path:
    """Install the server and return the path of the Python that has it."""
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *SERVER], check=True)
    return python


def main() -> int:
    """Run the tests against the server and return pytest's exit code."""
    with tempfile.TemporaryDirectory() as name, socket.socket() as free:
        folder = Path(name)
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        python = install_server(folder)
        free.close()
        settings = {"SERVICES": "s3", "STRICT_SERVICE_LOADING": "1", "GATEWAY_LISTEN": address}
        settings |= {"HOME": name, "TMPDIR": name, "PATH": os.environ["PATH"]}
        settings |= {"DISABLE_EVENTS": "1", "SKIP_SSL_CERT_DOWNLOAD": "1"}
        with (folder / "log.txt").open("wb") as log:
            command = [str(python), "-m", "localstack.runtime.main"]
            server = subprocess.Popen(command, env=settings, stdout=log, stderr=log)
        try:
            url = f"http://{address}"
            for _ in range(START_SECONDS):
                with suppress(OSError), urllib.request.urlopen(f"{url}/_localstack/health"):
                    break
                time.sleep(1)
            else:
                print((folder / "log.txt").read_text(), file=sys.stderr)
                return 1
            tests = [sys.executable, "-m", "pytest", "-q", "tests/storage/test_object_store.py"]
            env = {**os.environ, "OBJECT_STORE": url}
            return subprocess.run(tests, cwd=ROOT, env=env, check=False).returncode
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    sys.exit(main())
