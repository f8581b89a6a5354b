from pathlib import Path

import pytest

from components.cab.datasets.longhealth import LongHalt, LongHealthQa, mix_documents, read_cases
from components.core.errors import ConfigError
from tests.components.cab_files import refused, write

QUESTION = {
    "No": 0, "question": "Which drug came first?", "correct": "Rituximab ", "answer_a": "Aspirin", "answer_b": "Rituximab",
    "answer_c": "Zinc", "answer_d": "Iron", "answer_e": "None", "answer_location": {"text_1": {"start": [0.1]}},
}  # fmt: skip


def patient(name, letters=4, length=100, **changes):
    texts = {f"text_{n}": f"{name} letter {n} ".ljust(length, ".") for n in range(letters)}
    return {
        "name": name, "birthday": "01.01.1970", "texts": texts, "questions": [QUESTION, {**QUESTION, "No": 1}], **changes,
    }  # fmt: skip


def written(folder, patients=None):
    patients = patients or {f"patient_{n:02}": patient(f"P{n}") for n in range(1, 7)}
    write(folder / "data" / "benchmark_v5.json", patients)
    return folder / "data" / "benchmark_v5.json"


def test_cases_have_documents_and_lettered_questions(tmp_path):
    case = read_cases(written(tmp_path))[1]
    assert (case.id, case.about, list(case.texts)) == (
        "patient_02",
        "Patient: P2, born 01.01.1970",
        ["text_0", "text_1", "text_2", "text_3"],
    )
    first, second = case.questions
    assert (first[0], first[2]) == ("Which drug came first?", "B") and second[1]["B"] == "Rituximab"


def test_documents_are_mixed_up_to_the_size_by_the_seed(tmp_path):
    cases = read_cases(written(tmp_path))
    own = list(cases[0].texts.values())
    texts = mix_documents(cases[0], cases, True, 250, "0")  # 250 tokens are 1,000 characters, ten letters
    assert len(texts) == 10 and set(own) < set(texts) and texts[:4] != own
    assert texts == mix_documents(cases[0], cases, True, 250, "0") != mix_documents(cases[0], cases, True, 250, "1")
    others = mix_documents(cases[0], cases, False, 250, "0")
    assert len(others) == 10 and not set(own) & set(others)
    assert sorted(mix_documents(cases[0], cases, True, 0, "0")) == sorted(own)
    with pytest.raises(ConfigError, match=r"dataset\.min_tokens: all documents for patient_01 together are fewer"):
        mix_documents(cases[0], cases, True, 1000, "0")


def test_single_patient_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="at least two patients are needed"):
        read_cases(written(tmp_path, {"patient_01": patient("A")}))


def longhealth(folder, **arguments):
    written(folder)
    return LongHealthQa(str(folder), **{"min_tokens": 250, "cache": str(folder / "cache"), **arguments})


def test_question_comes_with_a_folder_of_mixed_documents(tmp_path):
    dataset = longhealth(tmp_path)
    samples = list(dataset.load("test"))
    sample = samples[0]
    patient = sample.cluster
    assert sample.problem.id == f"longhealthqa-{patient}-0" and sample.target == "B"
    assert (sample.problem.choices["B"], len(sample.problem.choices)) == ("Rituximab", 5)
    assert sample.problem.context == f"Patient: P{int(patient[-2:])}, born 01.01.1970"
    assert sample.problem.inputs == {"upload_files": patient}
    folder = Path(sample.files[patient])
    assert folder.is_absolute() and folder.is_relative_to(tmp_path / "cache")
    texts = [file.read_text() for file in sorted(folder.iterdir())]
    assert len(texts) == 10 and sum(text.startswith(f"P{int(patient[-2:])} ") for text in texts) == 4
    assert {s.files[s.cluster] for s in samples if s.cluster == patient} == {str(folder)}
    assert sample.strata == {"task": "longhealthqa", "dimension": "data"} and sample.metadata["documents"] == 10


def test_splits_share_no_patient_and_are_drawn(tmp_path):
    dataset = longhealth(tmp_path)
    patients = {split: {s.cluster for s in dataset.load(split)} for split in dataset.splits}
    assert len(patients["test"]) == len(patients["train"]) == 3 and not patients["test"] & patients["train"]
    assert {s.cluster for s in longhealth(tmp_path, seed=1).load("test")} != patients["test"]
    assert [s.files for s in dataset.load("test")] == [s.files for s in longhealth(tmp_path).load("test")]


def test_fingerprint_follows_the_mixing(tmp_path):
    assert len({longhealth(tmp_path).fingerprint, longhealth(tmp_path, seed=1).fingerprint, longhealth(tmp_path, min_tokens=9).fingerprint}) == 3  # fmt: skip


def test_too_few_documents_are_refused(tmp_path):
    assert "dataset.min_tokens: all documents for patient_" in refused(longhealth(tmp_path, min_tokens=9999))


def halt(folder, **arguments):
    written(folder)
    return LongHalt(str(folder), **{"min_tokens": 250, "cache": str(folder / "cache"), **arguments})


def test_documents_are_of_other_patients_and_no_option_but_the_last_is_right(tmp_path):
    samples = list(halt(tmp_path).load("test"))
    assert len(samples) == 12 and len({s.problem.id for s in samples}) == 12
    sample = samples[0]
    assert (sample.problem.id, sample.target) == ("longhalt-patient_01-0", "F")
    assert sample.problem.choices["F"] == "Question cannot be answered with provided documents"
    assert sample.metadata == {"task": "longhalt", "documents": 10, "unanswerable": "B"}
    texts = [file.read_text() for file in Path(sample.files["patient_01"]).iterdir()]
    assert len(texts) == 10 and not any(text.startswith("P1 ") for text in texts)
    assert sample.problem.inputs == {"upload_files": "patient_01"} and sample.cluster == "patient_01"


def test_fingerprint_and_folders_follow_the_seed(tmp_path):
    first, other = halt(tmp_path), halt(tmp_path, seed=1)
    assert first.fingerprint != other.fingerprint
    assert next(first.load("test")).files == next(halt(tmp_path).load("test")).files != next(other.load("test")).files
