from collections import Counter

import pytest

from components.core.errors import ConfigError
from components.datasets.mirage import Mirage
from tests.components.cab_files import DATA, needs, refused, write

FOUR = {"question": "Which nerve?", "options": {"A": "Facial", "B": "Vagus", "C": "Optic", "D": "Ulnar"}, "answer": "B"}
THREE = {"question": "Does it help? ", "options": {"A": "yes", "B": "no", "C": "maybe"}, "answer": "C", "PMID": [1]}
TWO = {"question": "Is it a gene?", "options": {"A": "yes", "B": "no"}, "answer": "A"}
FILE = {"medqa": {"0013": FOUR}, "pubmedqa": {"101": THREE}, "bioasq": {"6a": TWO, "6b": TWO}}
SETS = ("medqa", "pubmedqa", "bioasq")


def mirage(folder, file=FILE, sets=SETS):
    write(folder / "benchmark.json", file)
    return Mirage(str(folder), sets=sets)


def test_items_of_all_sets_become_questions_in_one_form(tmp_path):
    first, second, third, fourth = mirage(tmp_path).load("test")
    assert (first.problem.id, first.problem.question, first.target) == ("mirage-medqa-0013", "Which nerve?", "B")
    assert (first.problem.choices, first.problem.context) == (FOUR["options"], "")
    assert (first.strata, first.metadata) == ({"task": "medqa"}, {"task": "medqa", "answer": "Vagus"})
    assert (second.problem.question, second.target, list(second.problem.choices)) == ("Does it help?", "C", list("ABC"))
    assert [third.problem.id, fourth.problem.id] == ["mirage-bioasq-6a", "mirage-bioasq-6b"]


def test_a_set_that_is_not_chosen_is_not_read(tmp_path):
    broken = {**FILE, "medqa": {"0013": {**FOUR, "answer": "F"}}}
    assert [s.problem.id for s in mirage(tmp_path, broken, ("pubmedqa",)).load("test")] == ["mirage-pubmedqa-101"]


def test_a_missing_set_or_file_is_named(tmp_path):
    assert "benchmark.json; set CLINICAL_DATA_DIR" in refused(Mirage(str(tmp_path)))
    assert "benchmark.json: mmlu: there is no such set" in refused(mirage(tmp_path, sets=("medqa", "mmlu")))
    assert "dataset.split: MIRAGE has test; found 'train'" in refused(mirage(tmp_path), "train")
    write(tmp_path / "benchmark.json", '{"medqa": {')
    assert "benchmark.json: not JSON, perhaps cut off" in refused(Mirage(str(tmp_path)))
    for sets in ((), ("medqa", "medqa")):
        with pytest.raises(ConfigError, match=r"dataset\.sets: each set once, at least one"):
            Mirage(str(tmp_path), sets=sets)


def test_fingerprint_follows_the_sets_and_the_data(tmp_path):
    prints = [mirage(tmp_path).fingerprint, mirage(tmp_path, sets=("medqa",)).fingerprint]
    assert len({*prints, mirage(tmp_path, {"medqa": {}}).fingerprint}) == 3
    assert mirage(tmp_path).fingerprint == prints[0]


@needs("mirage")
def test_every_item_of_the_data_is_read():
    samples = list(Mirage(str(DATA / "mirage")).load("test"))
    assert len(samples) in (300, 7663) and len({s.problem.id for s in samples}) == len(samples)
    assert set(Counter(s.strata["task"] for s in samples)) == {"medqa", "medmcqa", "pubmedqa", "bioasq", "mmlu"}
    sizes = {(s.strata["task"], len(s.problem.choices)) for s in samples}
    assert sizes == {("medqa", 4), ("medmcqa", 4), ("pubmedqa", 3), ("bioasq", 2), ("mmlu", 4)}
