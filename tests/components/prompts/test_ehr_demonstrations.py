"""The health-record demonstrations run and give the right answer: as code, as actions and as SQL."""

import json
import os
from pathlib import Path

import pytest

from components.acting.solved import steps_of
from components.core.types import Answer
from components.ehr.cell import functions
from components.ehr.columns import prepare
from components.ehr.interpreters import run_sql
from components.ehr.metadata import metadata
from components.ehr.planned import CotPlan
from components.ehr.tables import Tables
from components.ehr.toolset import EhrState
from components.prompts import load
from components.text.values import cells, strict
from tests.record_desk import Records, no_code, solving
from tests.table import each_row

MINI = Path(__file__).resolve().parents[3] / "components" / "ehr" / "datasets" / "ehr_mini"
DATABASES = ("mimic_iii", "eicu", "treqs", "mimic_iv")
DEMONSTRATIONS = {database: load("ehr_demonstrations").data(database) for database in DATABASES}
EACH = [(database, number) for database in DATABASES for number in range(8)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Keeps the tables of the databases in columns."""
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(params=EACH, ids=lambda one: f"{one[0]}-{one[1] + 1}")
def solved(request, folder):
    """A demonstration with its database: the file and its tables."""
    database, number = request.param
    if database != "mimic_iv":
        file = MINI / database / f"{database}.sqlite"
    elif (root := os.environ.get("CLINICAL_DATA_DIR")) is None:
        pytest.skip("needs the demo of MIMIC-IV in CLINICAL_DATA_DIR")
    else:
        file = Path(root) / "ehrsql2024" / "data" / "mimic_iv" / "mimic_iv.sqlite"
    tables = Tables(prepare(file, metadata(database), folder))
    return database, DEMONSTRATIONS[database][number], file, tables


def gold(database, one, file):
    return cells(run_sql(file, one["sql"], metadata(database).clock))


async def test_each_form_gives_the_right_answer(solved):
    database, one, file, tables = solved
    right = gold(database, one, file)
    names = functions(tables, file, metadata(database).clock)
    exec(one["code"], names)  # our own code
    assert right and strict(str(names["answer"]), right)
    desk = Records(held=lambda: EhrState(metadata(database), file, tables, no_code), memory=None)
    outcome, _, trajectory = await solving(CotPlan(shots=0), [one["actions"]], desk)
    assert isinstance(outcome, Answer) and strict(outcome.text, right)
    seen = [saw for _, saw in steps_of(one["actions"])]
    assert seen == [*(found.observation.text for found in trajectory.steps[0].observed), ""]


@each_row("database", DATABASES)
def test_there_are_eight_of_eight_kinds(database):
    loop, check, statement, last, average, most, listed, difference = DEMONSTRATIONS[database]
    assert "for " in loop["code"] and "+=" in loop["code"]
    assert "1 if " in check["code"] and "yes or no" in check["knowledge"]
    assert [did.split("[")[0] for did, _ in steps_of(statement["actions"])] == ["SQLInterpreter", "Finish"]
    assert "Calendar[" in last["actions"] or "max(" in last["actions"]
    assert ", mean]" in average["actions"] and "limit 1" in most["sql"].lower()
    assert ", list')" in listed["code"] and "Calculate[#" in difference["actions"]


FIRST = {
    "mimic_iii": ["thrush", "59252", "emergency", "elective"],
    "eicu": ["007-65498", "002-36334", "two hospital stays", "women"],
    "treqs": ["28 days", "Captopril", "younger than 40", "Albumin"],
    "mimic_iv": ["10007795", "lactulose", "more than once", "urgent"],
}


@each_row("database", DATABASES)
def test_the_first_four_are_those_of_four_demonstrations_as_ever(database):
    first = DEMONSTRATIONS[database][:4]
    assert all(word in one["question"] for one, word in zip(first, FIRST[database], strict=True))


@each_row("database", DATABASES)
def test_each_has_two_to_five_bullets_and_at_most_ten_actions_that_end_with_finish(database):
    for one in DEMONSTRATIONS[database]:
        assert set(one) == {"question", "knowledge", "code", "actions", "sql"}
        bullets = one["knowledge"].splitlines()
        assert 2 <= len(bullets) <= 5 and all(bullet.startswith("- ") for bullet in bullets)
        names = [did.split("[")[0] for did, _ in steps_of(one["actions"])]
        assert len(names) <= 10 and names.index("Finish") == len(names) - 1


def words(text):
    """A text without case, blanks and the marks at its end."""
    return " ".join(text.casefold().split()).rstrip("?. ")


def overlap(databases, rows):
    """The demonstrations that are a question, a template or a statement of some rows."""
    texts = {words(str(text)) for row in rows for key in ("question", "template", "query") if (text := row.get(key))}
    mine = [one for database in databases for one in DEMONSTRATIONS[database]]
    return [one["question"] for one in mine if texts & {words(one["question"]), words(one["sql"])}]


@each_row("split", ["test", "valid", "train"])
def test_none_is_a_question_that_ships(split):
    databases = [database for database in DATABASES if database != "mimic_iv"]
    rows = [row for database in databases for row in json.loads((MINI / database / f"{split}.json").read_text())]
    assert len(rows) > 80 and overlap(DATABASES, rows) == []
    assert overlap(["eicu"], [{"template": " How many patients had more than two hospital stays ?"}])


PUBLIC = {
    "ehragent_demo": "*/*_preprocessed.json",
    "ehrsql": "dataset/ehrsql/*/*.json",
    "ehrsql2024": "data/mimic_iv/*/*.json",
    "mimicsql_treqs": "**/*.json*",
}


@each_row("name", PUBLIC)
def test_none_is_a_question_of_the_public_files(name):
    root = os.environ.get("CLINICAL_DATA_DIR")
    if root is None:
        pytest.skip("needs the data sets in CLINICAL_DATA_DIR")
    asked = [text for path in (Path(root) / name).glob(PUBLIC[name]) for text in asked_in(path)]
    assert len(asked) > 100 and overlap(DATABASES, [{"question": text} for text in asked]) == []


def asked_in(path):
    """Every text of a JSON file, or of JSON lines."""
    text = path.read_text()
    try:
        values = [json.loads(text)]
    except ValueError:
        values = [json.loads(line) for line in text.splitlines()]
    while values:
        value = values.pop()
        if isinstance(value, dict | list):
            values += value.values() if isinstance(value, dict) else value
        elif isinstance(value, str):
            yield value
