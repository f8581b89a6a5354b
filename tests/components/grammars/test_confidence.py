"""Each grammar asks for a confidence at its ending and reads it there; where it is not asked for, none does."""

import pytest

from components.core.errors import ActionError
from components.core.messages import Message, ToolCall
from components.core.tools import Offer
from components.ehr.actions import PythonCell
from components.grammars.bracket_json import BracketJson, BracketText
from components.grammars.code_block import CodeBlock
from components.grammars.native_tools import NativeTools
from components.grammars.xml_call import XmlCall
from tests.attempts import Echo
from tests.table import each_row

OFFER = Offer({"echo": Echo()})
PYTHON = Offer({"python": PythonCell(described=False)})
XML = "<EndCall><Purpose>p</Purpose><Tool>echo</Tool><Input>[]</Input>{}</EndCall>"
CELL = "```python\nanswer = 1\n```\n"
ENDINGS = {  # grammar -> offer, an ending with a confidence, its answer, one without
    XmlCall: (OFFER, XML.format("<Confidence> 80 </Confidence>"), None, XML.format("")),
    BracketJson: (
        OFFER, 'Action: Finish[{"confidence": 80, "response": "B"}]', "B", 'Action: Finish[{"response": "B"}]',
    ),
    NativeTools: (OFFER, "It is B.\nConfidence: 80", "It is B.", "It is B."),
    BracketText: (OFFER, "Thought: so\nAction: Finish[B | confidence: 80]", "B", "Thought: so\nAction: Finish[B]"),
    CodeBlock: (PYTHON, "It is 1.\nConfidence: 80\nTERMINATE", "It is 1.", "It is 1.\nTERMINATE"),
}  # fmt: skip


@each_row("kind", ENDINGS)
def test_an_ending_states_a_confidence_in_its_own_field(kind):
    offer, stating, answer, silent = ENDINGS[kind]
    read = kind(confidence=True).parse(Message("assistant", stating), offer)
    assert (read.answer, read.confidence) == (answer, "80")
    assert kind(confidence=True).parse(Message("assistant", silent), offer).confidence is None


@each_row("kind", ENDINGS)
def test_instructions_ask_for_it_and_say_nothing_else_than_without(kind):
    offer = ENDINGS[kind][0]
    plain, asking = kind().instructions(offer), kind(confidence=True).instructions(offer)
    assert asking.startswith(f"{plain}\n\nState how sure you are.") and "State how sure" not in plain


def test_where_none_is_asked_for_it_is_no_field():
    with pytest.raises(ActionError, match="Finish takes one parameter"):
        BracketJson().parse(Message("assistant", ENDINGS[BracketJson][1]), OFFER)
    assert BracketText().parse(Message("assistant", ENDINGS[BracketText][1]), OFFER).answer == "B | confidence: 80"
    assert NativeTools().parse(Message("assistant", ENDINGS[NativeTools][1]), OFFER).answer.endswith("80")
    assert XmlCall().parse(Message("assistant", ENDINGS[XmlCall][1]), OFFER).confidence is None


def test_a_cell_with_the_last_word_and_a_call_of_the_function_state_it_too():
    grammar, call = CodeBlock(confidence=True), ToolCall("1", "python", '{"cell": "answer = 1"}')
    assert grammar.parse(Message("assistant", f"{CELL}Confidence: 60\nTERMINATE"), PYTHON).confidence == "60"
    called = grammar.parse(Message("assistant", "TERMINATE\nConfidence: 60", tool_calls=(call,)), PYTHON)
    assert (called.last, called.confidence) == (True, "60")


def test_a_verifier_reads_a_native_answer_without_its_confidence():
    action = NativeTools(confidence=True).parse(Message("assistant", "It is B.\nConfidence: 80"), OFFER)
    assert action.message.text == action.answer == "It is B."
