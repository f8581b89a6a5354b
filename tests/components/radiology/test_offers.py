from dataclasses import replace
from random import Random

import pytest

from components.core.errors import ConfigError
from components.core.tools import Offer
from components.radiology.cards import Card, card
from components.radiology.offers import named, rebuilt, study_behind
from components.radiology.sets import baseline
from components.radiology.switches import Switches
from components.radiology.tasks import DI, OS
from components.radiology.tool import RadiologyTool
from components.radiology.toolset import Radiology
from tests.golden.vectors import CODE, PAPER, dev

SAMPLE = dev().sample("dev_chest_ct", "012")
FACTS = {"condition": "baseline", "kind": "baseline"}


def cards_of(offer: Offer) -> list[Card]:
    return [tool.card for tool in offer.tools.values() if isinstance(tool, RadiologyTool)]


def test_tools_are_named_by_place():
    tools = named([card(DI, switches=PAPER), card(OS, switches=PAPER)], PAPER, lambda one: one.category == DI)
    assert list(tools) == ["TOOL1", "TOOL2"] == [tool.spec.name for tool in tools.values()]
    assert [tool.registered for tool in tools.values()] == [False, True]


def test_order_is_shuffled_before_naming_where_the_switch_says_so():
    offer = Radiology(PAPER).open(SAMPLE)
    drawn = [rebuilt(offer, baseline(PAPER), Random(seed), PAPER, FACTS) for seed in (1, 1, 2)]
    orders = [cards_of(one) for one in drawn]
    assert orders[0] == orders[1] != orders[2] and set(orders[0]) == set(baseline(PAPER))
    assert all(list(one.tools) == [f"TOOL{n}" for n in range(1, 13)] for one in drawn)
    assert tuple(cards_of(rebuilt(offer, baseline(CODE), Random(1), CODE, FACTS))) == baseline(CODE)


def test_state_stays_and_controls_follow_the_condition():
    code = replace(CODE, tool_order="construction")
    offer = Radiology(code).open(SAMPLE)
    found = rebuilt(offer, baseline(code), Random(1), code, {**FACTS, "condition": "redundant_high"})
    assert found.state is offer.state and found.facts["condition"] == "redundant_high"
    assert found.controls is not offer.controls


def test_another_toolsets_offer_is_refused():
    with pytest.raises(ConfigError, match=r"'redundant_high' needs toolset=radiology.*condition=intact"):
        study_behind(Offer({}), SAMPLE, "redundant_high")


def test_default_switches_are_those_of_profile_paper():
    assert Radiology().switches == Switches() == PAPER
