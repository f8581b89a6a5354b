"""Suitable tools and their rank."""

import pytest

from components.radiology.suitable import Suitable
from components.radiology.tasks import BQ, DD, DI, IE, OS
from tests.components.radiology.scripted import PAIR, RECORD, tools

OTHER = ("Limb", "CT")


def test_tools_bound_to_another_pair_are_not_suitable() -> None:
    suitable = Suitable(tools((OS, None, PAIR), (OS, None, OTHER)), RECORD)
    assert [tool.name for tool in suitable.tools(OS)] == ["TOOL3", "TOOL13"]
    best = suitable.best(OS)
    assert best is not None and best.name == "TOOL13"


@pytest.mark.parametrize(
    ("category", "variant", "own"),
    [
        (OS, None, " lung"),
        (DD, None, "LUNG CANCER"),
        (DI, None, "Lung cancer"),
        (BQ, "Organ", "Volume"),
        (BQ, "Anomaly", "size"),
        (IE, "Organ", "fleischner"),
    ],
)
def test_a_restricted_tool_is_suitable_when_its_list_holds_the_entity(
    category: str, variant: str | None, own: str
) -> None:
    offered = tools((category, variant, None, ("other", own)), (category, variant, None, ("other", "else")))
    suitable = Suitable(offered, RECORD)
    best = suitable.best(category, variant)
    assert best is not None and best.name == "TOOL13"
    assert len(suitable.tools(category, variant)) == 2


def test_an_open_type_takes_both_and_equals_go_to_the_last() -> None:
    suitable = Suitable(tools(), RECORD)
    best = suitable.best(IE)
    assert [tool.name for tool in suitable.tools(IE)] == ["TOOL9", "TOOL10"]
    assert best is not None and best.name == "TOOL10"


def test_nothing_may_be_suitable() -> None:
    assert Suitable((), RECORD).best(OS) is None
