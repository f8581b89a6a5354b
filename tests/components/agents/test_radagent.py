from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random

import pytest

from components.agents.radagent import Radagent
from components.conditions.baseline import Baseline
from components.errors import ConfigError
from components.grammars.bracket_json import BracketJson
from components.grammars.native_tools import NativeTools
from components.grammars.xml_call import XmlCall
from components.messages import Image, Message, ToolCall
from components.protocols import Agent
from components.radiology.switches import Switches
from components.radiology.tasks import REFUSAL_FIELDS
from components.toolsets.none import NoTools
from components.toolsets.radiology import Radiology
from components.types import Offer, Sample
from tests.golden.vectors import CODE, PAPER, dev

PLAN = (
    "Known Info: []\nTool Chain: [*Disease Diagnosis Tool* -> *Anatomy Classification Tool*"
    " -> *Modality Classification Tool*]"
)
CONTEXT = "Patient: 61 years, male\nComplaint: a cough for two months"
ANATOMY, MODALITY, DIAGNOSIS = "TOOL1", "TOOL2", "TOOL5"
GIVEN = {ANATOMY: "[$Image$]", MODALITY: "[$Image$]", DIAGNOSIS: "[$Image$, $Anatomy$, $Modality$]"}
GROUNDS = {
    "purpose": "Nothing here outlines organs.",
    "category": "Organ Segmentor",
    "anatomy": "Universal",
    "modality": "Universal",
    "ability": "CategoryMissing",
}


@dataclass(frozen=True)
class Room:
    """Three of the baseline's tools, in the order of their construction, with the memory and its controls."""

    switches: Switches
    may_refuse: bool = False
    validates: bool = False
    tools: tuple[str, ...] = (ANATOMY, MODALITY, DIAGNOSIS)

    def open(self, sample: Sample) -> Offer:
        plain = replace(self.switches, tool_order="construction")
        offer = Baseline(plain).offer(Radiology(self.switches).open(sample), sample, Random(0))
        tools = {name: offer.tools[name] for name in self.tools}
        fields = REFUSAL_FIELDS if self.may_refuse else {}
        return replace(offer, tools=tools, refusal_fields=fields, validates=self.validates)


def call(tool: str, tag: str = "Call", given: Mapping[str, str] = GIVEN) -> str:
    purpose = "Take the next step."
    return f"<{tag}>\n<Purpose>{purpose}</Purpose>\n<Tool>{tool}</Tool>\n<Input>{given[tool]}</Input>\n</{tag}>"


def native(tool: str) -> Message:
    names = GIVEN[tool].strip("[]").replace("$", '"$', 1).replace(", $", '", "$') + '"'
    return Message("assistant", "", (ToolCall(f"id_{tool}", tool, f'{{"purpose": "go on", "input": [{names}]}}'),))


WORK = [call(ANATOMY), call(MODALITY), call(DIAGNOSIS, "EndCall")]


@pytest.fixture
def study() -> Sample:
    sample = dev().sample("dev_chest_ct", "014")
    problem = replace(sample.problem, context=CONTEXT, images=(Image("data:image/png;base64,AA"),))
    return replace(sample, problem=problem)


def test_it_is_an_agent_that_says_which_controls_it_needs():
    assert isinstance(Radagent(PAPER), Agent)
    assert tuple(Radagent.needs_controls) == ("start", "look", "final")


async def test_dialogue_of_the_article(perform, same_dialogue, study):
    played = await perform(Radagent(PAPER), study, [PLAN, *WORK, "It is a lung cancer."], XmlCall(), Room(PAPER))
    same_dialogue(played, "radagent_paper")


async def test_dialogue_of_the_published_code(perform, same_dialogue, study):
    """The query comes alone, and a canonical plan stands in place of the real one."""
    sample = replace(study, problem=replace(study.problem, images=()))
    played = await perform(Radagent(CODE), sample, [PLAN, *WORK, "It is a lung cancer."], XmlCall(), Room(CODE))
    same_dialogue(played, "radagent_code")


async def test_dialogue_with_function_calls(perform, same_dialogue, study):
    replies = [PLAN, *(native(tool) for tool in GIVEN), "I have all I need.", "It is a lung cancer."]
    played = await perform(Radagent(PAPER), study, replies, NativeTools(), Room(PAPER))
    same_dialogue(played, "radagent_native_tools")


async def test_dialogue_of_a_refusal_has_no_conclusion(perform, same_dialogue, study):
    tags = "\n".join(f"<{name.capitalize()}>{value}</{name.capitalize()}>" for name, value in GROUNDS.items())
    replies = [PLAN, call(ANATOMY), f"<NoCall>\n{tags}\n</NoCall>"]
    played = await perform(Radagent(PAPER), study, replies, XmlCall(), Room(PAPER, may_refuse=True))
    same_dialogue(played, "radagent_refusal")
    assert played.trajectory.refusal.grounds == GROUNDS


