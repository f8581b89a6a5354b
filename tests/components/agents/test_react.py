import orjson
import pytest

from components.agents.react import ReAct
from components.core.messages import Image, Message, ToolCall
from components.core.types import Answer, Failure, Problem
from components.grammars.bracket_json import BracketJson
from components.grammars.native_tools import NativeTools
from components.grammars.xml_call import XmlCall
from components.radiology.dataset import RadABench
from components.radiology.toolset import Radiology
from tests import record_desk

DOSE = Problem(
    "dose",
    "What is the daily dose?",
    {"A": "7 mg", "B": "9 mg"},
    context="Two tablets of 2 mg in the morning and one of 5 mg at night.",
)
SCAN = Problem(
    "scan", "Which part of the body is shown?", context="A man of 40.", images=(Image("data:image/png;base64,AA"),)
)


def calls(*calls):
    return Message("assistant", "", tuple(ToolCall(f"id{n}", name, text) for n, (name, text) in enumerate(calls)))


def xml(tag, tool, given):
    return f"<{tag}>\n<Purpose>find out</Purpose>\n<Tool>{tool}</Tool>\n<Input>{given}</Input>\n</{tag}>"


async def test_dialogue_with_function_calls(perform, same_dialogue, react, adding):
    replies = [
        calls(("sum", '{"numbers": [2, 2]}'), ("add", '{"numbers": [2, 2, 5]}')),
        calls(("add", '{"numbers": [')),
        Message("assistant", " "),
        "The sum is 9.\nAnswer: B",
    ]
    result = await perform(react, DOSE, replies, NativeTools(), adding)
    same_dialogue(result, "react_native_tools")


async def test_dialogue_with_bracketed_actions(perform, same_dialogue, react, adding):
    replies = [
        'Thought: add them up\nAction: add[{"numbers": [2, 2, 5]}]',
        "I think that it is B.",
        'Action: add[{"numbers": []}]',
        'Action: Finish[{"response": "Answer: B"}]',
    ]
    result = await perform(react, DOSE, replies, BracketJson(), adding)
    same_dialogue(result, "react_bracket_json")


async def test_dialogue_on_a_value_memory_with_a_last_call(perform, same_dialogue, react, scanning):
    replies = [
        xml("EndCall", "TOOL1", "[$Anatomy$]"),
        xml("EndCall", "TOOL9", "[$Image$]"),
        xml("EndCall", "TOOL1", "[$Image$]"),
        "The chest is shown.",
    ]
    result = await perform(react, SCAN, replies, XmlCall(), scanning)
    same_dialogue(result, "react_xml_call")


async def test_refusal_ends_the_episode_with_its_grounds_in_every_grammar(perform, react, scanning):
    grounds = {
        "purpose": "No classifier.",
        "category": "Anatomy Classifier",
        "anatomy": "Universal",
        "modality": "Universal",
        "ability": "CategoryMissing",
    }
    json_text = "{" + ", ".join(f'"{name}": "{value}"' for name, value in grounds.items()) + "}"
    tags = "".join(f"<{name.capitalize()}>{value}</{name.capitalize()}>" for name, value in grounds.items())
    for grammar, reply in (
        (XmlCall(), f"<NoCall>{tags}</NoCall>"),
        (BracketJson(), f"Thought: no\nAction: Refuse[{json_text}]"),
        (NativeTools(), calls(("refuse", json_text))),
    ):
        result = await perform(react, SCAN, [reply], grammar, scanning)
        assert result.stop == "refused"
        assert result.trajectory.refusal.grounds == grounds


async def test_repeating_an_action_does_not_end_the_episode(perform, react, adding):
    action = 'Action: add[{"numbers": [1]}]'
    result = await perform(react, DOSE, [action, action, 'Finish[{"response": "A"}]'], BracketJson(), adding)
    assert result.trajectory.answer == "A"
    assert [one.observation.text for step in result.trajectory.steps for one in step.observed] == ["1", "1"]


async def test_budget_ends_an_agent_that_never_answers(perform, react, adding):
    result = await perform(react, DOSE, lambda request: "Hm.", BracketJson(), adding, steps=3)
    assert (result.stop, len(result.trajectory.steps)) == ("limit", 3)


