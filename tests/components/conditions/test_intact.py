from random import Random

from components.conditions.intact import Intact
from components.core.protocols import Condition
from components.core.tools import Offer
from components.radiology.toolset import Radiology
from tests.golden.vectors import dev

SAMPLE = dev().sample("dev_chest_ct", "012")


def test_the_tools_stay_as_they_are():
    assert isinstance(Intact(), Condition)
    offer = Radiology().open(SAMPLE)
    found = Intact().offer(offer, SAMPLE, Random(1))
    assert found.tools is offer.tools and found.state is offer.state and found.controls is offer.controls
    assert found.facts == {"condition": "intact", "kind": "baseline"}
    assert Intact().offer(Offer({}), SAMPLE, Random(1)).facts == {"condition": "intact", "kind": "intact"}
