from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random

import pytest

from components.conditions.failing import Denied
from components.core.errors import ConfigError
from components.core.messages import Image, Message, ToolCall
from components.core.plain import Accept, NoTools
from components.core.protocols import Agent
from components.core.tools import Offer
from components.core.types import Sample
from components.grammars.bracket_json import BracketJson
from components.grammars.native_tools import NativeTools
from components.grammars.xml_call import XmlCall
from components.models.scripted import Scripted
from components.radiology.agent import Radagent, Role, Roles
from components.radiology.conditions import Baseline
from components.radiology.execution import read
from components.radiology.switches import Switches
from components.radiology.tasks import REFUSAL_FIELDS
from components.radiology.toolset import Radiology
from components.stages.prompt_folder import Rules
from components.verifiers.reflect import Reflect
from runner.episode.door import Door
from runner.episode.episode import run_episode
from runner.episode.shared import Parts
from tests.golden.vectors import CODE, PAPER, dev
from tests.parts import Intact
from tests.table import each_row

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


def test_it_is_an_agent_that_declares_its_required_controls():
    assert isinstance(Radagent(PAPER), Agent)
    assert tuple(Radagent(PAPER).requirements.controls) == ("start", "look", "final")


async def test_dialogue_of_the_article(perform, same_dialogue, study):
    result = await perform(Radagent(PAPER), study, [PLAN, *WORK, "It is a lung cancer."], XmlCall(), Room(PAPER))
    same_dialogue(result, "radagent_paper")


async def test_dialogue_of_the_published_code(perform, same_dialogue, study):
    """The query comes alone, and a canonical plan replaces the real one."""
    sample = replace(study, problem=replace(study.problem, images=()))
    result = await perform(Radagent(CODE), sample, [PLAN, *WORK, "It is a lung cancer."], XmlCall(), Room(CODE))
    same_dialogue(result, "radagent_code")


async def test_dialogue_with_function_calls(perform, same_dialogue, study):
    replies = [PLAN, *(native(tool) for tool in GIVEN), "I have all I need.", "It is a lung cancer."]
    result = await perform(Radagent(PAPER), study, replies, NativeTools(), Room(PAPER))
    same_dialogue(result, "radagent_native_tools")


async def test_dialogue_of_a_refusal_has_no_conclusion(perform, same_dialogue, study):
    tags = "\n".join(f"<{name.capitalize()}>{value}</{name.capitalize()}>" for name, value in GROUNDS.items())
    replies = [PLAN, call(ANATOMY), f"<NoCall>\n{tags}\n</NoCall>"]
    result = await perform(Radagent(PAPER), study, replies, XmlCall(), Room(PAPER, may_refuse=True))
    same_dialogue(result, "radagent_refusal")
    assert result.trajectory.refusal.grounds == GROUNDS


async def test_dialogue_of_a_failed_step_ends_at_once(perform, same_dialogue, study):
    replies = [PLAN, call(ANATOMY), call(DIAGNOSIS), "never asked for"]
    result = await perform(Radagent(PAPER), study, replies, XmlCall(), Room(PAPER))
    same_dialogue(result, "radagent_failure")
    assert (result.stop, result.trajectory.failure) == ("failed", "missing_value")


@dataclass(frozen=True)
class Denying(Room):
    """The same, where the first call of the modality classifier is denied and the second one is not."""

    def open(self, sample: Sample) -> Offer:
        return Denied(0.5, ["Modality Classifier"]).offer(super().open(sample), sample, Random(2))


async def test_dialogue_of_a_failing_tool_and_an_agent_that_continues(perform, same_dialogue, study):
    replies = [PLAN, call(ANATOMY), call(MODALITY), call(MODALITY), call(DIAGNOSIS, "EndCall"), "It is a lung cancer."]
    ended = await perform(Radagent(PAPER), study, replies, XmlCall(), Denying(PAPER))
    assert (ended.stop, ended.trajectory.failure) == ("failed", "denied")
    result = await perform(Radagent(PAPER, on_failure="continue"), study, replies, XmlCall(), Denying(PAPER))
    same_dialogue(result, "radagent_continues")
    assert result.stop == "answered" and read(result.trajectory, PAPER).completed


