"""Results of a stage in MLflow: metrics by round, usage by purpose, files if texts may be shared."""

import json

import pytest

from components.core.learning import Made
from runner.tracking import send
from runner.tracking.describe import stage_facts
from tests.slow import slow

USAGE = {"act": {"calls": 2, "input_tokens": 30, "output_tokens": None, "cost_usd": 0.5}}
CHOICES = {"stage": "refine_prompts", "model": "simulated"}


@pytest.fixture
def stage_folder(tmp_path):
    folder = tmp_path / "refined"
    for name in ("history/sets/abc/plan.jinja", "history/round-1.md", "plan.jinja", ".lock"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    notes = {"begun": "b", "status": "complete", "usage": USAGE, "dataset": {"privacy": "credentialed"}}
    (folder / "manifest.json").write_text(json.dumps(notes))
    return Made(folder, ["round 1: kept"], figures={"train/ld": [(1, 0.9), (2, 0.4)], "odd": [(1, float("nan"))]})


@pytest.mark.parametrize("texts", [True, False])
def test_files_and_model_texts_are_sent_only_if_they_may_be_shared(stage_folder, texts):
    notes, config = (
        json.loads((stage_folder.folder / "manifest.json").read_bytes()),
        {"seed": 3, "stage": {"_target_": "x", "rounds": 2}},
    )
    facts = stage_facts(stage_folder, notes, config, CHOICES, texts)
    names = [path.relative_to(stage_folder.folder).as_posix() for path in facts.files]
    assert names == (["history/round-1.md", "manifest.json", "plan.jinja"] if texts else [])
    assert ("round 1: kept" in facts.tags["mlflow.note.content"]) == texts
    calls = [("calls/act", 0, 2), ("tokens/act/input", 0, 30), ("cost/act", 0, 0.5)]
    assert facts.figures == [*calls, ("train/ld", 1, 0.9), ("train/ld", 2, 0.4)], "an unknown value is not logged"
    assert facts.params == {**CHOICES, "seed": "3", "stage.rounds": "2"}


@slow
def test_stage_sent_repeatedly_is_one_run(stage_folder, tmp_path):
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    config = {
        "name": "n",
        "seed": 0,
        "stage": {"rounds": 2},
        "tracking": {"uri": uri, "artifacts": str(tmp_path / "a")},
    }
    url = send.track_made(stage_folder, config, CHOICES)
    assert url == send.track_made(stage_folder, config, CHOICES)
    assert (tmp_path / "newest").read_text() == url.partition("#")[2], "which the command prints and make ui opens"
    from mlflow import MlflowClient

    client = MlflowClient(uri)
    (run,) = client.search_runs([client.get_experiment_by_name("n").experiment_id])
    assert run.data.metrics == {"calls/act": 2, "tokens/act/input": 30, "cost/act": 0.5, "train/ld": 0.4}
    assert [(one.step, one.value) for one in client.get_metric_history(run.info.run_id, "train/ld")] == [
        (1, 0.9),
        (2, 0.4),
    ]
    assert run.data.params["stage.rounds"] == "2" and run.data.tags["level"] == "stage"
    assert run.info.run_name == "refine_prompts refined" and run.info.status == "FINISHED"
    assert {one.path for one in client.list_artifacts(run.info.run_id)} == {"history", "manifest.json", "plan.jinja"}
