import json
from hashlib import sha256
from importlib.util import find_spec
from random import Random

import pytest

from components.core.errors import ConfigError
from components.core.protocols import Dataset
from components.radiology.conditions import InsufficientConfig1, InsufficientConfig2, InsufficientConfig3
from components.radiology.dataset import RadABench, entries_of
from components.radiology.tasks import PAIRS, TASKS
from components.radiology.toolset import Radiology
from tests.golden.vectors import CODE, PAPER, dev
from tests.slow import slow
from tests.table import each_row

DATA = dev().data
FILE = {name: {"case": DATA["records"][name], "QA": DATA["qa"][name]} for name in DATA["records"]}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "combined_casesV3_qa_Subset.json"
    path.write_text(json.dumps(FILE))
    return path


def test_a_file_is_read_in_its_order(file):
    dataset = RadABench(path=str(file))
    assert isinstance(dataset, Dataset) and dataset.privacy == "open" and dataset.splits == ("test",)
    samples = list(dataset.load("test"))
    assert [s.problem.id for s in samples] == [f"{name}/{chain}" for name in FILE for chain in TASKS]
    first = samples[0]
    assert first.problem.question == FILE["dev_chest_ct"]["QA"]["012"]["Q"]
    assert first.target == {"chain": "012", "answer": FILE["dev_chest_ct"]["QA"]["012"]["A"]}
    assert first.cluster == "dev_chest_ct" and first.metadata["chain"] == "012"
    assert first.strata == {
        "complexity": "simple", "task": "organ segmentation", "anatomy": "Chest", "modality": "CT",
    }  # fmt: skip
    assert first.card == {"age, years": 58.0, "sex": "male", "gold chain, steps": 3}
    assert first.problem.context.splitlines() == [
        "Patient: 58 years, male, 176 cm, 81 kg",
        "History: Former smoker, treated for high blood pressure",
        "Complaint: Dry cough for one month",
    ]
    assert first.metadata["vocabulary"] is samples[-1].metadata["vocabulary"]
    assert first.metadata["record"] is samples[1].metadata["record"]


def test_the_indicator_is_named_where_it_is_known_from_the_start(file):
    for switches, named in ((PAPER, True), (CODE, False)):
        samples = {s.problem.id: s for s in RadABench(path=str(file), switches=switches).load("test")}
        assert ("Fleischner category" in samples["dev_chest_ct/01235678"].problem.context) == named
        assert "Fleischner category" not in samples["dev_chest_ct/0123568"].problem.context


def test_the_fingerprint_is_that_of_the_file(file):
    dataset = RadABench(path=str(file))
    assert dataset.fingerprint == sha256(file.read_bytes()).hexdigest()
    file.write_text(json.dumps({"only": FILE["dev_chest_ct"]}))
    assert dataset.fingerprint == sha256(file.read_bytes()).hexdigest()
    assert len(list(dataset.load("test"))) == 11


def test_a_folders_files_are_its_splits(file, tmp_path):
    assert len(list(RadABench(path=str(tmp_path)).load("test"))) == 55
    (tmp_path / "train.json").write_text(json.dumps({"only": FILE["dev_chest_ct"]}))
    assert RadABench(path=str(tmp_path)).splits == (file.stem, "train")
    named = RadABench(path=str(tmp_path), files={"test": file.name, "train": "train.json"})
    assert named.splits == ("test", "train") and len(list(named.load("train"))) == 11


def test_the_shipped_set_needs_no_path():
    dataset = RadABench(shipped="radabench_mini")
    assert dataset.splits == ("test", "train") and dataset.split == "test"
    test, train = list(dataset.load("test")), list(dataset.load("train"))
    assert len(test) == 726 and len(train) == 242 and len(dataset.fingerprint) == 64
    assert {(s.strata["anatomy"], s.strata["modality"]) for s in test} == set(PAIRS)
    assert all(len(terms) >= 30 for terms in test[0].metadata["vocabulary"].terms.values())


@slow
@each_row("made", [InsufficientConfig1, InsufficientConfig2, InsufficientConfig3])
def test_no_insufficient_set_over_the_shipped_samples_is_solvable(made):
    toolset, condition = Radiology(PAPER), made(PAPER)
    for sample in [*RadABench(shipped="radabench_mini").load("test")][::7]:  # all tasks, of different records
        assert condition.offer(toolset.open(sample), sample, Random(sample.problem.id)).may_refuse


