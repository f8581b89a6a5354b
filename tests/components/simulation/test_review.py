from statistics import fmean

import orjson
import pytest

from components.core.messages import Message
from components.core.task_text import action_text
from components.core.tools import Offer
from components.grammars.bracket_json import BracketJson
from components.grammars.native_tools import NativeTools
from components.grammars.xml_call import XmlCall
from components.simulation.draws import Draws
from components.simulation.grammar import called
from components.simulation.history import (
    OVERDOES,
    REPAIRS,
    REPAIRS_AGAIN,
    REPAIRS_GUIDED,
    SEES,
    SEES_GUIDED,
    History,
    guided,
    repeated,
    review,
)
from tests.table import each_row

GRAMMARS = {"bracket": BracketJson(), "xml": XmlCall(), "native": NativeTools()}
OFFER = Offer({}, refusal_fields={"purpose": (), "ability": ()})
CALL = 'Medrag[{"query":"a </Input> b","text":"two\\nlines"}]'


def read(message, style):
    return action_text(GRAMMARS[style].parse(message, OFFER))


@each_row("style", GRAMMARS)
def test_an_action_is_written_again_as_the_same_action(style):
    assert read(repeated(CALL, style), style) == CALL
    refusal = 'Refuse[{"purpose":"no tool","ability":"CategoryMissing"}]'
    assert read(repeated(refusal, style), style) == refusal


@pytest.mark.parametrize("style", ["bracket", "native"])
def test_an_answer_is_written_repeated(style):
    assert read(repeated('Finish[{"response":"B. gout"}]', style), style) == 'Finish[{"response":"B. gout"}]'


@each_row("style", GRAMMARS)
def test_replies_with_several_or_unreadable_calls_are_handled(style):
    assert read(repeated(f"{CALL}; {CALL}", style), style) == CALL
    assert repeated("", style).text == "Action: " and repeated("Medrag[", style).role == "assistant"


def test_the_last_call_is_marked_in_tags():
    for last in (False, True):
        assert XmlCall().parse(called("xml", "Medrag", {"query": "q"}, last=last), OFFER).last == last


DRAWS = Draws(1, [Message("user", "x")])
BETTER = Message("assistant", "better")


def test_a_choice_is_a_candidate_as_it_stands():
    said = review(History(candidates=("", CALL)), lambda text: True, lambda: BETTER, "native", DRAWS)
    assert said.text in ("", CALL)


def test_a_good_proposal_is_kept_and_an_unreadable_one_is_written_again():
    assert read(review(History(current=CALL), lambda text: True, lambda: BETTER, "native", DRAWS), "native") == CALL
    assert review(History(current="hm"), lambda text: False, lambda: BETTER, "bracket", DRAWS) == BETTER
    assert orjson.loads(repeated(CALL, "native").tool_calls[0].arguments)["text"] == "two\nlines"


BAD, GOOD = 'Medrag[{"query":"a"}]', 'Medrag[{"query":"a b c"}]'
GUIDED = frozenset({"Medrag"})


def good(text):
    return text == GOOD


def share(history, holds):
    """How often a reply has this text."""
    made = (review(history, good, lambda: BETTER, "bracket", Draws(n, [Message("user", "x")])).text for n in range(600))
    return fmean(map(holds, made))


@each_row("lessons,expected", [(frozenset(), SEES), (frozenset({"UMLS"}), SEES), (GUIDED, SEES_GUIDED)])
def test_the_better_candidate_is_seen_more_often_with_lessons_on_it(lessons, expected):
    history = History(candidates=(BAD, GOOD), guided=lessons)
    assert share(history, GOOD.__eq__) == pytest.approx(expected, abs=0.05)


def test_without_information_the_first_candidate_is_taken():
    assert share(History(candidates=(BAD, "?", "")), BAD.__eq__) == 1
    assert share(History(candidates=(GOOD, BAD)), GOOD.__eq__) == 1


@each_row(
    "text,earlier,lessons,expected",
    [
        (BAD, 0, frozenset(), REPAIRS),
        (BAD, 0, GUIDED, REPAIRS_GUIDED),
        (BAD, 1, frozenset(), REPAIRS_AGAIN),
        (BAD, 2, frozenset(), REPAIRS),
        ("unreadable", 0, frozenset(), 1),
        (GOOD, 1, GUIDED, 0),
        (GOOD, 2, GUIDED, OVERDOES),
    ],
)
def test_how_often_a_proposal_is_rewritten(text, earlier, lessons, expected):
    history = History(current=text, earlier=earlier, guided=lessons)
    assert share(history, BETTER.text.__eq__) == pytest.approx(expected, abs=0.06)


def test_lessons_count_for_the_action_that_they_are_on():
    history = History(guided=GUIDED)
    assert guided(history, ["?", GOOD]) and not guided(history, ["?", 'UMLS[{"query":"Medrag"}]'])
