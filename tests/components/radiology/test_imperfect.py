from random import Random
from statistics import fmean

import pytest

from components.core.errors import ConfigError
from components.core.protocols import Condition
from components.core.tools import Offer
from components.radiology.imperfect import Imperfect, certainty
from components.radiology.memory import open_memory
from components.radiology.tasks import AD
from components.radiology.toolset import Radiology
from tests.failing import STUDY, call_radiology, kinds
from tests.golden.vectors import PAPER

RECORD = STUDY.metadata["record"]


def card(name):
    return Radiology(PAPER).open(STUDY).tools[name].card


async def test_a_tool_is_right_as_often_as_its_card_says():
    assert isinstance(Imperfect(), Condition)
    right = [
        kinds((await call_radiology(Imperfect(), "TOOL1", seed=seed)).steps[0].observed) == [[]] for seed in range(150)
    ]
    assert fmean(right) == pytest.approx(card("TOOL1").lower, abs=0.08)


async def test_errors_travel_on_to_what_is_made_of_them():
    pairs_seen = set()
    for seed in range(40):
        trajectory = await call_radiology(Imperfect(), "TOOL1", "TOOL2", "TOOL3", seed=seed)
        first, second, third = (kinds(step.observed) == [["imperfect"]] for step in trajectory.steps[:3])
        assert third or not (first or second), "a segmentation of what is not there is wrong"
        pairs_seen.add((first or second, third))
    assert {(False, False), (True, True)} <= pairs_seen


async def test_a_wrong_value_is_of_the_same_type_and_known_only_to_scorers():
    trajectory = await call_radiology(Imperfect(), "TOOL1", seed=next(iter(await wrong_seeds("TOOL1"))))
    found = trajectory.steps[0].observed[0].observation
    right, shown = found.data["faults"][0]["changes"]["$Anatomy$"]
    assert right == RECORD["Anatomy"] != shown and shown in found.text and "imperfect" not in found.text


async def wrong_seeds(name):
    return [n for n in range(80) if kinds((await call_radiology(Imperfect(), name, seed=n)).steps[0].observed) != [[]]]


async def test_right_optional_inputs_make_a_tool_surer_up_to_its_bound():
    memory = open_memory(RECORD, "012", PAPER)
    one = next(tool.card for tool in Radiology(PAPER).open(STUDY).tools.values() if tool.card.optional)
    assert certainty(one, memory, []) == one.lower
    memory.write(one.optional, 1.0, refresh=True)
    assert certainty(one, memory, one.optional) == pytest.approx(
        min(one.upper, one.lower + one.step * len(one.optional))
    )
    memory.mistake({one.optional[0]: "x"})
    assert certainty(one, memory, one.optional) < one.upper or one.step == 0


async def test_a_lower_rate_makes_fewer_errors_and_other_categories_none():
    for condition in (Imperfect(0.0), Imperfect(1.0, [AD])):
        for seed in range(40):
            assert kinds((await call_radiology(condition, "TOOL1", seed=seed)).steps[0].observed) == [[]]


def test_another_toolset_is_refused():
    with pytest.raises(ConfigError, match="condition 'imperfect' needs toolset=radiology"):
        Imperfect().offer(Offer({}), STUDY, Random(1))
