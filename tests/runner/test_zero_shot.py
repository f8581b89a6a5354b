"""The messages that the published baselines of MedAgents send, by the command."""

from pathlib import Path

from runner.storage import records
from runner.storage.texts import TextReader
from tests.slow import slow

OURS = ("one line", "nothing else", "reason step by step", "reply with", "solved question", "<letter>")


def read_requests(folder: Path) -> list[list[str]]:
    """The texts of all messages that were sent, sample by sample and call by call; each call has one."""
    texts, found = TextReader(folder), []
    for record in records.read(folder):
        calls = [[one["text"] for one in step["asked"]] for step in record["steps"]]
        assert all(len(call) == 1 for call in calls)
        found.append([texts[one["ref"]] if isinstance(one, dict) else one for (one,) in calls])
    return found


@slow
def test_baseline_messages_have_the_published_text_and_no_other_instruction(home):
    agents = ("zero_shot", "zero_shot_cot")
    words = (f"agent={','.join(agents)}", "dataset=cab_mini", "dataset.tasks=[medqa]", "dataset.per_task=3")
    done = home.run(
        "-m", *words, "toolset=none", "tracking=off", "run.journal=null", "hydra.sweep.dir=sweep", plain=True
    )
    assert done.code == 0, done.err
    sent = {agent: read_requests(home.path / "sweep" / f"agent-{agent}") for agent in agents}
    for agent, samples in sent.items():
        assert len(samples) == 3 and all(len(calls) == (2 if agent == "zero_shot_cot" else 1) for calls in samples)
        assert not any(phrase in text.lower() for calls in samples for text in calls for phrase in OURS)
    for (direct,), (thinks, extracts) in zip(sorted(sent["zero_shot"]), sorted(sent["zero_shot_cot"]), strict=True):
        question = direct.removesuffix("A: The answer is")
        assert question != direct and question.startswith("Q: ") and thinks == f"{question}A: Let's think step by step"
        assert extracts.startswith(f"{thinks}\n") and extracts.endswith("\nTherefore, among A through D, the answer is")
