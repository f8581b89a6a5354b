"""Few-shot demonstrations by the command: collected once, shared by a sweep, never from evaluated samples."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from runner.storage import manifest, records
from runner.storage.texts import TextReader
from tests.slow import slow

DATA = os.environ.get("CLINICAL_DATA_DIR", "")  # tests of the command run without it
MINI = ("dataset=cab_mini", "dataset.tasks=[medqa,medcalc]", "dataset.per_task=3", "tracking=off")


def read_requests(folder: Path) -> list[tuple[str, list[str]]]:
    """The request for each sample, and the examples in it."""
    texts = TextReader(folder)
    found = []
    for record in records.read(folder):
        (step,) = record["steps"]
        text = step["asked"][0]["text"]
        found.append((texts[text["ref"]] if isinstance(text, dict) else text, step["remarks"]["examples"]))
    return found


@pytest.fixture
def swept(home):
    """A sweep over both agents."""
    words = ("-m", "agent=few_shot,few_shot_cot", *MINI, "run.journal=journal", "hydra.sweep.dir=sweep")
    done = home.run(*words, plain=True)
    assert done.code == 0, done.err
    return home


@slow
def test_a_sweep_collects_once_resumes_and_replays(swept):
    jobs = [Path("sweep/agent-few_shot"), Path("sweep/agent-few_shot_cot")]
    notes = [swept.manifest(swept.path / job) for job in jobs]
    (memory,) = {note["memory"] for note in notes}
    made = json.loads((swept.path / "outputs/.memory" / memory / "manifest.json").read_text())
    assert made["calls"] == 0 and made["split"] == "train" and len(made["samples"]) == 6
    plain, reasoned = (read_requests(swept.path / job) for job in jobs)
    assert all("-train-" in name for _, names in plain for name in names)
    assert all(name.startswith("own-") for _, names in reasoned for name in names)
    assert notes[0]["notes"] == ["few-shot examples: only 3 of 5 for medqa, 3 of 5 for medcalc can be shown"]
    assert "no rationale in the training split" in notes[1]["notes"][0]
    assert all(re.search(r"^A: The answer is \S+$", text, re.MULTILINE) for text, _ in plain)
    assert all(re.search(r"^A: \S.+ The answer is \S+$", text, re.MULTILINE) for text, _ in reasoned)
    assert not any("The answer is" in text.rpartition("\nQ: ")[2] for text, _ in plain + reasoned)
    shutil.rmtree(swept.path / "outputs/.memory")
    words = ("agent=few_shot", *MINI, "run.journal=journal", "run.replay=true", "hydra.run.dir=again")
    assert swept.run(*words, plain=True).code == 0
    again = swept.manifest(swept.path / "again")
    assert again["memory"] == memory and again["calls"]["sent"] == 0 and read_requests(swept.path / "again") == plain
    kept = (swept.path / "again/records.jsonl").read_text().splitlines()
    (swept.path / "again/records.jsonl").write_text(kept[0] + "\n")  # as a kill leaves it
    manifest.write(swept.path / "again", {**again, "status": "running", "files": {}})
    assert swept.run(*words, "run.resume=again", plain=True).code == 0
    assert sorted(read_requests(swept.path / "again")) == sorted(plain)


@slow
def test_without_a_training_split_built_in_examples_are_shown_and_reported(home):
    done = home.run("agent=few_shot", "hydra.run.dir=run")
    assert done.code == 0, done.err
    notes = home.manifest(home.path / "run")["notes"]
    assert any("no training split; the project's own are shown" in note for note in notes)
    assert all(names[0] == "own-open-1" for _, names in read_requests(home.path / "run"))
    assert "the project's own are shown" in done.out + done.err


def test_custom_demonstration_folder_is_shown(home):
    (home.path / "shelf").mkdir()
    row = {
        "id": "mine-1",
        "question": "Which vitamin is C?",
        "choices": {"A": "thiamine", "B": "ascorbate"},
        "answer": "B",
    }
    (home.path / "shelf/examples.json").write_text(json.dumps([row]))
    words = ("agent=few_shot", *MINI, "dataset.tasks=[medqa]", "memory.path=shelf", "run.journal=null")
    done = home.run(*words, "hydra.run.dir=run", plain=True)
    assert done.code == 0, done.err
    assert [names for _, names in read_requests(home.path / "run")] == [["mine-1"]] * 3


@pytest.mark.skipif(not DATA, reason="needs CLINICAL_DATA_DIR")
def test_published_questions_are_shown_with_their_rationales(home):
    words = ("agent=few_shot_cot", "dataset=medqa", f"dataset.path={DATA}/medqa", "limit=2", "tracking=off")
    done = home.run(*words, "run.journal=null", "hydra.run.dir=run", plain=True)
    assert done.code == 0, done.err
    for text, names in read_requests(home.path / "run"):
        assert len(names) == 5 and all(name.startswith("medqa-pool-") for name in names)
        assert "Halving the diameter halves the radius" in text
    assert not home.manifest(home.path / "run")["notes"]


def test_few_shot_without_a_memory_is_refused_before_the_run(home):
    done = home.run("agent=few_shot", "~memory", *MINI, plain=True)
    assert done.code == 2 and "FewShot shows solved tasks from a memory, and there is none" in done.complaint
    assert "such as memory=examples" in done.complaint
