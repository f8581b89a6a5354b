"""Playing a finished run once more tells what it used."""

import shutil
from pathlib import Path

import pytest
import yaml

from components.core.errors import ConfigError
from runner.bundle.heard import listen


@pytest.fixture
def run(site, tmp_path, monkeypatch):
    monkeypatch.chdir(site.home)
    folder = Path(shutil.copytree(site.home / "single", tmp_path / "run"))
    return folder, yaml.safe_load((folder / "config.yaml").read_text())


def test_entries_prompts_and_files_of_a_run_are_heard(site, run):
    heard = listen(*run)
    assert (
        len(heard.entries) == 4
        and heard.prompts == ["cot", "xml_call"]
        and heard.memory is None
        and heard.privacy == "open"
    )
    assert site.home / "mine/US/4_options/phrases_no_exclude_test.jsonl" in heard.opened


@pytest.mark.parametrize("journal", [None, "nowhere"])
def test_without_a_journal_nothing_can_be_heard(run, journal):
    folder, cfg = run
    with pytest.raises(ConfigError, match=r"its journal .* is not here"):
        listen(folder, {**cfg, "run": {**cfg["run"], "journal": journal}})
