"""What importing the library does to a program that is not a command of ours."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

FOREIGN = "import signal\ntry:\n    signal.raise_signal(signal.SIGINT)\nfinally:\n    print('cleaned up')\n"


@pytest.mark.parametrize("module, cleans_up", [("foreign", True), ("runner.foreign", False)])
def test_ctrl_c_is_answered_only_in_commands_of_ours(tmp_path, module, cleans_up):
    """``python -m`` imports the package first, with ``-m`` in place of the program's name."""
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign/__init__.py").write_text("import runner\n")
    (tmp_path / "foreign/__main__.py").write_text(FOREIGN)
    if not cleans_up:
        (tmp_path / "runner").mkdir()
        (tmp_path / "runner/__init__.py").write_text((ROOT / "runner/__init__.py").read_text())
        (tmp_path / "runner/foreign.py").write_text(FOREIGN)
    places = f"{tmp_path}:{ROOT}"
    words = [sys.executable, "-m", module]
    done = subprocess.run(words, cwd=tmp_path, env={"PYTHONPATH": places}, capture_output=True, text=True, check=False)
    assert ("cleaned up" in done.stdout, done.returncode == 130) == (cleans_up, not cleans_up), done.stderr
