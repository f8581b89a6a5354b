from random import Random

import pytest

from components.core.errors import ConfigError
from components.core.protocols import Condition
from components.core.tools import Offer
from components.radiology.conditions.differentiated import Differentiated
from components.radiology.tasks import TASKS
from components.radiology.toolset import Radiology
from tests.golden.vectors import CODE, PAPER, dev

VECTORS = dev()


@pytest.mark.parametrize("chain", TASKS)
def test_a_restricted_tool_lists_the_records_entity(chain):
    sample = VECTORS.sample("dev_abdo_us", chain)
    for switches in (CODE, PAPER):
        assert isinstance(Differentiated(switches), Condition)
        offer = Differentiated(switches).offer(Radiology(switches).open(sample), sample, Random(2))
        assert len(offer.tools) in (17, 18)
        assert offer.facts["kind"] == offer.facts["condition"] == "differentiated"
        listed = [tool.spec.facts["supported"] for tool in offer.tools.values() if tool.spec.facts["supported"]]
        own = {"Gallbladder", "Echogenic focus with shadowing", "Acute calculous cholecystitis", "thickness", "size"}
        assert listed and all(entries[0] in own | {"Tokyo severity grade"} for entries in listed)


def test_another_toolset_is_refused():
    with pytest.raises(ConfigError, match=r"needs toolset=radiology"):
        Differentiated().offer(Offer({}), VECTORS.sample("dev_abdo_us", "012"), Random(1))
