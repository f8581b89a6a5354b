"""The catalogue lists every choice with a description, and reads one without composing a whole config."""

import shlex
import subprocess
import sys

import pytest

from components.core.errors import ConfigError
from runner.__main__ import main
from runner.config.catalogue import Catalogue, catalogue_of, describe_choices
from runner.config.composed import resolve_choice
from tests.slow import slow

GROUPS = Catalogue().groups


def test_every_choice_has_a_description():
    silent = [
        choice.path for of in GROUPS.values() for choice in of.values() if not choice.description.endswith((".", "?"))
    ]
    assert not silent
    assert {"agent", "condition", "dataset", "experiment", "model", "toolset", "verifier"} <= GROUPS.keys()


def test_choice_of_a_folder_that_was_not_named_says_how(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine" / "dataset").mkdir(parents=True)
    (tmp_path / "mine" / "dataset" / "clinic.yaml").touch()
    with pytest.raises(ConfigError, match="is there: add --config-dir mine; "):
        catalogue_of([]).find("dataset", "clinic")


def test_missing_folder_is_refused():
    with pytest.raises(ConfigError, match="--config-dir: there is no folder 'nope'"):
        catalogue_of(["--info", "choices", "--config-dir", "nope"], strict=True)


def test_missing_folder_suggests_the_nearest(tmp_path):
    (tmp_path / "mine").mkdir()
    with pytest.raises(ConfigError, match=r"mnie'; did you mean mine\?$"):
        catalogue_of(["--config-dir", str(tmp_path / "mnie")], strict=True)


def test_a_choice_has_the_keys_of_its_bases():
    node = GROUPS["dataset"]["mmlu/anatomy"].node
    assert node["subjects"] == ["anatomy"] and "path" in node


def test_only_the_named_groups_are_listed_and_lines_fit():
    lines = list(describe_choices(Catalogue(), ["verifier"]))
    assert lines[0] == "verifier"
    names = [line.split()[0] for line in lines[1:] if line.startswith("  ") and line[2] != " "]
    assert names == ["accept", "refine", "reflect", "select"]
    assert all(len(line) <= 130 for line in describe_choices(Catalogue(), []))


def test_user_choices_are_listed_with_shipped_ones(tmp_path, capsys, monkeypatch):
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment" / "mine.yaml").write_text("# @package _global_\n# A question of ours.\n")
    monkeypatch.setattr("sys.argv", ["runner", "--config-dir", str(tmp_path), "--info", "choices", "experiment"])
    assert main() == 0
    assert "A question of ours." in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--info", "choices", "agnt"], ["-i", "choices", "agnt"]])
def test_an_unknown_group_is_refused(words, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["runner", *words])
    assert main() == 2
    assert "did you mean agent?" in capsys.readouterr().err


@slow
@pytest.mark.parametrize(
    "command", [["-m", "runner", "--info", "choices"], pytest.param(["-m", "runner.doctor"], marks=slow)]
)
def test_a_closed_pipe_is_not_an_error(command):
    line = f"{shlex.join([sys.executable, *command])} | head -1"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.count("\n") == 1 and not done.stderr


def test_choice_is_shown_with_interpolations_and_overrides(monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:1")
    assert resolve_choice("tracking", "off", {})["uri"] is None
    assert resolve_choice("tracking", "mlflow_server", {"traces": "all"}) == {
        "uri": "http://127.0.0.1:1", "artifacts": None, "traces": "all", "ui": None, "permits": [], "otlp": None,
        "wait": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("of", {}, "tracking=of: did you mean off"),
        ("off", {"trace": "all"}, r"tracking\.trace: no such key; did you mean traces"),
        ("mlflow_server", {}, "MLFLOW_TRACKING_URI"),
    ],
)
def test_an_unknown_choice_or_key_is_refused(name, changes, message, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    with pytest.raises(ConfigError, match=message):
        resolve_choice("tracking", name, changes)
