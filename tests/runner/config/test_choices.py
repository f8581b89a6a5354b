"""What can be chosen, with a line each."""

import shlex
import subprocess
import sys

import pytest

from runner.__main__ import main
from runner.config.choices import choices, listing
from runner.config.roots import CONF

KNOWN = choices([CONF])


def test_every_choice_says_what_it_is():
    silent = [
        f"{group}/{name}" for group, of in KNOWN.items() for name, text in of.items() if not text.endswith((".", "?"))
    ]
    assert not silent
    assert {"agent", "condition", "dataset", "experiment", "model", "toolset", "verifier"} <= KNOWN.keys()


def test_only_groups_that_are_named_are_listed_and_lines_fit():
    lines = list(listing([CONF], ["verifier"]))
    assert lines[0] == "verifier"
    names = [line.split()[0] for line in lines[1:] if line.startswith("  ") and line[2] != " "]
    assert names == ["accept", "refine", "reflect", "select"]
    assert all(len(line) <= 130 for line in listing([CONF], []))


def test_a_users_own_choices_stand_among_them(tmp_path, capsys, monkeypatch):
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment" / "mine.yaml").write_text("# @package _global_\n# A question of ours.\n")
    monkeypatch.setattr("sys.argv", ["runner", "--config-dir", str(tmp_path), "--info", "choices", "experiment"])
    assert main() == 0
    assert "A question of ours." in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--info", "choices", "agnt"], ["-i", "choices", "agnt"]])
def test_a_group_that_is_not_there_is_refused(words, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["runner", *words])
    assert main() == 2
    assert "did you mean agent?" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["-m", "runner", "--info", "choices"], ["-m", "runner.doctor"]])
def test_a_reader_who_leaves_early_is_no_error(command):
    line = f"{shlex.join([sys.executable, *command])} | head -1"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.count("\n") == 1 and not done.stderr
