import orjson
import pytest

from components.core.errors import ConfigError
from components.datasets.medagentsbench import MedAgentsBench
from tests.components.cab_files import DATA, needs, refused, write

ROW = {"realidx": 5, "question": "Which nerve?", "options": {"A": "Facial", "B": "Vagus"}, "answer_idx": "B", "answer": "Vagus"}  # fmt: skip
NAMED = {**ROW, "realidx": "ab-6", "answer_rationale": "It slows the heart."}
TEN = {**ROW, "options": {letter: f"text {letter}" for letter in "ABCDEFGHIJ"}, "answer_idx": "J"}


def bench(folder, files=None, **arguments):
    """``files``: set/file -> rows."""
    for name, rows in (files or {"medqa/test_hard": [ROW, NAMED], "mmlu-pro/test_hard": [TEN], "mmlu-pro/train": [ROW]}).items():  # fmt: skip
        write(folder / f"{name}.jsonl", "".join(orjson.dumps(row).decode() + "\n" for row in rows))
    return MedAgentsBench(str(folder), **arguments)


def test_rows_of_all_sets_become_questions(tmp_path):
    first, second, third = bench(tmp_path).load("test_hard")
    assert (first.problem.id, first.problem.question, first.target) == (
        "medagentsbench-medqa-test_hard-5",
        "Which nerve?",
        "B",
    )
    assert (first.strata, first.metadata) == ({"task": "medqa"}, {"task": "medqa", "answer": "Vagus"})
    assert (second.problem.id, second.metadata["explanation"]) == (
        "medagentsbench-medqa-test_hard-ab-6",
        "It slows the heart.",
    )
    assert (third.target, len(third.problem.choices), third.strata) == ("J", 10, {"task": "mmlu-pro"})


def test_train_is_of_the_sets_that_have_one(tmp_path):
    dataset = bench(tmp_path)
    assert dataset.splits == ("test_hard", "train")
    assert [s.problem.id for s in dataset.load("train")] == ["medagentsbench-mmlu-pro-train-5"]
    alone = bench(tmp_path, sets=("medqa",))
    assert alone.splits == ("test_hard",)
    assert "MedAgentsBench has test_hard; found 'train'" in refused(alone, "train")


def test_chosen_sets_come_in_the_order_they_are_given(tmp_path):
    found = bench(tmp_path, sets=("mmlu-pro", "medqa")).load("test_hard")
    assert [s.strata["task"] for s in found] == ["mmlu-pro", "medqa", "medqa"]


def test_a_row_number_that_stands_again_makes_another_id(tmp_path):
    found = bench(tmp_path, {"medexqa/test_hard": [ROW, ROW]}).load("test_hard")
    assert [s.problem.id[-9:] for s in found] == ["st_hard-5", "-5-again2"]


def test_a_missing_set_or_file_is_named(tmp_path):
    assert "/*/test_hard.jsonl; set CLINICAL_DATA_DIR" in refused(MedAgentsBench(str(tmp_path)), "test_hard")
    lost = bench(tmp_path, sets=("medqa", "medbullets"))
    assert "/medbullets/test_hard.jsonl; set CLINICAL_DATA_DIR" in refused(lost, "test_hard")
    for sets in ((), ("medqa", "medqa")):
        with pytest.raises(ConfigError, match=r"dataset\.sets: all, or each set once"):
            MedAgentsBench(str(tmp_path), sets=sets)


def test_fingerprint_follows_the_sets_and_the_data(tmp_path):
    prints = [bench(tmp_path).fingerprint, bench(tmp_path, sets=("medqa",)).fingerprint]
    assert len({*prints, bench(tmp_path, {"medqa/test_hard": [ROW]}).fingerprint}) == 3
    assert bench(tmp_path).fingerprint == prints[0]


@needs("medagentsbench")
def test_every_row_of_the_data_is_read():
    dataset = MedAgentsBench(str(DATA / "medagentsbench"))
    assert {"medqa", "medmcqa", "mmlu", "mmlu-pro", "pubmedqa"} <= {s.strata["task"] for s in dataset.load("test_hard")}
    samples = [sample for split in dataset.splits for sample in dataset.load(split)]
    assert len({s.problem.id for s in samples}) == len(samples)
    assert {len(s.problem.choices) for s in samples if s.strata["task"] == "mmlu-pro"} >= {4, 10}
    assert any("explanation" in s.metadata for s in dataset.load("train"))


def test_an_answer_that_is_another_options_and_a_file_without_questions_are_refused(tmp_path):
    row = {"realidx": 1, "question": "Which?", "options": {"A": "one", "B": "two"}, "answer_idx": "A", "answer": "two"}
    folder = tmp_path / "medqa"
    folder.mkdir()
    (folder / "test_hard.jsonl").write_text(orjson.dumps(row).decode() + "\n")
    with pytest.raises(ConfigError, match="answer: is the text of another option than A"):
        list(MedAgentsBench(str(tmp_path)).load("test_hard"))
    (folder / "test_hard.jsonl").write_text("")
    with pytest.raises(ConfigError, match="there is no question in it"):
        list(MedAgentsBench(str(tmp_path)).load("test_hard"))
