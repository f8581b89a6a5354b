from components.agents.direct import Cot
from components.core.types import Problem
from components.grammars.xml_call import XmlCall
from components.text.answers import parse_letter

CHOICE = Problem("choice", "Which vitamin prevents scurvy?", {"A": "B12", "B": "C"})
OPEN = Problem("open", "What does the image show?", context="A man of 40.")


async def test_dialogue_of_a_choice(perform, same_dialogue):
    replies = ["Scurvy is a lack of ascorbic acid.\nAnswer: B"]
    same_dialogue(await perform(Cot(), CHOICE, replies, XmlCall()), "cot_choice")


async def test_dialogue_of_an_open_question(perform, same_dialogue):
    replies = ["There are ribs.\nAnswer: the chest\nand no fracture"]
    same_dialogue(await perform(Cot(), OPEN, replies, XmlCall()), "cot_open")


async def test_letters_in_the_reasoning_are_not_the_answer(perform):
    replies = ["A is wrong: B12 is for anaemia.\nAnswer: B"]
    result = await perform(Cot(), CHOICE, replies, XmlCall())
    assert parse_letter(result.trajectory.answer, CHOICE.choices) == "B"
