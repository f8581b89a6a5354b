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
