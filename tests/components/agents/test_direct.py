from components.agents.direct import Direct
from components.core.types import Problem
from components.grammars.xml_call import XmlCall

CHOICE = Problem("choice", "Which vitamin prevents scurvy?", {"A": "B12", "B": "C"})
DECISION = Problem("decision", "Does it help?\nAnswer with yes, no or maybe.", context="It helped 9 of 10.")


async def test_dialogue_of_a_choice(perform, same_dialogue, adding):
    same_dialogue(await perform(Direct(), CHOICE, ["Answer: B"], XmlCall(), adding), "direct_choice")


async def test_dialogue_of_a_decision(perform, same_dialogue):
    same_dialogue(await perform(Direct(), DECISION, ["Answer: yes"], XmlCall()), "direct_decision")


async def test_answer_to_a_choice_is_what_is_marked_on_its_line(perform):
    result = await perform(Direct(), CHOICE, ["**Answer: B**\nC is the vitamin."], XmlCall())
    assert result.trajectory.answer == "B"


async def test_unmarked_answer_to_a_choice_is_kept_as_it_was_written(perform):
    result = await perform(Direct(), CHOICE, ["I think B.\nC is the vitamin."], XmlCall())
    assert result.trajectory.answer == "I think B.\nC is the vitamin."


async def test_tools_and_refusal_are_not_mentioned(perform, scanning):
    result = await perform(Direct(), CHOICE, ["B"], XmlCall(), scanning)
    request = result.model.requests[0]
    assert request.tools == ()
    assert "TOOL1" not in request.messages[0].text
    assert len(result.trajectory.steps) == 1