async def test_a_failed_last_call_does_not_end_the_episode(perform, study):
    replies = [PLAN, call(ANATOMY), call(MODALITY, "EndCall"), call(MODALITY, "EndCall"), "It is a CT."]
    result = await perform(Radagent(PAPER, on_failure="continue"), study, replies, XmlCall(), Denying(PAPER))
    assert result.trajectory.answer == "It is a CT."


async def test_an_agent_that_continues_after_failures_still_ends_on_a_rule_violation(perform, study):
    for label, replies in FAILURES.items():
        agent = Radagent(PAPER, on_failure="continue")
        result = await perform(agent, study, [PLAN, *replies], XmlCall(), Room(PAPER), steps=40)
        assert (result.stop, result.trajectory.failure) == ("failed", label)


async def test_dialogue_with_a_validation_that_leaves_no_trace(perform, same_dialogue, study):
    replies = [PLAN, *WORK, "<INVALID>Disease Diagnoser: lacks the capability</INVALID>", "It is a lung cancer."]
    result = await perform(Radagent(PAPER), study, replies, XmlCall(), Room(PAPER, validates=True))
    same_dialogue(result, "radagent_validation")
    assert [step.purpose for step in result.trajectory.steps][-2:] == ["validate", "conclude"]
    assert not any("INVALID" in m.text for m in result.model.requests[-1].messages)


FAILURES = {
    "unparsable_reply": ["I would look at the lungs first."],
    "unknown_tool": [call("TOOL9", given={"TOOL9": "[$Image$]"})],
    "missing_compulsory": [call(ANATOMY, given={ANATOMY: "[]"})],
    "invalid_optional": [call(ANATOMY, given={ANATOMY: "[$Image$, $Information$]"})],
    "step_limit": [call(ANATOMY)] * 21,
}


@pytest.mark.parametrize("label", FAILURES)
async def test_a_rule_violation_ends_the_episode_with_its_label(perform, study, label):
    result = await perform(Radagent(PAPER), study, [PLAN, *FAILURES[label]], XmlCall(), Room(PAPER), steps=40)
    assert (result.stop, result.trajectory.failure) == ("failed", label)
    assert result.trajectory.answer is None and result.trajectory.error
    assert sum(step.purpose == "act" for step in result.trajectory.steps) == (20 if label == "step_limit" else 1)


async def test_the_published_code_has_no_step_limit(perform, study):
    replies = [PLAN, *[call(ANATOMY)] * 30, *WORK, "It is a lung cancer."]
    result = await perform(Radagent(CODE), study, replies, XmlCall(), Room(CODE), steps=100)
    assert result.stop == "answered" and len(result.trajectory.steps) == 35


async def test_a_refusal_cannot_be_read_where_refusal_is_not_allowed(perform, study):
    tags = "".join(f"<{name.capitalize()}>{value}</{name.capitalize()}>" for name, value in GROUNDS.items())
    result = await perform(Radagent(PAPER), study, [PLAN, f"<NoCall>{tags}</NoCall>"], XmlCall(), Room(PAPER))
    assert (result.stop, result.trajectory.failure) == ("failed", "unparsable_reply")


async def test_a_plan_that_claims_what_the_record_lacks_fails_before_the_first_call(perform, study):
    claims_all = replace(PAPER, known_info="all_dollar")
    record = {k: v for k, v in study.metadata["record"].items() if k != "Treatment"}
    sample = replace(study, metadata={**study.metadata, "record": record})
    plan = PLAN.replace("[]", "['$Treatment$']")
    result = await perform(Radagent(claims_all), sample, [plan], XmlCall(), Room(claims_all))
    assert (result.stop, result.trajectory.failure) == ("failed", "unknown_initial_info")
    assert [step.purpose for step in result.trajectory.steps] == ["plan"]


