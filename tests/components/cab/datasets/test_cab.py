import pytest

from components.cab.datasets.cab import Cab
from components.core.errors import ConfigError
from tests.components.cab_files import png, refused, write

RECORDS = [
    {
        "id": n,
        "inputs": None,
        "instruction": f"Question {n}?\nA. yes\nB. no",
        "eval": {"answer": "yes", "answer_idx": "A"},
    }
    for n in range(1, 21)
]


@pytest.fixture
def root(tmp_path):
    write(tmp_path / "test" / "bioasq.json", RECORDS)
    write(tmp_path / "test" / "mmlu.json", RECORDS[:3])
    write(tmp_path / "train" / "mmlu.json", RECORDS[5:7])
    png(tmp_path / "images" / "a.png")
    return tmp_path


def cab(root, **arguments):
    return Cab(path=str(root), **arguments)


def test_tasks_come_in_their_published_order(root):
    dataset = cab(root)
    assert dataset.splits == ("test", "train") and dataset.split == "test"
    samples = list(dataset.load("test"))
    assert [s.problem.id for s in samples[:4]] == ["mmlu-test-1", "mmlu-test-2", "mmlu-test-3", "bioasq-test-1"]
    assert len(samples) == 23 and [s.problem.id for s in dataset.load("train")] == ["mmlu-train-6", "mmlu-train-7"]
    assert len(list(cab(root, tasks=("bioasq",)).load("test"))) == 20


def test_cap_per_task_is_a_seeded_draw(root):
    ids = [s.problem.id for s in cab(root, per_task=5).load("test")]
    assert [sum(name.startswith(task) for name in ids) for task in ("mmlu", "bioasq")] == [3, 5]
    assert ids == [s.problem.id for s in cab(root, per_task=5).load("test")]
    assert ids != [s.problem.id for s in cab(root, per_task=5, seed=1).load("test")]


def test_fingerprint_follows_records_named_files_and_draw(root):
    first = cab(root).fingerprint
    assert cab(root).fingerprint == first != cab(root, per_task=5).fingerprint
    write(
        root / "test" / "vqarad.json",
        [{"id": 1, "instruction": "Side?", "eval": {"answer": "left"}, "images": "images/a.png"}],
    )
    second = cab(root).fingerprint
    png(root / "images" / "a.png", shade=5)
    assert len({first, second, cab(root).fingerprint}) == 3


def test_malformed_record_is_named_with_its_file(root):
    write(root / "test" / "mmlu.json", [RECORDS[0], {**RECORDS[1], "eval": {"answer": "maybe"}}])
    assert "test/mmlu.json: record 2: eval: answer_idx must be one of A, B, found None" in refused(cab(root))


def test_wrong_configuration_says_what_there_is(root, tmp_path):
    with pytest.raises(ConfigError, match=r"dataset\.tasks: must be all or some of medqa.*found \('medqu',\)"):
        cab(root, tasks=("medqu",))
    with pytest.raises(ConfigError, match=r"dataset\.tasks: must be all or some of"):
        cab(root, tasks=())
    with pytest.raises(ConfigError, match=r"dataset\.path: no data; .*BlueZeros/ClinicalAgentBench"):
        Cab()
    assert "has no file of medcalc; it has mmlu, bioasq" in refused(cab(root, tasks=("medcalc", "mmlu")))
    assert "dataset.split: this folder has test, train; found 'dev'" in refused(cab(root), "dev")
    assert "there is no folder" in refused(cab(tmp_path / "none")) and cab(tmp_path / "none").splits == ()


def test_shipped_folder_has_the_same_layout():
    dataset = Cab(shipped="cab_mini", tasks=("ehrsql", "longhalt"), privacy="open")
    samples = list(dataset.load("test"))
    assert {s.metadata["task"] for s in samples} == {"ehrsql", "longhalt"}
    assert all(s.files for s in samples)
