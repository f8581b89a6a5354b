from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from random import Random
from statistics import fmean

import pytest

from components.agents.react import ReAct
from components.core.messages import Message, ToolCall, ToolSpec
from components.core.types import Problem, Sample, Trajectory
from components.grammars.bracket_json import BracketJson
from components.grammars.native_tools import NativeTools
from components.grammars.xml_call import XmlCall
from components.models.simulated.core import VERSION, Core
from components.models.simulated.rates import Rates
from components.prompts import load
from components.radiology.agent import Radagent
from components.radiology.conditions import InsufficientConfig1, InsufficientConfig2
from tests.golden.vectors import PAPER

GRAMMARS = {"xml_call": XmlCall, "bracket_json": BracketJson, "native_tools": NativeTools}


def labels(found: Sequence[Trajectory]) -> set[str | None]:
    return {one.failure for one in found}


def first_part(one: Trajectory) -> str:
    """The answer without the evidence and the plan that the base prompts ask for."""
    return (one.answer or "").partition("\n\n")[0]


async def test_a_core_that_is_told_everything_never_errs(perform, samples):
    found = await perform(samples[:22])
    assert {one.stop for one in found} == {"answered"}
    assert [first_part(one) for one in found] == [sample.target["answer"] for sample in samples[:22]]


# What the prompt forgets to tell, and how the episode then ends.
FORGOTTEN = {
    "the tools": ("tools", {"{{ instructions }}": ""}, "unparsable_reply"),
    "the memory": ("step", {"Memory now: {{ memory }}": ""}, "step_limit"),
}


@pytest.mark.parametrize("what", FORGOTTEN)
async def test_it_fails_when_the_agents_prompt_forgets(perform, samples, forgetful, what):
    template, changes, label = FORGOTTEN[what]
    agent = Radagent(PAPER, prompts=forgetful("radagent", template, changes))
    found = await perform(samples[:11], agent)
    assert {one.stop for one in found} == {"failed"} and labels(found) == {label}


async def test_without_a_format_for_the_plan_there_is_no_plan(perform, samples, forgetful):
    changes = {"Tool Chain:": "", "Answer with these two lines": "Answer"}
    found = await perform(samples[:11], Radagent(PAPER, prompts=forgetful("radagent", "plan", changes)))
    assert not any("Tool Chain" in one.steps[0].reply.text for one in found)


CARDS = "{% for card in cards %}\n{{ card }}\n{% endfor %}"


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


@pytest.mark.parametrize("grammar", ["xml_call", "bracket_json"])
async def test_it_cannot_refuse_where_it_is_not_told_how(perform, samples, forgetful, grammar):
    told = {"xml_call": {"NoCall>": "Nothing>"}, "bracket_json": {"Refuse[": "Nothing["}}[grammar]
    made = GRAMMARS[grammar](prompts=forgetful(grammar, "instructions", told))
    for condition in (InsufficientConfig1(PAPER), InsufficientConfig2(PAPER)):
        found = await perform(samples[:11], None, made, condition)
        assert not any(one.stop == "refused" for one in found)


async def test_a_question_that_it_does_not_know_is_answered_from_the_memory(perform, samples):
    stranger = replace(samples[0], problem=replace(samples[0].problem, question="Which thing is this?", context=""))
    (found,) = await perform([stranger])
    assert found.answer != samples[0].target["answer"]


CHOICE = Sample(Problem("c", "Which organ makes insulin?", {"A": "liver", "B": "pancreas", "C": "spleen"}), "B")
DECISION = Sample(Problem("d", "Is aspirin an opioid? Answer with yes, no or maybe."), "no")


@pytest.mark.parametrize("sample,right", [(CHOICE, "Answer: B"), (DECISION, "Answer: no")])
@pytest.mark.parametrize("prompts", ["direct", "cot", "react"])
def test_it_knows_the_answers_of_its_key_only(sample, right, prompts):
    asked = load(prompts).user("problem", problem=sample.problem, held="")
    for samples, expected in (([sample], True), ([], False)):
        core = Core(Rates())
        core.study(samples)
        said = core.reply([asked], (), 1).message.text
        assert (said.splitlines()[-1] == right) == expected
        assert (len(said.splitlines()) > 1) == (expected and prompts == "cot")


