import json
from dataclasses import dataclass, replace
from typing import Any

import pytest

from components.core.errors import ToolError
from components.core.tools import NoState
from components.core.types import Problem
from components.radiology.cards import card, spec
from components.radiology.memory import open_memory, start_memory
from components.radiology.tasks import AC, AD, BQ, CATEGORIES, DD, DI, IE, MC, OS, RG, TR
from components.radiology.toolset import ERROR_CLASSES, RadiologyTool, run
from tests.golden.vectors import CODE, PAPER, dev
from tests.table import each_row

RECORD = dev().data["records"]["dev_chest_ct"]
CHEST_CT = ("Chest", "CT")


PROBLEM = Problem("p", "q")


@dataclass
class At:
    state: Any
    problem: Problem = PROBLEM


def tool(category, variant=None, pair=None, listed=None, switches=PAPER, registered=True):
    one = card(category, variant, pair, listed, switches=switches)
    return RadiologyTool(spec(one, "TOOL1"), one, switches, registered)


def failure(category, variant, pair, memory, inputs, switches=PAPER, listed=None):
    before = memory.fork()
    with pytest.raises(ToolError) as caught:
        run(card(category, variant, pair, listed, switches=switches), memory, inputs, switches)
    assert memory == before
    return caught.value


def test_checks_come_in_the_references_order():
    memory = start_memory(RECORD)
    inputs = ["$Report$"]
    assert failure(OS, None, CHEST_CT, memory, inputs).label == "binding_mismatch"
    assert failure(OS, None, None, memory, inputs).label == "missing_compulsory"
    assert failure(OS, None, None, memory, ["$Image$", "$Anatomy$", "$Report$"]).label == "missing_value"
    assert failure(OS, None, None, memory, ["$Image$", "$Modality$", "$Report$"]).label == "missing_compulsory"
    assert failure(AC, None, None, memory, ["$Image$", "$Report$"]).label == "invalid_optional"


def test_bound_tools_refuse_anatomy_and_modality():
    memory = start_memory(RECORD, ["$Anatomy$", "$Modality$"])
    error = failure(OS, None, CHEST_CT, memory, ["$Image$", "$Anatomy$"])
    assert error.label == "invalid_optional" and "does not take $Anatomy$" in str(error)
    assert run(card(OS, pair=CHEST_CT, switches=PAPER), memory, ["$Image$"], PAPER) == 0.85


def test_errors_name_class_category_and_variant():
    error = failure(BQ, "Organ", None, start_memory(RECORD), [])
    assert error.data == {"error_class": "BiomarkerError", "category": BQ, "variant": "Organ"}
    assert list(ERROR_CLASSES) == list(CATEGORIES)


def test_an_absent_legal_optional_input_is_passed_over():
    memory = start_memory(RECORD, ["$Anatomy$", "$Modality$"])
    generator = card(RG, "Text", switches=PAPER)
    inputs = [*generator.compulsory, "$Disease$", "$Information$"]
    assert run(generator, memory, inputs, PAPER) == pytest.approx(0.38)


def test_optional_inputs_raise_up_to_the_upper_bound():
    known = ["$Anatomy$", "$Modality$", "$OrganObject$", "$AnomalyObject$"]
    memory = start_memory(RECORD, known)
    memory.write(["$OrganMask$", "$AnomalyMask$"], 1.0, refresh=True)
    generator = card(RG, "Mask", switches=PAPER)
    assert run(generator, memory, [*generator.compulsory, *generator.optional], PAPER) == pytest.approx(0.71)


def test_a_score_above_a_fixed_one_is_refused():
    memory = replace(start_memory(RECORD, ["$Disease$"]), fixed={"$Disease$": 0.1})
    memory.values |= {"$Anatomy$": "Chest", "$Modality$": "CT"}
    memory.scores |= {"$Anatomy$": 1.0, "$Modality$": 1.0}
    error = failure(DD, None, None, memory, ["$Image$", "$Anatomy$", "$Modality$"])
    assert error.label == "fixed_score"


ENTITIES = [
    (OS, None, "Right lung"),
    (AD, None, "Spiculated nodule"),
    (DD, None, "Primary lung adenocarcinoma"),
    (DI, None, "Primary lung adenocarcinoma"),
    (BQ, "Organ", "volume"),
    (BQ, "Anomaly", "diameter"),
    (IE, "Organ", "Fleischner category"),
    (IE, "Anomaly", "Fleischner category"),
]


