import pytest

from components.acting.reflection import reflection_in
from components.core.messages import Message, ToolCall
from components.models.simulated.draws import Draws
from components.models.simulated.reading import CALLS, REFLECTS, Card, Situation
from components.models.simulated.skills.act import Move
from components.models.simulated.skills.reflect import heeds, proposed, reflected, repeated, shows_form
from components.models.simulated.skills.write import write
from components.prompts import load

CARD = Card("TOOL1", "Anatomy Classifier", None, None, None, ("$Image$",), (), ("$Anatomy$",), 0.95)
MOVE = Move(CARD, ("$Image$",))
ASKED = Situation(marks=frozenset({REFLECTS}))
CALL = "<Call>\n<Tool>TOOL1</Tool>\n</Call>"


@pytest.mark.parametrize("style", ["xml", "bracket", "native"])
def test_a_reflection_stands_where_the_grammar_has_room_for_it(style):
    plain = write(MOVE, style, "")
    said = reflected(plain, MOVE, ASKED, style, forgets=False)
    assert "TOOL1" in reflection_in(said.text) and said.tool_calls == plain.tool_calls
    assert said.text.startswith("Thought: <Reflection>") is (style == "bracket")
    assert reflected(plain, MOVE, Situation(), style, False) == reflected(plain, MOVE, ASKED, style, True) == plain


def test_an_answer_needs_none_and_a_refusal_does():
    answer = Message("assistant", "It is gout.")
    assert reflected(answer, Move(), ASKED, "native", forgets=False) == answer
    refusal = Move(grounds={"purpose": "no tool"})
    assert reflection_in(reflected(write(refusal, "xml", ""), refusal, ASKED, "xml", forgets=False).text)


def test_its_own_proposal_is_read_as_the_verifier_shows_it():
    asked = "Next?\n\n" + load("reflect").render("finding", proposal=CALL, finding="It needs $Image$.")
    assert proposed(asked) == CALL and proposed("Next?") is None
    assert heeds(asked, Draws(3, [Message("user", "a")])) and not heeds("[Proposal]\nx", Draws(3, []))
    share = sum(heeds(asked, Draws(seed, [])) for seed in range(300)) / 300
    assert share == pytest.approx(0.9, abs=0.05)


def test_it_says_the_same_again():
    assert repeated(CALL, "xml").text == CALL
    native = repeated('TOOL1[{"input":["$Image$"]}]', "native")
    assert native.tool_calls == (ToolCall("call_TOOL1", "TOOL1", '{"input":["$Image$"]}'),)
    assert repeated("I would look.", "native").text == "I would look."


def test_the_form_is_shown_in_the_grammar_in_use_or_not_at_all():
    shown = [Message("system", f"{CALLS}\nReply:\n{CALL}")]
    marked = Situation(marks=frozenset({CALLS}))
    assert shows_form(shown, marked, "xml") and not shows_form(shown, marked, "bracket")
    assert not shows_form(shown, Situation(), "xml")
    assert not shows_form([Message("system", f"{CALL}\n{CALLS}")], marked, "xml")
