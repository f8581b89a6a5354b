"""A finished run is replayed from its journal without a key or a server, and only with the same prompts."""

import json
import shutil

import pytest

from components.models.simulated.serve import Server
from tests.acceptance.command import ROOT, Served, read_manifest, read_records, run_in_process
from tests.acceptance.own import Voice
from tests.slow import slow

KEY = "sk-acceptance-0123456789abcdef"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A finished run whose server is stopped: its cwd, folder and words."""
    cwd = tmp_path_factory.mktemp("replay")
    shutil.copytree(ROOT / "components" / "prompts" / "react", cwd / "prompts")
    with Served(Server(Voice(name="gpt-4o-mini-2024-07-18"))) as served:
        words = (
            "tracking=off", "dataset=cohort", "agent=react", f"agent.prompts={cwd / 'prompts'}", "toolset=ledger",
            "limit=8", "model=openai", f"model.api_base={served.url}", "model.price={input: 0.5, output: 1.5}",
        )  # fmt: skip
        done = run_in_process(cwd, *words, env={"OPENAI_API_KEY": KEY})
    assert done.code == 0, done.err
    return cwd, done.folder, words


@pytest.fixture(scope="module")
def replayed(recorded):
    cwd, _, words = recorded
    return run_in_process(cwd, *words, "run.replay=true")


@slow
def test_replay_needs_no_key_or_server_and_writes_the_same_records(recorded, replayed):
    assert replayed.code == 0, replayed.err
    assert read_records(replayed.folder) == read_records(recorded[1])


@slow
def test_replay_sends_nothing_and_is_marked_as_a_replay(replayed):
    manifest = read_manifest(replayed.folder)
    assert manifest["calls"]["sent"] == 0
    assert manifest["calls"]["from_journal"] == 8 * 5
    assert manifest["model_kind"] == "replayed"


@slow
def test_replay_without_a_journal_is_refused_without_a_folder(recorded, tmp_path):
    done = run_in_process(tmp_path, *recorded[2], "run.replay=true")
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert not (tmp_path / "outputs").exists()


def test_missing_key_without_replay_is_refused_in_one_line(recorded, tmp_path):
    done = run_in_process(tmp_path, *recorded[2])
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert "OPENAI_API_KEY" in done.err
    assert not (tmp_path / "outputs").exists()


@pytest.mark.parametrize("changed", ["system", "problem"])
def test_replay_with_a_changed_prompt_is_refused_by_name(recorded, tmp_path, changed):
    cwd, _, words = recorded
    prompts = tmp_path / "prompts"
    shutil.copytree(cwd / "prompts", prompts)
    path = prompts / f"{changed}.jinja"
    path.write_text(path.read_text() + "\nBe brief.\n")
    words = [f"agent.prompts={prompts}" if word.startswith("agent.prompts=") else word for word in words]
    done = run_in_process(tmp_path, *words, f"run.replay={cwd / 'outputs' / '.journal'}")
    assert done.code == 2
    [line] = [line for line in done.err.splitlines() if line.startswith("config error: ")]
    assert f"{prompts}/{changed}.jinja" in line
    other = {"system": "problem", "problem": "system"}[changed]
    assert f"{other}.jinja" not in line


def test_copied_journal_and_copied_prompts_replay_the_run(recorded, tmp_path):
    """Journal keys depend on what is sent, not on file locations; a bundle can be moved."""
    cwd, folder, words = recorded
    shutil.copytree(cwd / "prompts", tmp_path / "elsewhere")
    shutil.copytree(cwd / "outputs" / ".journal", tmp_path / "kept")
    words = [f"agent.prompts={tmp_path / 'elsewhere'}" if w.startswith("agent.prompts=") else w for w in words]
    done = run_in_process(tmp_path, *words, "run.replay=kept")
    assert done.code == 0, done.err
    assert not (tmp_path / "outputs" / ".journal").exists()
    replayed_texts, recorded_texts = (json.dumps(read_records(f)) for f in (done.folder, folder))
    assert replayed_texts.replace(str(tmp_path / "elsewhere"), str(cwd / "prompts")) == recorded_texts
