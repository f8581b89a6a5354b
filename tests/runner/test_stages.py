"""Separate stages by the command: prompts refined and chosen by name, records written and run."""

import json
import os
from pathlib import Path

import pytest

from components import prompts
from runner.config.catalogue import Catalogue
from runner.storage import records
from runner.storage.journal import Journal
from tests.slow import slow

PROGRAM = Path(__file__).resolve().parents[2] / "docs/examples/plain_agent.py"
SMALL = (
    "stage.train_records=3",
    "stage.validation_records=6",
    "stage.trials=1",
    "stage.rounds=1",
    "model.wrong_tool_rate=0.3",
)


@pytest.fixture
def run_plain(home, monkeypatch):
    """The command without a custom config."""
    monkeypatch.delenv(prompts.OWN, raising=False)
    prompts.load.cache_clear()
    yield lambda *words: home.run(*words, "tracking=off", plain=True)
    prompts.load.cache_clear()


@slow
def test_prompts_are_refined_kept_by_the_test_and_chosen_by_their_name(run_plain, home):
    done = run_plain("stage=refine_prompts", *SMALL)
    assert done.code == 0 and "kept: gain in planning/levenshtein" in done.out, done.err
    folder = home.path / "outputs" / ".prompts" / "refined"
    notes = json.loads((folder / "manifest.json").read_text())
    assert "category in its card" in (folder / "tools.jinja").read_text() and notes["status"] == "complete"
    assert notes["prompts"]["radagent"] == prompts.load("radagent").digest and notes["model_kind"] == "simulated"
    again = run_plain("stage=refine_prompts", *SMALL)
    assert "calls:      0 sent, 0 answered" in again.out
    finished = run_plain("agent.prompts=refined", "limit=2", "hydra.run.dir=run")
    assert finished.code == 0 and home.manifest(home.path / "run")["prompts"]["refined"] == notes["digest"]
    sources = {m.get("source") for one in records.read(home.path / "run") for s in one["steps"] for m in s["asked"]}
    assert "refined/tools.jinja" in sources
    refused = run_plain("agent.prompts=refined", "dataset.split=train", "limit=2")
    assert "the prompts 'refined' were refined on 99 of the samples that are evaluated" in refused.complaint
    (folder / "tools.jinja").write_text("{{ instructions }} {{ instructions.__class__ }}")
    prompts.load.cache_clear()
    assert "more than a name in braces" in run_plain("agent.prompts=refined", "limit=2").complaint


@slow
def test_a_refinement_replays_without_a_model(run_plain, home):
    first = run_plain("stage=refine_prompts", *SMALL)
    again = run_plain("stage=refine_prompts", *SMALL, "stage.name=again", "run.replay=true")
    assert again.code == 0 and "calls:      0 sent" in again.out, again.err
    one, two = (
        json.loads((home.path / "outputs/.prompts" / name / "manifest.json").read_text())
        for name in ("refined", "again")
    )
    assert one["rounds"] == two["rounds"] and one["digest"] == two["digest"] and first.code == 0


@slow
def test_the_published_setting_stops_for_edits_after_each_round(run_plain, home):
    outputs = [run_plain("stage=refine_prompts_paper").out for _ in range(4)]
    assert ["to resume: " in out for out in outputs] == [True, True, True, False]
    notes = json.loads((home.path / "outputs/.prompts/refined_paper/manifest.json").read_text())
    assert [one["played"] for one in notes["rounds"]] == [220] * 3 and notes["rounds"][0]["kept"]
    assert all(one["kept"] or one["why"] == "no template came out otherwise" for one in notes["rounds"])
    assert len(notes["compared"]["records"]) == 20 and {one["n"] for one in notes["compared"]["records"]} == {55}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("stage=refine_prompts", "stage.train_records=20"), "20 training and 11 validation records are requested"),
        (("stage=refine_prompts", "stage.trails=2"), "did you mean trials"),
        (("stage=synthesize", "run.shard=1/2"), "run.shard: a stage always runs as a whole"),
        (("stage=refine_prompts", "stage.alpha=2"), "less than or equal to 1"),
        (("stage=refine_prompts", "agent=direct", "toolset=none", "condition=intact"), "can be rewritten"),
        (("stage=synthesize", "stage.modalities=[PET]"), "there is no 'PET'"),
        (
            ("-m", "stage=synthesize", "seed=1,2"),
            "several jobs would write to outputs/synthetic/synthetic; run them one",
        ),
        (("stage=synthesize", "run.shards=2"), "a stage cannot be run in parts"),
    ],
)
def test_invalid_stage_is_refused_in_one_line_and_writes_nothing(run_plain, home, words, message):
    done = run_plain(*words)
    assert done.code == 2 and message in done.complaint
    assert not (home.path / "outputs").exists()


