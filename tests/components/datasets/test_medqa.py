import os
from pathlib import Path

import orjson
import pytest

from components.core.errors import ConfigError
from components.datasets.multiple_choice import MedQA

CAB = {"task": "medqa", "dimension": "knowledge"}
TEST4 = "US/4_options/phrases_no_exclude_test.jsonl"
ROWS = [
    {"question": "Which vitamin?", "answer": "C", "options": dict(A="B12", B="C", C="D", D="K"), "meta_info": "step1", "answer_idx": "B"},
    {"question": "Which bone?", "answer": "Ulna", "options": dict(A="Ulna", B="Rib", C="Toe", D="Jaw"), "meta_info": "step2&3", "answer_idx": "A"},
    {"question": "Which sign?", "answer": "Pain", "options": dict(A="Rash", B="Pain", C="Heat", D="Cough"), "answer_idx": "B"},
]  # fmt: skip


def written(folder, rows, file=TEST4):
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return MedQA(str(folder))


def changed(**fields):
    return [ROWS[0], {**ROWS[1], **fields}]


def test_rows_become_samples_whose_problem_does_not_hold_the_target(tmp_path):
    first, second, third = written(tmp_path, ROWS).load("test")
    assert (first.problem.question, dict(first.problem.choices)) == ("Which vitamin?", ROWS[0]["options"])
    assert (first.target, first.strata, second.strata, third.strata) == (
        "B",
        {**CAB, "step": "step1"},
        {**CAB, "step": "step2&3"},
        CAB,
    )
    assert [sample.problem.id for sample in (first, second, third)] == ["medqa-test-1", "medqa-test-2", "medqa-test-3"]
    assert first.metadata == {"task": "medqa", "answer": "C", "options": 4}


def test_an_explanation_is_kept_for_demonstrations(tmp_path):
    _, second, *_ = written(tmp_path, changed(evidence_only="It is in the forearm.")).load("test")
    assert second.metadata["explanation"] == "It is in the forearm."
    assert "forearm" not in repr(second.problem)


def test_rows_are_read_lazily(tmp_path):
    samples = written(tmp_path, [*ROWS, {}]).load("test")
    assert [next(samples).target for _ in ROWS] == ["B", "A", "B"]
    with pytest.raises(ConfigError):
        next(samples)


def test_unknown_split_or_edition_names_those_there_are(tmp_path):
    with pytest.raises(ConfigError, match="has test, train, dev, pool; found 'val'"):
        MedQA(str(tmp_path)).load("val")
    with pytest.raises(ConfigError, match="found 3"):
        MedQA(str(tmp_path), options=3)


def test_splits_are_those_whose_files_are_there(tmp_path):
    written(tmp_path, ROWS, "US/4_options/fewshot_pool_from_test.jsonl")
    assert list(written(tmp_path, ROWS).splits) == ["test", "pool"]
    assert list(MedQA(str(tmp_path), options=5).splits) == []


def test_fingerprint_names_the_edition_and_follows_the_data(tmp_path):
    first = written(tmp_path, ROWS).fingerprint
    assert first.startswith("4-options-")
    assert written(tmp_path, ROWS).fingerprint == first
    assert written(tmp_path, ROWS[:2]).fingerprint != first


@pytest.mark.skipif("CLINICAL_DATA_DIR" not in os.environ, reason="needs the data: CLINICAL_DATA_DIR")
@pytest.mark.parametrize("options", [4, 5])
def test_every_row_of_the_data_is_read(options):
    dataset = MedQA(str(Path(os.environ["CLINICAL_DATA_DIR"]) / "medqa"), options=options)
    for split in dataset.splits:
        samples = list(dataset.load(split))
        assert samples and len({sample.problem.id for sample in samples}) == len(samples)
        assert all(list(sample.problem.choices) == list("ABCDE"[:options]) for sample in samples)
    assert {sample.strata["step"] for sample in dataset.load("test")} == {"step1", "step2&3"}