async def test_dialogue_of_a_failed_step_ends_at_once(perform, same_dialogue, study):
    replies = [PLAN, call(ANATOMY), call(DIAGNOSIS), "never asked for"]
    played = await perform(Radagent(PAPER), study, replies, XmlCall(), Room(PAPER))
    same_dialogue(played, "radagent_failure")
    assert (played.stop, played.trajectory.failure) == ("failed", "missing_value")


async def test_dialogue_with_a_validation_that_leaves_no_trace(perform, same_dialogue, study):
    replies = [PLAN, *WORK, "<INVALID>Disease Diagnoser: lacks the capability</INVALID>", "It is a lung cancer."]
    played = await perform(Radagent(PAPER), study, replies, XmlCall(), Room(PAPER, validates=True))
    same_dialogue(played, "radagent_validation")
    assert [step.purpose for step in played.trajectory.steps][-2:] == ["validate", "conclude"]
    assert not any("INVALID" in m.text for m in played.model.requests[-1].messages)


FAILURES = {
    "unparsable_reply": ["I would look at the lungs first."],
    "unknown_tool": [call("TOOL9", given={"TOOL9": "[$Image$]"})],
    "missing_compulsory": [call(ANATOMY, given={ANATOMY: "[]"})],
    "invalid_optional": [call(ANATOMY, given={ANATOMY: "[$Image$, $Information$]"})],
    "step_limit": [call(ANATOMY)] * 21,
}


@pytest.mark.parametrize("label", FAILURES)
async def test_whatever_breaks_the_rules_ends_the_episode_with_its_label(perform, study, label):
    played = await perform(Radagent(PAPER), study, [PLAN, *FAILURES[label]], XmlCall(), Room(PAPER), steps=40)
    assert (played.stop, played.trajectory.failure) == ("failed", label)
    assert played.trajectory.answer is None and played.trajectory.error
    assert sum(step.purpose == "act" for step in played.trajectory.steps) == (20 if label == "step_limit" else 1)


async def test_the_published_code_has_no_step_limit(perform, study):
    replies = [PLAN, *[call(ANATOMY)] * 30, *WORK, "It is a lung cancer."]
    played = await perform(Radagent(CODE), study, replies, XmlCall(), Room(CODE), steps=100)
    assert played.stop == "answered" and len(played.trajectory.steps) == 35


async def test_where_nothing_may_be_refused_a_refusal_cannot_be_read(perform, study):
    tags = "".join(f"<{name.capitalize()}>{value}</{name.capitalize()}>" for name, value in GROUNDS.items())
    played = await perform(Radagent(PAPER), study, [PLAN, f"<NoCall>{tags}</NoCall>"], XmlCall(), Room(PAPER))
    assert (played.stop, played.trajectory.failure) == ("failed", "unparsable_reply")


async def test_a_plan_that_claims_what_the_record_lacks_fails_before_the_first_call(perform, study):
    claims_all = replace(PAPER, known_info="all_dollar")
    record = {k: v for k, v in study.metadata["record"].items() if k != "Treatment"}
    sample = replace(study, metadata={**study.metadata, "record": record})
    plan = PLAN.replace("[]", "['$Treatment$']")
    played = await perform(Radagent(claims_all), sample, [plan], XmlCall(), Room(claims_all))
    assert (played.stop, played.trajectory.failure) == ("failed", "unknown_initial_info")
    assert [step.purpose for step in played.trajectory.steps] == ["plan"]


async def test_what_is_known_beforehand_is_in_the_first_memory(perform, study):
    plan = PLAN.replace("[]", "['$Anatomy$']")
    played = await perform(Radagent(PAPER), study, [plan, WORK[1], WORK[2], "Done."], XmlCall(), Room(PAPER))
    assert played.stop == "answered"
    assert '"$Anatomy$":"Chest"' in played.model.requests[1].messages[-1].text


async def test_a_closing_action_of_the_grammar_leads_to_the_conclusion(perform, study):
    names = '{"purpose": "look", "input": ["$Image$"]}'
    replies = [PLAN, f"Action: {ANATOMY}[{names}]", 'Action: Finish[{"response": "done"}]', "It is the chest."]
    played = await perform(Radagent(PAPER), study, replies, BracketJson(), Room(PAPER))
    assert (played.stop, played.trajectory.answer) == ("answered", "It is the chest.")


async def test_a_toolset_without_a_memory_is_an_error_that_names_the_control(perform, study):
    with pytest.raises(ConfigError, match="the agent needs the control 'start'"):
        await perform(Radagent(PAPER), study, [PLAN], XmlCall(), NoTools())
