"""llama.cpp's own server with a model of random weights, in a process that a test starts and stops."""

import json
import os
import subprocess
import urllib.request
from contextlib import contextmanager

import pytest

from tests.acceptance.command import ROOT
from tests.mlflow_server import free_port
from tests.server_process import running

FOLDER = ROOT / ".venv-llama"
needs_llama = pytest.mark.skipif(
    not (FOLDER / "bin/llama-server").exists(), reason="not built: make .venv-llama/.installed"
)


@contextmanager
def serving(home, *options):
    """The address of a server with these options, up to /v1."""
    model, port = home / "model.gguf", free_port()
    if not model.exists():
        subprocess.run([FOLDER / "bin/python", ROOT / "tests/random_model.py", model], check=True)
    command = [FOLDER / "bin/llama-server", "-m", model, "--host", "127.0.0.1", "--port", str(port), "--alias", "random",
               "--threads", "1", "--offline", "--no-warmup", *options]  # fmt: skip
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    with running(command, home, environment, f"http://127.0.0.1:{port}/health"):
        yield f"http://127.0.0.1:{port}/v1"


def slots(url):
    """What each place of the server does."""
    with urllib.request.urlopen(url.removesuffix("v1") + "slots") as reply:
        return json.load(reply)
