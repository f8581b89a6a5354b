import json

import pytest

from components.core.errors import ToolError
from components.radiology.memory import open_memory, read_inputs, start_memory
from components.radiology.tasks import VARIABLES
from tests.golden.vectors import CODE, PAPER, dev
from tests.table import each_row

RECORD = dev().data["records"]["dev_chest_ct"]


def test_masks_cannot_be_known_from_the_start():
    with pytest.raises(ToolError, match=r"does not hold it") as caught:
        start_memory(RECORD, ["$OrganMask$"])
    assert caught.value.label == "unknown_initial_info"
    assert caught.value.data == {"error_class": "OSError"}


@each_row("chain,given", [("012", False), ("01235678", True), ("012356789", True), ("0123568", False)])
def test_the_indicators_name_is_known_from_the_start_of_tasks_that_need_it(chain, given):
    assert ("$IndicatorName$" in open_memory(RECORD, chain, PAPER).fixed) == given
    assert "$IndicatorName$" not in open_memory(RECORD, chain, CODE).values


def test_begin_keeps_what_was_given_and_forgets_what_was_found():
    memory = open_memory(RECORD, "01235678", PAPER)
    memory.write(["$Anatomy$"], 0.95, refresh=True)
    memory.begin(["$Modality$"])
    memory.begin(["$Disease$"])
    assert set(memory.values) == {"$Image$", "$Information$", "$IndicatorName$", "$Disease$"}
    assert memory.scores == memory.fixed


def test_a_fork_is_changed_apart():
    memory = start_memory(RECORD)
    fork = memory.fork()
    fork.write(["$Anatomy$"], 0.95, refresh=False)
    assert "$Anatomy$" not in memory.values and "$Anatomy$" not in memory.scores
    assert fork.fixed == memory.fixed and fork.given == memory.given


def test_a_wrong_value_stays_until_the_variable_is_written_again():
    memory = start_memory(RECORD)
    memory.write(["$AnomalyObject$"], 0.9, refresh=False)
    memory.mistake({"$AnomalyObject$": "a kite"})
    memory.write(["$AnomalyMask$"], 0.8, refresh=False)
    assert memory.values["$AnomalyObject$"] == "a kite" and memory.values["$AnomalyDim$"] == "diameter"
    fork = memory.fork()
    fork.write(["$AnomalyObject$"], 0.7, refresh=True)
    assert fork.values["$AnomalyObject$"] == RECORD["AnomalyBiomarker"]["AnomalyObject"] and fork.wrong == {}
    assert memory.wrong == {"$AnomalyObject$": "a kite"}
    memory.begin([])
    assert memory.wrong == {}


def test_a_rerun_leaves_a_placeholder_or_refreshes():
    memory = start_memory(RECORD, ["$Disease$"])
    memory.write(["$Disease$"], 0.7, refresh=False)
    assert memory.values["$Disease$"] == "PLACEHOLDER_$Disease$" and memory.scores["$Disease$"] == 1.0
    memory.write(["$Disease$"], 0.7, refresh=True)
    assert memory.values["$Disease$"] == RECORD["Disease"]


def test_mask_and_name_reveal_the_dimension_at_the_names_score():
    memory = start_memory(RECORD)
    memory.write(["$AnomalyMask$", "$AnomalyObject$"], 0.8, refresh=False)
    memory.write(["$AnomalyDim$", "$AnomalyQuant$"], 0.6, refresh=False)
    assert memory.values["$AnomalyDim$"] == "diameter" and memory.scores["$AnomalyDim$"] == 0.8
    assert memory.values["$AnomalyQuant$"] == "18 mm" and memory.scores["$AnomalyQuant$"] == 0.6


def test_a_wrong_value_is_corrected_when_a_tool_writes_or_reveals_it():
    memory = start_memory(RECORD)
    memory.write(["$AnomalyMask$", "$AnomalyObject$"], 0.8, refresh=True)
    memory.mistake({"$AnomalyObject$": "shadow", "$AnomalyDim$": "colour"})
    memory.write(["$Disease$"], 0.8, refresh=True)
    assert memory.values["$AnomalyObject$"] == "shadow" and memory.values["$AnomalyDim$"] == "colour"
    memory.write(["$AnomalyMask$", "$AnomalyObject$"], 0.8, refresh=True)
    assert memory.values["$AnomalyDim$"] == "diameter" and memory.wrong == {}


def test_the_last_look_shows_the_patients_information():
    memory = start_memory(RECORD)
    assert json.loads(memory.text())["$Information$"] == "PLACEHOLDER_INFORMATION"
    assert json.loads(memory.text(information=True))["$Information$"] == RECORD["Information"]
    assert memory.values["$Information$"] == "PLACEHOLDER_INFORMATION"


@each_row(
    "text,names",
    [
        ("[]", []),
        ("ImageMask", ["$Image$"]),
        ("'$OrganObject$','$OrganMask$', Image, Image", ["$Image$", "$OrganMask$", "$OrganObject$"]),
        ("$ValueName$ and $image$", []),
        (" ".join(reversed(VARIABLES)), [f"${name}$" for name in VARIABLES]),
    ],
)
def test_inputs_are_names_anywhere_in_canonical_order(text, names):
    assert read_inputs(text) == names
