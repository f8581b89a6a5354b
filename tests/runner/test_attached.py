"""A sweep's report attached to its parent run."""

from pathlib import Path

import pytest

from runner.tracking.send import attach
from runner.tracking.store import Tracker


class Sent:
    """A client that keeps what it is sent."""

    def __init__(self):
        self.files = []

    def log_artifact(self, run_id, path, below):
        self.files.append((run_id, Path(path).name, below))


@pytest.mark.parametrize(
    ("uri", "privacies", "leaves"),
    [
        ("https://host", ["open", "open"], True),
        ("https://host", ["open", "credentialed"], False),
        ("https://host", ["open", "unknown"], False),
        ("sqlite:///here.db", ["credentialed"], True),
    ],
)
def test_files_are_sent_if_all_texts_may_be_shared(tmp_path, uri, privacies, leaves):
    client, config = Sent(), {"tracking": {"uri": uri, "permits": []}}
    files = [tmp_path / "report.html", tmp_path / "tables/a.csv"]
    attach(Tracker(client, uri, "1", tmp_path / "lock"), "r", files, privacies, config)
    assert client.files == ([("r", "report.html", None), ("r", "a.csv", "tables")] if leaves else [])
