"""The live display and the lines without one."""

import os
import pty
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

from runner.episode.budget import Spent
from runner.episode.progress import Progress


def test_time_left_is_shown_once_more_samples_are_done_than_are_in_flight(capsys):
    spent = Spent()
    progress = Progress(SimpleNamespace(spent=spent, replayed=0), 10, 0, "job")
    progress._printed = float("-inf")
    spent.pending = 1
    progress.finished(False)
    progress._printed = float("-inf")
    progress.finished(False)
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("job: 1/10 samples, 1 calls in flight") and " left" not in first
    assert second.endswith("0:00 left")


def test_a_long_line_is_printed_whole_above_the_live_display():
    """A command that is copied from a narrow terminal has no line breaks."""
    code = (
        "from runner.episode.progress import Board\nwith Board() as board:\n    print('x' * 200)\n    assert board.live"
    )
    terminal, stream = pty.openpty()
    root, env = Path(__file__).parents[3], os.environ | {"COLUMNS": "80", "TERM": "xterm"}
    done = subprocess.run([sys.executable, "-c", code], cwd=root, env=env, stdout=stream, stderr=stream, check=False)
    os.close(stream)
    with open(terminal, "rb") as file:
        assert done.returncode == 0 and b"x" * 200 in file.read1()
