from components.core.protocols import Toolset
from components.core.types import Problem, Sample
from components.toolsets.none import NoTools


def test_nothing_is_offered():
    assert isinstance(NoTools(), Toolset)
    offer = NoTools().open(Sample(Problem("q", "?"), "A"))
    assert not offer.tools and not offer.controls and not offer.may_refuse and offer.fork() == offer
