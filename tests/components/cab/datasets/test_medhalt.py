import csv
import io

import pytest

from components.cab.datasets.choices import MedHalt
from tests.components.cab_files import DATA, needs, refused, write

FAKE = {
    "id": "f1", "dataset": "medmcqa", "question": "Which organ hums? ",
    "options": "{'0': 'The spleen', '1': 'One must admit: I do not know', '2': 'I do not know.'}",
}  # fmt: skip
NOTA = {**FAKE, "id": "n1", "question": "Which bone?", "options": "{'0': 'Rib', '1': 'None of the above'}",
        "correct_answer": "None of the above", "correct_index": "1"}  # fmt: skip
FCT = {**NOTA, "id": "c1", "options": "{'0': 'Rib', '1': 'Ulna'}", "correct_answer": "Ulna", "student_answer": "Rib"}


def halt(folder, rows=(FAKE,), file="reasoning_fake.csv", **arguments):
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    write(folder / "medhalt" / "datasets" / file, text.getvalue())
    return MedHalt(str(folder), **arguments)


def test_right_is_the_option_that_says_one_does_not_know(tmp_path):
    (sample,) = halt(tmp_path).load("test")
    assert (sample.problem.id, sample.problem.question, sample.target) == ("medhalt-fake-f1", "Which organ hums?", "C")
    assert sample.problem.choices["C"] == "I do not know."
    assert sample.strata == {"task": "medhalt_rht", "dimension": "trust", "test": "fake", "source": "medmcqa"}


def test_without_such_an_option_an_admission_in_words_is_accepted(tmp_path):
    (sample,) = halt(tmp_path, [{**FAKE, "options": "{'0': 'The spleen', '1': 'The liver'}"}]).load("test")
    assert "do not know" in sample.target["accepted"] and "irrelevant" in sample.target["accepted"]
    assert sample.problem.choices == {"A": "The spleen", "B": "The liver"}


def test_other_tests_have_a_correct_option(tmp_path):
    halt(tmp_path, [NOTA], "reasoning_nota.csv")
    nota, fct = halt(tmp_path, [FCT], "reasoning_FCT.csv", tests=("nota", "fct")).load("test")
    assert (nota.target, nota.problem.question) == ("B", "Which bone?")
    assert (fct.target, fct.problem.question) == ("B", "Which bone?\nProposed answer, which may be wrong: Rib")


def test_draw_leaves_others_to_learn_from(tmp_path):
    rows = [{**FAKE, "id": f"f{n}"} for n in range(20)]
    assert halt(tmp_path, rows).splits == ("test",)
    dataset = halt(tmp_path, rows, per_test=5)
    ids = {split: [s.problem.id for s in dataset.load(split)] for split in dataset.splits}
    assert len(ids["test"]) == len(ids["train"]) == 5 and not set(ids["test"]) & set(ids["train"])
    other = halt(tmp_path, rows, per_test=5, seed=3)
    assert [s.problem.id for s in other.load("test")] != ids["test"] and other.fingerprint != dataset.fingerprint


def test_missing_files_splits_or_tests_are_named(tmp_path):
    complaint = refused(halt(tmp_path, tests=("fake", "fct")))
    assert "reasoning_FCT.csv; set CLINICAL_DATA_DIR" in complaint and "dataset.tests=[fake]" in complaint
    assert "Med-HALT has test; found 'train'" in refused(halt(tmp_path), "train")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"options": "{'0': "}, "options: must be a dict with the keys '0', '1'"),
        ({"options": "{'0': 'Rib'}"}, "options: must be 2 to 26 texts"),
        ({"correct_index": "0"}, "correct_index: must be the number of the option 'None of the above' (option B)"),
    ],
)
def test_malformed_rows_are_refused(tmp_path, changes, complaint):
    assert complaint in refused(halt(tmp_path, [{**NOTA, **changes}], "reasoning_nota.csv", tests=("nota",)))


@needs("medhalt")
def test_every_row_of_the_data_is_read():
    samples = list(MedHalt(str(DATA / "medhalt")).load("test"))
    assert len(samples) in (300, 1858) and len({s.problem.id for s in samples}) == len(samples)
    with_letter = [s for s in samples if isinstance(s.target, str)]
    assert len(with_letter) >= 300
    assert all("not know" in s.problem.choices[s.target].lower() for s in with_letter)
    first = samples[0]
    assert first.problem.id == "medhalt-fake-04489064-6621-4853-aafd-65ee4fd70c31"
    assert (first.target, first.problem.choices["F"]) == ("F", "I do not know")
