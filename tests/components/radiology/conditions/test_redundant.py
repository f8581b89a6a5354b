from random import Random

import pytest

from components.core.errors import ConfigError
from components.core.protocols import Condition
from components.core.tools import Offer
from components.radiology.conditions.redundant import RedundantHigh, RedundantMedium, RedundantRegular
from components.radiology.toolset import Radiology
from tests.golden.vectors import CODE, PAPER, dev

SAMPLE = dev().sample("dev_breast_mammo", "012")
CASES = [
    (RedundantRegular, "redundant_regular", {12}, {12, 13, 14, 15}),
    (RedundantMedium, "redundant_medium", {23}, {33}),
    (RedundantHigh, "redundant_high", {169}, {169}),
]


@pytest.mark.parametrize("made,name,code,paper", CASES)
def test_more_tools_than_needed_are_offered(made, name, code, paper):
    for switches, sizes in ((CODE, code), (PAPER, paper)):
        condition = made(switches)
        assert isinstance(condition, Condition)
        found = [condition.offer(Radiology(switches).open(SAMPLE), SAMPLE, Random(n)) for n in range(12)]
        assert {len(offer.tools) for offer in found} <= sizes
        assert found[0].facts == {"condition": name, "kind": "redundant"} and not found[0].may_refuse
        again = condition.offer(Radiology(switches).open(SAMPLE), SAMPLE, Random(3))
        assert [t.spec for t in again.tools.values()] == [t.spec for t in found[3].tools.values()]


@pytest.mark.parametrize("made,name,code,paper", CASES)
def test_another_toolset_is_refused(made, name, code, paper):
    with pytest.raises(ConfigError, match=f"condition '{name}' needs toolset=radiology"):
        made().offer(Offer({}), SAMPLE, Random(1))
