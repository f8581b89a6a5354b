"""Run folders by name."""

import pytest

from components.errors import ConfigError
from runner.results.folders import run_folders
from tests.runner.results.folders import write


def test_a_sweep_is_its_runs_in_the_order_in_which_they_began(tmp_path):
    later, first = (
        write(tmp_path / name, {"t": ("k", [1])}, start=day) for name, day in (("a", "2026-2"), ("b", "2026-1"))
    )
    assert run_folders(tmp_path) == [first, later] and run_folders(later) == [later]


def test_jobs_that_began_in_any_order_stand_in_that_of_the_sweep(tmp_path):
    second, first, old = (
        write(tmp_path / name, {"t": ("k", [1])}, start="2026-1", number=number)
        for name, number in (("a", 10), ("b", 9), ("c", None))
    )
    assert run_folders(tmp_path) == [first, second, old]


@pytest.mark.parametrize("missing", ["manifest.json", "config.yaml", "records.jsonl"])
def test_a_folder_without_its_files_is_none(tmp_path, missing):
    folder = write(tmp_path / "a", {"t": ("k", [1])})
    (folder / missing).unlink()
    with pytest.raises(ConfigError, match=f"is no run folder: it has no {missing}"):
        run_folders(folder)
