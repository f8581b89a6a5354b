import json
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

from components.core.errors import ConfigError
from components.core.protocols import Toolset
from components.core.tools import Offer, Tool
from components.core.types import Problem, Sample
from components.radiology.cards import Card, card
from components.radiology.memory import RadiologyMemory, open_memory
from components.radiology.sets import baseline
from components.radiology.switches import Switches
from components.radiology.tasks import CATEGORIES, DI, OS
from components.radiology.toolset import Radiology, RadiologyTool, controls, numbered_tools, rebuild, study_behind
from tests.golden.vectors import CODE, PAPER, dev
from tests.table import each_row

VECTORS = dev()
SAMPLE = VECTORS.sample("dev_chest_ct", "01235678")


def test_the_twelve_tools_of_the_baseline_are_open():
    toolset = Radiology(PAPER)
    assert isinstance(toolset, Toolset)
    offer = toolset.open(SAMPLE)
    assert list(offer.tools) == [f"TOOL{n}" for n in range(1, 13)]
    assert {tool.spec.facts["category"] for tool in offer.tools.values()} == set(CATEGORIES)
    assert all(isinstance(tool, Tool) and tool.effect == "episode" for tool in offer.tools.values())
    assert set(offer.controls) == {"start", "look", "final"}
    assert not offer.may_refuse and not offer.validates
    assert offer.facts == {"condition": "baseline", "kind": "baseline"}


def test_the_memory_is_fresh_and_ready_without_a_plan():
    toolset = Radiology(PAPER)
    first, second = toolset.open(SAMPLE), toolset.open(SAMPLE)
    assert isinstance(first.state, RadiologyMemory) and first.state is not second.state
    assert set(first.state.values) == {"$Image$", "$Information$", "$IndicatorName$"}
    first.state.write(["$Disease$"], 0.7, refresh=True)
    assert "$Disease$" not in second.state.values and "$Disease$" in first.fork().state.values


def test_the_reference_starts_without_the_indicators_name():
    assert set(Radiology(CODE).open(SAMPLE).state.values) == {"$Image$", "$Information$"}


def test_a_sample_without_a_record_is_refused():
    with pytest.raises(ConfigError, match=r"has no patient record"):
        Radiology().open(Sample(Problem("q1", "?"), "A"))


RECORD = dev().data["records"]["dev_chest_ct"]
PLAN = "Known Info: ['$Modality$']\nTool Chain: [*Disease Diagnosis Tool*]"


PROBLEM = Problem("p", "q")


@dataclass
class At:
    state: Any
    problem: Problem = PROBLEM


async def test_start_begins_with_the_claims_of_the_plan():
    at = At(open_memory(RECORD, "01235678", PAPER))
    found = await controls(PAPER, "baseline")["start"](at, plan=PLAN)
    assert found.data == {"known": ["$Modality$"], "plan": ["Disease Diagnosis Tool"]}
    values = json.loads(found.text)
    assert values["$Modality$"] == "CT" and values["$IndicatorName$"] == "Fleischner category"
    assert "$Disease$" not in values and "\n" not in found.text


async def test_the_references_baseline_leaks_and_echoes_nothing():
    at = At(open_memory(RECORD, "012", CODE))
    found = await controls(CODE, "baseline")["start"](at, plan=PLAN)
    assert found.data == {"known": ["$Disease$", "$Modality$"], "plan": None}
    other = await controls(CODE, "redundant_high")["start"](At(open_memory(RECORD, "012", CODE)), plan=PLAN)
    assert other.data == {"known": ["$Modality$"], "plan": ["Disease Diagnosis Tool"]}


@each_row(
    "switches,condition,shown",
    [(PAPER, "baseline", True), (CODE, "baseline", False), (CODE, "insufficient_config3", True)],
)
async def test_the_last_look_shows_the_patient(switches, condition, shown):
    at, found = At(open_memory(RECORD, "012", switches)), controls(switches, condition)
    assert json.loads((await found["look"](at)).text)["$Information$"] == "PLACEHOLDER_INFORMATION"
    final = json.loads((await found["final"](at)).text)["$Information$"]
    assert final == (RECORD["Information"] if shown else "PLACEHOLDER_INFORMATION")


def test_controls_are_shared():
    assert controls(PAPER, "baseline") is controls(PAPER, "baseline")
    assert {name: tool.spec.name for name, tool in controls(PAPER, "x").items()} == {
        "start": "start", "look": "look", "final": "final",
    }  # fmt: skip


SHORT = VECTORS.sample("dev_chest_ct", "012")
FACTS = {"condition": "baseline", "kind": "baseline"}


def cards_of(offer: Offer) -> list[Card]:
    return [tool.card for tool in offer.tools.values() if isinstance(tool, RadiologyTool)]


def test_tools_are_named_by_place():
    cards = [card(DI, supported=["gout"], switches=CODE), card(OS, switches=CODE)]
    tools = numbered_tools(cards, CODE, insufficient=True)
    assert list(tools) == ["TOOL1", "TOOL2"] == [tool.spec.name for tool in tools.values()]
    assert [tool.registered for tool in tools.values()] == [False, True]


def test_order_is_shuffled_before_naming_where_the_switch_says_so():
    offer = Radiology(PAPER).open(SHORT)
    drawn = [rebuild(offer, baseline(PAPER), Random(seed), PAPER, FACTS) for seed in (1, 1, 2)]
    orders = [cards_of(one) for one in drawn]
    assert orders[0] == orders[1] != orders[2] and set(orders[0]) == set(baseline(PAPER))
    assert all(drawn[0].tools[name] is drawn[1].tools[name] for name in drawn[0].tools), "a card's tool is made once"
    assert all(list(one.tools) == [f"TOOL{n}" for n in range(1, 13)] for one in drawn)
    assert tuple(cards_of(rebuild(offer, baseline(CODE), Random(1), CODE, FACTS))) == baseline(CODE)


def test_state_stays_and_controls_follow_the_condition():
    code = replace(CODE, tool_order="construction")
    offer = Radiology(code).open(SHORT)
    found = rebuild(offer, baseline(code), Random(1), code, {**FACTS, "condition": "redundant_high"})
    assert found.state is offer.state and found.facts["condition"] == "redundant_high"
    assert found.controls is not offer.controls


def test_another_toolsets_offer_is_refused():
    with pytest.raises(ConfigError, match=r"'redundant_high' needs toolset=radiology.*condition=intact"):
        study_behind(Offer({}), SHORT, "redundant_high")


def test_default_switches_are_those_of_profile_paper():
    assert Radiology().switches == Switches() == PAPER
