import orjson
import pytest

from components.core.errors import ConfigError
from components.datasets.multiple_choice import MedMcqa
from tests.components.cab_files import DATA, needs, refused, write

ROW = {
    "question": "Which bone? ", "exp": "The ulna is in the forearm.", "cop": 2, "opa": "Rib", "opb": "Ulna", "opc": "Toe",
    "opd": "Jaw", "subject_name": "Anatomy", "topic_name": None, "id": "45-ab", "choice_type": "single",
}  # fmt: skip
OTHER = {**ROW, "id": "46-cd", "question": "Which vitamin?", "exp": None, "cop": 4, "subject_name": "Social & Preventive Medicine"}  # fmt: skip


def medmcqa(folder, rows=(ROW, OTHER), file="dev.json"):
    write(folder / file, "".join(orjson.dumps(row).decode() + "\n" for row in rows))
    return MedMcqa(str(folder))


def test_rows_become_questions_with_four_options(tmp_path):
    first, second = medmcqa(tmp_path).load("dev")
    assert (first.problem.id, first.problem.question) == ("medmcqa-45-ab", "Which bone?")
    assert first.problem.choices == {"A": "Rib", "B": "Ulna", "C": "Toe", "D": "Jaw"}
    assert (first.target, second.target) == ("B", "D")
    assert first.strata == {"task": "medmcqa", "subject": "Anatomy"}
    assert first.metadata == {"task": "medmcqa", "answer": "Ulna", "explanation": "The ulna is in the forearm."}
    assert second.metadata == {"task": "medmcqa", "answer": "Jaw"}
    assert "forearm" not in repr(first.problem)


def test_splits_are_those_whose_files_are_there(tmp_path):
    medmcqa(tmp_path, file="fewshot_pool_from_dev.json")
    assert list(medmcqa(tmp_path).splits) == ["dev", "pool"]
    assert list(medmcqa(tmp_path, file="train.json").splits) == ["dev", "train", "pool"]
    assert [s.problem.id for s in medmcqa(tmp_path).load("pool")] == ["medmcqa-45-ab", "medmcqa-46-cd"]


def test_missing_files_splits_and_the_test_set_are_refused(tmp_path):
    assert "train.json; set CLINICAL_DATA_DIR" in refused(medmcqa(tmp_path), "train")
    assert "MedMCQA has dev, train, pool; found 'val'" in refused(medmcqa(tmp_path), "val")
    write(tmp_path / "test.json", "{}\n")
    assert "the official test set comes without answers: papers evaluate dev" in refused(medmcqa(tmp_path), "test")
    with pytest.raises(ConfigError, match="found 'test'; the official test set comes without answers"):
        MedMcqa(str(tmp_path), split="test")


@needs("medmcqa")
def test_every_row_of_the_data_is_read():
    dataset = MedMcqa(str(DATA / "medmcqa"))
    samples = {split: list(dataset.load(split)) for split in dataset.splits}
    assert len(samples["dev"]) in (300, 4183)
    ids = [sample.problem.id for split in samples.values() for sample in split]
    assert len(set(ids)) == len(ids)
    assert {sample.target for sample in samples["dev"]} == set("ABCD")
    assert any("explanation" in sample.metadata for sample in samples["dev"])
    found = next(s for s in samples["dev"] if "17 week" in s.problem.question)
    assert (found.target, found.metadata["answer"][:14]) == ("C", "Amniotic fluid")
