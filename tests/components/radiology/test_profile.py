from pathlib import Path

import pytest
import yaml

from components.core.errors import ConfigError
from components.radiology.profile import as_switches
from tests.golden.vectors import CODE, PAPER

CONF = Path(__file__).parents[3] / "conf" / "profile"


@pytest.mark.parametrize("name,switches", [("code", CODE), ("paper", PAPER)])
def test_the_profiles_are_the_two_sets(name, switches):
    given = yaml.safe_load((CONF / f"{name}.yaml").read_text())["radabench"]
    assert as_switches(given) == switches == as_switches(switches)


@pytest.mark.parametrize(
    "given,text",
    [
        ({"gt_ordre": "fixed"}, "gt_ordre"),
        ({"gt_order": "any"}, "gt_order is 'any'"),
        ({"gt_order": 5}, "gt_order is 5"),
        ({"pfsp_clip": "yes"}, "pfsp_clip"),
        ({"pfsp_clip": 1}, "pfsp_clip"),
        ({"enforce_restriction": False}, "enforce_restriction is False"),
    ],
)
def test_a_wrong_switch_is_refused(given, text):
    with pytest.raises(ConfigError, match=text):
        as_switches(given)
