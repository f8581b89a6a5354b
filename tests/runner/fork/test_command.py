"""The command on a real run of the simulated model: folders, seeds, costs, refusals, report, MLflow."""

import json
import re
import shutil

import pytest

from components.core.errors import ConfigError
from runner.fork.command import fork
from runner.storage.disk import Unwritable
from runner.storage.integrity import digests_of
from runner.storage.records import read
from runner.tracking import store
from tests.in_process import command
from tests.slow import slow
from tests.table import each_row

WORDS = ["limit=3", "name=x", "run.journal=journal", "run.memory=memory", "tracking=off"]
FORK = ["fork.draws=2", "tracking=off"]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a run of three samples."""
    home = tmp_path_factory.mktemp("forks")
    code, _, err = command(home, [*WORDS, "hydra.run.dir=run"], {})
    assert code == 0, err
    return home


@pytest.fixture(scope="module")
def forked(home):
    """The run, continued as it was and with a lesson, from every step."""
    words = ["fork=run", *FORK, "fork.samples=all", "fork.lesson='Look twice.'", "hydra.run.dir=fork"]
    code, out, err = command(home, words, {})
    assert code == 0, err
    return home / "fork", out, err


def test_each_arm_is_a_run_folder_with_the_same_forks(home, forked):
    folder, out, err = forked
    keys = [[(one["sample_id"], one["epoch"]) for one in read(folder / arm)] for arm in ("control", "lesson")]
    assert sorted(keys[0]) == sorted(keys[1]) and len(keys[0]) == len({*keys[0]})
    decisions = sum(len([s for s in one["steps"] if s["purpose"] != "judge"]) for one in read(home / "run"))
    assert len(keys[0]) == 2 * decisions and f"forks: control {2 * decisions}, lesson {2 * decisions}" in err
    assert "Recovery by intervention" in out and "Chance of success from each step" in out and "refused" not in err
    assert "Effect by step" not in out and "2 of 2 jobs" not in out and "all tables: " in out


def test_a_prefix_is_that_of_the_record_and_costs_nothing(home, forked):
    steps = {one["sample_id"]: [step["reply"] for step in one["steps"]] for one in read(home / "run")}
    sent = 0
    for one in read(forked[0] / "control"):
        before = one["facts"]["fork"]["call"] - 1
        assert [step["reply"] for step in one["steps"]][:before] == steps[one["sample_id"]][:before]
        assert all(step["usage"] == [0, 0, 0.0] for step in one["steps"][:before])
        sent += len(one["steps"]) - before
    calls = json.loads((forked[0] / "control" / "manifest.json").read_text())["calls"]
    assert calls["sent"] + calls["from_journal"] == sent


def test_the_lesson_is_in_what_was_asked_after_the_fork_alone(forked):
    one = max(read(forked[0] / "lesson"), key=lambda one: one["facts"]["fork"]["call"])
    texts = [json.dumps(step["asked"]) for step in one["steps"]]
    assert "Look twice." not in texts[0] and one["steps"][one["facts"]["fork"]["call"] - 1]["kept"] == 0


@slow
def test_the_same_fork_again_asks_no_model(home, forked):
    words = ["fork=run", *FORK, "fork.samples=all", "fork.lesson='Look twice.'", "hydra.run.dir=again"]
    code, out, _ = command(home, words, {})
    assert code == 0 and re.search(r"calls: +0 sent", out)
    for arm in ("control", "lesson"):
        scores = [
            {(one["sample_id"], one["epoch"]): one["scores"] for one in read(home / name / arm)}
            for name in ("fork", "again")
        ]
        assert scores[0] == scores[1]


def test_the_report_reads_the_folder(home, forked):
    from runner.report import main

    page = (forked[0] / "report.html").read_text()
    assert "Forks of recorded episodes" in page and page.count('<details class="fork"') == 3
    assert main(["forks", str(forked[0])]) == 0 and main(["table", str(forked[0] / "control")]) == 0
    assert (
        "Where the case was lost" in page
        and (forked[0] / "tables" / "forks-effect-by-step-completion-rate.csv").exists()
    )


@slow
def test_settings_of_the_model_that_an_arm_changes_are_no_notes(home):
    words = ["fork=run", *FORK, "fork.samples=all", "fork.at=1", "model=simulated/strong", "hydra.run.dir=strong"]
    code, out, err = command(home, words, {})
    assert code == 0 and "not the same in all rows" not in out + (home / "strong/report.html").read_text(), err


def test_a_run_without_its_manifest_is_refused(home):
    (copied(home, "bare") / "manifest.json").unlink()
    assert "fork=bare has no manifest.json, so its records cannot be verified" in refused(home, "fork=bare")


def test_a_fork_that_was_interrupted_says_how_it_is_continued(home, forked, monkeypatch, capsys):
    def interrupt(work):
        work.close()
        raise KeyboardInterrupt

    monkeypatch.chdir(home)
    hint = "to continue, repeat the command without hydra.run.dir: the journal has the replies"
    with pytest.raises(KeyboardInterrupt):
        fork(["fork=run", *FORK, "fork.samples=all", "hydra.run.dir=cut"], interrupt)
    assert capsys.readouterr().err == hint + "\n"
    with pytest.raises(ConfigError, match=f"fork is not empty; .*; {hint}"):
        fork(["fork=run", *FORK, "fork.samples=all", "hydra.run.dir=fork"], interrupt)


@slow
def test_all_arms_have_the_memory_of_the_run_and_learn_none(home):
    words = [*WORDS, "agent=reflectool", "limit=1", "memory.samples=1", "hydra.run.dir=learnt"]
    assert command(home, words, {})[0] == 0
    before = sorted((home / "memory").rglob("*"))
    (home / "two.yaml").write_text(
        "arms: {model: {set: [model=simulated/strong]}, agent: {set: [agent=reflectool_select]}}"
    )
    words = ["fork=learnt", *FORK, "fork.samples=all", "fork.at=1", "fork.arms=two.yaml", "hydra.run.dir=of_learnt"]
    code, _, err = command(home, words, {})
    assert code == 0 and "refused" not in err, err
    memory = json.loads((home / "learnt" / "manifest.json").read_text())["memory"]
    for arm in ("control", "model", "agent"):
        notes = json.loads((home / "of_learnt" / arm / "manifest.json").read_text())
        assert notes["memory"] == memory and not notes["counts"]["errored"]
    assert sorted((home / "memory").rglob("*")) == before


def copied(home, name):
    shutil.rmtree(home / name, ignore_errors=True)
    return shutil.copytree(home / "run", home / name)


def edit(folder, change, honest=False):
    """Change the first record; ``honest``: with the digests that the manifest then has."""
    lines = (folder / "records.jsonl").read_text().splitlines(keepends=True)
    record = json.loads(lines[0])
    change(record)
    (folder / "records.jsonl").write_text("".join([json.dumps(record) + "\n", *lines[1:]]))
    if honest:
        notes = json.loads((folder / "manifest.json").read_text())
        (folder / "manifest.json").write_text(json.dumps(notes | {"files": digests_of(folder)}))


def refused(home, *words):
    code, _, err = command(home, [*words, *FORK, "hydra.run.dir=never"], {})
    (line,) = [line for line in err.splitlines() if line.startswith("config error: ")]
    assert code == 2 and not (home / "never").exists(), err
    return line


def test_records_that_were_changed_are_refused(home):
    edit(copied(home, "changed"), lambda one: one["steps"][0].update(n=7))
    assert (
        "changed/records.jsonl" in (line := refused(home, "fork=changed")) and "its records cannot be verified" in line
    )


DAMAGE = {
    "two calls at one place": lambda one: one["steps"].append(one["steps"][0]),
    "a number that is a text": lambda one: one["steps"][0].update(n="0"),
    "a negative count": lambda one: one["steps"][0].update(kept=-1),
    "no reply": lambda one: one["steps"][0].pop("reply"),
    "a reply that is a number": lambda one: one["steps"][0]["reply"].update(text=3),
    "tokens in words": lambda one: one["steps"][0].update(usage=["many", 1, 0.0]),
    "a text that is nowhere": lambda one: one["steps"][0]["reply"].update(text={"ref": "0123456789abcdef"}),
    "an epoch in words": lambda one: one.update(epoch="first"),
    "a negative epoch": lambda one: one.update(epoch=-1),
    "steps that are none": lambda one: one.update(steps=[3]),
}  # fmt: skip


@each_row("name", DAMAGE)
def test_damaged_records_are_refused_in_one_line(home, name):
    edit(copied(home, "damaged"), DAMAGE[name], honest=True)
    assert re.search(r"damaged|texts of its records", refused(home, "fork=damaged", "fork.samples=all"))


@each_row("notes, message", {
    "files": ({"files": {"records.jsonl": 3}}, "manifest.json is damaged (files.records.jsonl is 3, not names and values)"),
    "files as a list": ({"files": [1]}, "manifest.json is damaged (files is [1], not names and values"),
    "choices": ({"files": {}, "choices": ["x"]}, "manifest.json is damaged (choices is"),
}.values())  # fmt: skip
def test_damaged_manifests_are_refused_in_one_line(home, notes, message):
    path = copied(home, "notes") / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **notes}))
    assert message in refused(home, "fork=notes", "fork.samples=all")


def test_a_disk_that_takes_nothing_more_ends_the_fork_with_what_is_finished(home, monkeypatch):
    def fail(*_):
        raise Unwritable(home / "full" / "records.jsonl", OSError(28, "No space left on device"))

    monkeypatch.setattr("runner.storage.disk.append", fail)
    words = ["fork=run", *FORK, "fork.samples=all", "fork.at=1", "hydra.run.dir=full"]
    code, _, err = command(home, words, {})
    assert code == 1 and "free space on its disk; finished work is kept" in err


def test_another_reply_in_the_record_is_refused_by_name(home):
    folder = copied(home, "other")
    edit(folder, lambda one: one["steps"][0]["reply"].update(text="Known Info: []"), honest=True)
    code, _, err = command(home, ["fork=other", *FORK, "fork.samples=all", "hydra.run.dir=other_fork"], {})
    name = next(read(folder))["sample_id"]
    assert (
        f"refused: sample {name}, control: step 2 cannot be rebuilt: the request differs in message" in err
        and code == 0
    )


@each_row("words, message", [
    (["fork=rum"], "there is no folder rum; did you mean run"),
    (["fork=."], "but holds those of runs: name one, such as"),
    (["fork="], "fork= is empty: name the folder of a run"),
    (["fork=run", "agent=cot"], "agent=cot: Cot cannot begin in the middle of an episode of Radagent: it does not declare"),
    (["fork=run", "agent=react", "agent.grammar=bracket_json"], "share one grammar, found XmlCall and BracketJson"),
    (["fork=run", "fork.samples=[nobody]"], "fork.samples: 'nobody' is not a sample of run; valid: "),
    (["fork=run", "fork.at=verifier_disagrees"], "fork.at=verifier_disagrees: run has no verifier that can disagree"),
    (["fork=run", "verifier=reflekt"], "reflect"),
    (["fork=run", "fork.at=50", "fork.samples=all"], "nothing can be continued under 'control'"),
    (["fork=run", "fork.samples=all", "fork.result.Nobody=x"], "nothing can be continued under 'result'; at no chosen step"),
    (["fork=run", "fork.samples=all", "fork.result.Nobody=x", "fork.lesson=x"], "nothing can be continued under 'lesson result'"),
    (["fork.at=each", "verifier=reflect"], "fork.at needs fork=RUN: the folder of the run whose episodes are continued"),
])  # fmt: skip
def test_what_cannot_be_forked_is_refused_before_anything_runs(home, words, message):
    assert message in refused(home, *words)


def test_results_that_radagent_does_not_see_are_refused(home):
    words = ["fork=run", *FORK, "fork.samples=all", "fork.result={'*': 'Not available.'}", "hydra.run.dir=never"]
    code, _, err = command(home, words, {})
    assert code == 2 and re.search(
        r"refused: sample \S+, result, step [\d, ]+: \w+ changed the state of the episode", err
    )


def test_a_fork_cannot_be_forked(home, forked):
    assert "a run of samples can be forked, not a stage or a fork" in refused(home, "fork=fork/control")


@slow
def test_agents_that_cannot_be_continued_say_so(home):
    command(home, [*WORDS, "agent=matched_calls", "limit=1", "hydra.run.dir=matched"], {})
    assert "an episode of Matched cannot be continued from the middle: it runs another agent" in refused(
        home, "fork=matched"
    )
    words = [*WORDS, "agent=ehragent", "limit=1", "hydra.run.dir=growing"]
    assert command(home, words, {})[0] == 0
    assert "the memory grows from sample to sample" in refused(home, "fork=growing", "fork.samples=all")


@slow
def test_forks_are_child_runs_of_their_run(home):
    own = ["tracking=mlflow", "tracking.wait=true", "tracking.uri=sqlite:///mlflow.db", "tracking.artifacts=artifacts"]
    words = [word for word in WORDS if not word.startswith("tracking")]
    assert command(home, [*words, *own, "limit=2", "hydra.run.dir=sent"], {})[0] == 0
    words = ["fork=sent", *own, "fork.samples=all", "fork.at=1", "fork.lesson=x", "hydra.run.dir=sent_fork"]
    code, _, err = command(home, words, {})
    assert code == 0, err
    store.load()
    from mlflow import MlflowClient

    above = json.loads((home / "sent" / "manifest.json").read_text())["mlflow"]
    runs = MlflowClient(f"sqlite:///{home}/mlflow.db").search_runs([above["experiment_id"]])
    below = [run for run in runs if run.data.tags.get("mlflow.parentRunId") == above["run_id"]]
    assert len(runs) == 3 and len(below) == 2
