"""cab_mini's images, databases and documents: built from the tables, complete, and with correct gold answers."""

import ast
import io
import json
import re
import sqlite3
from collections import Counter
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from components.cab.tasks import TASKS as CAB_TASKS
from components.sql.cleaning import clean_sql, text_rows
from components.sql.reading import ReadOnly, database_of
from data_builders.cab_mini import __main__ as builder
from data_builders.cab_mini import ehr_tasks, hospital
from data_builders.cab_mini import make_documents as documents
from data_builders.cab_mini import make_images as images
from data_builders.cab_mini.cab_records import SHIPPED, SIZES, choice, table_of
from data_builders.cab_mini.make_databases import Schema
from data_builders.shipped import same, stale

IMAGES = ("vqarad", "slake", "omnimedqa", "medvqa_halt")
TABLES = ("ehrsql", "mimic_iii", "eicu", "ehr_halt")
LETTERS = ("longhealthqa", "longhalt")
TASKS = IMAGES + TABLES + LETTERS
CLOCKS = {"mimic_iv": "2100-12-31 23:59:00", "mimic_iii": "2105-12-31 23:59:00", "eicu": "2105-12-31 23:59:00"}


@pytest.fixture(scope="module")
def built() -> dict[str, bytes]:
    return builder.build_files()


def records(task, *phases):
    return [
        row for phase in phases or SIZES for row in json.loads((SHIPPED / phase / f"{task}.json").read_text("utf-8"))
    ]


def options(row):
    lines = [line for line in row["instruction"].splitlines()[1:] if line]
    return dict(re.fullmatch(r"([A-F])\. (.+)", line).groups() for line in lines)


def first_line(row):
    return row["instruction"].splitlines()[0]


def letters(folder):
    return {path.name: " ".join(path.read_text("utf-8").split()) for path in sorted((SHIPPED / folder).glob("*.txt"))}


def test_script_reproduces_the_committed_files(built):
    assert stale(SHIPPED, built, builder.FOLDERS) == []
    assert builder.build_files().keys() == built.keys()


def test_script_writes_missing_files_and_removes_others(tmp_path, capsys):
    assert builder.main(["--check"], tmp_path) == 1
    assert "run without --check" in capsys.readouterr().err
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "left_over.png").write_bytes(b"")
    assert builder.main([], tmp_path) == 0
    assert not (tmp_path / "images" / "left_over.png").exists()
    assert builder.main(["--check"], tmp_path) == 0


def test_images_and_databases_are_compared_by_content(tmp_path, built):
    name = "images/study_01.png"
    stream = io.BytesIO()
    Image.open(io.BytesIO(built[name])).save(stream, format="PNG", compress_level=0)
    (tmp_path / "study.png").write_bytes(stream.getvalue())
    assert stream.getvalue() != built[name] and same(tmp_path / "study.png", built[name])
    assert not same(tmp_path / "study.png", built["images/study_02.png"])
    name = "databases/eicu/eicu.sqlite"
    path = tmp_path / "eicu.sqlite"
    path.write_bytes(built[name])
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 7")
    connection.close()
    assert path.read_bytes() != built[name] and same(path, built[name])
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE patient SET age = age + 1")
    connection.close()
    assert not same(path, built[name])


@pytest.mark.parametrize("task", TASKS)
def test_every_task_has_its_records_in_the_layout(task):
    assert task in CAB_TASKS
    assert {phase: len(records(task, phase)) for phase in SIZES} == SIZES == {"test": 16, "train": 12}
    rows = records(task)
    assert [row["id"] for row in rows] == list(range(1, 29))
    for row in rows:
        paths = set(row) - {"id", "instruction", "inputs", "eval"}
        kind = "images" if task in IMAGES else "sql_database" if task in TABLES else "upload_files"
        assert paths == {kind} and (SHIPPED / row[kind]).exists() and row["inputs"] is None


