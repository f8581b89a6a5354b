"""The demonstrations of health records, which run and are right: as code, as actions and as SQL."""

import json
import os
from pathlib import Path

import pytest

from components.agents.cot_plan import CotPlan
from components.demonstrations import steps_of
from components.ehr.cell import functions
from components.ehr.columns import prepare
from components.ehr.matching import cells, strict
from components.ehr.metadata import metadata
from components.ehr.state import EhrState
from components.ehr.statements import run_sql
from components.ehr.tables import Tables
from components.prompts import load
from components.types import Answer
from tests.record_desk import Records, no_code, solving

MINI = Path(__file__).resolve().parents[3] / "components" / "datasets" / "ehr_mini"
DATABASES = ("mimic_iii", "eicu", "treqs", "mimic_iv")
DEMONSTRATIONS = {database: load("ehr_demonstrations").data(database) for database in DATABASES}
EACH = [(database, number) for database in DATABASES for number in range(4)]


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


@pytest.mark.parametrize("database", DATABASES)
def test_there_are_four_of_four_kinds(database):
    loop, check, statement, last = DEMONSTRATIONS[database]
    assert "for " in loop["code"] and "+=" in loop["code"]
    assert "1 if " in check["code"] and "yes or no" in check["knowledge"]
    assert [did.split("[")[0] for did, _ in steps_of(statement["actions"])] == ["SQLInterpreter", "Finish"]
    assert "Calendar[" in last["actions"] or "max(" in last["actions"]


@pytest.mark.parametrize("database", DATABASES)
def test_each_has_two_to_five_bullets_and_at_most_ten_actions_of_which_the_last_is_finish(database):
    for one in DEMONSTRATIONS[database]:
        assert set(one) == {"question", "knowledge", "code", "actions", "sql"}
        bullets = one["knowledge"].splitlines()
        assert 2 <= len(bullets) <= 5 and all(bullet.startswith("- ") for bullet in bullets)
        names = [did.split("[")[0] for did, _ in steps_of(one["actions"])]
        assert len(names) <= 10 and names.index("Finish") == len(names) - 1


@pytest.mark.parametrize("database", [database for database in DATABASES if database != "mimic_iv"])
def test_none_is_a_question_that_is_evaluated(database):
    asked = json.loads((MINI / database / "test.json").read_text())
    texts = {row[key].casefold() for row in asked for key in ("question", "template")}
    assert not [one["question"] for one in DEMONSTRATIONS[database] if one["question"].casefold() in texts]
    assert (
        len({" ".join(row["query"].split()) for row in asked} & {one["sql"] for one in DEMONSTRATIONS[database]}) == 0
    )
