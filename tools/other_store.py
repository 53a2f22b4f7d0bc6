"""The tests of object stores against LocalStack, a server of its own kind: `make stores`.

It is installed in a folder of its own, for its packages do not go with ours.
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
    # later ones have lost what it asks them for
    "cbor2<5.8",
    "cryptography<45",
    "pyopenssl<25",
    "service_identity",
)
PATIENCE = 60
"""Seconds until it answers."""


def install_server(folder: Path) -> Path:
    """A Python that has the server."""
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *SERVER], check=True)
    return python


def main() -> int:
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
            words = [str(python), "-m", "localstack.runtime.main"]
            server = subprocess.Popen(words, env=settings, stdout=log, stderr=log)
        try:
            url = f"http://{address}"
            for _ in range(PATIENCE):
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
