import json
from collections import Counter

import pytest

from components.core.errors import ConfigError
from components.core.traits import ScorerTraits, declared
from components.core.types import Trajectory
from components.fhir.dataset import MedAgentBench
from components.fhir.gold import NUMBERED, QUERIES
from components.fhir.scorer import FhirTasks
from tests.components.fhir.fernhill import MINI, SLICE, samples
from tests.table import each_row

NOW = "It's 2023-11-13T10:15:00+00:00 now."


def folder(root, *rows):
    (root / "test_data_v2.json").write_text(json.dumps(rows))
    return str(root)


def test_the_mini_has_every_category_with_right_answers_and_requests():
    kinds = Counter(one.metadata["fhir_category"] for one in samples().values())
    assert set(kinds) == set(NUMBERED) and len(samples()) == 41 and min(kinds.values()) == 4
    orders = Counter(
        len(one.target["requests"]) for one in samples().values() if one.metadata["fhir_category"] not in QUERIES
    )
    assert orders == {0: 6, 1: 13, 2: 2}  # nothing is to be done in 6 of the actions
    assert all("requests" in one.target and one.files["world"] == str(MINI) for one in samples().values())
    one = samples()["repeat_hba1c_3"]
    assert one.target["answer"] == [8.2, "2025-01-06T09:30:00+00:00"] and one.cluster == one.target["patient"]
    assert one.problem.question.endswith("[] where no answer is asked for.") and one.card["sex"] in ("female", "male")


def test_gold_and_fingerprint_follow_the_resources(tmp_path):
    rows = {"id": "task2_1", "instruction": "Age?", "context": NOW, "eval_MRN": "p"}
    (tmp_path / "tasks").mkdir()
    path, world = folder(tmp_path / "tasks", rows), tmp_path / "world"
    world.mkdir()
    found = []
    for year in (1950, 1960):
        patient = {"resourceType": "Patient", "id": "77", "birthDate": f"{year}-11-14", "identifier": [{"value": "p"}]}
        (world / "a.ndjson").write_text(json.dumps(patient))
        dataset = MedAgentBench(path=path, world=str(world))
        (sample,) = dataset.load("test")
        found.append((dataset.fingerprint, sample.target["answer"]))
    assert (sample.metadata["patient"], sample.metadata["mrn"], sample.cluster) == ("77", "p", "p")
    stranger = {**rows, "eval_MRN": "q"}  # nobody can do these tasks, also where the right answer is known
    others = [stranger, {**stranger, "id": "task1_1", "sol": ["q"]}, {**stranger, "id": "task3_1"}]
    folder(tmp_path / "tasks", rows, *others)
    assert [one.target.get("unscored") for one in dataset.load("test")] == [
        None,
        *["the resources hold no patient 'q'"] * 3,
    ]
    folder(tmp_path / "tasks", *others)
    with pytest.raises(ConfigError, match="holds none of the tasks' patients, such as 'q'"):
        dataset.load("test")
    assert found[0][0] != found[1][0] and [answer for _, answer in found] == [[72], [62]]


def test_without_the_server_some_tasks_are_unscored_and_never_zero(tmp_path):
    rows = [
        {"id": "task1_4", "instruction": "Who?", "context": "", "sol": ["S1"], "eval_MRN": "S1"},
        {"id": "task2_2", "instruction": "Age?", "context": NOW, "eval_MRN": "S1"},
    ]
    known, unknown = MedAgentBench(path=folder(tmp_path, *rows)).load("test")
    assert known.target["answer"] == ["S1"] and known.files == {}
    scores = FhirTasks().score(unknown, Trajectory(stop="answered", answer="[3]"))
    assert {one.value for one in scores} == {None} and scores[0].explanation.startswith(
        "unscored: the right answer comes"
    )
    assert "give dataset.world" in declared(FhirTasks(), ScorerTraits).unfit(unknown) and not FhirTasks.traits.unfit(
        known
    )


@each_row(
    "row, words",
    [
        ({"id": "task11_1"}, "id: must be task1_... to task10_..., found 'task11_1'"), ({"id": "t"}, "id: must be task1_"),
        ({"id": "x", "category": "sing"}, "category: must be one of find_patient"), ({"id": "task1_1"}, "sol: is missing"),
        ({"id": "task2_1", "gold": 3}, "gold: must have answer"), ({"id": "task2_1", "gold": {"answer": [1], "why": ""}}, "gold: must"),
        ({"id": "task3_1", "context": NOW}, "found no 'flowsheet"), ({"id": "task2_1", "gold": {"answer": 3}}, "gold: answer must be a list"),
        ({"id": "task2_1", "gold": {"answer": [1], "requests": [3]}}, "gold: requests must be at most 5 resources"),
        ({"id": "task2_1", "gold": {"answer": [1], "requests": [{}] * 6}}, "gold: requests must be at most 5 resources"),
    ],
)  # fmt: skip
def test_a_wrong_row_is_refused_by_its_place(tmp_path, row, words):
    dataset = MedAgentBench(path=folder(tmp_path, {"instruction": "?", "context": "", **row}))
    with pytest.raises(ConfigError, match=f"test_data_v2.json: record 1: {words}"):
        list(dataset.load("test"))


def test_a_path_is_needed():
    with pytest.raises(ConfigError, match=r"dataset\.path"):
        MedAgentBench()


@pytest.mark.skipif(not SLICE.is_dir(), reason="needs CLINICAL_DATA_DIR")
def test_the_released_tasks_are_read():
    tasks = list(MedAgentBench(path=str(SLICE)).load("test"))
    known = Counter(one.metadata["fhir_category"] for one in tasks if "requests" in one.target)
    assert len(tasks) == 200 and known == {"find_patient": 20, "record_vitals": 20, "refer": 20}
    (vitals,) = {
        json.dumps(one.target["requests"][0]["valueString"])
        for one in tasks
        if one.metadata["fhir_category"] == "record_vitals"
    }
    assert vitals == '"118/77 mmHg"'