def wrong(dataset, text):
    with pytest.raises(ConfigError, match=text):
        list(dataset.load(dataset.split))
    with pytest.raises(ConfigError, match=text):
        assert dataset.fingerprint


def test_a_missing_file_or_key_is_named(file, tmp_path):
    wrong(RadABench(), r"give dataset.path=FILE_OR_FOLDER .* or dataset.hub=QiaoyuZheng")
    wrong(RadABench(path=str(tmp_path / "no.json")), r"no.json' does not exist")
    (tmp_path / "empty").mkdir()
    wrong(RadABench(path=str(tmp_path / "empty")), r"holds no .json file")
    wrong(RadABench(path=str(file), split="dev"), r"dataset.split='dev' does not exist; the splits are \['test'\]")
    wrong(RadABench(path=str(tmp_path), files={"test": "t.json"}), r"t.json', the file of split 'test', does not exist")


def test_a_truncated_file_names_line_and_column(file):
    file.write_text(json.dumps(FILE, indent=1)[:700])
    with pytest.raises(ConfigError, match=r"Subset.json: line \d+, column \d+: not JSON"):
        list(RadABench(path=str(file)).load("test"))


def test_a_wrong_record_is_named_with_its_key(file):
    broken = json.loads(json.dumps(FILE))
    del broken["dev_head_mri"]["case"]["Anomaly"]["Part"]
    file.write_text(json.dumps(broken))
    with pytest.raises(ConfigError, match=r"record 'dev_head_mri': Anomaly.Part is missing"):
        list(RadABench(path=str(file)).load("test"))


@pytest.mark.skipif(find_spec("datasets") is not None, reason="the optional extra is installed")
def test_the_hub_needs_its_extra():
    wrong(RadABench(hub="QiaoyuZheng/RadABench-Data"), r"needs the optional extra 'datasets': pip install")


def test_rows_of_a_table_become_a_file():
    entry = FILE["dev_chest_ct"]
    as_text = {name: json.dumps(value) for name, value in entry.items()}
    sparse = {**entry, "QA": {**entry["QA"], "012": None}, "note": None}
    rows = [{"id": 7, **entry}, as_text, sparse]
    found = entries_of(rows)
    assert found["7"] == found["1"] == entry
    assert "012" not in found["2"]["QA"] and set(found["2"]) == {"case", "QA"}
    assert entries_of([FILE]) == FILE
    assert entries_of([{"case": {"Treatment": "{rest}"}}]) == {"0": {"case": {"Treatment": "{rest}"}}}


def test_whole_records_are_selected_by_the_seed_with_all_their_questions():
    whole = list(RadABench(shipped="radabench_mini").load("test"))
    found = list(RadABench(shipped="radabench_mini", records=20).load("test"))
    assert len(found) == 220 and len({one.cluster for one in found}) == 20
    assert {one.cluster: sum(other.cluster == one.cluster for other in found) for one in found} == dict.fromkeys(
        dict.fromkeys(one.cluster for one in found), len(TASKS)
    )
    ids = [one.problem.id for one in found]
    assert ids == [one.problem.id for one in whole if one.problem.id in set(ids)]  # in file order
    again, other = (RadABench(shipped="radabench_mini", records=20, seed=seed).load("test") for seed in (0, 1))
    assert [one.problem.id for one in again] == ids != [one.problem.id for one in other]


def test_learning_records_are_excluded_and_the_vocabulary_covers_the_whole_file():
    few = RadABench(shipped="radabench_mini", records=1)
    assert len({one.cluster for one in few.load("train")}) == 22
    one, whole = (next(iter(data.load("test"))) for data in (few, RadABench(shipped="radabench_mini")))
    assert one.metadata["vocabulary"] is whole.metadata["vocabulary"]


def test_more_records_than_there_are_is_refused(file):
    assert len(list(RadABench(path=str(file), records=len(FILE)).load("test"))) == len(FILE) * 11
    with pytest.raises(ConfigError, match=rf"records: {len(FILE) + 1} are requested, and split 'test' has {len(FILE)}"):
        RadABench(path=str(file), records=len(FILE) + 1).load("test")
