from pathlib import Path

from components.cab.datasets.longhalt import LongHalt
from tests.components.cab.datasets.test_longhealth import written
from tests.components.cab_files import refused


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


def test_complaints(tmp_path):
    assert "benchmark_v5.json; take data/benchmark_v5.json" in refused(LongHalt(str(tmp_path)))
    assert "LongHalt has test; found 'train'" in refused(halt(tmp_path), "train")
