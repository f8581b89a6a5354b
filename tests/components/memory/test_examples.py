import json

import pytest

from components.core.errors import ConfigError
from components.memory.examples import Examples
from components.stages.optimize import Collect


def written(folder, *rows):
    (folder / "examples.json").write_text(json.dumps([{"answer": "x", "task": "t", **row} for row in rows]))
    return folder


def shown(memory, problem="nothing alike", own=False):
    return [one.data["example"]["id"] for one in memory.search(problem) if one.data["own"] is own]


GOUT = {"id": "gout", "question": "What is urate?", "rationale": "Because.", "task": "joints"}
HEART = {"id": "heart", "question": "Which murmur has a stenosis?", "task": "heart"}


def test_all_are_shown_in_their_order_those_of_the_nearest_task_first(tmp_path):
    memory = Examples(Collect()).open(written(tmp_path, GOUT, {**GOUT, "id": "again"}, HEART), "made")
    assert (
        memory.digest == "made"
        and memory.notes[0].startswith("few-shot examples: only 2 of 5 for joints, 1 of 5 for heart")
        and memory.experience("tool") == ()
    )
    assert shown(memory) == ["gout", "again", "heart"]
    assert shown(memory, "A murmur of the aortic valve") == ["heart", "gout", "again"]
    first = memory.search("urate")[0]
    assert first.problem == "Instruction:\nWhat is urate?" and first.solution == "x"
    assert len(shown(memory, own=True)) == 20


def test_reasoning_shows_examples_with_a_rationale_and_reports_those_without(tmp_path):
    folder = written(tmp_path, GOUT, {**HEART, "choices": {"x": "one", "y": "two"}})
    memory = Examples(Collect(), reason=True).open(folder, "made")
    assert shown(memory) == ["gout"]
    assert memory.notes[:1] == (
        "few-shot examples: no rationale in the training split for questions with lettered options; the project's own are shown",
    )
    assert "no rationale" not in Examples(Collect()).open(folder, "made").notes[0]


@pytest.mark.parametrize("reason", [True, False])
def test_without_training_samples_the_own_examples_are_shown_and_that_is_said(tmp_path, reason):
    none = Examples(Collect(), reason=reason).open(None, "")
    empty = Examples(Collect(), reason=reason).open(written(tmp_path), "made")
    assert shown(none) == shown(empty) == [] and shown(none, own=True)[0] == "own-choice-1"
    assert none.notes == ("few-shot examples: no training split; the project's own are shown",)
    assert "no training sample can be shown as a text" in empty.notes[0]
    assert len(none.digest) == 16 and empty.digest == "made"


def test_a_folder_without_examples_or_with_broken_ones_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"holds no examples\.json; memory=examples makes it"):
        Examples(Collect()).open(tmp_path, "made")
    (tmp_path / "examples.json").write_text("[{")
    with pytest.raises(ConfigError, match="not JSON, perhaps cut off"):
        Examples(Collect()).open(tmp_path, "made")
    (tmp_path / "examples.json").write_text('[{"id": "a"}]')
    with pytest.raises(ConfigError, match="entry 1: an example has the texts"):
        Examples(Collect()).open(tmp_path, "made")


def test_it_prefers_splits_that_are_made_for_demonstrations():
    assert Examples(Collect()).prefers == ("train5", "dev", "train", "pool") and Examples(Collect()).needed
