"""A finished run is played again from its journal: without a key, without a server, with the same prompts only."""

import json
import shutil

import pytest

from components.models.simulated.serve import Server
from tests.acceptance.command import ROOT, Served, counted, here, told
from tests.acceptance.own import Voice
from tests.slow import slow

KEY = "sk-acceptance-0123456789abcdef"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A finished run against a server that is gone now: its cwd, folder and words."""
    cwd = tmp_path_factory.mktemp("replay")
    shutil.copytree(ROOT / "components" / "prompts" / "react", cwd / "prompts")
    with Served(Server(Voice())) as served:
        words = (
            "tracking=off", "dataset=cohort", "agent=react", f"agent.prompts={cwd / 'prompts'}", "toolset=ledger",
            "limit=8", "model=openai", f"model.api_base={served.url}", "model.price={input: 0.5, output: 1.5}",
        )  # fmt: skip
        done = here(cwd, *words, env={"OPENAI_API_KEY": KEY})
    assert done.code == 0, done.err
    return cwd, done.folder, words


@pytest.fixture(scope="module")
def replayed(recorded):
    cwd, _, words = recorded
    return here(cwd, *words, "run.replay=true")


@slow
def test_replay_needs_neither_key_nor_server_and_leaves_the_same_records(recorded, replayed):
    assert replayed.code == 0, replayed.err
    assert told(replayed.folder) == told(recorded[1])


def test_replay_sends_nothing_and_says_that_it_is_one(replayed):
    manifest = counted(replayed.folder)
    assert manifest["calls"]["sent"] == 0
    assert manifest["calls"]["from_journal"] == 8 * 5
    assert manifest["model_kind"] == "replayed"


def test_replay_without_a_journal_is_refused_without_a_folder(recorded, tmp_path):
    done = here(tmp_path, *recorded[2], "run.replay=true")
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert not (tmp_path / "outputs").exists()


def test_a_missing_key_without_replay_is_refused_in_one_line(recorded, tmp_path):
    done = here(tmp_path, *recorded[2])
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert "OPENAI_API_KEY" in done.err
    assert not (tmp_path / "outputs").exists()


@pytest.mark.parametrize("changed", ["system", "problem"])
def test_replay_with_a_changed_prompt_is_refused_and_names_it(recorded, tmp_path, changed):
    cwd, _, words = recorded
    prompts = tmp_path / "prompts"
    shutil.copytree(cwd / "prompts", prompts)
    path = prompts / f"{changed}.jinja"
    path.write_text(path.read_text() + "\nBe brief.\n")
    words = [f"agent.prompts={prompts}" if word.startswith("agent.prompts=") else word for word in words]
    done = here(tmp_path, *words, f"run.replay={cwd / 'outputs' / '.journal'}")
    assert done.code == 2
    [line] = [line for line in done.err.splitlines() if line.startswith("config error: ")]
    assert f"{prompts}/{changed}.jinja" in line
    other = {"system": "problem", "problem": "system"}[changed]
    assert f"{other}.jinja" not in line


def test_a_copied_journal_and_a_copied_prompt_set_replay_the_run(recorded, tmp_path):
    """The key is what is sent, not where files lie; a bundle taken elsewhere is enough."""
    cwd, folder, words = recorded
    shutil.copytree(cwd / "prompts", tmp_path / "elsewhere")
    shutil.copytree(cwd / "outputs" / ".journal", tmp_path / "kept")
    words = [f"agent.prompts={tmp_path / 'elsewhere'}" if w.startswith("agent.prompts=") else w for w in words]
    done = here(tmp_path, *words, "run.replay=kept")
    assert done.code == 0, done.err
    assert not (tmp_path / "outputs" / ".journal").exists()
    played, recorded_texts = (json.dumps(told(f)) for f in (done.folder, folder))
    assert played.replace(str(tmp_path / "elsewhere"), str(cwd / "prompts")) == recorded_texts
