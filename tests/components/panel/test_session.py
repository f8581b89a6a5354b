from dataclasses import replace

import pytest

from components.panel.agent import MedAgents
from components.panel.rules import Lengths
from tests.attempts import Echo
from tests.panels import QUESTION, Script, panel

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


SEEN = {  # stage -> what its prompt shows beside the question
    "convene/1": ["cannot swallow", "field | field | field | field | field"],
    "convene/2": ["cannot swallow", "A) Biopsy", "field | field"],
    "expert/2": ["cannot swallow", "Oncology"],
    "expert/7": ["cannot swallow", "A) Biopsy", "Oncology", "Surgery: It looks", "Dentistry: It looks"],
    "summarise": ["Surgery:\nIt looks", "Oncology:\nIt looks", "Analysis 7"],
    "vote": ["cannot swallow", "A) Biopsy", "tumours need tissue", "Surgery"],
    "reflect": ["cannot swallow", "A) Biopsy", "tumours need tissue", "Surgery"],
    "report": ["cannot swallow", "A) Biopsy", "tumours need tissue", "Surgery: Revisions: say why."],
    "answer": ["cannot swallow", "A) Biopsy", "rest does not help", "tumours need tissue"],
}


@pytest.mark.parametrize("level", ["analysis", "summary", "consultation"])
async def test_each_prompt_shows_all_that_its_stage_may_see(level):
    _, model, _ = await panel(Script((1, 0)), replace(PLAIN, level=level), inputs="THE DOCUMENT")
    found = {}
    for request in model.requests:
        found.setdefault(request.branch if request.branch in SEEN else request.purpose, request)
    for stage, parts in SEEN.items():
        request = found.get(stage)
        if request is None:
            assert level != "consultation"
            continue
        if stage == "answer" and level != "consultation":
            parts = [*parts[:2], *(["Analysis of the question, Surgery", "Analysis of the possible answers, Oncology"]
                                   if level == "analysis" else ["Biopsy is most plausible"])]  # fmt: skip
        text = "\n".join(message.text for message in request.messages)
        assert [part for part in parts if part not in text] == [], stage
        assert ("THE DOCUMENT" in text) == (stage != "summarise"), stage


async def test_the_number_that_is_asked_for_is_the_panels():
    _, model, _ = await panel(agent=replace(PLAIN, question_experts=3, option_experts=1))
    first, second = (request.messages[-1].text for request in model.requests[:2])
    assert "exactly 3 different" in first and "field | field | field" in first
    assert "Name the one" in second and second.endswith("Medical Field: field")


async def test_a_revision_without_words_leaves_the_analysis_as_it_was():
    _, model, _ = await panel(Script((1, 0), {"report": ""}), PLAIN)
    assert "Total Analysis: Biopsy is most plausible." in model.requests[-1].messages[-1].text


async def test_what_is_held_is_shown_once_to_experts_who_act():
    says = {"act": 'Action: Finish[{"response": "Biopsy."}]'}
    _, model, _ = await panel(Script(says=says), MedAgents(), tool=Echo(), inputs="THE DOCUMENT")
    acting = next(request for request in model.requests if request.purpose == "act")
    assert sum(message.text.count("THE DOCUMENT") for message in acting.messages) == 0, "a document is for tools"
    decision = model.requests[-1].messages[-1].text
    assert decision.count("THE DOCUMENT") == 1


@pytest.mark.parametrize(
    ("asked", "ends"), [("Was nun？", "Was nun？"), ("Is it so…", "so…"), ("50 %", "50 %"), ("So", "So?")]
)
async def test_a_mark_of_any_script_ends_a_question(asked, ends):
    _, model, _ = await panel(agent=PLAIN, problem=replace(QUESTION, question=asked, context=""))
    assert model.requests[0].messages[-1].text.split("\n")[0].endswith(ends)
