import csv
import io
from collections import Counter

from components.medcalc.dataset import MedCalcBench
from tests.components.cab_files import DATA, needs, refused, without, write

ROW = {
    "Row Number": "3", "Calculator ID": "6", "Calculator Name": "Body Mass Index (BMI)", "Category": "physical",
    "Output Type": "decimal", "Note ID": "pmc-1", "Note Type": "Extracted", "Patient Note": "A man,\n2 m, 80 kg.",
    "Question": "What is the BMI?", "Relevant Entities": "{}", "Ground Truth Answer": "20.0", "Lower Limit": "19.0",
    "Upper Limit": "21.0", "Ground Truth Explanation": "80 / 4",
}  # fmt: skip
DATE = {**ROW, "Row Number": "4", "Output Type": "date", "Ground Truth Answer": "01/02/2020", "Lower Limit": "01/02/2020", "Upper Limit": "01/02/2020"}  # fmt: skip


def medcalc(folder, rows=(ROW, DATE), file="dataset/test_data.csv"):
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    write(folder / file, text.getvalue())
    return MedCalcBench(str(folder))


def test_note_is_the_context_and_the_target_has_limits(tmp_path):
    first, second = medcalc(tmp_path).load("test")
    assert (first.problem.id, first.problem.question) == ("medcalc-test-3", "What is the BMI?")
    assert first.problem.context == "A man,\n2 m, 80 kg."
    assert first.target == {"answer": "20.0", "Output Type": "decimal", "Low Limit": "19.0", "Upper Limit": "21.0"}
    assert first.metadata == {"task": "medcalc", "calculator_id": "6", "calculator": "Body Mass Index (BMI)"}
    assert (first.strata["category"], first.strata["output_type"], first.cluster) == ("physical", "decimal", "pmc-1")
    assert second.target["answer"] == "01/02/2020"


def test_missing_column_file_and_split_are_named(tmp_path):
    assert "Question: is missing; the row has Row Number" in refused(medcalc(tmp_path, (without(ROW, "Question"),)))
    assert "train_data.csv; set CLINICAL_DATA_DIR" in refused(medcalc(tmp_path), "train")
    assert "MedCalc-Bench has test, train, one_shot; found 'dev'" in refused(medcalc(tmp_path), "dev")


def test_splits_and_fingerprint_follow_the_files(tmp_path):
    first = medcalc(tmp_path).fingerprint
    assert medcalc(tmp_path, (ROW,)).fingerprint != first
    dataset = medcalc(tmp_path, file="verified/datasets/one_shot_data.csv")
    assert dataset.splits == ("test", "one_shot") and len(list(dataset.load("one_shot"))) == 2


@needs("medcalc_bench")
def test_every_row_of_the_data_is_read():
    dataset = MedCalcBench(str(DATA / "medcalc_bench"))
    samples = list(dataset.load("test"))
    assert len(samples) in (300, 1047) and len(list(dataset.load("one_shot"))) == 55
    assert set(Counter(s.strata["output_type"] for s in samples)) == {"decimal", "integer", "date"}
    first = samples[0]
    assert first.problem.id == "medcalc-test-3" and first.problem.context.startswith("A 51-year-old woman")
    assert first.metadata["calculator_id"] == "2"
