from statistics import fmean

import pytest

from components.core.messages import Message
from components.models.simulated.dialogue import Consultation
from components.models.simulated.draws import Draws
from components.models.simulated.skills.judge import (
    GOES_ON,
    MENDS,
    MENDS_GUIDED,
    OVERDOES,
    SEES,
    SEES_GUIDED,
    guided,
    mends,
    pick,
)

BAD, GOOD = 'Medrag[{"query":"a"}]', 'Medrag[{"query":"a b c"}]'
GUIDED = frozenset({"Medrag"})


def good(text):
    return text == GOOD


def rate(function, dialogue):
    return fmean(bool(function(dialogue, good, Draws(seed, [Message("user", "x")]))) for seed in range(600))


def picks_good(dialogue, good, draws):
    return pick(dialogue, good, draws) == GOOD


@pytest.mark.parametrize("lessons,expected", [(frozenset(), SEES), (frozenset({"UMLS"}), SEES), (GUIDED, SEES_GUIDED)])
def test_the_better_candidate_is_seen_more_often_with_lessons_on_it(lessons, expected):
    dialogue = Consultation(candidates=(BAD, GOOD), guided=lessons)
    assert rate(picks_good, dialogue) == pytest.approx(expected, abs=0.05)


def test_who_sees_nothing_takes_the_first():
    draws = Draws(0, [Message("user", "x")])
    assert pick(Consultation(candidates=(BAD, "?", "")), good, draws) == BAD
    assert rate(picks_good, Consultation(candidates=(GOOD, BAD))) == 1


@pytest.mark.parametrize(
    "text,earlier,lessons,expected",
    [
        (BAD, 0, frozenset(), MENDS),
        (BAD, 0, GUIDED, MENDS_GUIDED),
        (BAD, 1, frozenset(), GOES_ON),
        (BAD, 2, frozenset(), MENDS),
        ("unreadable", 0, frozenset(), 1),
        (GOOD, 1, GUIDED, 0),
        (GOOD, 2, GUIDED, OVERDOES),
    ],
)
def test_how_often_a_proposal_is_rewritten(text, earlier, lessons, expected):
    dialogue = Consultation(current=text, earlier=earlier, guided=lessons)
    assert rate(mends, dialogue) == pytest.approx(expected, abs=0.06)


def test_lessons_count_for_the_action_that_they_are_on():
    dialogue = Consultation(guided=GUIDED)
    assert guided(dialogue, ["?", GOOD]) and not guided(dialogue, ["?", 'UMLS[{"query":"Medrag"}]'])
