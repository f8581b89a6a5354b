from pathlib import Path

import pytest
import yaml

from components.core.errors import ConfigError
from components.radiology.switches import Switches
from runner.config.build import check, construct
from tests.golden.vectors import CODE, PAPER
from tests.table import each_row

CONF = Path(__file__).parents[3] / "conf" / "profile"


@pytest.mark.parametrize("name,switches", [("code", CODE), ("paper", PAPER)])
def test_the_profiles_are_the_two_sets(name, switches):
    given = yaml.safe_load((CONF / f"{name}.yaml").read_text())["radabench"]
    assert check(Switches, given) == switches


@each_row(
    "given,text",
    [
        ({"gt_ordre": "fixed"}, "gt_ordre"),
        ({"gt_order": "any"}, "gt_order: found 'any', valid: fixed, free"),
        ({"gt_order": 5}, "gt_order: found 5"),
        ({"pfsp_clip": "yes"}, "pfsp_clip"),
        ({"pfsp_clip": 1}, "pfsp_clip"),
        ({"enforce_restriction": False}, "enforce_restriction: found False"),
    ],
)
def test_a_wrong_switch_is_refused(given, text):
    with pytest.raises(ConfigError, match=text):
        check(Switches, given)


def test_every_part_reads_switches_from_a_mapping():
    for target in ("conditions.Baseline", "toolset.Radiology", "scorers.planning.Chain", "dataset.RadABench"):
        node = {"_target_": f"components.radiology.{target}", "switches": {"tma_mode": "positional"}}
        assert construct(node, "x").switches == Switches(tma_mode="positional")
