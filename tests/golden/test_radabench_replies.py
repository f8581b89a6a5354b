"""Golden vectors of RadABench's step replies, read by the grammar xml_call."""

from typing import Any

import pytest

from components.core.errors import ActionError
from components.core.messages import Message
from components.core.tools import Offer
from components.grammars.xml_call import XmlCall
from components.radiology.memory import read_inputs
from components.radiology.tasks import REFUSAL_FIELDS
from tests.golden.vectors import Unit, units

GRAMMARS = {"solvable": Offer({}), "insufficient": Offer({}, refusal_fields=REFUSAL_FIELDS)}


def cases(kind: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("unit", [pytest.param(unit, id=unit.id) for unit in units(kind)])


def read(text: str, grammar: str) -> dict[str, Any]:
    """Tag and fields as the vectors write them."""
    try:
        action = XmlCall().parse(Message("assistant", text), GRAMMARS[grammar])
    except ActionError as error:
        assert error.label == "unparsable_reply"
        return {"tag": None, "fields": None}
    if action.refusal is not None:
        return {"tag": "NoCall", "fields": dict(action.refusal.grounds)}
    (call,) = action.calls
    fields = {"purpose": action.purpose, "tool": call.name, "input": read_inputs(call.parsed["input"])}
    assert call.parsed["purpose"] == action.purpose
    return {"tag": "EndCall" if action.last else "Call", "fields": fields}


@cases("step_parse")
def test_step_reply(unit: Unit) -> None:
    assert read(unit.data["text"], unit.data["grammar"]) == unit.data["expected"]


@cases("trajectories")
def test_step_replies_of_an_episode(unit: Unit) -> None:
    grammar = "insufficient" if unit.data["condition"].startswith("insufficient") else "solvable"
    for text, step in zip(unit.data["turns"]["steps"], unit.data["expected"]["steps"], strict=True):
        assert read(text, grammar) == {"tag": step["tag"], "fields": step["fields"]}
