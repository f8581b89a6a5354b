from dataclasses import replace

import pytest

from components.clinic.dataset import AgentClinic
from components.core.errors import ConfigError
from components.text.structured import read_yaml
from runner.config.catalogue import CONF
from runner.experiment.experiment import select
from tests.components.cab_files import DATA, needs, without
from tests.components.clinic.cases import CASE, shipped, write
from tests.table import each_row


def test_the_doctor_knows_the_objective_alone(tmp_path):
    (sample,) = write(tmp_path, CASE).load("test")
    assert sample.problem.question.split("\n")[0] == "Assess a patient with a cough."
    assert not sample.problem.context and not sample.problem.inputs and sample.target == "Acute bronchiolitis"
    assert sample.problem.id == "test-1" and sample.card == {"age": 0.67, "sex": "female"}


def test_roles_have_their_parts_of_the_case(tmp_path):
    (sample,) = write(tmp_path, CASE).load("test")
    patient, findings = sample.metadata["patient"], sample.metadata["findings"]
    assert "History: It began on Monday." in patient and "- Wheeze" in patient and "38.1" not in patient
    assert "Temperature: 38.1 C" in findings and "Chest X-ray: Clear" in findings and "Monday" not in findings
    assert "bronchiolitis" not in patient + findings


def nested(levels):
    return {"a": nested(levels - 1)} if levels else "b"


@each_row(
    "case, message",
    [
        (without(CASE, "Correct_Diagnosis"), "cases.jsonl:1: Correct_Diagnosis: is missing"),
        ({**CASE, "Patient_Actor": "a man"}, "Patient_Actor: must be an object, found 'a man'"),
        ({**CASE, "Test_Results": [1]}, "Test_Results: must be an object, found [1]"),
        ({**CASE, "Test_Results": nested(40)}, "OSCE_Examination: has more than 12 levels"),
        (
            {**CASE, "Patient_Actor": {"History": "x" * 60_000}},
            "Patient_Actor: has 60,009 characters; there may be 50,000",
        ),
        ([1], "must be a JSON object"),
    ],
)
def test_a_case_of_another_form_is_refused_with_its_line(tmp_path, case, message):
    with pytest.raises(ConfigError) as error:
        list(write(tmp_path, case).load("test"))
    assert message in str(error.value)


def test_cases_without_a_folder_are_refused():
    with pytest.raises(ConfigError, match=r"dataset\.path: no data; set CLINICAL_DATA_DIR .*AgentClinic"):
        AgentClinic({"test": "cases.jsonl"})


def test_a_split_without_its_file_is_refused_with_the_file(tmp_path):
    dataset = replace(write(tmp_path, CASE), files={"test": "cases.jsonl", "mine": "mine.jsonl"}, split="mine")
    with pytest.raises(ConfigError, match=r"no data file .*mine\.jsonl; set CLINICAL_DATA_DIR"):
        select(dataset, limit=None, shard=None, seed=0)


def test_a_case_without_tests_is_read(tmp_path):
    (sample,) = write(tmp_path, {**CASE, "Test_Results": {}}).load("test")
    assert sample.metadata["findings"].startswith("Examination:")


def test_shipped_cases_have_their_own_ids_questions_and_diagnoses():
    assert len(shipped()) == 18
    for values in zip(*((one.problem.id, one.problem.question, one.target) for one in shipped()), strict=True):
        assert len(set(values)) == 18
    for one in shipped():
        assert one.target.casefold() not in f"{one.metadata['patient']}{one.metadata['findings']}".casefold()
        assert one.strata["specialty"] and set(one.card) == {"age", "sex"}


@needs("agentclinic")
@pytest.mark.parametrize(("split", "full"), [("medqa", 107), ("extended", 214)])
def test_every_case_of_the_data_is_read(split, full):
    files = read_yaml(CONF / "dataset" / "agentclinic.yaml")["files"]
    samples = list(AgentClinic(files, path=str(DATA / "agentclinic")).load(split))
    assert len(samples) in ({"medqa": 77, "extended": 154}[split], full)
    assert not [one for one in samples if one.target.casefold() in f"{one.problem}{one.metadata['patient']}".casefold()]
    assert samples[0].target == "Myasthenia gravis" and samples[0].card == {"age": 35, "sex": "female"}