async def test_replies_depend_on_messages_tools_and_seed_alone(samples):
    core = Core(Rates(competence=0.5, planning_slip=0.5, malformed=0.2))
    core.study(samples)
    again = Core(Rates(competence=0.5, planning_slip=0.5, malformed=0.2))
    again.study(reversed(samples))
    system = Message("system", "Plan.\nTool Chain: [*first*]")
    asked = [[system, Message("user", f"Question: {sample.problem.question}")] for sample in samples[:50]]
    forwards = [core.reply(messages, (), 3) for messages in asked]
    backwards = [again.reply(messages, (), 3) for messages in reversed(asked)]
    assert forwards == backwards[::-1]
    assert forwards != [core.reply(messages, (), 4) for messages in asked]


async def test_usage_is_counted_and_free(samples):
    core = Core(Rates())
    completion = core.reply([Message("user", "x" * 400)], (), 0)
    assert completion.usage.input_tokens == (400 + len('{"role":"user","content":""}')) // 4
    assert completion.usage.output_tokens >= 1 and completion.usage.cost_usd == 0.0
    assert completion.finish == "stop"


async def test_malformed_replies_come_at_their_rate(perform, samples):
    found = await perform(samples[:165], malformed_rate=0.2)
    acts = [step for one in found for step in one.steps if step.purpose == "act"]
    assert fmean(step.action.error == "unparsable_reply" for step in acts) == pytest.approx(0.2, abs=0.04)


async def test_planning_slips_come_at_their_rate(perform, samples):
    plain, slipped = await perform(samples[:110]), await perform(samples[:110], planning_slip_rate=0.4)
    changed = [a.steps[0].reply != b.steps[0].reply for a, b in zip(plain, slipped, strict=True)]
    assert fmean(changed) == pytest.approx(0.4, abs=0.12)


async def test_answers_are_right_at_the_rate_of_competence(perform, samples):
    found = await perform(samples[:165], competence=0.7)
    right = [first_part(one) == sample.target["answer"] for one, sample in zip(found, samples, strict=False)]
    assert fmean(right) == pytest.approx(0.7, abs=0.08)


async def test_wrong_tools_come_at_their_rate(perform, samples):
    """Of first calls, so that one slip does not bring the next: the right one is an anatomy classifier."""
    found = await perform(samples[:330], wrong_tool_rate=0.5)
    called = [next(o for o in one.steps[1].observed if not o.control).observation.data["category"] for one in found]
    assert fmean(category != "Anatomy Classifier" for category in called) == pytest.approx(0.5, abs=0.06)


async def test_a_core_that_refuses_nothing_and_one_that_refuses_all(perform, samples):
    for rate, refused in ((0.0, 1.0), (1.0, 0.0)):
        found = await perform(samples[:44], condition=InsufficientConfig1(PAPER), ignored_refusal_rate=rate)
        assert fmean(one.stop == "refused" for one in found) == refused


