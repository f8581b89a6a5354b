"""A run folder holds one run: changed inputs are refused, and only complete shards are merged."""

import json
import shutil

import pytest

from runner.report import main as report
from tests.acceptance.command import ROOT, run_in_process
from tests.slow import slow

pytestmark = slow

WORDS = ("tracking=off", "experiment=hello", "agent=direct", "agent.prompts=prompts/direct")


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    """Two of three shards, and a copy of the prompts they used."""
    home = tmp_path_factory.mktemp("identity")
    shutil.copytree(ROOT / "components" / "prompts" / "direct", home / "prompts" / "direct")
    for part in (1, 2):
        done = run_in_process(home, *WORDS, f"run.shard={part}/3", f"hydra.run.dir=s{part}")
        assert done.code == 0, done.err
    return home


def test_different_shard_in_the_same_folder_is_refused(shards):
    done = run_in_process(shards, *WORDS, "run.shard=2/3", "run.resume=s1")
    assert done.code == 2 and "started with another value of shard: it was 1/3, now it is 2/3" in done.err


def test_changed_prompt_in_the_same_folder_is_refused(shards):
    path = shards / "prompts" / "direct" / "problem.jinja"
    text = path.read_text()
    path.write_text(text + "\nBe brief.\n")
    try:
        done = run_in_process(shards, *WORDS, "run.shard=1/3", "run.resume=s1")
    finally:
        path.write_text(text)
    assert done.code == 2 and "started with another value of prompts" in done.err
    assert json.loads((shards / "s1" / "manifest.json").read_text())["status"] == "complete"


def test_shards_are_merged_only_when_all_are_present(shards, capsys, monkeypatch):
    monkeypatch.chdir(shards)
    folders = [str(shards / f"s{part}") for part in (1, 2, 3)]
    assert report(["merge", str(shards / "partly"), *folders[:2]]) == 2
    assert "to merge, give each of i/3 once" in capsys.readouterr().err
    assert run_in_process(shards, *WORDS, "run.shard=3/3", "hydra.run.dir=s3").code == 0
    assert report(["merge", str(shards / "whole"), *folders]) == 0
    merged = json.loads((shards / "whole" / "manifest.json").read_text())
    assert merged["counts"] == {"finished": 44, "wanted": 44, "errored": 0} and merged["calls"]["sent"] == 44
    assert report(["rescore", str(shards / "whole")]) == 0


def test_folder_without_a_run_is_refused(shards, capsys):
    assert run_in_process(shards, *WORDS, "run.resume=prompts").code == 2
    assert report(["table", str(shards / "prompts")]) == 2
    assert "is not a run folder" in capsys.readouterr().err