def test_first_line_is_unique_to_each_record():
    lines = Counter(
        first_line(row) for path in SHIPPED.glob("t*/*.json") for row in json.loads(path.read_text("utf-8"))
    )
    assert {line: n for line, n in lines.items() if n > 1} == {}


@pytest.mark.parametrize("task", ("omnimedqa", "medvqa_halt", *LETTERS))
def test_letter_matches_the_correct_option(task):
    for row in records(task):
        found = options(row)
        assert found[row["eval"]["answer_idx"]] == row["eval"]["answer"]
        assert list(found) == list("ABCDEF"[: len(found)]) and len(set(found.values())) == len(found)
        assert len(found) == {"omnimedqa": 4, "medvqa_halt": 5, "longhealthqa": 5, "longhalt": 6}[task]


def test_correct_options_occur_at_every_letter():
    for task, n_letters in (("omnimedqa", 4), ("longhealthqa", 5)):
        counts = Counter(row["eval"]["answer_idx"] for row in records(task))
        assert len(counts) == n_letters and max(counts.values()) <= 12


def test_pictures_are_small_and_grey():
    paths = sorted((SHIPPED / "images").glob("*.png"))
    assert len(paths) == 40
    for path in paths:
        with Image.open(path) as image:
            assert (image.format, image.mode, image.size) == ("PNG", "L", (96, 96))
        assert path.stat().st_size < 3000


def marks(study):
    """Centres (x, y) and widths of the marks in the file, found by comparing it with the bare organ."""
    bare = images.Study(study.number, {"organ": study.row["organ"], "count": 0}, study.words)
    with Image.open(SHIPPED / study.path) as image:
        left = np.argwhere(np.asarray(image) != images.draw(bare)).tolist()
    found = []
    while left:
        group, rest = [left[0]], left[1:]
        while near := [p for p in rest if any(abs(p[0] - q[0]) <= 1 and abs(p[1] - q[1]) <= 1 for q in group)]:
            group, rest = group + near, [p for p in rest if p not in near]
        found.append((*np.mean(group, axis=0)[::-1], np.ptp([p[1] for p in group]) + 1))
        left = rest
    return found


@pytest.mark.parametrize(
    "study",
    [s for pool in images.studies(table_of("images.yaml")).values() for s in pool],
    ids=lambda s: s.path[-6:-4],
)
def test_image_matches_its_construction(study):
    found, row = marks(study), study.row
    assert len(found) == row["count"] and set(row) <= {"organ", "count", "side", "level", "shape", "size"}
    for x, _, width in found:
        assert (x < 48) == (row["side"] == "left")
        assert (width < 9.6) == (row["size"] == "small")
    if "level" in row:
        assert {"upper": 0 < found[0][1] < 41, "middle": 41 < found[0][1] < 55, "lower": found[0][1] > 55}[row["level"]]


def test_image_answers_follow_from_the_construction():
    table = table_of("images.yaml")
    studies = {study.path: study for pool in images.studies(table).values() for study in pool}
    for task in ("vqarad", "slake", "omnimedqa"):
        for row in records(task):
            study = studies[row["images"]]
            assert study.answer(row["eval"]["kind"]) == row["eval"]["answer"]
            assert study.ask(table["questions"][task][row["eval"]["kind"]]) == first_line(row)
    used = {phase: {row["images"] for task in IMAGES for row in records(task, phase)} for phase in SIZES}
    assert not used["test"] & used["train"]


def test_image_trust_questions_have_no_correct_value():
    table = table_of("images.yaml")
    studies = {study.path: study for pool in images.studies(table).values() for study in pool}
    kinds = Counter(row["eval"]["kind"] for row in records("medvqa_halt", "test"))
    assert kinds == {"fake": 6, "swap": 5, "none": 5}
    for row in records("medvqa_halt"):
        study, texts = studies[row["images"]], set(options(row).values())
        asked = {view["view"] for view in table["views"].values() if view["view"] in first_line(row)}
        if row["eval"]["kind"] == "none":
            truth = {study.answer(kind) for kind in table["halt"]["none"]}
            kind = next(kind for kind, text in table["halt"]["none"].items() if study.ask(text) == first_line(row))
            assert study.answer(kind) not in texts and truth and row["eval"]["answer"] == "None of the above"
        else:
            assert row["eval"]["answer"] == "I do not know"
            assert study.words["view"] not in asked and bool(asked) == (row["eval"]["kind"] == "swap")


