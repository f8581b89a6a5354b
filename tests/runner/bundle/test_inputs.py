"""The inputs of a run are found by replaying it, and data are included where they may be shared."""

import shutil
from pathlib import Path

import pytest
import yaml

from components.core.errors import ConfigError
from runner.bundle.inputs import inputs_of, may_include
from tests.slow import slow


@pytest.fixture
def run(site, tmp_path, monkeypatch):
    monkeypatch.chdir(site.home)
    folder = Path(shutil.copytree(site.home / "single", tmp_path / "run"))
    return folder, yaml.safe_load((folder / "config.yaml").read_text())


@slow
def test_entries_prompts_and_files_of_a_run_are_found(site, run):
    used = inputs_of(*run)
    assert (
        len(used.entries) == 4
        and used.prompts == ["cot", "xml_call"]
        and used.memory is None
        and used.privacy == "open"
    )
    assert site.home / "mine/US/4_options/phrases_no_exclude_test.jsonl" in used.files


@slow
@pytest.mark.parametrize("journal", [None, "nowhere"])
def test_without_a_journal_nothing_is_found(run, journal):
    folder, cfg = run
    with pytest.raises(ConfigError, match=r"its journal .* is missing"):
        inputs_of(folder, {**cfg, "run": {**cfg["run"], "journal": journal}})


CHOSEN = {"choices": {"dataset": "medqa"}}
OURS, OTHERS = {"dataset.path": Path("/data/medqa")}, {"dataset.path": Path("/data/mine")}


@pytest.mark.parametrize(
    ("notes", "privacy", "message", "named", "allowed"),
    [
        (CHOSEN, "open", False, OURS, True),
        (CHOSEN, "phi", True, OURS, False),
        (CHOSEN, "open", False, OTHERS, False),
        (CHOSEN, "open", False, OURS | {"dataset.more": Path("/data/more")}, False),
        (CHOSEN, "open", True, OTHERS, True),
        ({"choices": {"dataset": "halt_medvqa"}}, "open", False, {}, False),
        ({"choices": {"dataset": "../../pyproject"}}, "open", False, {}, False),
        ({"choices": {}}, "open", False, {}, False),
    ],
)
def test_data_are_included_where_class_and_licence_permit_it(monkeypatch, notes, privacy, message, named, allowed):
    monkeypatch.setenv("CLINICAL_DATA_DIR", "/data")
    assert may_include(notes, privacy, message, named)[0] is allowed


def test_data_are_excluded_when_the_data_folder_is_unknown(monkeypatch):
    monkeypatch.delenv("CLINICAL_DATA_DIR", raising=False)
    assert may_include(CHOSEN, "open", False, OURS)[0] is False
