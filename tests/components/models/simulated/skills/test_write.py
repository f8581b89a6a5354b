import pytest

from components.core.tools import Offer
from components.grammars.bracket_json import BracketJson
from components.grammars.native_tools import NativeTools
from components.grammars.xml_call import XmlCall
from components.models.simulated.reading import Card
from components.models.simulated.skills.act import Move
from components.models.simulated.skills.write import write
from components.radiology.memory import read_inputs
from components.radiology.tasks import AC, REFUSAL_FIELDS

CARD = Card("TOOL7", AC, None, None, None, ("$Image$",), (), ("$Anatomy$",), 0.95)
GROUNDS = {"purpose": "Why.", "category": AC, "anatomy": "Universal", "modality": "CT", "ability": "CategoryMissing"}
GRAMMARS = {"xml": XmlCall(), "bracket": BracketJson(), "native": NativeTools()}
OFFER = Offer({}, refusal_fields=REFUSAL_FIELDS)


def read(style, move, answer=""):
    return GRAMMARS[style].parse(write(move, style, answer), OFFER)


@pytest.mark.parametrize("style", GRAMMARS)
def test_the_grammar_reads_what_is_written(style):
    action = read(style, Move(CARD, ("$Image$", "$Disease$")))
    assert [call.name for call in action.calls] == ["TOOL7"] and not action.last
    assert read_inputs(str(action.calls[0].parsed["input"])) == ["$Image$", "$Disease$"]
    assert action.purpose == "Run the anatomy classifier."


@pytest.mark.parametrize("style", GRAMMARS)
def test_a_refusal_keeps_its_five_fields(style):
    assert read(style, Move(grounds=GROUNDS)).refusal.grounds == GROUNDS


@pytest.mark.parametrize("style", ["bracket", "native"])
def test_an_answer_ends_the_work_where_the_grammar_has_one(style):
    assert read(style, Move(), 'It says "no".\nTwo lines.').answer == 'It says "no".\nTwo lines.'


def test_only_tags_can_mark_a_last_call():
    assert read("xml", Move(CARD, ("$Image$",), last=True)).last
    assert not any(read(style, Move(CARD, ("$Image$",), last=True)).last for style in ("bracket", "native"))
