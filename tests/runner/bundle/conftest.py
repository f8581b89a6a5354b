"""Finished runs to pack, made once: on user files, and on shipped data."""

import json
from pathlib import Path

import pytest

from tests.runner.bundle.packing import Site

ROWS = [
    {
        "question": f"A man of {40 + n} coughs. What helps?",
        "answer": "rest",
        "answer_idx": "A",
        "options": {"A": "rest", "B": "salt", "C": "noise", "D": "dust"},
        "meta_info": "step1",
    }
    for n in range(4)
]


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Site:
    """A folder with data, a run on them and one on shipped data, and bundles of both."""
    home = tmp_path_factory.mktemp("site")
    file = home / "mine" / "US" / "4_options" / "phrases_no_exclude_test.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    folder = Site(home)
    folder.run("dataset=medqa", f"dataset.path={home / 'mine'}", "agent=cot", "hydra.run.dir=single", "tracking=off")
    folder.run("agent=react", "limit=3", "hydra.run.dir=shipped", "tracking=off")
    assert folder.pack("single", "--with-data")[0] == 0 and folder.pack("shipped")[0] == 0
    return folder


@pytest.fixture(scope="session")
def sweep(site) -> Site:
    """The same folder, with a sweep of two jobs that send the same requests, and its bundle."""
    site.run("-m", "agent=direct", "seed=0,1", "limit=2", "hydra.sweep.dir=sweep", "tracking=off")
    assert site.pack("sweep")[0] == 0
    return site


@pytest.fixture
def elsewhere(tmp_path: Path) -> Site:
    """An empty folder to replay in."""
    return Site(tmp_path)