async def test_values_known_beforehand_are_in_the_first_memory(perform, study):
    plan = PLAN.replace("[]", "['$Anatomy$']")
    result = await perform(Radagent(PAPER), study, [plan, WORK[1], WORK[2], "Done."], XmlCall(), Room(PAPER))
    assert result.stop == "answered"
    assert '"$Anatomy$":"Chest"' in result.model.requests[1].messages[-1].text


async def test_a_closing_action_of_the_grammar_leads_to_the_conclusion(perform, study):
    names = '{"purpose": "look", "input": ["$Image$"]}'
    replies = [PLAN, f"Action: {ANATOMY}[{names}]", 'Action: Finish[{"response": "done"}]', "It is the chest."]
    result = await perform(Radagent(PAPER), study, replies, BracketJson(), Room(PAPER))
    assert (result.stop, result.trajectory.answer) == ("answered", "It is the chest.")


async def test_a_toolset_without_a_memory_is_an_error_that_names_the_control(perform, study):
    with pytest.raises(ConfigError, match="the agent needs the control 'start'"):
        await perform(Radagent(PAPER), study, [PLAN], XmlCall(), NoTools())


ALL = ("refined_prompts", "self_reflection", "few_shot", "multi_agent")
PLAN_OBJECT = """```json
{
  "Task Summary": "Name the disease.",
  "Known Info": [],
  "Self-Reflection": "$Anatomy$ is not known, and neither is the Organ Segmentation Tool needed.",
  "Tool Chain": [*Anatomy Classification Tool* -> *Modality Classification Tool* -> *Disease Diagnosis Tool*]
}
```"""
THOUGHT = "<Reflection>\n<Candidates>one</Candidates>\n<Reasoning>it fits</Reasoning>\n</Reflection>\n"


def with_strategies(*names: str, switches: Switches = PAPER, **given: object) -> Radagent:
    return Radagent(switches, strategies=names, reflector=Reflect(), **given)


async def test_dialogue_of_all_strategies_together(perform, same_dialogue, study):
    sample = replace(study, problem=replace(study.problem, images=()))
    replies = [PLAN_OBJECT, *(THOUGHT + one for one in WORK), "It is a lung cancer."]
    result = await perform(with_strategies(*ALL), sample, replies, XmlCall(), Room(PAPER))
    same_dialogue(result, "radagent_integrated")
    assert result.stop == "answered"


async def test_planner_executor_and_concluder_are_branches_and_each_sees_its_own_part(perform, study):
    result = await perform(with_strategies("multi_agent"), study, [PLAN_OBJECT, *WORK, "Done."], XmlCall(), Room(PAPER))
    steps = result.trajectory.steps
    assert [step.branch for step in steps] == ["1/planner", *["2/executor"] * 3, "3/concluder"]
    planner, *_, last, concluder = (request.messages for request in result.model.requests)
    assert [m.role for m in planner] == [m.role for m in concluder] == ["system", "user"]
    assert [m.role for m in last] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert "TOOL1" not in planner[0].text + concluder[0].text + concluder[1].text
    assert CONTEXT in last[0].text and CONTEXT in concluder[1].text and "$Disease$" in concluder[1].text
    assert "Task Summary: Name the disease." in last[0].text and "```" not in last[0].text.partition("[Plan]")[2]


async def test_variables_in_a_reflection_are_not_taken_as_known(perform, study):
    reflected_plan = PLAN.replace("Known", "Self-Reflection: $Disease$ and $Anatomy$ have to be found.\nKnown")
    for names, plan in ((["multi_agent"], PLAN_OBJECT), (["self_reflection"], reflected_plan)):
        first = WORK[0] if names == ["multi_agent"] else THOUGHT + WORK[0]
        result = await perform(with_strategies(*names), study, [plan, first], XmlCall(), Room(PAPER), steps=1)
        memory = result.model.requests[1].messages[-1].text
        assert result.stop == "limit"
        assert "$Anatomy$" not in memory and "$Disease$" not in memory


