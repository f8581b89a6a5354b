from components.conditions.cards import Renamed
from components.conditions.failing import Denied
from components.conditions.wrong_results import Noisy, Stale
from components.core.messages import Message, ToolCall, ToolSpec, Usage
from components.core.protocols import Scorer
from components.core.types import Observation, Observed, Problem, Refusal, Sample, Step, Trajectory
from components.faults.marks import add_mark
from components.radiology.execution import read
from components.scorers.faults import NAMES, Faults, first_struck
from components.scorers.length import Length
from runner.episode.episode import run_episode
from tests.failing import INTACT, STUDY, Tools, call_radiology, episode
from tests.failing import SAMPLE as ASKED
from tests.golden.vectors import PAPER
from tests.parts import Right, Speaker, door, parts
from tests.table import each_row

SAMPLE = Sample(Problem("1", "?"), "A")
ECHO = 'call echo {"text": "5"}'


def scores(trajectory, right=1.0, **settings):
    found = Faults(**settings).follow(SAMPLE, trajectory, right, {})
    return {score.name.removeprefix("faults/"): score.value for score in found}


def episode_with(*replies, answer="B", data=None, **changes):
    """An episode of these replies, the first of which made a call that was hit by a fault, or gave ``data``."""
    steps = []
    for n, text in enumerate(replies):
        call = Observed(ToolCall("1", "echo", "{}"), add_mark(Observation("5"), "noisy") if data is None else data)
        steps.append(Step("act", "main", "main", n, 0, (), Message("assistant", text), Usage(), observed=[call] if not n else []))  # fmt: skip
    return Trajectory(steps, (ToolSpec("echo", ""),), stop="answered", answer=answer, **changes)


def test_is_a_scorer_that_follows_others():
    assert isinstance(Faults(), Scorer)


async def test_an_episode_without_a_fault_has_no_rate_of_recovery():
    found = scores(await episode(INTACT, [ECHO, "done"]))
    assert found == {
        "right": 1, "struck": 0, "recovery": None, "detection": None, "silent_error": None, "false_alarm": 0, "calls_after": None,
        "tool_calls": 1, "struck_calls": 0,
    }  # fmt: skip


async def test_a_wrong_answer_without_mentioning_the_fault_is_a_silent_error():
    trajectory = await episode(Noisy(1.0), [ECHO, ECHO, "done"])
    assert scores(trajectory, 0.0) == {
        "right": 0, "struck": 1, "recovery": 0, "detection": 0, "silent_error": 1, "false_alarm": None, "calls_after": 1,
        "tool_calls": 2, "struck_calls": 1,
    }  # fmt: skip
    right = scores(trajectory, 1.0)
    assert (right["recovery"], right["silent_error"]) == (1, 0)


async def test_a_reported_fault_is_not_a_silent_error():
    found = scores(await episode(Denied(1.0), [ECHO, "B, by heart: the tool denied access"]), 0.0)
    assert (found["recovery"], found["detection"], found["silent_error"]) == (0, 1, 0)


def test_a_statement_made_before_the_fault_is_not_a_detection():
    assert scores(episode_with("The tool is broken, I fear."))["detection"] == 0
    assert scores(episode_with("I ask.", "The tool is broken, I fear."))["detection"] == 1
    refused = episode_with("I ask.", answer=None, refusal=Refusal({"why": "the tool failed"}))
    assert scores(refused)["detection"] == 1


def test_a_detection_without_a_fault_is_a_false_alarm():
    found = scores(episode_with("The tool is broken.", data=Observation("5")))
    assert (found["false_alarm"], found["detection"]) == (1, None)


def test_a_limit_or_a_refusal_is_neither_a_silent_error_nor_a_recovery():
    limit = episode_with("I ask.")
    limit.stop = "limit"
    found = scores(limit, 0.0)
    assert (found["recovery"], found["silent_error"]) == (0, 0)


def test_without_a_deciding_score_only_observable_results_are_scored():
    found = scores(episode_with("I ask."), None)
    assert found["right"] is None
    assert (found["struck"], found["detection"], found["recovery"], found["silent_error"]) == (1, 0, None, None)
    assert {score.name: score.value for score in Faults().score(SAMPLE, episode_with("I ask."))}[
        "faults/recovery"
    ] is None
    assert (
        scores(episode_with("I ask."), 0.6)["recovery"] == 0
        and scores(episode_with("I ask."), 0.6, right_from=0.5)["recovery"] == 1
    )


def test_after_an_error_all_is_unscored():
    broken = episode_with("I ask.")
    broken.stop = "error"
    found = Faults().follow(SAMPLE, broken, None, {})
    assert [score.name for score in found] == list(NAMES) and {score.value for score in found} == {None}


async def test_a_changed_card_counts_as_a_fault_from_the_start():
    trajectory = await episode(Renamed(1.0), ["The documentation of this tool is wrong"])
    assert first_struck(trajectory) == 0
    assert (scores(trajectory)["struck"], scores(trajectory)["detection"]) == (1, 1)
    assert first_struck(await episode(Renamed(0.0), ["done"])) is None


@each_row("says, recovered", [("It is {shown}.", 0), ("It is {right}.", 1), ("Not {shown}: {right}.", 1)])
async def test_an_answer_that_repeats_a_wrong_value_is_wrong_whatever_the_calls(says, recovered):
    trajectory = await call_radiology(Stale(1.0), "TOOL2")
    right, shown = trajectory.steps[0].observed[0].observation.data["faults"][0]["changes"]["$Modality$"]
    trajectory.answer = says.format(right=right, shown=shown)
    assert scores(trajectory)["recovery"] == recovered


async def test_a_call_that_failed_by_an_injected_fault_is_not_blamed_on_the_agent():
    trajectory = await call_radiology(Denied(1.0), "TOOL1", sample=STUDY)
    execution = read(trajectory, PAPER)
    assert execution.completed and execution.calls == ()


async def test_a_score_that_no_scorer_declares_to_decide_does_not_count():
    given = parts(toolset=Tools(), condition=Noisy(1.0), scorers={"length": Length(), "faults": Faults()})
    replies = iter([ECHO, "answer 0"])
    _, found = await run_episode(given, door(Speaker(lambda _: next(replies))), ASKED, 0)
    assert {score.name: score.value for score in found}["faults/right"] is None


async def test_it_is_scored_after_the_deciding_score_in_any_order():
    for answer, recovered in (("answer 0", 1.0), ("B", 0.0)):
        replies = iter([ECHO, answer])
        given = parts(toolset=Tools(), condition=Noisy(1.0), scorers={"faults": Faults(), "right": Right()})
        _, found = await run_episode(given, door(Speaker(lambda _, replies=replies: next(replies))), ASKED, 0)
        values = {score.name: score.value for score in found}
        assert (values["score/right"], values["faults/recovery"]) == (recovered, recovered)
        assert next(iter(values)) == "score/right"
