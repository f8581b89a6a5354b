import copy
import json

import pytest

from components.core.errors import ConfigError
from components.radiology.study import parse_records
from components.radiology.tasks import TASKS
from tests.golden.vectors import dev
from tests.table import each_row

DATA = dev().data
RECORD, QA = DATA["records"]["dev_chest_ct"], DATA["qa"]["dev_chest_ct"]


def parse(content):
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return parse_records(data, "f.json", {})


def changed(path, value=None):
    entry = copy.deepcopy({"case": RECORD, "QA": QA})
    *groups, key = path.split("/")
    place = entry
    for group in groups:
        place = place[group]
    if value is None:
        del place[key]
    else:
        place[key] = value
    return {"r7": entry}


def test_records_and_questions_are_read_in_file_order():
    names = list(DATA["records"])
    entries, vocabulary = parse(
        {name: {"case": DATA["records"][name], "QA": DATA["qa"][name]} for name in reversed(names)}
    )
    assert [entry.id for entry in entries] == names[::-1]
    entry = entries[-1]
    assert entry.record == DATA["records"][entry.id] and list(entry.questions) == list(TASKS)
    assert entry.questions["012"] == (QA["012"]["Q"], QA["012"]["A"])
    assert len(vocabulary.lists["disease_list"]) == len(names)


@each_row("content", [{"r": {**RECORD, "QA": QA}}, {**RECORD, "QA": QA}, {"case": RECORD, "QA": QA}])
def test_bare_records_and_files_of_one_record_are_read(content):
    ((entry,), _) = parse(content)
    assert entry.record == RECORD and len(entry.questions) == 11


def test_numbers_become_texts():
    ((entry,), _) = parse(changed("case/Information/Age", 58))
    assert entry.record["Information"]["Age"] == "58"


WRONG = [
    (b'{"a": {"case": {\n"Anatomy": "Che', r"f\.json: line 2, column 1\d: not JSON"),
    ([1], "expected a JSON object of patient records, found a list"),
    ({}, "no patient records"),
    ({"r7": 3}, "record 'r7': expected an object with the keys case and QA, found a number"),
    ({"r7": {"case": [], "QA": QA}}, "record 'r7': case is a list"),
    ({"r7": {"case": RECORD}}, "record 'r7': QA is missing"),
    (changed("case/Disease"), "record 'r7': Disease is missing"),
    (changed("case/Indicator/Value"), r"record 'r7': Indicator\.Value is missing"),
    (changed("case/Report"), r"record 'r7': Report is missing; an object with \['Finding', 'Impression'\]"),
    (changed("case/Report", "text"), "record 'r7': Report is a text"),
    (changed("case/Treatment", ["a"]), "record 'r7': Treatment is a list; text is expected"),
    (changed("case/Information/Age", True), r"Information\.Age is a truth value"),
    (changed("case/Anatomy", "Foot"), "record 'r7': Anatomy is 'Foot'; known are .*'Limb'"),
    (changed("case/Modality", "PET"), "record 'r7': Modality is 'PET'; known are"),
    (changed("case/Modality", "Mammography"), "Modality is 'Mammography'; for Anatomy 'Chest' known are"),
    (changed("QA/019", {"Q": "?", "A": "!"}), "unknown chain '019'; known are"),
    (changed("QA/012/A"), r"record 'r7': QA\.012\.A is missing"),
    (changed("QA/012", "?"), r"QA\.012 is a text"),
    (changed("QA", {}), "QA is an empty object"),
]


@each_row("content,text", WRONG)
def test_errors_in_a_record_are_named(content, text):
    with pytest.raises(ConfigError, match=text):
        parse(content)