@each_row("category,variant,entity", ENTITIES)
def test_restriction_is_enforced_where_the_switch_says_so(category, variant, entity):
    def memory():
        found = start_memory(RECORD)
        names = card(category, variant, switches=PAPER).compulsory
        found.values |= dict.fromkeys(names, "x")
        found.scores |= dict.fromkeys(names, 1.0)
        return found

    inputs = card(category, variant, switches=PAPER).compulsory
    lacking = ["something else", "and another"]
    error = failure(category, variant, None, memory(), inputs, PAPER, lacking)
    assert error.label == "unsupported_entity" and error.data["error_class"] == ERROR_CLASSES[category]
    run(card(category, variant, None, lacking, switches=CODE), memory(), inputs, CODE)
    listing = [f"  {entity.upper()} ", "something else"]
    run(card(category, variant, None, listing, switches=PAPER), memory(), inputs, PAPER)


async def test_a_call_reports_outputs_values_and_score():
    memory = start_memory(RECORD, ["$Anatomy$", "$Modality$"])
    found = await tool(OS, pair=CHEST_CT)(At(memory), input="[$Image$]", purpose="outline")
    assert "\n" not in found.text
    assert json.loads(found.text) == {
        "$OrganMask$": "PLACEHOLDER_$OrganMask$",
        "$OrganObject$": "Right lung",
        "$OrganDim$": "volume",
        "score": 0.85,
    }
    assert found.data["category"] == OS and found.data["variant"] is None and found.data["score"] == 0.85
    assert set(found.data["outputs"]) == {"$OrganMask$", "$OrganObject$", "$OrganDim$"}


@each_row("inputs", ["$Image$", ["$Image$"], ["Image"], {"Image": "x"}])
async def test_inputs_may_be_text_or_a_list(inputs):
    found = await tool(AC)(At(start_memory(RECORD)), input=inputs)
    assert json.loads(found.text) == {"$Anatomy$": "Chest", "score": 0.95}


@each_row("inputs", ["", [], None, 7])
async def test_a_call_without_inputs_lacks_them(inputs):
    with pytest.raises(ToolError) as caught:
        await tool(AC)(At(start_memory(RECORD)), input=inputs)
    assert caught.value.label == "missing_compulsory"


async def test_an_unregistered_tool_is_unknown():
    with pytest.raises(ToolError) as caught:
        await tool(DI, registered=False)(At(start_memory(RECORD)), input="$Image$")
    assert caught.value.label == "unknown_tool"
    assert caught.value.data == {"error_class": "NameError", "category": DI, "variant": None}


async def test_a_tool_needs_the_memory_of_its_own_toolset():
    with pytest.raises(TypeError, match=r"NoState"):
        await tool(AC)(At(NoState()), input="$Image$")


def test_the_longest_chain_runs_to_its_end_in_the_repaired_profile():
    memory = open_memory(RECORD, "012356789", PAPER)
    steps = [(AC, None), (MC, None), (OS, None), (AD, None), (DI, None), (BQ, "Organ"), (BQ, "Anomaly")]
    for category, variant in [*steps, (IE, "Organ"), (RG, "Text and Mask"), (TR, None)]:
        one = card(category, variant, switches=PAPER)
        run(one, memory, [*one.compulsory, *one.optional], PAPER)
    assert memory.values["$Treatment$"] == RECORD["Treatment"]
    assert memory.values["$OrganQuant$"] == RECORD["OrganBiomarker"]["OrganQuant"]


def test_a_refusal_is_predicted_without_running_the_call_or_disclosing_the_list():
    memory = start_memory(RECORD, ["$Anatomy$", "$Modality$"])
    before = memory.fork()
    for one, inputs, label in (
        (tool(OS, pair=("Limb", "CT")), ["$Image$"], "binding_mismatch"), (tool(OS), "[$Image$]", "missing_compulsory"),
        (tool(DI), [*tool(DI).card.compulsory], "missing_value"), (tool(AC), "$Image$, $Modality$", "invalid_optional"),
        (tool(AC, registered=False), "$Image$", "unknown_tool"),
    ):  # fmt: skip
        with pytest.raises(ToolError) as caught:
            one.foresee(memory, input=inputs, purpose="look")
        assert caught.value.label == label
    tool(OS, listed=["Nothing of this patient"]).foresee(memory, input="$Image$, $Anatomy$, $Modality$")
    assert memory == before
