from pathlib import Path

from components.cab.datasets.longhealthqa import LongHealthQa
from tests.components.cab.datasets.test_longhealth import written
from tests.components.cab_files import refused


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


def test_complaints(tmp_path):
    assert "benchmark_v5.json; take data/benchmark_v5.json" in refused(LongHealthQa(str(tmp_path)))
    assert "LongHealthQA has test, train; found 'dev'" in refused(longhealth(tmp_path), "dev")
    assert "dataset.min_tokens: all documents for patient_" in refused(longhealth(tmp_path, min_tokens=9999))