@pytest.mark.parametrize("name", CLOCKS)
def test_a_database_keeps_its_schema_its_size_and_its_clock(name):
    database = database_of(SHIPPED / "databases" / name)
    columns = Schema(name, table_of("schemas.yaml")[name]).columns
    with sqlite3.connect(SHIPPED / "databases" / name / f"{name}.sqlite") as connection:
        for table, expected in columns.items():
            info = connection.execute(f"PRAGMA table_info({table})").fetchall()
            assert [column[1] for column in info] == [column for column, _ in expected]
            for column, kind in expected:
                if kind == "d" and column != "dob":
                    latest = connection.execute(f"SELECT max({column}) FROM {table}").fetchone()[0]
                    assert latest is None or latest <= CLOCKS[name]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        patients = connection.execute(ehr_tasks.PATIENTS[name]).fetchall()
    connection.close()
    assert 30 <= len(patients) <= 40 and all(str(patient).startswith("9") for (patient,) in patients)
    assert database.id == name and {table.name for table in database.schema().tables} == set(columns)
    total = sum(path.stat().st_size for path in (SHIPPED / "databases").rglob("*.sqlite"))
    assert total < 700_000


def test_tables_json_is_the_spider_form():
    for name in CLOCKS:
        (entry,) = json.loads((SHIPPED / "databases" / name / "tables.json").read_text("utf-8"))
        columns = entry["column_names_original"]
        assert entry["db_id"] == name and columns[0] == [-1, "*"] and len(columns) == len(entry["column_types"])
        assert len(entry["primary_keys"]) == len(entry["table_names_original"]) == len(entry["table_names"])
        for child, parent in entry["foreign_keys"]:
            assert columns[child][0] != columns[parent][0]


@pytest.mark.parametrize("task", ("ehrsql", "mimic_iii", "eicu"))
def test_gold_sql_gives_the_gold_answer_by_the_rules_of_the_benchmark(task):
    for row in records(task):
        gold, folder = row["eval"]["answer"], SHIPPED / row["sql_database"]
        rows = ReadOnly(database_of(folder).file).run(clean_sql(row["eval"]["sql"], folder.name))
        text = str(text_rows(rows))
        cells = [cells[0] for cells in ast.literal_eval(gold)] if task == "ehrsql" else gold
        assert cells and all(cell in text for cell in cells), (first_line(row), gold, text)
        assert gold == (ehr_tasks.rows_text(rows) if task == "ehrsql" else ehr_tasks.values(rows))
        assert "no result" not in str(gold).lower()


@pytest.mark.parametrize("task", ("ehrsql", "mimic_iii", "eicu"))
def test_first_and_last_values_are_never_tied(task):
    for row in records(task):
        folder = SHIPPED / row["sql_database"]
        sql = clean_sql(row["eval"]["sql"], folder.name)
        ties = [re.sub(r"(asc|desc) limit 1\b", rf"\1, 1 {order} limit 1", sql) for order in ("asc", "desc")]
        one, other = (ReadOnly(database_of(folder).file).run(statement) for statement in ties)
        assert one == other, first_line(row)


def test_unanswerable_questions_name_a_patient_and_have_no_gold():
    tables = table_of("questions.yaml")["unanswerable"]
    assert not set(tables["test"]) & set(tables["train"])
    databases = Counter(row["sql_database"] for row in records("ehr_halt"))
    assert len(databases) == 3 and min(databases.values()) >= 9
    for row in records("ehr_halt"):
        name = Path(row["sql_database"]).name
        with sqlite3.connect(SHIPPED / row["sql_database"] / f"{name}.sqlite") as connection:
            patients = {str(patient) for (patient,) in connection.execute(ehr_tasks.PATIENTS[name])}
        connection.close()
        assert row["eval"] == {} and patients & set(re.findall(r"[\d-]+", first_line(row)))


