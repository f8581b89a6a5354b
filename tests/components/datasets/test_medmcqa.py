import orjson
import pytest

from components.core.errors import ConfigError
from components.datasets.medmcqa import MedMcqa
from tests.components.cab_files import DATA, needs, refused, without, write

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


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"cop": 0}, "cop: must be 1 to 4, where 1 is opa (some copies count from 0), found 0"),
        ({"cop": 5}, "cop: must be 1 to 4"),
        ({"cop": "2"}, "cop: must be 1 to 4"),
        ({"cop": True}, "cop: must be 1 to 4"),
        ({"opc": ""}, "opc: must be a text, found ''"),
        ({"question": None}, "question: must be a text, found None"),
        ({"exp": 3}, "exp: must be a text or null, found 3"),
        ({"subject_name": None}, "subject_name: must be a text"),
    ],
)
def test_wrong_row_is_refused_with_file_line_and_key(tmp_path, fields, told):
    assert f"dev.json:2: {told}" in refused(medmcqa(tmp_path, [ROW, {**OTHER, **fields}]), "dev")


@pytest.mark.parametrize("key", ["id", "cop", "opd", "question", "subject_name"])
def test_missing_key_is_named(tmp_path, key):
    assert f"dev.json:1: {key}: " in refused(medmcqa(tmp_path, [without(ROW, key)]), "dev")


def test_a_line_that_is_cut_off_is_refused(tmp_path):
    write(tmp_path / "dev.json", '{"question": "Wh')
    assert "dev.json:1: not JSON, perhaps cut off" in refused(MedMcqa(str(tmp_path)), "dev")


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


def test_fingerprint_follows_the_data(tmp_path):
    assert len({medmcqa(tmp_path, rows).fingerprint for rows in ([ROW], [OTHER], [ROW])}) == 2


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
