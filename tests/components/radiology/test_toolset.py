import pytest

from components.core.errors import ConfigError
from components.core.protocols import Toolset
from components.core.tools import Tool
from components.core.types import Problem, Sample
from components.radiology.memory import RadiologyMemory
from components.radiology.tasks import CATEGORIES
from components.radiology.toolset import Radiology
from tests.golden.vectors import CODE, PAPER, dev

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
    assert first.tools is second.tools
    first.state.write(["$Disease$"], 0.7, refresh=True)
    assert "$Disease$" not in second.state.values and "$Disease$" in first.fork().state.values


def test_the_reference_starts_without_the_indicators_name():
    assert set(Radiology(CODE).open(SAMPLE).state.values) == {"$Image$", "$Information$"}


def test_a_sample_without_a_record_is_refused():
    with pytest.raises(ConfigError, match=r"has no patient record"):
        Radiology().open(Sample(Problem("q1", "?"), "A"))
