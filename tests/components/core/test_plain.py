"""Default parts, which leave their input unchanged."""

from random import Random

from components.core.messages import Message
from components.core.plain import Accept, Intact, NoTools
from components.core.protocols import Condition, Toolset
from components.core.tools import Offer
from components.core.types import Action, Problem, Sample
from components.radiology.toolset import Radiology
from tests.golden.vectors import dev


async def test_the_first_proposal_is_taken_as_it_is():
    proposals = [Action(Message("assistant", "?"), error="unreadable"), Action(Message("assistant", "b"), answer="b")]
    left = list(proposals)

    async def propose():
        return left.pop(0)

    assert await Accept().choose([], propose, None) is proposals[0] and len(left) == 1


SAMPLE = dev().sample("dev_chest_ct", "012")


def test_the_tools_stay_as_they_are():
    assert isinstance(Intact(), Condition)
    offer = Radiology().open(SAMPLE)
    found = Intact().offer(offer, SAMPLE, Random(1))
    assert found.tools is offer.tools and found.state is offer.state and found.controls is offer.controls
    assert found.facts == {"condition": "intact", "kind": "baseline"}
    assert Intact().offer(Offer({}), SAMPLE, Random(1)).facts == {"condition": "intact", "kind": "intact"}


def test_nothing_is_offered():
    assert isinstance(NoTools(), Toolset)
    offer = NoTools().open(Sample(Problem("q", "?"), "A"))
    assert not offer.tools and not offer.controls and not offer.may_refuse and offer.fork() == offer
