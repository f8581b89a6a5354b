"""Golden vectors of ReflecTool's actions: every ``reflectool_*.json`` in GOLDEN_DIR (default: this folder)."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from components.core.errors import ActionError
from components.core.messages import Message
from components.core.tools import Offer
from components.grammars.bracket_json import BracketJson, read_call

FOLDER = Path(os.environ.get("GOLDEN_DIR") or Path(__file__).parent)
UNREADABLE = {"ok": False, "name": None, "params": {}}


def vectors() -> Iterator[Any]:
    """The required cases, and what is suggested where the reference is plainly wrong."""
    for path in sorted(FOLDER.glob("reflectool_*.json")):
        data = orjson.loads(path.read_bytes())
        for case in data.get("action_parsing", ()):
            yield pytest.param(case["raw"], case["expected"], id=case["id"])
        for case in data.get("official_quirks", {}).get("action_parsing", ()):
            yield pytest.param(case["raw"], case["suggested"], id=case["id"])


def read(raw: str) -> dict[str, Any]:
    try:
        call = read_call(raw)
    except ActionError:
        return UNREADABLE
    return {"ok": True, "name": call.name, "params": call.params}


@pytest.mark.parametrize(("raw", "expected"), list(vectors()))
def test_action(raw: str, expected: dict[str, Any]) -> None:
    assert read(raw) == expected


@pytest.mark.parametrize(("raw", "expected"), list(vectors()))
def test_grammar_agrees_with_the_reader(raw: str, expected: dict[str, Any]) -> None:
    message = Message("assistant", raw)
    if not expected["ok"]:
        with pytest.raises(ActionError):
            BracketJson().parse(message, Offer({}))
    elif expected["name"] == "Finish":
        assert BracketJson().parse(message, Offer({})).answer is not None
    else:
        (call,) = BracketJson().parse(message, Offer({})).calls
        assert (call.name, call.parsed) == (expected["name"], expected["params"])
