import pytest

from components.conditions.denied import Denied
from components.core.errors import ConfigError
from components.core.protocols import Condition
from tests.failing import kinds, seen


async def test_a_denied_call_is_not_made_and_says_so():
    assert isinstance(Denied(), Condition)
    found = await seen(Denied(1.0), "echo 1")
    assert found[0].error == "denied" and kinds(found) == [["denied"]]
    assert found[0].observation.text == "Access denied: no permission to use echo for this request."


async def test_each_call_is_drawn_alone():
    found = await seen(Denied(0.5), *["echo 1"] * 40)
    struck = [one.error == "denied" for one in found]
    assert 10 < sum(struck) < 30
    assert all(one.observation.text == "1" for one, hit in zip(found, struck, strict=True) if not hit)


async def test_only_the_named_tools_are_struck():
    found = await seen(Denied(1.0, ["other"]), "echo 1", "other 2")
    assert [one.error for one in found] == [None, "denied"]
    with pytest.raises(ConfigError, match="condition denied: there is no tool 'x'; there are echo, other"):
        await seen(Denied(1.0, ["x"]), "echo 1")
