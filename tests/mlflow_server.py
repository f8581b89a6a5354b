"""MLflow's own server with basic auth on a PostgreSQL of its own, each in processes that tests start and stop."""

import hashlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.acceptance.command import ROOT

BIN = ROOT / ".venv-mlflow/bin"
POSTGRES = shutil.which("postgres")
needs_mlflow = pytest.mark.skipif(
    not ((BIN / "mlflow").exists() and POSTGRES),
    reason="not installed: make .venv-mlflow/.installed, and PostgreSQL (apt-get install postgresql)",
)
USER, PASSWORD = "reader", "a long password 1"  # the first administrator, as the server makes it
_OWNER = "nobody" if os.getuid() == 0 else None  # PostgreSQL refuses to run as root


def free_port():
    """A port that nothing uses."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


class Postgres:
    """A cluster in a new folder below /tmp, which its owner can reach, with one database for runs and one for users."""

    def __init__(self):
        self._home = Path(tempfile.mkdtemp(prefix="postgres-"))
        self._home.chmod(0o755)
        data, self.port = self._home / "data", str(free_port())
        data.mkdir()
        if _OWNER:
            shutil.chown(data, _OWNER)
        self._as_owner("initdb", "-D", data, "-U", "mlflow", "--auth=trust", "--no-sync")
        command = [POSTGRES, "-D", data, "-p", self.port, "-k", "", "-h", "127.0.0.1", "-c", "fsync=off"]
        with (self._home / "log").open("wb") as log:
            self._process = subprocess.Popen(command, user=_OWNER, cwd="/", stdout=log, stderr=log)
        self.url = f"postgresql+psycopg2://mlflow@127.0.0.1:{self.port}"
        for name in ("runs", "users"):
            self.ask("postgres", f"create database {name}")

    def _as_owner(self, name, *arguments):
        line = [Path(POSTGRES).resolve().with_name(name), *arguments]
        subprocess.run(line, user=_OWNER, cwd="/", check=True, capture_output=True)

    def ask(self, database, statement):
        """The rows of the reply; waits for a cluster that is just starting."""
        line = ["psql", "-h", "127.0.0.1", "-p", self.port, "-U", "mlflow", "-d", database, "-At", "-c", statement]
        for _ in range(100):
            done = subprocess.run(line, capture_output=True, text=True)
            if done.returncode == 0:
                return [row.split("|") for row in done.stdout.splitlines()]
            if "starting up" not in done.stderr and "connect" not in done.stderr:
                break
            time.sleep(0.1)
        raise AssertionError(done.stderr + (self._home / "log").read_text()[-2000:])

    def stop(self):
        """End it and delete its files."""
        self._process.terminate()
        self._process.wait(30)
        shutil.rmtree(self._home)


class MLflowServer:
    """The server, which keeps artifacts in a folder of its own. It can be stopped and started again at the same port."""

    def __init__(self, home, database, artifacts):
        self._home, self._database, self._artifacts, self._process = home, database, artifacts, None
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        (home / "auth.ini").write_text(
            f"[mlflow]\ndefault_permission = READ\ndatabase_uri = {database.url}/users\n"
            f"admin_username = {USER}\nadmin_password = {PASSWORD}\n"
            "authorization_function = mlflow.server.auth:authenticate_request_basic_auth\n"
        )
        self.start()
        self.set_password(PASSWORD)

    def set_password(self, password):
        """Change the user's password, with a digest that is quick to check: else that takes most of a request's time."""
        digest = hashlib.pbkdf2_hmac("sha256", password.encode(), b"salt", 1).hex()
        self._database.ask("users", f"update users set password_hash = 'pbkdf2:sha256:1$salt${digest}'")

    def start(self):
        """Start it and wait until it answers."""
        environment = {
            "PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(self._home), "MLFLOW_AUTH_CONFIG_PATH": str(self._home / "auth.ini"),
            "MLFLOW_FLASK_SERVER_SECRET_KEY": "for-tests", "MLFLOW_DISABLE_TELEMETRY": "true",
        }  # fmt: skip
        command = [
            BIN / "mlflow", "server", "--app-name", "basic-auth", "--host", "127.0.0.1", "--port", str(self._port), "--workers", "2",
            "--uvicorn-opts", "--timeout-worker-healthcheck 120",
            "--backend-store-uri", f"{self._database.url}/runs", "--artifacts-destination", str(self._artifacts), "--serve-artifacts",
        ]  # fmt: skip
        with (self._home / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=self._home, env=environment, stdout=log, stderr=log, start_new_session=True
            )
        for _ in range(240):
            with suppress(OSError), urllib.request.urlopen(f"{self.url}/health"):
                return
            assert self._process.poll() is None, self.log()
            time.sleep(0.5)
        raise AssertionError(self.log())

    def stop(self, number=15):
        """End it with its workers."""
        os.killpg(self._process.pid, number)
        self._process.wait(120)

    def log(self):
        """The end of what it printed."""
        return (self._home / "log").read_text()[-3000:]


@contextmanager
def small_disk(folder, size="64m"):
    """A file system of its own that can be full; skips the test where this user may not mount one."""
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("a full disk needs the right to mount a tmpfs, which root has")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
