"""What is packed into a bundle, and what is never packed."""

import json
import re
import shutil

import pytest

from components.core.errors import ConfigError
from runner.bundle import labels_of, refuse_keys
from tests.runner.bundle.packing import members
from tests.slow import slow


@slow
def test_sweep_bundle_holds_its_part_of_the_journal_once_and_all_inputs(sweep):
    contents = members(sweep.bundle("sweep"))
    head = json.loads(contents["bundle.json"])
    assert {run["label"] for run in head["runs"]} == {"seed-0", "seed-1"} and head["versions"]["python"]
    calls = [json.loads(line.split(b" ", 2)[2]) for line in contents["journal.jsonl"].splitlines()]
    asked = sum(
        len(json.loads(line)["steps"])
        for name, text in contents.items()
        if name.endswith("records.jsonl")
        for line in text.splitlines()
    )
    assert len(calls) == asked == 4 and {call["model"].split()[0] for call in calls} == {"simulated"}
    assert contents["prompts/direct/problem.jinja"] and not any(name.startswith("data/") for name in contents)


@slow
def test_packing_is_deterministic_and_configs_have_no_local_paths(site, tmp_path):
    assert site.pack("single", "--with-data", target=str(tmp_path / "again.zip"))[0] == 0
    assert (tmp_path / "again.zip").read_bytes() == site.bundle("single").read_bytes()
    config = members(site.bundle("single"))["runs/single/config.yaml"].decode()
    assert "path: '{bundle}/data/dataset.path/mine'" in config and str(site.home) not in config


def test_incomplete_run_is_not_packed(site, tmp_path):
    folder = shutil.copytree(site.home / "single", tmp_path / "cut")
    notes = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(notes | {"status": "interrupted"}))
    code, printed = site.pack(str(folder))
    assert code == 2 and "is not complete" in printed and "run.resume=" in printed


def test_a_run_with_former_names_of_classes_is_packed(site, tmp_path):
    folder = shutil.copytree(site.home / "shipped", tmp_path / "old")
    config = (folder / "config.yaml").read_text()
    assert "grammars.bracket_json.BracketText" in config
    (folder / "config.yaml").write_text(config.replace("grammars.bracket_json.", "grammars.bracket_text."))
    code, output = site.pack(str(folder))
    assert code == 0, output


@pytest.mark.parametrize("text", ["a: [", "a: 1"])
def test_run_with_a_damaged_config_is_refused_in_one_line(site, tmp_path, text):
    folder = shutil.copytree(site.home / "single", tmp_path / "cut")
    (folder / "config.yaml").write_text(text)
    code, printed = site.pack(str(folder))
    assert code == 2 and "config.yaml" in printed and len(printed.strip().splitlines()) == 1


def test_run_that_does_not_replay_from_its_journal_is_not_packed(site, tmp_path):
    folder = shutil.copytree(site.home / "single", tmp_path / "other")
    text = (folder / "records.jsonl").read_text()
    (folder / "records.jsonl").write_text(text.replace('"text":"', '"text":"x', 1))
    code, printed = site.pack(str(folder))
    assert code == 2 and re.search(
        r"does not replay here.*sample 'medqa-test-\d', epoch 0, branch 'main', call 0", printed
    )


def test_restricted_data_and_texts_are_packed_only_on_request(site, tmp_path):
    words = ("dataset=medqa", f"dataset.path={site.home / 'mine'}", "dataset.privacy=credentialed", "agent=cot")
    site.run(*words, "tracking=off", "hydra.run.dir=closed")
    code, printed = site.pack("closed")
    assert code == 2 and "its data are credentialed" in printed and "--with-data" in printed
    assert not site.bundle("closed").exists()
    code, printed = site.pack("closed", "--with-data")
    assert (
        code == 0
        and "trajectories of data that are not open" in printed
        and "left out, they are credentialed" in printed
    )
    assert not any(name.startswith("data/") for name in members(site.bundle("closed")))
    site.bundle("closed").unlink()


def test_value_of_a_secret_variable_is_never_packed(site, tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "A man of 40 coughs")
    code, printed = site.pack("single", target=str(tmp_path / "b.zip"))
    assert code == 2 and "holds the value of SOME_API_KEY: no bundle was made" in printed
    assert not (tmp_path / "b.zip").exists()


def test_bundle_name_must_end_with_zip(site):
    code, printed = site.pack("single", target="b.tar")
    assert code == 2 and "a bundle is a zip file; name it b.zip" in printed


def test_variable_named_in_a_config_as_key_is_secret_under_any_name(monkeypatch):
    monkeypatch.setenv("WARD_DOOR", "open sesame")
    printed = {"runs/x/report.md": b"say open sesame"}
    refuse_keys(printed, [])
    with pytest.raises(ConfigError, match=r"runs/x/report\.md holds the value of WARD_DOOR"):
        refuse_keys(printed, [{"model": {"api_key_env": "WARD_DOOR"}}])


def test_runs_of_the_same_name_are_distinguished(tmp_path):
    folders = [tmp_path / name for name in ("a/x", "b/x", "c/x-2", "d/X", "e/y")]
    assert labels_of(folders) == ["x", "x-2", "x-2-2", "X-3", "y"]
