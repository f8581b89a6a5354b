from random import Random

import pytest

from components.conditions.withhold import Withhold
from components.errors import ConfigError
from components.protocols import Condition
from components.toolsets.radiology import Radiology
from components.types import Offer
from tests.golden.vectors import dev

SAMPLE = dev().sample("dev_chest_ct", "012")


def test_withheld_tools_are_not_offered():
    assert isinstance(Withhold(), Condition)
    offer = Radiology().open(SAMPLE)
    found = Withhold(["TOOL3", "TOOL1"]).offer(offer, SAMPLE, Random(1))
    assert list(found.tools) == ["TOOL2", *(f"TOOL{n}" for n in range(4, 13))]
    assert found.facts == {"condition": "withhold", "kind": "withhold", "withheld": ["TOOL3", "TOOL1"]}
    assert len(offer.tools) == 12
    assert len(Withhold("TOOL1").offer(offer, SAMPLE, Random(1)).tools) == 11


@pytest.mark.parametrize("names,text", [(["x", "TOOL1"], r"\['x'\]"), ([], r"\[\]")])
def test_names_are_checked(names, text):
    offer = Radiology().open(SAMPLE)
    with pytest.raises(ConfigError, match=rf"cannot withhold {text}: the toolset has \['TOOL1', 'TOOL2'"):
        Withhold(names).offer(offer, SAMPLE, Random(1))
    with pytest.raises(ConfigError, match=r"the toolset has \[\]"):
        Withhold(["x"]).offer(Offer({}), SAMPLE, Random(1))