AGENTS = {"optimize": "reflectool", "solve": "ehragent"}  # those that read what is learnt
OF_RUNS = ("run.max_error_rate=0.5", "run.pilot=2", "budget.ask_above_usd=1")  # no stage obeys these
CHOICES = ("agent=react", "condition=redundant_high", "run.memory=m")
UNREAD = {
    "refine_prompts": ("run.memory=m",),
    "synthesize": (*CHOICES, "budget.sample.steps=3"),
    "embed_records": (*CHOICES, "budget.run.calls=2", "budget.sample.calls=2", "run.journal=j", "run.replay=false"),
}


@pytest.mark.parametrize("stage", Catalogue().choices("stage"))
def test_stage_refuses_what_only_runs_obey(run_plain, home, stage):
    words = [f"agent={AGENTS[stage]}"] if stage in AGENTS else []
    whole = ("limit=2", "epochs=2", "run.resume=last", "run.preflight=true")
    done = run_plain(f"stage={stage}", *words, *whole, *OF_RUNS)
    assert done.code == 2 and not home.runs("scratch")
    assert "limit and epochs and run.resume: a stage always runs as a whole" in done.err
    assert "command line: run.preflight=true: run.preflight: it estimates an evaluation" in done.err
    for word in OF_RUNS:
        assert f"stage={stage} does not use it: leave {word} out" in done.err


@pytest.mark.parametrize("stage", UNREAD)
def test_stage_refuses_what_it_does_not_use(run_plain, home, stage):
    done = run_plain(f"stage={stage}", *UNREAD[stage])
    assert done.code == 2 and not home.runs("scratch")
    for word in UNREAD[stage]:
        assert f"stage={stage} does not use it: leave {word} out" in done.err


@slow
@pytest.mark.parametrize("stage", sorted({*Catalogue().choices("stage")} - {"embed_records"}))  # which asks no model
def test_stage_obeys_budget_and_seed(run_plain, home, stage):
    words, keys = [f"stage={stage}", *([f"agent={AGENTS[stage]}"] if stage in AGENTS else [])], []
    for seed in (0, 0, 1):
        folder = home.path / f"journal{len(keys)}"
        assert run_plain(*words, "budget.run.calls=2", f"seed={seed}", f"run.journal={folder}").code == 3
        with Journal(folder, read_only=True) as journal:
            keys.append({key for key, _ in journal.entries()})
    assert len(keys[0]) == 2 and keys[0] == keys[1] and not keys[0] & keys[2]


@slow
@pytest.mark.parametrize("agent", Catalogue().choices("agent"))
def test_agent_obeys_limit_epochs_budget_and_seed(run_plain, home, agent):
    found = []
    for seed in (0, 1):
        words = f"agent={agent}", "limit=1", "epochs=2", "budget.sample.calls=1", f"seed={seed}"
        words += (f"agent.command=[python,{PROGRAM}]",) if agent == "external" else ()
        done = run_plain(*words, f"hydra.run.dir=seed{seed}")
        assert done.code == 0, done.err
        found.append([*records.read(home.path / f"seed{seed}")])
    assert [sorted(one["epoch"] for one in run) for run in found] == [[0, 1]] * 2
    assert all(len(one["steps"]) <= 1 for run in found for one in run)
    assert found[0][0]["sample_id"] != found[1][0]["sample_id"]


@slow
def test_synthesised_records_are_written_and_run(run_plain, home):
    words = ("stage=synthesize", "stage.anatomies=[Spine]", "model.competence=1")
    done = run_plain(*words)
    assert done.code == 0 and "of 3 accepted (simulated model)" in done.out, done.err
    path = "outputs/synthetic/synthetic"
    notes = json.loads((home.path / path / "manifest.json").read_text())
    assert notes["prompts"]["synthesize"] == prompts.load("synthesize").digest
    finished = run_plain("dataset=radabench", f"dataset.path={path}", "limit=4", "hydra.run.dir=run")
    assert finished.code == 0 and len(list(records.read(home.path / "run"))) == 4
    assert sorted(os.listdir(home.path / path)) == [".lock", "manifest.json", "rejected.jsonl", "test.json"]


@slow
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("model.malformed_rate=1",), "no JSON object can be read"),
        (("budget.sample.calls=1", "model.competence=1"), "it broke off: budget.sample.calls"),  # a draft needs two
    ],
)
def test_a_synthesis_that_accepts_nothing_has_failed(run_plain, words, reason):
    done = run_plain("stage=synthesize", "stage.anatomies=[Spine]", "stage.modalities=[CT]", *words)
    assert done.code == 1 and "0 of 1 accepted" in done.out and f"x {reason}" in done.out
    assert "no record was accepted" in done.out and "run them" not in done.out


@slow
def test_budget_stops_a_synthesis_and_the_same_command_resumes_it(run_plain):
    words = ("stage=synthesize", "stage.anatomies=[Chest]")
    first = run_plain(*words, "budget.run.calls=3")
    assert first.code == 3 and "give the same command again" in first.out
    assert run_plain(*words).code == 0
