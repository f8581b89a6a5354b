import pytest

from components.agents.reflexion import Reflexion
from components.core.errors import OVERFLOW, ModelError
from components.core.types import Answer, Failure
from tests import record_desk
from tests.attempts import Attempt, Echo, solving
from tests.parts import Right
from tests.table import each_row

A, B = 'Action: Finish[{"response": "A"}]', 'Action: Finish[{"response": "B"}]'


async def test_it_makes_a_second_trial_even_after_a_right_one_and_sees_its_reflection():
    outcome, model, trajectory = await solving(Reflexion(), [B, "look closer", A])
    assert outcome == Answer("A") and [r.purpose for r in model.requests] == ["act", "reflect", "act"]
    second = model.requests[2].messages[1].text
    assert "[Previous_Trial]" in second and "look closer" in second and 'Finish[{"response":"B"}]' in second
    assert trajectory.steps[2].branch == "trial/2"


async def test_with_the_oracle_it_stops_when_it_is_right():
    attempt = Attempt(target="B", scorers={"right": Right()})
    outcome, model, _ = await solving(Reflexion(oracle=True, trials=3), [A, "hm", B], attempt)
    assert outcome == Answer("B") and len(model.requests) == 3
    outcome, model, _ = await solving(Reflexion(oracle=True, trials=3), [B], attempt)
    assert outcome == Answer("B") and len(model.requests) == 1


async def test_a_trial_that_exceeds_the_window_has_failed_and_is_reflected_on():
    replies = [SEE, ModelError("too long", OVERFLOW), "be brief", A]
    outcome, model, _ = await solving(Reflexion(), replies, Attempt(tool=Echo()))
    assert outcome == Answer("A") and [r.purpose for r in model.requests] == ["act", "act", "reflect", "act"]
    replies = [SEE, B, "be brief", ModelError("too long", OVERFLOW)]
    outcome, _, _ = await solving(Reflexion(), replies, Attempt(tool=Echo()))
    assert outcome == Failure("context_length", "too long")


async def test_a_reflection_that_is_too_long_ends_the_episode():
    with pytest.raises(ModelError):
        await solving(Reflexion(), [B, ModelError("too long", OVERFLOW)])


async def test_the_model_never_reads_the_target():
    attempt = Attempt(target="a secret target", scorers={"right": Right()})
    _, model, _ = await solving(Reflexion(oracle=True), [A, "hm", A], attempt)
    assert not any("secret" in message.text for request in model.requests for message in request.messages)


SEE, SEE_ELSE, FAIL = 'Action: echo[{"query": "x"}]', 'Action: echo[{"query": "y"}]', "Action: nothing[{}]"
SOUND = [
    ([B], True),
    ([SEE, B], True),
    ([FAIL, SEE, B], True),
    ([SEE, SEE_ELSE, SEE, B], True),
    ([SEE, FAIL, B], False),
    ([SEE, SEE, SEE_ELSE, B], False),
    (["prose", "prose", B], False),
    ([SEE, SEE_ELSE, SEE, SEE_ELSE], False),
]


@each_row("replies,sound", SOUND)
async def test_until_sound_a_trial_is_repeated_after_an_observable_failure(replies, sound):
    agent = Reflexion(until="sound", trials=2, max_steps=4, force_finish=True)
    outcome, model, _ = await solving(agent, [*replies, "look closer", A], Attempt(tool=Echo()))
    assert outcome == Answer("B" if sound else "A")
    assert [request.purpose for request in model.requests].count("reflect") == (not sound)


async def test_errors_of_one_trial_do_not_affect_the_next():
    agent = Reflexion(until="sound", trials=3)
    outcome, model, trajectory = await solving(agent, [FAIL, B, "try another", B], Attempt(tool=Echo()))
    assert outcome == Answer("B") and len(model.requests) == 4
    assert [step.branch for step in trajectory.steps][-1] == "trial/2"


async def test_with_oracle_feedback_other_signals_are_ignored():
    attempt = Attempt(target="B", scorers={"right": Right()}, tool=Echo())
    outcome, model, _ = await solving(Reflexion(until="sound", oracle=True), [FAIL, B], attempt)
    assert outcome == Answer("B") and len(model.requests) == 2
    outcome, _, _ = await solving(Reflexion(until="sound", oracle=True), [A, "hm", B], attempt)
    assert outcome == Answer("B")


async def test_the_last_reflections_are_shown_and_no_more():
    agent = Reflexion(trials=5, kept=3)
    _, model, _ = await solving(agent, [A, "note 1", A, "note 2", A, "note 3", A, "note 4", B])
    last = model.requests[-1].messages[1].text
    assert "note 1" not in last and all(f"note {n}" in last for n in (2, 3, 4))
    assert last.count("[Previous_Trial]") == 3


def on_records(**changes):
    given = {"prompts": "ehr_reflexion", "shots": 4, "as_lines": True}
    return Reflexion(**{**given, "until": "sound", "kept": 3, "trials": 3, "max_steps": 10, **changes})


async def test_on_records_a_trial_is_described_in_lines_and_only_its_reflection_is_shown():
    load, wrong = "Action: LoadDB[admissions]", "Thought: hm\nAction: FilterDB[HADM_ID=99]\nObservation: made up"
    replies = [load, wrong, "Finish[none]", "Patient 1 has 11 and 12.", load, "Finish[12]"]
    outcome, model, _ = await record_desk.solving(on_records(), replies)
    assert outcome == Answer("12") and len(model.requests) == 6
    reflect, again = (model.requests[n].messages[-1].text for n in (3, 4))
    assert "Action: FilterDB[HADM_ID=99]\nObservation: " in reflect and "made up" not in reflect
    assert "Action: Finish[none]" in reflect and "{" not in reflect
    assert "- Patient 1 has 11 and 12." in again and "FilterDB" not in again
    system = model.requests[4].messages[0].text
    assert "Two tables." in system and "Action: Finish[13]" in system and "Observation: 13" in system
