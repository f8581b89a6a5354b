"""Ask the three databases: ehrsql, mimic_iii, eicu with gold answers from gold SQL, and ehr_halt without any.

A gold number is written as short as possible (5, 7.703), so that it is part of both the printed result (5.0)
and of a plain reply. Templates go round, each time with other slot values; none is asked twice.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from data_builders.cab_mini.cab_records import SIZES, Built, Record, record, table_of
from data_builders.cab_mini.make_databases import Database, Schema

TASKS = {"ehrsql": "mimic_iv", "mimic_iii": "mimic_iii", "eicu": "eicu"}
MOST_ROWS = 8
PATIENTS = {
    "mimic_iv": "select subject_id from patients order by 1",
    "mimic_iii": "select subject_id from patients order by 1",
    "eicu": "select distinct uniquepid from patient order by 1",
}


def cell(value: Any) -> str:
    """One cell of a gold answer: numbers rounded to 3 decimals, as short as possible."""
    if isinstance(value, float):
        value = round(value, 3)
        return str(int(value)) if value == int(value) else str(value)
    return str(value)


def rows_text(rows: Sequence[tuple[Any, ...]]) -> str:
    """Gold of ehrsql: the sorted rows as text of a nested list."""
    return str(sorted([cell(value) for value in row] for row in rows))


def values(rows: Sequence[tuple[Any, ...]]) -> list[str]:
    """Gold of mimic_iii and eicu: the different values, sorted."""
    return sorted({cell(value) for row in rows for value in row if value is not None})


def filled(
    database: Database, template: Mapping[str, Any], names: Mapping[str, str], seed: str
) -> list[tuple[str, str]]:
    """Every wording and statement that a template allows, in an order of the seed."""

    def named(sql: str) -> str:
        for short, column in names.items():
            sql = sql.replace(short, column)
        return sql

    cursor = database.run(named(template["slots"]))
    columns = [column[0] for column in cursor.description]
    slots = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
    wording = template["ask"][-1] if database.schema.name == "mimic_iii" else template["ask"][0]
    made = [(wording.format(**slot), named(template["sql"]).format(**slot)) for slot in slots]
    return random.Random(seed).sample(made, len(made))


def answerable(task: str, database: Database, table: Mapping[str, Any]) -> dict[str, list[Record]]:
    """The records of both phases."""
    name = database.schema.name
    templates, names = table["eicu" if name == "eicu" else "mimic"], table["names"].get(name, {})
    pools = [filled(database, template, names, f"{name}-{place}") for place, template in enumerate(templates)]
    made: list[Record] = []
    while len(made) < sum(SIZES.values()):
        pool = pools[len(made) % len(pools)]
        question, sql = pool.pop()
        rows = database.ask(sql)
        if not rows or len(rows) > MOST_ROWS or not values(rows):
            continue
        gold = rows_text(rows) if task == "ehrsql" else values(rows)
        paths = {"sql_database": f"databases/{name}"}
        made.append(record([question, table["rule"]], {"answer": gold, "sql": sql}, **paths))
    return {"test": made[: SIZES["test"]], "train": made[SIZES["test"] :]}


def unanswerable(databases: Mapping[str, Database], table: Mapping[str, Any]) -> dict[str, list[Record]]:
    """The records of ehr_halt: the databases by turns, each with patients of its own."""
    made: dict[str, list[Record]] = {}
    names = list(databases)
    for phase, wordings in table["unanswerable"].items():
        made[phase] = []
        for turn, wording in enumerate(wordings):
            name = names[turn % len(names)]
            patients = databases[name].ask(PATIENTS[name])
            patient = random.Random(f"{phase}-{turn}").choice(patients)[0]
            paths = {"sql_database": f"databases/{name}"}
            made[phase].append(record([wording.format(patient=patient), table["rule"]], {}, **paths))
    return made


def build() -> Built:
    """The databases, and the records of the four tasks."""
    hospital, table, made = table_of("hospital.yaml"), table_of("questions.yaml"), Built()
    schemas = table_of("schemas.yaml")
    databases = {name: Database(Schema(name, schemas[name]), hospital) for name in schemas}
    for database in databases.values():
        made.files.update(database.files())
    for task, name in TASKS.items():
        made.tasks[task] = answerable(task, databases[name], table)
    made.tasks["ehr_halt"] = unanswerable(databases, table)
    for database in databases.values():
        database.connection.close()
    return made
