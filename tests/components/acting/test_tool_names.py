from types import SimpleNamespace

import pytest

from components.acting.tool_names import known_names, lasting_names, named, to_lasting, to_local
from components.core.errors import ConfigError
from components.core.messages import ToolSpec
from components.core.tools import Offer

NUMBERED = [
    ToolSpec("TOOL1", "a", {}, facts={"category": "Organ Segmentor"}),
    ToolSpec("TOOL12", "b", {}, facts={"category": "Report Generator"}),
]
NAMED = [ToolSpec("Medrag", "a", {}, facts={"dimension": "knowledge"})]


def test_tools_are_named_in_whatever_case_by_name_or_category():
    tools = {spec.name: SimpleNamespace(spec=spec) for spec in (*NUMBERED, *NAMED)}
    known = known_names(tools, Offer(tools, facts={"toolset": ["TOOL1", "Camera"]}))
    assert known == ["TOOL1", "TOOL12", "Medrag", "Camera", "Organ Segmentor", "Report Generator"]
    asked = ["medrag", "report generator", "Medrag", "camera"]
    assert named(asked, known, "x") == ["Medrag", "Report Generator", "Camera"]
    assert [named([one], ["plan", "Plan"], "x") for one in ("Plan", "plan", "PLAN")] == [["Plan"], ["plan"], ["plan"]]
    with pytest.raises(ConfigError, match="x: there is no tool 'Plan'; there are TOOL1, TOOL12"):
        named(["camera", "Plan"], known, "x")
    with pytest.raises(ConfigError, match=r"no tool 'medrga'; did you mean Medrag or Camera[?] there are TOOL1"):
        named(["medrga"], known, "x")


def test_numbered_tools_are_known_by_their_category_and_others_by_their_name():
    assert lasting_names([*NUMBERED, *NAMED]) == {
        "TOOL1": "Organ Segmentor",
        "TOOL12": "Report Generator",
        "Medrag": "Medrag",
    }


def test_a_chain_goes_to_memory_and_comes_back_under_the_names_of_another_task():
    names = lasting_names([*NUMBERED, *NAMED])
    chain = to_lasting([('TOOL12[{"input":["$Image$"]}]; Medrag[{}]', "TOOL12[ said so"), ("Plan[{}]", "OK")], names)
    assert chain == [('Report Generator[{"input":["$Image$"]}]; Medrag[{}]', "TOOL12[ said so"), ("Plan[{}]", "OK")]
    elsewhere = lasting_names([ToolSpec("TOOL5", "b", {}, facts={"category": "Report Generator"})])
    text = to_local("Action: Report Generator[{}]\nObservation: Report Generator[ x", elsewhere)
    assert text == "Action: TOOL5[{}]\nObservation: Report Generator[ x"
    assert to_local("Action: Organ Segmentor[{}]", elsewhere) == "Action: Organ Segmentor[{}]"
