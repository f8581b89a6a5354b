import orjson
import pytest

from components.core.messages import Message
from components.core.task_text import action_text
from components.core.tools import Offer
from components.grammars.bracket_json import BracketJson
from components.grammars.native_tools import NativeTools
from components.grammars.xml_call import XmlCall
from components.models.simulated.dialogue import Consultation
from components.models.simulated.draws import Draws
from components.models.simulated.review import again, review, written

GRAMMARS = {"bracket": BracketJson(), "xml": XmlCall(), "native": NativeTools()}
OFFER = Offer({}, refusal_fields={"purpose": (), "ability": ()})
CALL = 'Medrag[{"query":"a </Input> b","text":"two\\nlines"}]'


def read(message, style):
    return action_text(GRAMMARS[style].parse(message, OFFER))


@pytest.mark.parametrize("style", GRAMMARS)
def test_an_action_is_written_again_as_the_same_action(style):
    assert read(again(CALL, style), style) == CALL
    refusal = 'Refuse[{"purpose":"no tool","ability":"CategoryMissing"}]'
    assert read(again(refusal, style), style) == refusal


@pytest.mark.parametrize("style", ["bracket", "native"])
def test_an_answer_is_written_again(style):
    assert read(again('Finish[{"response":"B. gout"}]', style), style) == 'Finish[{"response":"B. gout"}]'


@pytest.mark.parametrize("style", GRAMMARS)
def test_several_calls_or_none_that_can_be_read_are_no_trouble(style):
    assert read(again(f"{CALL}; {CALL}", style), style) == CALL
    assert again("", style).text == "Action: " and again("Medrag[", style).role == "assistant"


def test_the_last_call_is_marked_in_tags():
    for last in (False, True):
        assert XmlCall().parse(written("Medrag", {"query": "q"}, "xml", last), OFFER).last == last


DRAWS = Draws(1, [Message("user", "x")])
BETTER = Message("assistant", "better")


def test_a_choice_is_a_candidate_as_it_stands():
    said = review(Consultation(candidates=("", CALL)), lambda text: True, lambda: BETTER, "native", DRAWS)
    assert said.text in ("", CALL)


def test_a_proposal_is_kept_where_it_is_good_and_written_anew_where_it_cannot_be_read():
    assert (
        read(review(Consultation(current=CALL), lambda text: True, lambda: BETTER, "native", DRAWS), "native") == CALL
    )
    assert review(Consultation(current="hm"), lambda text: False, lambda: BETTER, "bracket", DRAWS) == BETTER
    assert orjson.loads(again(CALL, "native").tool_calls[0].arguments)["text"] == "two\nlines"
