"""Runs a text of Python in a process of its own: for what cannot be taken back."""

import subprocess
import sys
from pathlib import Path


def run(code, *arguments):
    """Its output; fails with its error output."""
    line = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(line, capture_output=True, text=True, cwd=Path(__file__).parents[3], check=False)
    assert done.returncode == 0, done.stderr[-1000:]
    return done.stdout