async def test_a_plan_that_cannot_be_read_is_handed_on_as_it_is(perform, study):
    result = await perform(with_strategies("multi_agent"), study, ["I would look.", WORK[0]], XmlCall(), Room(PAPER), 1)
    assert result.model.requests[1].messages[0].text.endswith("[Plan]\nI would look.")


async def test_without_a_reflection_no_tool_runs(perform, study):
    result = await perform(with_strategies("self_reflection"), study, [PLAN, WORK[0]], XmlCall(), Room(PAPER))
    assert (result.stop, result.trajectory.failure) == ("failed", "no_reflection")
    assert not [one for step in result.trajectory.steps for one in step.observed if not one.control]


@pytest.mark.parametrize("refuses", [False, True])
@pytest.mark.parametrize("grammar", [XmlCall(), BracketJson(), NativeTools()], ids=["xml", "bracket", "native"])
async def test_examples_are_in_the_grammar_in_use(perform, study, grammar, refuses):
    agent = with_strategies("few_shot")
    result = await perform(agent, study, [PLAN, "Done.", "Done."], grammar, Room(PAPER, may_refuse=refuses))
    examples = result.model.requests[1].messages[-3].text
    forms = {"XmlCall": "<Tool>TOOL6</Tool>", "BracketJson": "Action: TOOL6[{", "NativeTools": "TOOL6({"}
    assert (
        forms[type(grammar).__name__] in examples
        and ("CategoryMissing" in examples.partition("[Examples")[2]) is refuses
    )
    assert not [text for name, text in forms.items() if name != type(grammar).__name__ and text in examples]
    assert "[Examples of plans]" in result.model.requests[0].messages[0].text


def test_switches_are_taken_in_any_order_each_once():
    assert with_strategies(*reversed(ALL)).prompts == with_strategies(*ALL).prompts == "radagent_refined"
    assert Radagent(PAPER).prompts == "radagent" and not Radagent(PAPER).requirements.prompts
    assert (
        Radagent(PAPER).requirements.verifier is None
        and with_strategies("self_reflection").requirements.verifier == Reflect()
    )


@each_row("given, text", [
    ({"strategies": ["few_shot", "few_shot"]}, "'few_shot' is listed 2 times"),
    ({"strategies": ["self_reflection"]}, r"needs a reflector; give \+verifier@agent.reflector=reflect"),
    ({"strategies": ["refined_prompts"], "prompts": "mine"}, "set refined=mine"),
    ({"roles": Roles(planner=Role("big"))}, r"models are named \(big\), but strategies have no multi_agent"),
])  # fmt: skip
def test_settings_without_effect_are_refused(given, text):
    with pytest.raises(ConfigError, match=text):
        Radagent(PAPER, **given)


async def test_each_part_may_have_a_model_of_its_own(study):
    models = {"main": Scripted(WORK), "big": Scripted([PLAN_OBJECT]), "concluder": Scripted(["It is a lung cancer."])}
    agent = with_strategies("multi_agent", roles=Roles(planner=Role("big")))
    assert agent.requirements.models == ["big"]
    parts = Parts(agent, Accept(), XmlCall(), Room(PAPER), Intact())
    trajectory, _ = await run_episode(parts, Door(models, None, run_seed=0), study, 0)
    assert (trajectory.stop, trajectory.answer) == ("answered", "It is a lung cancer.")
    assert [step.role for step in trajectory.steps] == ["big", "main", "main", "main", "concluder"]


def test_prompts_that_a_model_wrote_are_not_added_to(tmp_path, study):
    rules = Rules("radagent")
    plan = f"{rules.texts(rules.first)['plan']}\nThink of the order."
    refined = str(rules.changed(rules.first, {"plan": plan}).save(tmp_path))
    offer = Radiology(switches=PAPER).open(study)
    Radagent(PAPER, strategies=["refined_prompts"], refined=refined).check_offer(offer)
    with pytest.raises(ConfigError, match=r"few_shot adds to plan, but those of .* were written without it"):
        Radagent(PAPER, strategies=["few_shot"], prompts=refined).check_offer(offer)
