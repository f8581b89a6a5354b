"""The synthetic RadABench-mini set: layout, coverage, clinical consistency, and questions that give nothing away."""

import json
import re
from collections import Counter
from itertools import combinations
from typing import Any

import pytest
import yaml

from components.radiology.synthesis.checks import TABLES, record_flaws, words
from components.radiology.synthesis.question_checks import question_flaws
from data_builders.radabench_mini import __main__ as builder

FOLDER = builder.SHIPPED
CHAINS = ["012", "013", "014", "0123", "01235", "0126", "0136", "01348", "0123568", "01235678", "012356789"]
PAIRS = {
    "Head and Neck": ["X-ray", "CT", "MRI", "Ultrasound"],
    "Chest": ["X-ray", "CT", "MRI", "Ultrasound"],
    "Breast": ["Mammography", "MRI", "Ultrasound"],
    "Abdomen and Pelvis": ["X-ray", "CT", "MRI", "Ultrasound"],
    "Limb": ["X-ray", "CT", "MRI", "Ultrasound"],
    "Spine": ["X-ray", "CT", "MRI"],
}
PAIR_LIST = [(anatomy, modality) for anatomy, modalities in PAIRS.items() for modality in modalities]


def load(split: str) -> dict[str, Any]:
    return json.loads((FOLDER / f"{split}.json").read_text(encoding="utf-8"))


TEST, TRAIN = load("test"), load("train")
CASES = TEST | TRAIN
RECORDS = {case_id: entry["case"] for case_id, entry in CASES.items()}
EACH_CHAIN = pytest.mark.parametrize("chain", CHAINS)


# --- coverage ---


def test_every_pair_has_three_test_records_and_one_train_record():
    for cases, least in ((TEST, 3), (TRAIN, 1)):
        counts = Counter((entry["case"]["Anatomy"], entry["case"]["Modality"]) for entry in cases.values())
        assert set(counts) == set(PAIR_LIST)
        assert min(counts.values()) >= least
    assert (len(TEST), len(TRAIN)) == (66, 22)
    assert sum(len(entry["QA"]) for entry in TEST.values()) == 726


def test_prefix_of_22_covers_every_pair_in_the_order_of_the_benchmark():
    first = [(entry["case"]["Anatomy"], entry["case"]["Modality"]) for entry in list(TEST.values())[:22]]
    assert first == PAIR_LIST


def test_splits_share_no_case_record_patient_or_disease():
    assert not set(TEST) & set(TRAIN)
    assert len(CASES) == 88
    for part in ("Information", "Disease", "Report", "Treatment"):
        seen = Counter(json.dumps(record[part]).lower() for record in RECORDS.values())
        assert max(seen.values()) == 1, seen.most_common(1)


@pytest.mark.parametrize(
    ("outer", "inner"),
    [("Anomaly", "Symptom"), ("OrganBiomarker", "OrganObject"), ("Indicator", "Name"), ("Information", "Complaint")],
)
def test_names_are_distinct_between_records(outer, inner):
    seen = Counter(record[outer][inner].lower() for record in RECORDS.values())
    assert [name for name, count in seen.items() if count > 1] == []


@pytest.mark.parametrize(("outer", "inner"), [("OrganBiomarker", "OrganDim"), ("AnomalyBiomarker", "AnomalyDim")])
def test_measured_quantities_vary(outer, inner):
    assert len({record[outer][inner] for record in RECORDS.values()}) >= 20


# --- clinical consistency: the same checks as for model-written records ---


def test_every_record_passes_the_checks():
    assert {name: problems for name, record in RECORDS.items() if (problems := record_flaws(record))} == {}


def test_one_breast_patient_is_a_man():
    men = [r["Disease"] for r in RECORDS.values() if r["Anatomy"] == "Breast" and r["Information"]["Sex"] == "Male"]
    assert men == ["Gynaecomastia"]


@pytest.mark.parametrize("word", TABLES["score_places"])
def test_every_score_with_a_location_is_used(word):
    assert any(word.lower() in record["Indicator"]["Name"].lower() for record in RECORDS.values())


@pytest.mark.parametrize("disease", TABLES["usual_scores"])
def test_every_disease_with_a_usual_score_is_there(disease):
    assert any(re.search(disease, record["Disease"], re.IGNORECASE) for record in RECORDS.values())


# --- questions and reference answers ---


def test_questions_of_every_record_pass_the_checks():
    assert all(list(entry) == ["case", "QA"] for entry in CASES.values())
    cases = {name: question_flaws(entry["case"], entry["QA"]) for name, entry in CASES.items()}
    assert {name: problems for name, problems in cases.items() if problems} == {}


@EACH_CHAIN
def test_questions_of_a_chain_are_all_different(chain):
    questions = [entry["QA"][chain]["Q"] for entry in CASES.values()]
    assert len(set(questions)) == len(questions)


@EACH_CHAIN
def test_task_sentence_of_a_chain_has_at_least_six_phrasings(chain):
    tasks = Counter(re.split(r"(?<=[.?]) ", entry["QA"][chain]["Q"])[-1] for entry in TEST.values())
    assert len(tasks) >= 6
    for first, second in combinations(tasks, 2):
        shared = set(words(first)) & set(words(second))
        assert len(shared) < 0.9 * min(len(set(words(first))), len(set(words(second))))


def test_term_lists_are_long_enough_and_without_repeats():
    terms = yaml.safe_load((FOLDER / "terms.yaml").read_text(encoding="utf-8"))
    least = {
        "organ_list": 60,
        "anomaly_list": 60,
        "disease_list": 60,
        "organ_dim_list": 24,
        "anomaly_dim_list": 24,
        "indicator_list": 60,
    }
    assert list(terms) == list(least)
    for name, entries in terms.items():
        assert all(isinstance(entry, str) and entry.strip() == entry for entry in entries)
        assert len({entry.lower() for entry in entries}) == len(entries) >= least[name]


def test_term_lists_add_names_that_no_record_uses():
    terms = yaml.safe_load((FOLDER / "terms.yaml").read_text(encoding="utf-8"))
    places = {
        "organ_list": ("OrganBiomarker", "OrganObject"),
        "anomaly_list": ("Anomaly", "Symptom"),
        "indicator_list": ("Indicator", "Name"),
        "organ_dim_list": ("OrganBiomarker", "OrganDim"),
        "anomaly_dim_list": ("AnomalyBiomarker", "AnomalyDim"),
    }
    used = {name: {record[outer][inner] for record in RECORDS.values()} for name, (outer, inner) in places.items()}
    used["disease_list"] = {record["Disease"] for record in RECORDS.values()}
    for name, entries in terms.items():
        assert not {entry.lower() for entry in entries} & {entry.lower() for entry in used[name]}
