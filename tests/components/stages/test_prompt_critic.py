import pytest

from components.core.errors import OVERFLOW, ConfigError, ModelError
from components.core.messages import Message, ToolCall, Usage
from components.core.types import EpisodeResult, Observation, Observed, Problem, Sample, Step, Trajectory
from components.stages.prompt_critic import Critic, failure_text, text_between_tags
from components.stages.prompt_folder import Rules
from runner.episode.budget import Budget
from tests.stage_bench import CAREFUL, Class, base_set, bench
from tests.table import each_row


async def test_the_critic_sees_templates_and_failures_and_its_text_reaches_the_rewriter(tmp_path):
    room, rules = Class(), Rules(base_set(tmp_path / "base"))
    critic = Critic(bench(room.say, rules.base), rules, "refine_prompts", 1)
    wanted = await critic.propose("here", rules.first, ["It went wrong so."], 3, 7)
    first, second = (one.messages[-1].text for one in room.asked)
    assert "Answer this: {{ question }}" in first and "It went wrong so." in first
    assert "7 training tasks, of which 3 went wrong" in first and room.critique in second
    assert wanted.critique == room.critique and rules.texts(wanted.version) == {"ask": CAREFUL} and not wanted.refused
    assert [(one.role, one.purpose, one.sample_id) for one in room.asked] == [
        ("main", "reflect", "here/critique"), ("main", "build", "here/ask"),
    ]  # fmt: skip


async def test_an_unchanged_template_is_not_a_change(tmp_path):
    rules = Rules(base_set(tmp_path / "base"))
    room = Class(rewrites=["<rewritten>\nAnswer this: {{ question }}\n</rewritten>"])
    wanted = await Critic(bench(room.say, rules.base), rules, "refine_prompts", 1).propose(
        "x", rules.first, ["f"], 1, 1
    )
    assert wanted.version is rules.first


async def test_a_critic_whose_question_is_too_long_is_shown_less(tmp_path):
    def say(request):
        raise ModelError("too long", OVERFLOW)

    rules = Rules(base_set(tmp_path / "base"))
    critic = Critic(bench(say, rules.base), rules, "refine_prompts", 1)
    with pytest.raises(ConfigError, match=r"too long: the critic needs a lower stage\.failures_shown"):
        await critic.propose("x", rules.first, ["f"], 1, 1)


async def test_an_insufficient_budget_is_reported(tmp_path):
    rules = Rules(base_set(tmp_path / "base"))
    desk = bench(Class().say, rules.base)
    object.__setattr__(desk.experiment.parts, "budget", Budget(calls=0))
    with pytest.raises(ConfigError, match="the critic needs a larger budget"):
        await Critic(desk, rules, "refine_prompts", 1).propose("x", rules.first, ["f"], 1, 1)


async def test_a_critique_is_truncated_and_contains_nothing_that_is_not_displayed(tmp_path):
    room, rules = Class(critique="- In ask:\x1b[2J\r\nmore" + "x" * 100_000), Rules(base_set(tmp_path / "base"))
    wanted = await Critic(bench(room.say, rules.base), rules, "refine_prompts", 1).propose(
        "a", rules.first, ["f"], 1, 1
    )
    assert wanted.critique.startswith("- In ask:?[2J\nmore") and len(wanted.critique) <= 20_000


@each_row(
    "reply, text",
    [
        ("Here:\n<rewritten>\nA\n</rewritten> and more </rewritten>", "\nA"),
        ("<rewritten>A\r\nB</rewritten>", "A\nB"),
        ("<rewritten>A", None),
        ("A</rewritten>", None),
        ("<rewritten>" * 200_000, None),
    ],
)
def test_a_rewriting_is_read_in_one_pass(reply, text):
    assert text_between_tags(reply) == text


def test_a_failure_report_shows_the_text_the_ending_and_the_right_answer():
    call = ToolCall("1", "TOOL1", "{}")
    seen = Observed(call, Observation("the pair does not fit"), "binding_mismatch")
    steps = [
        Step("plan", "main", "main", 0, 0, (), Message("assistant", "Tool Chain: [*x*]"), Usage()),
        Step("act", "main", "main", 1, 0, (), Message("assistant", "", (call,)), Usage(), observed=[seen]),
        Step("act", "main", "main", 2, 0, (), Message("assistant", "dropped"), Usage(), committed=False),
    ]
    trajectory = Trajectory(steps, stop="failed", failure="binding_mismatch", error="the pair does not fit")
    sample = Sample(Problem("p", "Which disease?"), {"answer": "Gout."}, gold_steps="Look -> Name it")
    text = failure_text(sample, EpisodeResult(trajectory, 0.0))
    for line in (
        "Which disease?",
        "[plan] Tool Chain: [*x*]",
        "[act] TOOL1({})",
        "[error] binding_mismatch: the pair does not fit",
        "It ended: failed (binding_mismatch): the pair does not fit",
        "The right steps: Look -> Name it",
        "The right answer: Gout.",
    ):
        assert line in text.splitlines()
    assert "dropped" not in text


def test_a_task_that_should_have_been_refused_is_reported_without_its_answer():
    facts = {
        "kind": "insufficient",
        "accepted": ["Organ Segmentor"],
        "anatomy": "Universal",
        "ability": "CategoryMissing",
    }
    sample = Sample(Problem("p", "Outline it."), {"chain": "012", "answer": "The liver."})
    lines = failure_text(sample, EpisodeResult(Trajectory([], facts=facts, stop="answered"), 0.0)).splitlines()
    assert lines[-1].startswith("The right end: a refusal, since no tool") and "The liver." not in "".join(lines)
    assert lines[-1].endswith("(category: Organ Segmentor; anatomy: Universal; ability: CategoryMissing)")
