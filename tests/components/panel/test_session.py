from dataclasses import replace

from components.agents.medagents import MedAgents
from components.panel.rules import Lengths
from tests.panels import Script, panel

PLAIN = MedAgents(expert_tools=False)


async def test_votes_see_the_latest_report_and_key_knowledge_stays_in_it():
    _, model, _ = await panel(Script((1, 0)), PLAIN)
    first, second = (
        [r.messages[-1].text for r in model.requests if r.branch.startswith(f"round/{n}/") and r.purpose == "vote"]
        for n in (1, 2)
    )
    assert all("Biopsy is most plausible" in text and "tumours need tissue" in text for text in first)
    assert all("Biopsy, since rest does not help" in text and "tumours need tissue" in text for text in second)
    assert not any("Biopsy is most plausible" in text for text in second)


async def test_only_the_advice_of_the_round_reaches_a_revision():
    says = {"reflect": lambda request: f"Revisions: advice of round {request.branch.split('/')[1]}"}
    _, model, _ = await panel(Script((2, 3, 0), says), PLAIN)
    asked = [request.messages[-1].text for request in model.requests if request.purpose == "report"]
    assert [text.count("advice of round 1") for text in asked] == [2, 0]
    assert [text.count("advice of round 2") for text in asked] == [0, 3]


async def test_each_stage_sees_what_it_may_and_nobody_sees_the_answer():
    _, model, _ = await panel(Script((7, 7, 7)), PLAIN, target="the secret key")
    for request in model.requests:
        text = "\n".join(message.text for message in request.messages)
        assert "secret" not in text
        shows = "A) Biopsy" in text
        on_question = request.branch in ("convene/1", *(f"expert/{n}" for n in range(1, 6)))
        assert shows == (not on_question and request.purpose != "summarise")
        assert len(request.messages) == (1 if request.purpose in ("report", "answer") else 2)
    experts = [request.messages[-1].text for request in model.requests if request.branch in ("expert/6", "expert/7")]
    assert all(text.count("It looks like a tumour.") == 5 for text in experts)


async def test_replies_are_limited_by_their_kind():
    _, model, _ = await panel(Script((1, 0)), PLAIN)
    lengths = {request.purpose: request.sampling.max_tokens for request in model.requests}
    assert lengths == {
        "plan": 50, "knowledge": 300, "summarise": 2500, "vote": 30, "reflect": 500, "report": 2500, "answer": 2500,
    }  # fmt: skip
    _, model, _ = await panel(agent=replace(PLAIN, max_tokens=Lengths(None, None, None, None, None, None)))
    assert {request.sampling.max_tokens for request in model.requests} == {None}


async def test_steps_stand_in_the_order_of_the_discussion_and_say_who_spoke():
    _, _, trajectory = await panel(Script((1, 0)), PLAIN)
    labels = [step.remarks["label"] for step in trajectory.steps]
    assert labels[:2] == [
        "experts on the question: Surgery, Oncology, Radiology, Genetics, Dentistry",
        "experts on the options: Surgery, Oncology",
    ]
    assert labels[2] == "analysis of the question: Surgery" and labels[8] == "analysis of the options: Oncology"
    assert labels[9:13] == [
        "report, version 0", "round 1, Surgery: no", "round 1, Surgery: advice", "round 1, Oncology: yes",
    ]  # fmt: skip
    assert labels[18:20] == ["report, version 1", "round 2, Surgery: yes"] and labels[-1] == "decision"


async def test_a_field_on_both_sides_votes_twice():
    _, _, trajectory = await panel(Script(says={"plan": "Medical Field: Surgery"}), PLAIN)
    cast = [step.remarks for step in trajectory.steps if step.purpose == "vote"]
    assert [(one["expert"], one["side"], one["field"]) for one in cast] == [
        (0, "question", "Surgery"), (1, "option", "Surgery"),
    ]  # fmt: skip
