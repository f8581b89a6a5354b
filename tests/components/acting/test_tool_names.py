from types import SimpleNamespace

import pytest

from components.acting.tool_names import (
    distribution,
    known_names,
    lasting_names,
    resolve_names,
    to_lasting,
    to_local,
)
from components.core.errors import ConfigError
from components.core.messages import Image, Message, ToolCall, ToolSpec, Usage
from components.core.task_text import action_names
from components.core.tools import Offer, is_misuse
from components.core.types import Action, Problem, Refusal, Step, Trajectory

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
    assert resolve_names(asked, known, "x") == ["Medrag", "Report Generator", "Camera"]
    assert [resolve_names([one], ["plan", "Plan"], "x") for one in ("Plan", "plan", "PLAN")] == [
        ["Plan"],
        ["plan"],
        ["plan"],
    ]
    with pytest.raises(ConfigError, match="x: there is no tool 'Plan'; there are TOOL1, TOOL12"):
        resolve_names(["camera", "Plan"], known, "x")
    with pytest.raises(ConfigError, match=r"no tool 'medrga'; did you mean Medrag or Camera[?] there are TOOL1"):
        resolve_names(["medrga"], known, "x")


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


def step(branch="main", committed=True, **fields):
    action = Action(Message("assistant"), **fields)
    return Step("act", "main", branch, 0, 0, (), Message("assistant"), Usage(), action=action, committed=committed)


def test_segments_add_up_to_the_height_and_shares_to_one():
    found = distribution([["Plan", "Medrag", "UMLS", "Finish"], ["UMLS", "", "Bogus", "Finish"]], ["UMLS", "Medrag"])
    assert (found.total_actions, found.n_ignored) == (6, 2)
    assert found.height == pytest.approx(sum(found.segments.values())) == 0.5
    assert found.shares == {"UMLS": pytest.approx(2 / 3), "Medrag": pytest.approx(1 / 3)}
    assert found.malformed_rate == 2 / 8


def test_inner_actions_are_not_tools_even_when_offered_as_such():
    found = distribution([["Think", "Finish"]], ["Think", "Medrag"])
    assert (found.height, found.segments, found.shares) == (0, {}, {})


def test_an_empty_selection():
    found = distribution([], [])
    assert (found.total_actions, found.height, found.malformed_rate) == (0, 0, 0)


def test_names_are_of_committed_actions_in_their_order():
    calls = (ToolCall("1", "Medrag", "{}"), ToolCall("2", "Medrag", "{}"))
    steps = [
        step(calls=calls), step(committed=False, calls=calls), step(error="unreadable"), step(answer="A"),
        step(refusal=Refusal({})), Step("plan", "main", "main", 0, 0, (), Message("assistant"), Usage()),
    ]  # fmt: skip
    assert action_names(Trajectory(steps)) == ["Medrag", "Medrag", "", "Finish", "Finish"]


def test_only_the_final_trial_counts():
    calls = (ToolCall("1", "Medrag", "{}"),)
    steps = [step(calls=calls), step(answer="A"), step("trial/2", error="unreadable"), step("trial/2", answer="B")]
    assert action_names(Trajectory(steps)) == ["", "Finish"]
    assert action_names(Trajectory()) == []


def test_a_tool_is_misused_where_the_problem_lacks_its_kind_of_input():
    kinds = Problem("1", "?", inputs={"image_2": "b.png", "image": "a.png", "upload_files": "notes"}).input_kinds
    assert kinds == ["image", "upload_files"] and Problem("1", "?").input_kinds == []
    assert Problem("1", "?", images=(Image("data:x"),)).input_kinds == ["image"]
    assert is_misuse({"needs": "sql_database"}, kinds)
    assert not is_misuse({"needs": "image"}, kinds) and not is_misuse({}, [])
