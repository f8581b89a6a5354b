from random import Random

import pytest

from components.core.errors import ConfigError
from components.core.protocols import Condition
from components.core.tools import Offer
from components.radiology.conditions.baseline import Baseline
from components.radiology.sets import baseline
from components.radiology.toolset import Radiology
from tests.golden.vectors import CODE, PAPER, dev

SAMPLE = dev().sample("dev_chest_ct", "012")


def test_the_reference_keeps_the_construction_order():
    assert isinstance(Baseline(), Condition)
    found = Baseline(CODE).offer(Radiology(CODE).open(SAMPLE), SAMPLE, Random(1))
    assert tuple(tool.card for tool in found.tools.values()) == baseline(CODE)
    assert found.facts == {"condition": "baseline", "kind": "baseline"} and not found.may_refuse


def test_the_place_of_a_tool_does_not_give_it_away():
    offers = [Baseline(PAPER).offer(Radiology(PAPER).open(SAMPLE), SAMPLE, Random(n)) for n in range(30)]
    assert len({offer.tools["TOOL1"].spec.facts["category"] for offer in offers}) > 5
    assert all(len(offer.tools) == 12 for offer in offers)


def test_another_toolset_is_refused():
    with pytest.raises(ConfigError, match=r"condition 'baseline' needs toolset=radiology"):
        Baseline().offer(Offer({}), SAMPLE, Random(1))
