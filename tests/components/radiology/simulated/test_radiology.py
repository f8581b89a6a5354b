from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

import orjson
import pytest

from components.agents.react import ReAct
from components.core.types import Trajectory
from components.grammars.bracket_json import BracketJson
from components.grammars.native_tools import NativeTools
from components.grammars.xml_call import XmlCall
from components.models.simulated import Simulated
from components.radiology.agent import Radagent
from components.radiology.conditions import InsufficientConfig1, InsufficientConfig2
from components.radiology.plan import decision_chain
from components.radiology.tasks import TASKS
from components.serving.endpoint import read_request
from tests.golden.vectors import PAPER
from tests.simulated import core as made
from tests.slow import slow

GRAMMARS = {"xml_call": XmlCall, "bracket_json": BracketJson, "native_tools": NativeTools}


def labels(found: Sequence[Trajectory]) -> set[str | None]:
    return {one.failure for one in found}


def first_part(one: Trajectory) -> str:
    """The answer without the evidence and the plan that the base prompts ask for."""
    return (one.answer or "").partition("\n\n")[0]


async def test_a_fully_instructed_core_never_errs(perform, samples):
    found = await perform(samples[:22])
    assert {one.stop for one in found} == {"answered"}
    assert [first_part(one) for one in found] == [sample.target["answer"] for sample in samples[:22]]


# What the prompt omits, and how the episode then ends.
FORGOTTEN = {
    "the tools": ("tools", {"{{ instructions }}": ""}, "unparsable_reply"),
    "the memory": ("step", {"Memory now: {{ memory }}": ""}, "step_limit"),
}


@slow
@pytest.mark.parametrize("what", FORGOTTEN)
async def test_it_fails_when_the_agents_prompt_omits_instructions(perform, samples, forgetful, what):
    template, changes, label = FORGOTTEN[what]
    agent = Radagent(PAPER, prompts=forgetful("radagent", template, changes))
    found = await perform(samples[:11], agent)
    assert {one.stop for one in found} == {"failed"} and labels(found) == {label}


async def test_without_a_format_for_the_plan_there_is_no_plan(perform, samples, forgetful):
    changes = {"Tool Chain:": "", "Answer with these two lines": "Answer"}
    found = await perform(samples[:11], Radagent(PAPER, prompts=forgetful("radagent", "plan", changes)))
    assert not any("Tool Chain" in one.steps[0].reply.text for one in found)


CARDS = "{% for card in cards %}\n{{ card }}\n{% endfor %}"


@slow
@pytest.mark.parametrize("grammar,agent", [("xml_call", "radagent"), ("bracket_json", "react"), ("xml_call", "react")])
async def test_without_cards_it_calls_nothing(perform, samples, forgetful, grammar, agent):
    made = GRAMMARS[grammar](prompts=forgetful(grammar, "instructions", {CARDS: ""}))
    found = await perform(samples[:11], ReAct() if agent == "react" else None, made)
    assert not [one.call for t in found for step in t.steps for one in step.observed if not one.control]
    assert "missing_value" not in labels(found)


@pytest.mark.parametrize("grammar,mark", [("xml_call", "EndCall"), ("bracket_json", "Finish[")])
async def test_without_the_form_of_an_action_it_writes_none(perform, samples, forgetful, grammar, mark):
    made = GRAMMARS[grammar](prompts=forgetful(grammar, "instructions", {mark: "..."}))
    found = await perform(samples[:11], None, made)
    assert {one.stop for one in found} == {"failed"} and labels(found) == {"unparsable_reply"}


@slow
@pytest.mark.parametrize("grammar", ["xml_call", "bracket_json"])
async def test_it_cannot_refuse_where_the_prompt_does_not_explain_how(perform, samples, forgetful, grammar):
    changes = {"xml_call": {"NoCall>": "Nothing>"}, "bracket_json": {"Refuse[": "Nothing["}}[grammar]
    made = GRAMMARS[grammar](prompts=forgetful(grammar, "instructions", changes))
    for condition in (InsufficientConfig1(PAPER), InsufficientConfig2(PAPER)):
        found = await perform(samples[:11], None, made, condition)
        assert not any(one.stop == "refused" for one in found)


async def test_a_question_that_it_does_not_know_is_answered_from_the_memory(perform, samples):
    stranger = replace(samples[0], problem=replace(samples[0].problem, question="Which thing is this?", context=""))
    (found,) = await perform([stranger])
    assert found.answer != samples[0].target["answer"]


async def test_malformed_replies_come_at_their_rate(perform, samples):
    found = await perform(samples[:55], malformed_rate=0.2)
    acts = [step for one in found for step in one.steps if step.purpose == "act"]
    assert fmean(step.action.error == "unparsable_reply" for step in acts) == pytest.approx(0.2, abs=0.06)


@slow
async def test_planning_slips_come_at_their_rate(perform, samples):
    found = await perform(samples[:55], planning_slip_rate=0.4)
    right = (list(TASKS[sample.metadata["chain"]].categories) for sample in samples)
    changed = [decision_chain(a.steps[0].reply.text, "tolerant") != b for a, b in zip(found, right, strict=False)]
    assert fmean(changed) == pytest.approx(0.4, abs=0.15)


@slow
async def test_answers_are_right_at_the_rate_of_competence(perform, samples):
    found = await perform(samples[:77], competence=0.7)
    right = [first_part(one) == sample.target["answer"] for one, sample in zip(found, samples, strict=False)]
    assert fmean(right) == pytest.approx(0.7, abs=0.1)


@slow
async def test_wrong_tools_come_at_their_rate(perform, samples):
    """Of first calls, so that one slip does not cause the next: the right one is an anatomy classifier."""
    found = await perform(samples[:88], wrong_tool_rate=0.5)
    called = [next(o for o in one.steps[1].observed if not o.control).observation.data["category"] for one in found]
    assert fmean(category != "Anatomy Classifier" for category in called) == pytest.approx(0.5, abs=0.1)


async def test_a_core_that_refuses_nothing_and_one_that_refuses_all(perform, samples):
    for rate, refused in ((0.0, 1.0), (1.0, 0.0)):
        found = await perform(samples[:22], condition=InsufficientConfig1(PAPER), ignored_refusal_rate=rate)
        assert fmean(one.stop == "refused" for one in found) == refused


@pytest.mark.parametrize("grammar", [None, NativeTools()])
async def test_requests_over_http_get_the_same_reply(perform, samples, grammar):
    asked = []

    class Noting(Simulated):
        async def generate(self, request):
            asked.append((request, await super().generate(request)))
            return asked[-1][1]

    await perform(samples[:11], Radagent(PAPER), grammar, kind=Noting, competence=0.5, planning_slip_rate=0.3)
    core = made(samples, competence=0.5, planning_slip=0.3)
    for request, completion in asked:
        body = {"messages": [orjson.loads(m.wire) for m in request.messages], "seed": request.seed}
        body |= {"tools": [orjson.loads(t.wire) for t in request.tools]} if request.tools else {}
        got = read_request(orjson.dumps(body))
        assert core.reply(got.messages, got.tools, got.seed) == completion
    assert len(asked) > 40
