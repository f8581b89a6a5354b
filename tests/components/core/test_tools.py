from random import Random

from components.conditions.cards import Renamed
from components.conditions.failing import Denied
from components.conditions.offered import Both
from components.core.traits import ToolTraits, declared, innermost, own_name
from components.tools.sql_coder import SQLCoder
from tests.failing import SAMPLE, Tools


def test_the_innermost_tool_has_the_name_its_toolset_gave():
    offer = Both(Renamed(1.0), Denied(1.0)).offer(Tools().open(SAMPLE), SAMPLE, Random(1))
    assert all(declared(tool, ToolTraits).wrapped is not None for tool in offer.tools.values())
    assert [own_name(tool) for tool in offer.tools.values()] == ["echo", "other"]
    assert declared(innermost(next(iter(offer.tools.values()))), ToolTraits).wrapped is None


def test_a_tool_that_limits_its_calls_declares_for_how_long():
    assert declared(SQLCoder(seconds=3), ToolTraits).timeout_seconds == 3
