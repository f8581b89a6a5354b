from dataclasses import replace
from random import Random

import pytest

from components.conditions.both import Both
from components.conditions.renamed import Renamed
from components.conditions.withhold import Withhold
from components.core.errors import ConfigError
from components.core.protocols import Condition
from components.core.tools import Offer
from components.faults.wrapping import innermost
from components.radiology.toolset import Radiology
from tests.failing import Tools
from tests.golden.vectors import dev

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


def test_what_another_sample_is_offered_can_be_withheld_from_all():
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
