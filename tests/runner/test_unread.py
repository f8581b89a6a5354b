"""Memories and demonstrations that are refused: unread ones, evaluated samples, and more than available."""

import json

import pytest

from components.core.types import Problem, Sample
from runner.learning.checks import _shown_by
from tests.acceptance.command import run_in_process
from tests.slow import slow

TASKS = [{"task": "Instruction:\nWhich?\nA. one\nB. two", "steps": [['Finish[{"response":"A"}]', "A"]]}]
CAB = ("dataset=cab_mini", "dataset.tasks=[medqa]", "dataset.per_task=1", "tracking=off", "run.journal=null")
REFUSED = {
    ("agent=direct", "memory=demonstrations"): "memory=demonstrations would not be read: Direct shows nothing of it",
    ("agent=react", "memory=learnt"): "memory=learnt would not be read: ReAct shows nothing of it; agent.shots=1 shows",
    ("agent=react", "memory=demonstrations", "verifier=refine"): "would not be read",
    ("agent=react", "memory=learnt", "memory.experience=false", "verifier=refine"): "would not be read",
    ("agent=react", "memory.step=2"): "memory: is null here, and has no keys; choose one: memory=demonstrations",
    ("agent=react", "agent.shots=1"): "ReAct shows solved tasks from a memory, and there is none; choose one, such as "
    "memory=demonstrations",
    (
        "agent=react_one_shot",
        "agent.shots=2",
    ): "agent.shots=2: more than the demonstrations there are; ask for at most 1",
    ("agent=react_one_shot", "memory.prompts=ehr_demonstrations"): "demonstrations are questions of databases",
    (
        "agent=react",
        "memory=solved",
        "agent.shots=1",
    ): "holds something else; choose one, such as memory=demonstrations",
    ("agent=react_one_shot", "agent.prompts=mine"): "system.jinja of the prompts 'mine' shows no demonstrations",
    (
        "agent=react_one_shot",
        "agent.shots=0",
    ): "ReAct shows nothing of it; agent.shots=1 shows a demonstration, or choose no memory",
    ("agent=reflectool", "memory.k=2"): "memory.k: no such key; how many solved tasks are shown is agent.shots",
    ("agent=reflectool", "memory.fixed=clinical"): "memory.fixed: no such key; demonstrations are those of memory.pro",
    (
        "agent=react_one_shot",
        "dataset=radabench_mini",
        "toolset=radiology",
        "dataset.split=train",
    ): "its demonstrations are of 11 of the samples that are evaluated, such as 'train-chest-x-ray-1/012'",
}


SAME_RULE = {
    ("agent=react", "memory=demonstrations", "verifier=refine"), ("agent=react", "memory.step=2"),
    ("agent=react", "agent.shots=1"), ("agent=react_one_shot", "agent.shots=0"), ("agent=reflectool", "memory.k=2"),
}  # fmt: skip  # as another row, or as in test_memory


@pytest.mark.parametrize(
    "words", [pytest.param(words, marks=slow) if words in SAME_RULE else words for words in REFUSED]
)
def test_unread_memory_is_refused_in_one_line(tmp_path, monkeypatch, words):
    (tmp_path / "outputs/.prompts/mine").mkdir(parents=True)
    (tmp_path / "outputs/.prompts/mine/system.jinja").write_text("{{ instructions }}")
    data = () if "toolset=radiology" in words else CAB
    done = run_in_process(tmp_path, *data, *words, own=False)
    assert done.code == 2, (done.out, done.err)
    assert len(done.err.splitlines()) == 1 and REFUSED[words] in done.err


@slow
def test_memory_with_lessons_only_is_read_by_a_verifier_of_any_agent(tmp_path):
    done = run_in_process(tmp_path, *CAB, "agent=react", "memory=learnt", "verifier=refine", own=False)
    assert done.code == 0, done.err


@slow
def test_memory_of_a_preset_is_removed_as_the_refusal_suggests(tmp_path):
    done = run_in_process(tmp_path, *CAB, "agent=react_one_shot", "agent.shots=0", "~memory", own=False)
    assert done.code == 0, done.err


@slow
def test_custom_folder_is_shown_to_any_agent(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/tasks.yaml").write_text(json.dumps(TASKS * 2))
    words = ("memory=demonstrations", f"memory.prompts={tmp_path}/mine", "agent.shots=2", "hydra.run.dir=run")
    done = run_in_process(tmp_path, *CAB, "agent=critic", *words, own=False)
    assert done.code == 0, done.err
    assert json.loads((tmp_path / "run/manifest.json").read_text())["memory"]


def test_sample_is_recognised_by_text_and_by_case():
    def sample(name: str, question: str, context: str = "") -> Sample:
        return Sample(Problem(name, question, context=context), "A")

    samples = [sample("same", "How many?"), sample("case", "Why?", "A man of 40.\nMore."), sample("other", "How?")]
    assert _shown_by(["How many?"], samples) == _shown_by(["Instruction:\nHow many?"], samples) == ["same"]
    assert _shown_by(["Inputs:\nA man of 40.\nInstruction:\nWhat?"], samples) == ["case"]
    assert _shown_by([], samples) == []
