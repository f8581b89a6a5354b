import pytest

from components.agents.self_consistency import SelfConsistency
from components.agents.zero_shot import ZeroShot
from components.core.errors import ConfigError
from components.core.types import Problem
from components.grammars.xml_call import XmlCall
from components.text.answers import parse_letter

CHOICE = Problem("choice", "Which vitamin prevents scurvy?", {"A": "B12", "B": "C"}, context="A sailor.")
OPEN = Problem("open", "Which drug lowers urate?")
QUESTION = "Q: A sailor.\nWhich vitamin prevents scurvy?\nA) B12\nB) C\n"
REASONING = "B12 is for anaemia, so A is wrong."


def sent(result):
    """Role and text of every message of every request."""
    return [[(message.role, message.text) for message in request.messages] for request in result.model.requests]


async def test_zero_shot_sends_the_question_and_the_trigger_and_nothing_else(perform, adding):
    result = await perform(ZeroShot(), CHOICE, [" B) C"], XmlCall(), adding)
    assert sent(result) == [[("user", f"{QUESTION}A: The answer is")]]
    assert parse_letter(result.trajectory.answer, CHOICE.choices) == "B" and result.model.requests[0].tools == ()


async def test_chain_of_thought_uses_a_trigger_and_a_second_call_extracts_the_answer(perform):
    result = await perform(ZeroShot(reason=True, extract=True), CHOICE, [REASONING, "(B)"], XmlCall())
    first = f"{QUESTION}A: Let's think step by step"
    second = f"{first}\n{REASONING}\nTherefore, among A through B, the answer is"
    assert sent(result) == [[("user", first)], [("user", second)]]
    assert parse_letter(result.trajectory.answer, CHOICE.choices) == "B"


async def test_without_extraction_the_reply_itself_is_read(perform):
    result = await perform(ZeroShot(reason=True), CHOICE, [f"{REASONING} The answer is B."], XmlCall())
    assert sent(result) == [[("user", f"{QUESTION}A: Let's think step by step")]]
    assert parse_letter(result.trajectory.answer, CHOICE.choices) == "B"


@pytest.mark.parametrize("reply", ["Allopurinol", "The answer is Allopurinol", "Answer: Allopurinol"])
async def test_an_open_question_names_no_letters_and_the_completion_is_its_answer(perform, reply):
    result = await perform(ZeroShot(reason=True, extract=True), OPEN, ["It blocks an enzyme.", reply], XmlCall())
    assert sent(result)[1][0][1].endswith("It blocks an enzyme.\nTherefore, the answer is")
    assert result.trajectory.answer == "Allopurinol"


async def test_self_consistency_samples_both_calls_at_its_temperature(perform):
    agent = SelfConsistency(ZeroShot(reason=True, extract=True), draws=2)
    result = await perform(
        agent, CHOICE, lambda request: "B" if REASONING in request.messages[0].text else REASONING, XmlCall()
    )
    texts = [text for ((_, text),) in sent(result)]
    assert len(texts) == 4 and len(set(texts)) == 2 and {one.temperature for one in result.sampling} == {0.7}


def test_extraction_without_reasoning_is_refused():
    with pytest.raises(ConfigError, match=r"extract=true .* reason is false: set reason=true"):
        ZeroShot(extract=True)
