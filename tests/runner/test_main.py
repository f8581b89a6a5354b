"""The command: exit codes, the files it writes, and how runs are resumed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runner.results import column_file
from runner.results.table import Table
from runner.storage.manifest import digest
from runner.storage.records import read
from tests.slow import slow

ROOT = Path(__file__).resolve().parents[2]


def ids(folder):
    lines = (folder / "records.jsonl").read_bytes().split(b"\n")[:-1]  # a line without a line break is incomplete
    return sorted(json.loads(line)["sample_id"] for line in lines)


def test_a_complete_run(home):
    done = home.run()
    (folder,) = home.runs()
    assert done.code == 0, done.err
    assert {"config.yaml", "manifest.json", "records.jsonl", "metrics.json", "report.md"} <= {
        p.name for p in folder.iterdir()
    }
    assert not (folder / ".hydra").exists()
    assert ids(folder) == ["q0", "q1", "q2", "q3"]
    manifest = home.manifest(folder)
    assert (manifest["status"], manifest["choices"]["agent"], manifest["choices"]["scorer"]) == (
        "complete",
        "asks",
        "right",
    )
    assert manifest["config"] == [digest((folder / "config.yaml").read_bytes())]
    assert f"run folder: {folder}" in done.out


def test_dashes_before_a_key_suggest_the_correction(home):
    done = home.run("--limit=1")
    assert done.code == 2 and "--limit=1: write keys without leading dashes: limit=1" in done.complaint


@slow
def test_choice_with_a_file_suffix_is_refused_with_its_name(home):
    done = home.run("agent=asks.yaml")
    assert done.code == 2 and "agent=asks.yaml: a choice has no suffix: agent=asks" in done.complaint


@slow
def test_help_survives_a_closed_pipe():
    line = [sys.executable, "-m", "runner", "--help"]
    with subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == ("", 0)


@slow
def test_two_runs_in_one_second_have_two_folders(home):
    assert home.run("limit=1").code == home.run("limit=2").code == home.run("limit=3").code == 0
    assert [len(ids(folder)) for folder in home.runs()] in ([1, 2, 3], [1, 3, 2])


@slow
def test_uncreatable_folder_is_named_in_one_line(home):
    (home.path / "file").write_text("")
    for where, why in (("file", "File exists"), ("file/run", "Not a directory"), ("x" * 300, "File name too long")):
        done = home.run(f"hydra.run.dir={where}")
        assert done.code == 2 and f"cannot be read or written: {why}" in done.complaint, done.err
    (home.path / "outputs").write_text("")
    done = home.run("-m", "seed=0,1")
    assert done.code == 2 and "cannot be read or written: " in done.complaint, done.err


@slow
def test_given_run_folder_may_contain_other_files(home):
    (home.path / "here").mkdir()
    (home.path / "here" / "notes.txt").write_text("mine")
    assert home.run("hydra.run.dir=here").code == 0
    again = home.run("hydra.run.dir=here", "seed=1")
    assert again.code == 2
    assert "here contains a run already; resume it with run.resume=here" in again.complaint
    assert home.run("hydra.run.dir=here", "run.resume=here").code == 0
    assert ids(home.path / "here") == ["q0", "q1", "q2", "q3"]


def test_reached_budget_exits_3_and_the_printed_command_resumes(home):
    done = home.run("budget.run.calls=2", "model.max_connections=1")
    assert done.code == 3
    (folder,) = home.runs()
    assert len(ids(folder)) == 2
    line = done.err.splitlines()[-1].split()
    assert line[0] == "wardround"
    assert line[-1] == f"run.resume={folder.relative_to(home.path)}"
    words = [w for w in line[1:] if not w.startswith("budget.run")]
    assert home.run(*words, plain=True).code == 0
    assert ids(folder) == ["q0", "q1", "q2", "q3"]
    assert home.runs() == [folder]


def test_resume_last_refuses_a_relevant_change(home):
    assert home.run("limit=2").code == 0
    refused = home.run("limit=3", "run.resume=last")
    assert (refused.code, len(home.runs())) == (2, 1)
    assert "limit was 2, now is 3" in refused.complaint
    assert home.run("limit=2", "run.resume=last", "model.max_connections=1", "model.retries=5").code == 0
    assert len(home.runs()) == 1


def test_a_run_whose_records_were_changed_is_not_resumed(home):
    assert home.run("hydra.run.dir=here").code == 0
    path, facts = home.path / "here" / "records.jsonl", home.path / "here" / "manifest.json"
    changed, before = path.read_bytes().replace(b'"score/strict":0.0', b'"score/strict":1.0'), facts.read_bytes()
    for records in (changed + b" ", b"".join(changed.splitlines(True)[:2])):
        path.write_bytes(records)
        refused = home.run("run.resume=here")
        assert refused.code == 2 and f"{path} has" in refused.complaint
        assert (path.read_bytes(), facts.read_bytes()) == (records, before)
    path.unlink()
    assert home.run("run.resume=here").code == 0 and ids(home.path / "here") == ["q0", "q1", "q2", "q3"]


def test_too_many_errors_are_exit_1(home):
    (home.path / "mine" / "bad.py").write_text("class Bad:\n    async def solve(self, episode):\n        return 1\n")
    home.write("agent/bad", "_target_: mine.bad.Bad")
    assert home.run("agent=bad", "name=bad").code == 1
    assert home.run("agent=bad", "name=bad2", "run.max_error_rate=1").code == 0


def test_a_resume_that_cannot_write_its_manifest_leaves_the_records_as_their_digests_are(home):
    (home.path / "mine" / "bad.py").write_text("class Bad:\n    async def solve(self, episode):\n        return 1\n")
    home.write("agent/bad", "_target_: mine.bad.Bad")
    assert home.run("agent=bad", "hydra.run.dir=here", "limit=1").code == 1
    before = (records := home.path / "here" / "records.jsonl").read_bytes()
    (home.path / "here" / "manifest.json.tmp").symlink_to("/dev/full")
    refused = home.run("agent=bad", "run.resume=here", "limit=1")
    assert "manifest.json cannot be written" in refused.err and records.read_bytes() == before
    assert home.run("agent=bad", "run.resume=here", "limit=1").code == 1, "its sample is run again"


def test_privacy_refusal_writes_only_a_manifest(home):
    done = home.run("dataset.privacy=phi", "model.in_process=false")
    assert done.code == 2
    assert "the dataset is phi and the model 'echo'" in done.complaint
    (folder,) = home.runs()
    assert [path.name for path in folder.iterdir()] == ["manifest.json"]
    manifest = home.manifest(folder)
    assert (manifest["status"], manifest["privacy"]["decision"]) == ("refused", "refused")


@slow
def test_privacy_refusal_does_not_change_an_existing_run(home):
    assert home.run("hydra.run.dir=here").code == 0
    before = (home.path / "here" / "manifest.json").read_bytes()
    assert home.run("hydra.run.dir=here", "dataset.privacy=phi", "model.in_process=false").code == 2
    assert (home.path / "here" / "manifest.json").read_bytes() == before


def test_internal_error_gives_a_traceback_and_not_a_config_error(home):
    with pytest.raises(RuntimeError, match="broken model"):
        home.run("model.breaks=true")


def test_version_and_help(home):
    output = home.run("--help", plain=True).out
    assert output.startswith("Wardround") and "resume: the same command plus run.resume=last" in output
    assert home.run("--cfg", "job", plain=True).code == 0
    assert not (home.path / "outputs").exists()


def spawn(home, *words):
    """The command as a process of its own, in a folder where a user's own names could hide ours."""
    (home.path / "components").mkdir(exist_ok=True)
    (home.path / "components" / "__init__.py").write_text("raise SystemExit('the wrong components')")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "runner", *home.words(*words)]
    return subprocess.Popen(command, cwd=home.path, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_interruption_prints_one_line_and_exits_130(home):
    """By a scheduler; by Ctrl-C and at every moment: tests/acceptance/test_interrupted.py."""
    process = spawn(home, "model.pace.seconds=0.1", "model.max_connections=1", "dataset.n=200")
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and not any((f / "records.jsonl").exists() and ids(f) for f in home.runs()):
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "interrupted; finished work is kept; continue with:" in err
    (folder,) = home.runs()
    assert err.rstrip().endswith(f"run.resume={folder.relative_to(home.path)}")
    assert home.manifest(folder)["status"] == "interrupted"
    assert ids(folder)


@slow
def test_refused_command_in_a_separate_process(home):
    process = spawn(home, "limit=abc")
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (2, "")
    assert err == "config error: command line: limit=abc: limit: found 'abc', should be a whole number\n"


def test_experiment_that_is_no_single_run_names_the_command_of_the_sweep(home):
    home.write("agent/needs", "_target_: mine.parts.Asks\ntimes: 1\ncontrols: [start]")
    own = "# @package _global_\n# ?\ndefaults: [own, {override /agent: needs}]\n"
    home.write("experiment/varies", own + "hydra: {sweeper: {params: {agent: 'asks,needs', seed: '0,1'}}}")
    done = home.run("experiment=varies")
    (line,) = done.err.splitlines()
    assert done.code == 2 and line.startswith("config error: this is a sweep of agent, seed, not a single run: ")
    assert line.endswith(" experiment=varies -m")
    home.write("experiment/varies", own + "hydra: {sweeper: {params: {seed: '0,1'}}}")
    assert home.run("experiment=varies").complaint.startswith("this is a sweep of seed, not a single run: "), (
        "a mistake"
    )
    home.write("experiment/varies", own + "hydra: {sweeper: {params: {agent: 'asks,needs', seed: '0,1'}}}")
    done = home.run("experiment=varies", "agent=needs")
    mistake, note = done.err.splitlines()
    assert done.code == 2 and "Asks needs a toolset with the controls start" in mistake
    assert note.startswith("note: this is a sweep of seed, not a single run: ")


@slow
def test_baselines_must_be_agents_and_an_experiment_lists_its_settings(home):
    home.write(
        "experiment/varies",
        "# @package _global_\n# ?\ndefaults: [own]\nhydra: {sweeper: {params: {agent.times: '1,2'}}}",
    )
    done = home.run("experiment=varies")
    assert done.code == 0 and "note: one job; all values of agent.times: " in done.err
    assert done.err.rstrip().endswith("experiment=varies -m")
    done = home.run("compare.baselines=[aks]")
    assert done.code == 2 and "compare.baselines: no agent 'aks'; did you mean asks" in done.err
    done = home.run(
        "compare.baselines=['agent.tims=1','agent.times=1','agent@agent.times=1']",
        "compare.gains=none_such",
        "compare.curves=[agent.times,agent.tims]",
    )
    assert done.code == 2 and "compare.baselines: no key 'agent.tims' in the config" in done.err
    assert "compare.curves: no key 'agent.tims' in the config" in done.err
    assert (
        "compare.gains: no published gains 'none_such'; valid: " in done.err and "no key 'agent.times'" not in done.err
    )


def test_deleted_current_folder_is_reported_in_one_line(tmp_path, monkeypatch):
    from runner.__main__ import main

    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    monkeypatch.setattr("sys.argv", ["wardround", "--version"])
    gone.rmdir()
    with pytest.raises(SystemExit, match="the current folder cannot be read"):
        main()


@slow
def test_reader_that_leaves_early_ends_a_run_without_an_error(tmp_path):
    line = [sys.executable, "-m", "runner", "limit=1", "tracking=off", f"hydra.run.dir={tmp_path}/run"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        process.stdout.close()
        err = process.stderr.read()
    assert (process.returncode, "Error" in err) == (0, False)
    assert json.loads((tmp_path / "run/manifest.json").read_text())["status"] == "complete"


def test_a_run_leaves_the_columns_and_steps_of_all_its_records(home, monkeypatch):
    monkeypatch.setattr(column_file, "LEAST", 1)
    assert home.run("hydra.run.dir=here").code == 0
    lines = Path("here/records.jsonl").read_bytes().splitlines(keepends=True)
    for left in (4, 1):  # the rest is run when it is resumed
        Path("here/records.jsonl").write_bytes(b"".join(lines[:left]))
        killed = {key: value for key, value in home.manifest(Path("here")).items() if key not in ("files", "counts")}
        Path("here/manifest.json").write_text(json.dumps(killed | {"status": "running"}))
        assert home.run("hydra.run.dir=here", "run.resume=here").code == 0
        table, steps = column_file.read(Path("here"), column_file.state_of(Path("here")), with_steps=True)
        assert table.keys == Table.of(read(Path("here"))).keys and len(table) == 4
        assert sum(one.count for one in steps.episodes) == 4