@pytest.mark.parametrize("name", CLOCKS)
def test_hospital_events_are_consistent(name):
    clock = datetime.strptime(CLOCKS[name], hospital.FORMAT)
    stays = hospital.Hospital(table_of("hospital.yaml"), name, clock, 36, 720).stays()
    assert any(stay.end is None for stay in stays) and any(stay.person.death for stay in stays)
    for stay in stays:
        end = stay.end or clock
        assert stay.start < end <= clock and stay.age >= 18
        assert stay.person.death is None or stay.person.death >= end
        for event in (event for events in stay.events.values() for event in events):
            assert stay.start <= event.time <= (event.end or end) <= end
        if stay.unit_start:
            assert stay.start < stay.unit_start < (stay.unit_end or end) <= end
    for one, other in pairwise(stays):
        assert one.person.number != other.person.number or (one.end is not None and one.end < other.start)


def test_letters_are_of_readable_length():
    cases = table_of("cases.yaml")
    assert len(cases) >= 6
    for case in cases:
        whole, part = (letters(documents.folder(case, cases, whole=whole)) for whole in (True, False))
        assert 6 <= len(whole) <= 10 and 0 < len(part) < len(whole) and part.items() <= whole.items()
        for text in whole.values():
            assert 150 <= len(text.split()) <= 300 and case["name"] in text and "{" not in text
    assert sum(path.stat().st_size for path in (SHIPPED / "documents").rglob("*.txt")) < 500_000


def test_fact_is_in_exactly_one_letter_which_answers_the_question():
    for row in records("longhealthqa"):
        gold = row["eval"]["answer"].lower()
        found = [name for name, text in letters(row["upload_files"]).items() if gold in text.lower()]
        assert found == [row["eval"]["document"]], (gold, found)


def test_without_the_letter_the_question_cannot_be_answered():
    for row in records("longhalt"):
        fact, folder = row["eval"]["fact"].lower(), row["upload_files"]
        assert not any(fact in text.lower() for text in letters(folder).values())
        assert any(fact in text.lower() for text in letters(folder[:-1] + {"1": "2", "2": "1"}[folder[-1]]).values())
        assert row["eval"]["answer_idx"] == "F" and fact in {text.lower() for text in options(row).values()}


def test_facts_differ_and_each_patient_is_in_one_phase():
    cases = table_of("cases.yaml")
    for fact in table_of("letters.yaml")["questions"]:
        assert len({case["facts"][fact] for case in cases}) == len(cases), fact
    folders = {phase: {row["upload_files"][:-2] for task in LETTERS for row in records(task, phase)} for phase in SIZES}
    assert not folders["test"] & folders["train"]


def test_short_numbers_are_part_of_the_printed_result():
    assert [ehr_tasks.cell(value) for value in (5.0, 12.5, 1.23456, 7, "a", None)] == [
        "5",
        "12.5",
        "1.235",
        "7",
        "a",
        "None",
    ]
    assert ehr_tasks.values([(2.0,), (None,), (2,)]) == ["2"]
    assert ehr_tasks.rows_text([("b", 2.0), ("a", 1)]) == "[['a', '1'], ['b', '2']]"


def test_choice_question_has_one_option_per_line():
    row = choice("Which?", ["one", "two"], "two", {"kind": "x"}, images="a.png")
    assert row["instruction"] == "Which?\nA. one\nB. two" and row["images"] == "a.png"
    assert row["eval"] == {"answer": "two", "answer_idx": "B", "kind": "x"}


def test_letters_are_written_for_every_kind():
    case, table = table_of("cases.yaml")[0], table_of("letters.yaml")
    made = documents.letters_of(case, table)
    assert [letter.kind for letter in made] == [form["kind"] for form in table["letters"]]
    assert sorted(fact for letter in made for fact in letter.facts) == sorted(table["questions"])
