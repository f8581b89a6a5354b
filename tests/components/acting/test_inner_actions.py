import pytest

from components.acting.inner_actions import INNER, Plan, Think
from components.core.tools import Tool


def test_plan_and_think_are_pure_inner_tools():
    assert [tool.spec.name for tool in INNER] == ["Plan", "Think"]
    assert all(isinstance(tool, Tool) and tool.effect == "pure" for tool in INNER)
    assert all(tool.spec.facts == {"dimension": "inner"} for tool in INNER)


@pytest.mark.parametrize("tool", [Plan(), Think()])
@pytest.mark.parametrize("arguments", [{}, {"response": "first this"}, {"response": ["a", "b"], "step": 2}])
async def test_whatever_is_written_is_ok(tool, arguments):
    assert (await tool(None, **arguments)).text == "OK"


def test_no_parameter_is_demanded_or_refused():
    for tool in INNER:
        assert tool.spec.parameters["additionalProperties"] and "required" not in tool.spec.parameters
        assert list(tool.spec.parameters["properties"]) == ["response"]
