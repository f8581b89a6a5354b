"""``python -m runner.drift``: a canary set of a recorded run, asked again by the same and by another model."""

import json
import shutil
import subprocess
import sys

import pytest
import yaml

from runner.drift import canary as canaries
from runner.drift.__main__ import main
from runner.storage import manifest
from tests.acceptance.command import run_in_process
from tests.slow import slow
from tests.table import each_row


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run, and the canary set of it."""
    home = tmp_path_factory.mktemp("drift")
    words = ("agent=direct", "dataset=cab_mini", "limit=60", "hydra.run.dir=run", "tracking=off", "run.journal=null")
    assert run_in_process(home, *words, own=False).code == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        assert main(["init", "run", "--out", "canary", "--samples", "40", "--repeats", "2"]) == 0
    return home


@pytest.fixture
def home(made, tmp_path, monkeypatch):
    """A copy of them, and the working folder."""
    shutil.copytree(made, tmp_path / "home")
    monkeypatch.chdir(tmp_path / "home")
    return tmp_path / "home"


def askings(home):
    return json.loads((home / "canary/askings.json").read_text())


def test_the_same_model_is_no_drift_and_another_is(home, capsys):
    assert main(["check", "canary"]) == 0
    assert "verdict:    no drift so far" in capsys.readouterr().out
    assert main(["check", "canary", "model.competence=0.0", "model.malformed_rate=0.5"]) == 1
    out = capsys.readouterr().out
    for text in ("verdict:    drift: since check 2 the evidence was 100.0 or more", "Samples that moved in check 2",
                 "model.competence=0.0", "answer before", "answer now", "Signals of check 2"):  # fmt: skip
        assert text in out, text
    assert main(["check", "canary"]) == 1  # a verdict stays
    found = askings(home)
    assert len(found) == 5 and found[3]["p"] < 0.001 < found[2]["p"]
    assert {len(one["answers"]) for one in found} == {40}
    text = (home / "canary/timeline/drift.md").read_text()
    assert "simulated model: these numbers say nothing" in text and "| check 3 |" in text
    assert (home / "canary/timeline/drift.html").is_file()


def test_askings_have_their_own_seed_and_no_journal(home):
    configs = [(home / "canary" / one["folder"] / "config.yaml").read_text() for one in askings(home)]
    assert [f"\nseed: {n}\n" in text for n, text in enumerate(configs)] == [True, True]
    assert all("journal: null" in text and "epochs: 1" in text for text in configs)
    first, second = ({name: one["text"] for name, one in of["answers"].items()} for of in askings(home))
    assert first.keys() == second.keys() and first != second


@slow
@pytest.mark.parametrize("asked", [0, 1, 2])
def test_what_was_killed_is_asked_to_its_end(home, asked):
    """Before its first asking, between two of the baseline, and in the middle of a check."""
    whole = askings(home)
    (home / "canary/askings.json").write_text(json.dumps(whole[:asked]))
    for number in range(asked, 2):
        shutil.rmtree(home / f"canary/askings/{number:04}")
    if asked == 2:
        assert main(["check", "canary"]) == 0
        (home / "canary/askings.json").write_text(json.dumps(whole))
        killed = home / "canary/askings/0002"
        begun = {key: value for key, value in manifest.read(killed).items() if key != "files"}
        manifest.write(killed, begun | {"status": "running"})
        records = killed / "records.jsonl"
        records.write_bytes(b"".join(records.read_bytes().splitlines(keepends=True)[:11])[:-5])
    assert main(["check", "canary"]) == 0
    found = askings(home)
    assert len(found) == 3 and [one["answers"] for one in found[:2]] == [one["answers"] for one in whole]


def test_a_check_that_reaches_its_budget_concludes_nothing(home, capsys):
    facts = json.loads((home / "canary/canary.json").read_text())
    facts["cfg"]["budget"]["run"]["calls"] = 10
    (home / "canary/canary.json").write_text(json.dumps(facts))
    assert main(["check", "canary"]) == 3
    assert "not finished, nothing is concluded; to continue: " in capsys.readouterr().out
    assert len(askings(home)) == 2


@each_row(
    "words, message",
    [
        (["init", "run", "--out", "canary"], "--out canary exists and is not empty: name a new folder; runner.drift"),
        (["init", "run", "--out", "new", "--samples", "7"], "expected 30 to 100 samples"),
        (["check", "run"], "run is not a canary set: it has no canary.json"),
        (
            ["check", "canary", "seed=3"],
            "seed=3: a check can only change settings of the model, such as model.name=NAME",
        ),
        (["check", "canary", "model.nme=x"], "model.nme: the config of the run has no such key; valid: "),
        (["check"], "the following arguments are required: CANARY"),
    ],
)
def test_invalid_words_are_refused_in_one_line_with_exit_2(home, capsys, words, message):
    assert main(words) == 2
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1 and not (home / "new").exists()


def test_edited_records_are_not_watched(home, capsys):
    path = home / "run/records.jsonl"
    first, second, *rest = path.read_text().splitlines(keepends=True)
    path.write_text("".join([second, first, *rest]))
    assert main(["init", "run", "--out", "new"]) == 2
    err = capsys.readouterr().err
    assert "run/records.jsonl was changed" in err and err.count("\n") == 1 and not (home / "new").exists()


def test_other_data_are_refused(home, capsys):
    facts = home / "canary/askings/0000/manifest.json"
    facts.write_text(facts.read_text().replace('"fingerprint": "', '"fingerprint": "other'))
    assert main(["check", "canary"]) == 2
    assert "was started with another value of dataset.fingerprint" in capsys.readouterr().err


def test_a_set_that_is_being_asked_is_left_alone(home, capsys):
    lock = canaries.disk.lock_folder(home / "canary")
    assert lock is not None and main(["check", "canary"]) == 2
    assert "canary is in use by another process; wait for it" in capsys.readouterr().err


@slow
def test_a_trial_that_broke_off_does_not_stop_the_next_check(home, capsys):
    whole = (home / "canary/askings.json").read_text()
    assert main(["check", "canary", "model.competence=0.9"]) in (0, 1)
    (home / "canary/askings.json").write_text(whole)
    capsys.readouterr()
    assert main(["check", "canary"]) == 0
    assert "discarded, unfinished: canary/askings/0002 was started with another config: model.competence was 0.9" in (
        capsys.readouterr().err
    )
    assert len(askings(home)) == 3 and askings(home)[2]["changed"] == {}


@slow
@pytest.mark.parametrize(("agent", "code"), [("ehragent", 2), ("ehr_react", 0)])
def test_a_memory_of_demonstrations_can_be_watched_and_one_that_grows_cannot(
    tmp_path, monkeypatch, capsys, agent, code
):
    monkeypatch.chdir(tmp_path)
    words = (f"agent={agent}", "limit=30", "hydra.run.dir=run", "tracking=off", "run.journal=null")
    assert run_in_process(tmp_path, *words, own=False).code == 0
    assert main(["init", "run", "--out", "canary", "--samples", "30", "--repeats", "2"]) == code
    refused = "error: memory=solved grows from sample to sample" in capsys.readouterr().err
    assert refused is (code == 2) and (tmp_path / "canary").exists() is not refused


@slow
def test_a_baseline_without_answers_concludes_nothing(home, capsys):
    config = yaml.safe_load((home / "run/config.yaml").read_text())
    config["run"]["max_error_rate"] = 1.0
    config["scorer"]["breaks"] = {
        "_target_": "components.radiology.scorers.response.RaTEScore", "source": "math:factorial",
    }  # fmt: skip
    (home / "run/config.yaml").write_text(text := yaml.safe_dump(config))
    notes = manifest.read(home / "run")
    manifest.write(home / "run", notes | {"config": [*notes["config"], manifest.digest(text.encode())]})
    assert main(["init", "run", "--out", "new", "--samples", "30", "--repeats", "2"]) == 4
    out, err = capsys.readouterr()
    assert "0 of 30 samples have answers to compare, and half of them are needed" in err
    assert "not finished, nothing is concluded" in out and json.loads((home / "new/askings.json").read_text()) == []


def test_a_run_that_cannot_be_asked_again_leaves_no_canary_set(home, capsys):
    config = home / "run/config.yaml"
    config.write_text(
        config.read_text().replace("_target_: components.agents.direct.Direct", "_target_: components.agents.gone.Gone")
    )
    notes = manifest.read(home / "run")
    manifest.write(home / "run", notes | {"config": [*notes["config"], manifest.digest(config.read_bytes())]})
    assert main(["init", "run", "--out", "new", "--samples", "40"]) == 2
    assert "gone" in capsys.readouterr().err and not (home / "new").exists()


@slow
def test_a_bug_does_not_end_with_the_code_of_drift():
    code = """
import runpy, sys
import runner.drift.canary as canary
del canary.Canary.read
sys.argv = ["drift", "check", "x"]
runpy.run_module("runner.drift", run_name="__main__")
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 70 and "AttributeError" in ended.stderr
