from dataclasses import replace
from random import Random

import pytest

from components.conditions.cards import Renamed
from components.conditions.failing import Denied
from components.conditions.offered import Both, Withhold
from components.conditions.wrong_results import Noisy
from components.core.errors import ConfigError
from components.core.plain import Intact
from components.core.protocols import Condition
from components.core.tools import Offer
from components.core.traits import innermost
from components.radiology.conditions import (
    Baseline,
    Differentiated,
    InsufficientConfig1,
    InsufficientConfig2,
    RedundantHigh,
)
from components.radiology.toolset import Radiology
from tests.failing import STUDY, Tools, call_tools, episode, kinds
from tests.golden.vectors import PAPER, dev
from tests.table import each_row

SAMPLE = dev().sample("dev_chest_ct", "012")


def test_withheld_tools_are_not_offered():
    assert isinstance(Withhold(), Condition)
    offer = Radiology().open(SAMPLE)
    found = Withhold(["TOOL3", "TOOL1"]).offer(offer, SAMPLE, Random(1))
    assert list(found.tools) == ["TOOL2", *(f"TOOL{n}" for n in range(4, 13))]
    assert found.facts == {"condition": "withhold", "kind": "withhold", "withheld": ["TOOL3", "TOOL1"]}
    assert len(offer.tools) == 12


def test_names_are_in_whatever_case_and_may_be_categories():
    offer = Radiology().open(SAMPLE)
    found = Withhold(["tool2", "anatomy classifier", "Tool2"]).offer(offer, SAMPLE, Random(1))
    assert list(found.tools) == [f"TOOL{n}" for n in range(3, 13)]
    assert found.facts["withheld"] == ["TOOL2", "Anatomy Classifier"]


def test_a_tool_offered_only_to_other_samples_can_be_withheld_from_all():
    offer = Offer({}, facts={"toolset": ["camera"]})
    assert Withhold(["Camera"]).offer(offer, SAMPLE, Random(1)).facts["withheld"] == ["camera"]


def test_a_tool_is_withheld_by_its_own_name_also_where_it_is_renamed():
    offer = replace(Tools().open(SAMPLE), facts={"toolset": ["echo", "other"]})
    found = Both(Renamed(1.0), Withhold(["Echo"])).offer(offer, SAMPLE, Random(1))
    assert [innermost(tool).spec.name for tool in found.tools.values()] == ["other"]


def test_names_are_checked():
    offer = Radiology().open(SAMPLE)
    with pytest.raises(ConfigError, match=r"condition withhold: there is no tool 'x'; there are TOOL1, TOOL2, .*Organ"):
        Withhold(["TOOL1", "x"]).offer(offer, SAMPLE, Random(1))
    with pytest.raises(ConfigError, match="there is no tool 'x'; there are none"):
        Withhold(["x"]).offer(Offer({}), SAMPLE, Random(1))
    with pytest.raises(ConfigError, match=r"name tools, as in condition.tools=\[Calculator\]"):
        Withhold().offer(offer, SAMPLE, Random(1))


def test_the_first_makes_the_tools_that_it_makes_alone():
    toolset = Radiology(PAPER)
    alone = Differentiated(PAPER).offer(toolset.open(STUDY), STUDY, Random(3))
    pair = Both(Differentiated(PAPER), Denied(0.5))
    assert isinstance(pair, Condition)
    found = pair.offer(toolset.open(STUDY), STUDY, Random(3))
    assert [tool.spec for tool in found.tools.values()] == [tool.spec for tool in alone.tools.values()]
    assert found.facts == {**alone.facts, "faults": [{"kind": "denied", "rate": 0.5}]}


@each_row(
    "first, name",
    [
        (Noisy(), "noisy"),
        (Renamed(), "renamed"),
        (Withhold(["Organ Segmentor"]), "withhold"),
        (InsufficientConfig1(PAPER), "insufficient_config1"),
    ],
)
@each_row("then", [RedundantHigh(PAPER), Baseline(PAPER), InsufficientConfig2(PAPER)])
def test_a_set_of_tools_that_would_undo_the_first_condition_is_refused(first, name, then):
    with pytest.raises(ConfigError, match=f"would undo '{name}' before it: choose it as condition.first"):
        Both(first, then).offer(Radiology(PAPER).open(STUDY), STUDY, Random(3))


def test_a_set_of_tools_may_follow_what_changed_nothing():
    for first in (Intact(), Baseline(PAPER)):
        assert len(Both(first, RedundantHigh(PAPER)).offer(Radiology(PAPER).open(STUDY), STUDY, Random(3)).tools) == 169


async def test_both_faults_can_hit_one_call():
    found = await call_tools(Both(Noisy(1.0), Both(Noisy(0.0), Renamed(0.0))), "echo 5")
    assert kinds(found) == [["noisy"]]
    found = await call_tools(Both(Noisy(1.0), Noisy(1.0)), "echo 100")
    assert kinds(found) == [["noisy", "noisy"]]
    found = await call_tools(Both(Noisy(1.0), Denied(1.0)), "echo 100")
    assert kinds(found) == [["denied"]]


async def test_a_failing_tool_is_reported_by_the_name_under_which_it_is_offered():
    pair = Both(Denied(1.0), Renamed(1.0))
    name = (await episode(pair, ["done"])).offered[0].name
    trajectory = await episode(pair, [f'call {name} {{"text": "1"}}', "done"])
    assert trajectory.steps[0].observed[0].observation.text.endswith(f"no permission to use {name} for this request.")


def test_a_task_that_cannot_be_done_still_cannot_where_more_is_withheld():
    pair = Both(InsufficientConfig1(PAPER), Withhold(["Report Generator"]))
    facts = pair.offer(Radiology(PAPER).open(STUDY), STUDY, Random(3)).facts
    assert (facts["kind"], facts["condition"]) == ("insufficient", "insufficient_config1")
    assert facts["withheld"] == ["Report Generator"]
