import json
from dataclasses import dataclass
from typing import Any

import pytest

from components.core.types import Problem
from components.radiology.controls import controls
from components.radiology.memory import open_memory
from tests.golden.vectors import CODE, PAPER, dev

RECORD = dev().data["records"]["dev_chest_ct"]
PLAN = "Known Info: ['$Modality$']\nTool Chain: [*Disease Diagnosis Tool*]"


PROBLEM = Problem("p", "q")


@dataclass
class At:
    state: Any
    problem: Problem = PROBLEM


async def test_start_begins_with_the_claims_of_the_plan():
    at = At(open_memory(RECORD, "01235678", PAPER))
    found = await controls(PAPER, "baseline")["start"](at, plan=PLAN)
    assert found.data == {"known": ["$Modality$"], "plan": ["Disease Diagnosis Tool"]}
    values = json.loads(found.text)
    assert values["$Modality$"] == "CT" and values["$IndicatorName$"] == "Fleischner category"
    assert "$Disease$" not in values and "\n" not in found.text


async def test_the_references_baseline_leaks_and_echoes_nothing():
    at = At(open_memory(RECORD, "012", CODE))
    found = await controls(CODE, "baseline")["start"](at, plan=PLAN)
    assert found.data == {"known": ["$Disease$", "$Modality$"], "plan": None}
    other = await controls(CODE, "redundant_high")["start"](At(open_memory(RECORD, "012", CODE)), plan=PLAN)
    assert other.data == {"known": ["$Modality$"], "plan": ["Disease Diagnosis Tool"]}


@pytest.mark.parametrize(
    "switches,condition,shown",
    [(PAPER, "baseline", True), (CODE, "baseline", False), (CODE, "insufficient_config3", True)],
)
async def test_the_last_look_shows_the_patient(switches, condition, shown):
    at, found = At(open_memory(RECORD, "012", switches)), controls(switches, condition)
    assert json.loads((await found["look"](at)).text)["$Information$"] == "PLACEHOLDER_INFORMATION"
    final = json.loads((await found["final"](at)).text)["$Information$"]
    assert final == (RECORD["Information"] if shown else "PLACEHOLDER_INFORMATION")


def test_controls_are_shared():
    assert controls(PAPER, "baseline") is controls(PAPER, "baseline")
    assert {name: tool.spec.name for name, tool in controls(PAPER, "x").items()} == {
        "start": "start", "look": "look", "final": "final",
    }  # fmt: skip
