"""What the peers are asked, and what is said of those that are not installed."""

from pathlib import Path

from benchmarks import peers
from benchmarks.bare import prompts
from benchmarks.conversations import Prompts
from benchmarks.figures import Settings
from benchmarks.peer_loops import versions
from benchmarks.tasks import CALLS
from tests.slow import slow


def test_dialogues_are_the_messages_of_every_call() -> None:
    asked = prompts(2)
    dialogues = [*asked.dialogues()]
    assert len(dialogues) == 2 * CALLS
    assert [len(messages) for messages, _ in dialogues] == [2, 4, 6, 8, 10] * 2
    assert [reply for _, reply in dialogues[:CALLS]] == asked.replies
    assert dialogues[1][0][2:] == [
        {"role": "assistant", "content": asked.replies[0]},
        {"role": "user", "content": "Observation: p0: within limits on day 3 (SI); no note."},
    ]
    assert dialogues[CALLS][0] == asked.opening(asked.questions[1])


def test_prompts_reach_another_process(tmp_path: Path) -> None:
    prompts(3).save(tmp_path / "prompts.json")
    assert Prompts.load(str(tmp_path / "prompts.json")) == prompts(3)


def test_only_what_is_installed_has_a_version() -> None:
    assert versions(["aiohttp", "no-such-thing"]).keys() == {"aiohttp"}


@slow
def test_peers_that_are_not_installed_are_named(tmp_path: Path) -> None:
    figures = peers.row(Settings(scale=0.01, repeat=1), tmp_path / "python")
    found = {figure.what.split(":")[0]: figure for figure in figures}
    assert [name for name, figure in found.items() if figure.value is None] == [
        "inspect_ai", "lm-evaluation-harness", "openai client",
    ]  # fmt: skip
    assert found["inspect_ai"].detail == "not installed: make bench-peers" and found["ours"].value is not None
    assert all(figure.met is None for figure in found.values()), "exit code 0"