async def test_without_tools_the_first_message_is_the_answer(perform, react):
    result = await perform(react, DOSE, ["Answer: B"], NativeTools())
    assert (result.stop, result.trajectory.answer) == ("answered", "Answer: B")
    assert result.model.requests[0].tools == ()


async def test_stop_strings_are_sent_only_where_they_are_set(perform, adding):
    replies = ['Finish[{"response": "B"}]']
    for stop in ((), ("Observation:",)):
        result = await perform(ReAct(stop=stop), DOSE, replies, BracketJson(), adding)
        assert result.sampling[0].stop == stop


STUDY = next(s for s in RadABench(shipped="radabench_mini").load("test") if s.metadata["chain"] == "012")


def named(request, category):
    """The tool's name as the request gives it, natively or on a card."""
    for spec in request.tools:
        if spec.description.startswith(category):
            return spec.name
    cards = [orjson.loads(line) for line in request.messages[0].text.splitlines() if line.startswith('{"Name"')]
    return next(card["Name"] for card in cards if card["Property"].startswith(category))


def natively(name, given, last):
    return calls((name, orjson.dumps({"purpose": "find out", "input": given}).decode()))


def in_brackets(name, given, last):
    return f"Thought: next\nAction: {name}[{orjson.dumps({'purpose': 'find out', 'input': given}).decode()}]"


def in_tags(name, given, last):
    return xml("EndCall" if last else "Call", name, given)


@pytest.mark.parametrize(
    ("grammar", "written", "closing"),
    [
        (NativeTools(), natively, "The lung."),
        (BracketJson(), in_brackets, 'Action: Finish[{"response": "The lung."}]'),
        (XmlCall(), in_tags, "The lung."),
    ],
)
async def test_every_grammar_runs_on_the_radiology_tools(perform, react, grammar, written, closing):
    chain = [
        ("Anatomy Classifier", ["$Image$"]),
        ("Modality Classifier", ["$Image$"]),
        ("Organ Segmentor", ["$Image$", "$Anatomy$", "$Modality$"]),
    ]
    left = [*chain]

    def reply(request):
        if not left:
            return closing
        category, given = left.pop(0)
        return written(named(request, category), given, not left)

    result = await perform(react, STUDY, reply, grammar, Radiology())
    seen = [one for step in result.trajectory.steps for one in step.observed if not one.control]
    assert [one.observation.data["category"] for one in seen] == [category for category, _ in chain]
    assert [one.error for one in seen] == [None, None, None]
    assert result.trajectory.answer == "The lung."
    assert "$Image$" in result.model.requests[0].messages[1].text


def on_records(**changes):
    return ReAct(**{"prompts": "ehr_react", "shots": 4, "max_steps": 10, **changes})


async def test_on_records_each_step_sees_what_came_back_and_never_what_the_model_made_up():
    load = "Thought: stays first\nAction: LoadDB[admissions]\nObservation: 7 rows\nAction: Finish[7]"
    outcome, model, _ = await record_desk.solving(on_records(), [load, "FilterDB[HADM_ID=5]", "prose", "Finish[none]"])
    assert outcome == Answer("none")
    *_, said, seen = model.requests[1].messages
    assert said.text == "Thought: stays first\nAction: LoadDB[admissions]" and "admissions: 3 rows" in seen.text
    assert "5" in model.requests[2].messages[-1].text and "could not be read" in model.requests[3].messages[-1].text


async def test_on_records_the_prompt_shows_metadata_and_stepwise_solved_questions():
    _, model, _ = await record_desk.solving(on_records(), ["Finish[1]"])
    system, task = (message.text for message in model.requests[0].messages)
    assert "Two tables." in system and "at most 10 actions" in system and "LoadDB[name]: makes" in system
    assert "Thought: One table.\nAction: LoadDB[admissions]\nObservation: admissions: 3 rows." in system
    assert "Action: Finish[13]" in system and "#3" not in system
    assert task == "Question: Which drugs were given in the last admission of patient 1?"


async def test_on_records_it_ends_after_its_steps():
    outcome, _, _ = await record_desk.solving(on_records(max_steps=2), ["LoadDB[admissions]", "GetValue[HADM_ID]"])
    assert outcome == Failure("step_limit", "no answer within 2 steps")
