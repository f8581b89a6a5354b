import os
from pathlib import Path

import orjson
import pytest

from components.core.errors import ConfigError
from components.datasets.pubmedqa import PubMedQA

ROWS = {
    "101": {"QUESTION": "Does it help?", "CONTEXTS": ["Ten took part.", "Nine got well."], "LABELS": ["METHODS", "RESULTS"], "YEAR": "2011", "final_decision": "yes", "LONG_ANSWER": "It helps."},
    "102": {"QUESTION": "Does it harm?", "CONTEXTS": ["None was harmed."], "YEAR": None, "final_decision": "no"},
    "103": {"QUESTION": "Does it last?", "CONTEXTS": ["Some relapsed."], "final_decision": "maybe"},
}  # fmt: skip
TRUTH = {"101": "yes", "103": "maybe"}


def written(folder, rows=ROWS, truth=TRUTH, form="choice"):
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data" / "ori_pqal.json").write_bytes(orjson.dumps(rows, option=orjson.OPT_INDENT_2))
    (folder / "data" / "test_ground_truth.json").write_bytes(orjson.dumps(truth))
    return PubMedQA(str(folder), form=form)


def test_question_comes_with_its_abstract_options_and_without_the_conclusion(tmp_path):
    first, last = written(tmp_path).load("test")
    assert (first.problem.id, first.problem.question) == ("pubmedqa-101", "Does it help?")
    assert first.problem.context == "Ten took part.\nNine got well."
    assert (first.problem.choices, first.target) == ({"A": "yes", "B": "no", "C": "maybe"}, "A")
    assert (last.problem.choices, last.target) == (first.problem.choices, "C")
    cab = {"task": "pubmedqa", "dimension": "knowledge"}
    assert (first.strata, last.strata) == ({**cab, "decade": "2010s"}, cab)
    assert (first.metadata, last.metadata) == ({"task": "pubmedqa", "explanation": "It helps."}, {"task": "pubmedqa"})
    assert "It helps." not in repr(first.problem)


def test_decisions_have_no_options(tmp_path):
    first, _ = written(tmp_path, form="decision").load("test")
    assert first.problem.question == "Does it help?\nAnswer with yes, no or maybe."
    assert (first.problem.context, first.problem.choices) == ("Ten took part.\nNine got well.", {})
    assert (first.target, list(first.metadata["decisions"])) == ("yes", ["yes", "no", "maybe"])


def test_train_is_what_the_truth_file_does_not_name(tmp_path):
    dataset = written(tmp_path)
    assert [[sample.target for sample in dataset.load(split)] for split in dataset.splits] == [["A", "C"], ["B"]]


def test_truth_about_a_question_that_is_not_there_is_refused(tmp_path):
    dataset = written(tmp_path, truth={**TRUTH, "999": "no"})
    with pytest.raises(ConfigError, match="999: there is no such question"):
        list(dataset.load("test"))


def test_fingerprint_follows_both_files_and_the_form(tmp_path):
    prints = {written(tmp_path, truth=truth).fingerprint for truth in (TRUTH, {"101": "yes"}, TRUTH)}
    assert len(prints | {written(tmp_path, form="decision").fingerprint}) == 3


@pytest.mark.skipif("CLINICAL_DATA_DIR" not in os.environ, reason="needs the data: CLINICAL_DATA_DIR")
def test_every_row_of_the_data_is_read():
    dataset = PubMedQA(str(Path(os.environ["CLINICAL_DATA_DIR"]) / "pubmedqa"))
    samples = {split: list(dataset.load(split)) for split in dataset.splits}
    assert all(samples.values())
    assert {sample.target for sample in samples["test"]} == {"A", "B", "C"}
    assert all(s.problem.context and s.metadata["explanation"] for s in samples["train"])
    assert not {s.problem.id for s in samples["test"]} & {s.problem.id for s in samples["train"]}