SQL = "select patients.gender from patients where patients.subject_id = 7"
RECORD = Sample(Problem("r", "Is patient 7 male?"), {"answer": ["m"]}, {"sql": SQL, "sql_dialect": "mimic_iii"})
GAP = Sample(Problem("g", "Where does patient 7 live?"), {"answer": None}, {"sql": None, "sql_dialect": "mimic_iii"})
FUNCTIONS = "LoadDB(name)\nFilterDB(table, conditions)\nGetValue(table, argument)\nSQLInterpreter(sql)\npatients: SUBJECT_ID, GENDER"
ACTIONS = "LoadDB[name]: x\nFilterDB[conditions]: x\nGetValue[argument]: x\nSQLInterpreter[sql]: x\npatients: SUBJECT_ID, GENDER\nFinish[answer]"
CELL = "patients = LoadDB('patients')\nanswer = GetValue(patients, 'GENDER_no')"
WHY = "The cell failed: There is no column `GENDER_no`; the columns are SUBJECT_ID, GENDER."
# System prompts, what is asked below them, and what was said and seen since: as agents write them, but never changed.
ASKED = [
    (f"One cell between ```python and ```, then TERMINATE.\n{FUNCTIONS}", "Question: {}", ()),
    (f"One cell between ```python and ```, then TERMINATE.\n{FUNCTIONS}", "Question: {}", (f"```python\n{CELL}\n```", WHY)),
    (f"One cell between ```python and ```, then TERMINATE.\n{FUNCTIONS}", "Question: {}", (f"```python\n{CELL}\n```", f"{WHY}\n\nPotential reasons:\n`GENDER` is meant where `GENDER_no` stands.")),
    (f"{ACTIONS}\nRefuse[why]", "Question: {}", ()),
    (ACTIONS, "Question: {}", ("Action: LoadDB[PATIENTS]", "Observation: There is no table `PATIENTS`; there are patients.")),
    ("Help.", f"Question: {{}}\n\nWhat was run:\n{CELL}\n\nWhat came of it:\n{WHY}\n\nMost likely cause:", ()),
    ("patients: SUBJECT_ID, GENDER", "Question: {}\nKnowledge:", ()),
    ("A statement between ```sql and ```.\npatients: SUBJECT_ID, GENDER", "Question: {}\nSQL:", ()),
    ("Answer.", "{}", ()),
    ("You are on a panel.", "Question: {}\nDo you agree?\nYES or NO", ()),
]  # fmt: skip
GOLDEN = {"11": "b76809f89bbe8776"}


def conversations() -> list[list[Message]]:
    """Of records, a gap, a choice and a decision, each below each prompt."""
    found = []
    for sample in (RECORD, GAP, CHOICE, DECISION):
        for system, asked, since in ASKED:
            turns = [Message("assistant" if n % 2 == 0 else "user", text) for n, text in enumerate(since)]
            found.append([Message("system", system), Message("user", asked.format(sample.problem.question)), *turns])
    return found


def test_what_it_replies_to_the_same_messages_changes_with_its_version_alone():
    core = Core(Rates(0.7, 0.2, 0.1, 0.1, 0.3))
    core.study([RECORD, GAP, CHOICE, DECISION])
    said = [core.reply(messages, (), seed).message.wire for messages in conversations() for seed in range(12)]
    digest = blake2b(b"\0".join(said), digest_size=8).hexdigest()
    assert GOLDEN.get(VERSION) == digest, f"replies have changed: raise VERSION and note {digest} beside it"


ODD = ['{"name": "x", "parameters": []}', '{"name":"x", ', 'Refuse[{"reason": ...}]', "Next, as number 3, comes LoadDB.",
       "What was run:\n\nWhat came of it:\n\n\nMost likely cause:", "```python\n```", "Action: [", "Finish[", "<EndCall>",
       "Selected action:", "Refined action:", "[Candidate_Actions]\n1. Action: ", "`x` is meant where `` stands.",
       "There is no column `(`; the columns are (, ).", "```sql and ```", "Statement:\n```sql\n'\n```", "TERMINATE", "#9", "\x00",
       "between ```python and ```", 'Finish[{"response"', "Now answer the question", "Explain the cell line by line", "Traceback"]  # fmt: skip


def test_it_never_fails_on_odd_messages():
    core, random = Core(Rates(0.5, 0.5, 0.3, 0.1, 0.3)), Random(0)
    core.study([RECORD, GAP, CHOICE, DECISION])
    tools = [
        ToolSpec("python", "x"),
        ToolSpec("SQLInterpreter", "", {"properties": {"sql": {}}}),
        ToolSpec("refuse", "x", {}),
    ]
    for seed in range(1500):
        sample = random.choice((RECORD, GAP, CHOICE))
        messages = [
            Message("user", "\n".join([*random.sample(ODD, 4), sample.problem.question, *random.sample(ODD, 2)]))
        ]
        for role in random.choices(("assistant", "user", "tool", "system"), k=random.randrange(5)):
            calls = (
                (ToolCall("c", "python", random.choice(("{", '{"cell": "x"}', "[]"))),) if random.random() < 0.3 else ()
            )
            messages.append(Message(role, random.choice(ODD), calls if role == "assistant" else ()))
        assert core.reply(messages, random.sample(tools, random.randrange(3)), seed).message.role == "assistant"
