from collections import Counter

from components.cab.datasets.choices import MmluMed
from tests.components.cab_files import DATA, needs, refused, write

ROWS = 'Which nerve?,Facial,Vagus,Optic,Ulnar,B\n"Which ""sign"", if\nany?",Pain,"Heat, or none",Rash,Cough,A\n'


def mmlu(folder, rows=ROWS, split="test"):
    write(folder / "data" / split / f"anatomy_{split}.csv", rows)
    return MmluMed(str(folder), subjects=("anatomy",))


def test_rows_without_header_become_questions_with_four_options(tmp_path):
    first, second = mmlu(tmp_path).load("test")
    assert (first.problem.id, first.problem.question, first.target) == ("mmlu-test-anatomy-1", "Which nerve?", "B")
    assert first.problem.choices == {"A": "Facial", "B": "Vagus", "C": "Optic", "D": "Ulnar"}
    assert first.strata == {"task": "mmlu", "dimension": "knowledge", "subject": "anatomy"}
    assert (second.problem.question, second.problem.choices["B"]) == ('Which "sign", if\nany?', "Heat, or none")


def test_splits_and_missing_files(tmp_path):
    dataset = mmlu(tmp_path, split="dev")
    assert dataset.splits == ("dev",) and len(list(dataset.load("dev"))) == 2
    assert "anatomy_test.csv; set CLINICAL_DATA_DIR" in refused(dataset)
    assert "dataset.split: MMLU has test, val, dev; found 'train'" in refused(dataset, "train")


@needs("mmlu_med")
def test_every_row_of_the_data_is_read():
    dataset = MmluMed(str(DATA / "mmlu_med"))
    sizes = {split: len(list(dataset.load(split))) for split in dataset.splits}
    assert sizes["dev"] == 30 and sizes["val"] == 123 and sizes["test"] in (300, 1089)
    assert set(Counter(s.strata["subject"] for s in dataset.load("test"))) == set(dataset.subjects)
    first = next(dataset.load("test"))
    assert first.problem.question.startswith("A lesion causing compression of the facial nerve")
    assert (first.target, first.problem.choices["A"]) == ("A", "paralysis of the facial muscles.")
