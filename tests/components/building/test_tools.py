import pytest

from components.building import BuildTool
from components.core.errors import ToolError
from components.core.tools import Tool
from tests.components.building.formulas import CLEARANCE, RIGHT, WRONG, Shop, fenced
from tests.table import each_row

GIVEN = {"age": 60, "weight": 72, "creatinine": 1.0}


async def test_a_tool_that_passes_joins_and_is_called_by_its_name(building):
    shop = Shop(fenced(RIGHT))
    seen = await BuildTool(building)(shop, **CLEARANCE)
    tool = shop.tools["CockcroftGault"]
    assert isinstance(tool, Tool) and tool.spec.facts == {"built": True}
    assert seen.data["build"]["passed"] and seen.data["build"]["code"] == RIGHT.strip()
    assert tool.spec.card_text in seen.text
    called = await tool(shop, **GIVEN)
    assert (called.text, called.data) == ("80.0", {"built": True, "value": 80.0})


async def test_one_that_fails_is_refused_with_the_reason_and_nothing_joins(building):
    shop = Shop(*[fenced(WRONG)] * 3)
    seen = await BuildTool(building)(shop, **CLEARANCE)
    assert not shop.tools and not seen.data["build"]["passed"] and seen.data["build"]["specified"]
    assert seen.data["build"]["attempts"] == 3 and "expected was 68.0" in seen.text


REFUSED = {
    "no specification": ({}, "name is None"),
    "a name that is taken": (CLEARANCE, "there is a tool CockcroftGault already"),
    "one that is taken but for its case": ({**CLEARANCE, "name": "cockcroftgault"}, "there is a tool cockcroftgault"),
    "one that ends episodes": ({**CLEARANCE, "name": "Finish"}, "there is a tool Finish already"),
}


@each_row("given, words", REFUSED.values())
async def test_no_builder_call_is_made_for_an_invalid_request(building, given, words):
    shop = Shop(offered=["CockcroftGault"])
    seen = await BuildTool(building)(shop, **given)
    assert words in seen.text and not shop.asked
    assert not seen.data["build"]["specified"] and not seen.data["build"]["passed"]


async def test_a_call_that_the_schema_does_not_allow_never_runs(building):
    shop = Shop(fenced(RIGHT))
    await BuildTool(building)(shop, **CLEARANCE)
    with pytest.raises(ToolError, match="age is 5, which is below 18") as raised:
        await shop.tools["CockcroftGault"](shop, **{**GIVEN, "age": 5})
    assert raised.value.label == "bad_arguments"


async def test_a_built_tool_that_fails_later_is_reported_as_a_failed_call(building):
    late = RIGHT.replace("clearance =", "assert weight != 77\n    clearance =", 1)
    shop = Shop(fenced(late))
    await BuildTool(building)(shop, **CLEARANCE)
    with pytest.raises(ToolError, match="CockcroftGault failed: AssertionError") as raised:
        await shop.tools["CockcroftGault"](shop, **{**GIVEN, "weight": 77})
    assert raised.value.label == "built_tool_failed" and raised.value.data == {"built": True}


LATER = {"a text": "'Finish[...]'", "not finite": "float('nan')", "too long for records": "2 ** 70"}


@each_row("given", LATER.values())
async def test_a_built_tool_that_gives_something_else_later_is_a_failed_call(building, given):
    late = RIGHT.replace("clearance =", f"if weight == 77:\n        return {given}\n    clearance =", 1)
    shop = Shop(fenced(late))
    await BuildTool(building)(shop, **CLEARANCE)
    with pytest.raises(ToolError, match="CockcroftGault failed: it gave what is no number") as raised:
        await shop.tools["CockcroftGault"](shop, **{**GIVEN, "weight": 77})
    assert raised.value.label == "built_tool_failed"


def test_the_model_is_given_the_list_of_tools_it_can_request(building):
    spec = BuildTool(building).spec
    assert spec.parameters["required"] == ["name", "description", "parameters", "examples"]
    assert "exclusiveMinimum" in spec.description
