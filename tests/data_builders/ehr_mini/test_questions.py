"""The question files: format, numbers, values per split, wordings and levels."""

import re
from collections import Counter
from itertools import combinations

import pytest

from components.sql.complexity import level, n_slots, tables_of
from data_builders.ehr_mini.dealing import SPLITS, Deal
from data_builders.ehr_mini.gold_answers import Asker
from data_builders.ehr_mini.questions import LEVEL_SIZES, Drawer, Template, questions
from data_builders.ehr_mini.schema import Schema, opened, table_of
from tests.data_builders.ehr_mini.shipped import DATABASES, answerable, every_record, records, tables

KEYS = {
    "id", "db_id", "question", "template", "query", "value", "q_tag", "answer", "is_impossible", "split", "template_id",
}  # fmt: skip
SIZES = {
    "mimic_iii": {"test": (80, 8), "valid": (80, 0), "train": (32, 4)},
    "eicu": {"test": (60, 6), "valid": (60, 0), "train": (24, 3)},
    "treqs": {"test": (60, 6), "valid": (60, 0), "train": (24, 3)},
}
LEVELS = {"mimic_iii": ("I", "II", "III", "IV"), "eicu": ("I", "II", "III"), "treqs": ("I", "II", "III")}
TEMPLATES = {name: one for db in DATABASES for name, one in table_of(f"questions_{db}.yaml")["templates"].items()}
SLOT = re.compile(r"\{(\w+)\}")
RECORDS = every_record()
ANSWERABLE = [record for record in RECORDS.values() if not record["is_impossible"]]
# Words in a value that the counting rules or the clean-up of SQL would misinterpret.
UNSAFE = re.compile(r"\b(from|join|current_time)\b|[<>!] =|  |%[yj]|[{}]|_(lower|upper)", re.IGNORECASE)


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
def test_record_is_complete(record):
    assert set(record) == KEYS
    assert record["id"].startswith(f"{record['db_id']}-{record['split']}-")
    slots = set(SLOT.findall(record["q_tag"]))
    assert record["template"] == record["q_tag"].format(**record["value"]) and slots == set(record["value"])
    assert not SLOT.search(record["question"] + record["template"] + record["query"])
    assert record["question"] != record["template"]
    for value in map(str, record["value"].values()):
        assert value in record["question"], value
        assert not UNSAFE.search(value), value
    if record["is_impossible"]:
        assert (record["query"], record["answer"], record["template_id"]) == ("nan", [], None)
    else:
        assert 1 <= len(record["answer"]) <= 20 and len(set(record["answer"])) == len(record["answer"])
        assert all(isinstance(text, str) and text not in ("", "None") for text in record["answer"])


@pytest.mark.parametrize("database", DATABASES)
def test_every_level_has_its_questions_in_every_split(database):
    for split, (n_answerable, n_unanswerable) in SIZES[database].items():
        found = Counter(record["template_id"].split("-")[1] for record in answerable(database, split))
        assert found == dict.fromkeys(LEVELS[database], LEVEL_SIZES[split])
        assert found.total() == n_answerable
        assert len(records(database, split)) == n_answerable + n_unanswerable


def test_ids_and_texts_are_unique():
    found = every_record().values()
    assert len(every_record()) == sum(len(records(database, split)) for database in DATABASES for split in SPLITS)
    for key in ("template", "question"):
        texts = Counter((record["db_id"], record[key]) for record in found)
        assert not [text for text, n in texts.items() if n > 1]


@pytest.mark.parametrize("database", DATABASES)
def test_no_value_of_a_train_question_occurs_in_test(database):
    values = {
        split: {(slot, value) for record in records(database, split) for slot, value in record["value"].items()}
        for split in SPLITS
    }
    assert not values["train"] & values["test"]


@pytest.mark.parametrize("database", DATABASES)
def test_patients_drugs_and_codes_are_in_one_split_only(database):
    closed = table_of(f"questions_{database}.yaml")["closed"]
    values = {
        split: {
            (slot, value)
            for record in records(database, split)
            for slot, value in record["value"].items()
            if slot not in closed
        }
        for split in SPLITS
    }
    assert all(values.values())
    assert not [one & other for one, other in combinations(values.values(), 2) if one & other]


def test_admission_is_in_the_split_of_its_patient():
    of = {row["hadm_id"]: row["subject_id"] for row in tables("mimic_iii")["admissions"]}
    patients = {
        split: {
            record["value"].get("subject_id", of.get(record["value"].get("hadm_id")))
            for record in records("mimic_iii", split)
        }
        - {None}
        for split in SPLITS
    }
    assert not patients["test"] & patients["train"] and not patients["test"] & patients["valid"]


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("database", DATABASES)
def test_yes_and_no_are_balanced_and_few_counts_are_zero(database, split):
    answers = {"yes_no": Counter[str](), "count": Counter[str]()}
    for record in answerable(database, split):
        kind = TEMPLATES[record["template_id"]]["answer"]
        if kind in answers:
            answers[kind][record["answer"][0]] += 1
    truths, counts = answers["yes_no"], answers["count"]
    assert set(truths) <= {"0", "1"} and abs(truths["0"] - truths["1"]) <= 1
    assert counts["0"] <= counts.total() / 5
    assert split == "train" or counts["1"] <= counts.total() / 2


@pytest.mark.parametrize("record", ANSWERABLE, ids=lambda record: record["id"])
def test_level_follows_the_counting_rules(record):
    sql, name = record["query"], record["template_id"]
    assert level(len(tables_of(sql))) == name.split("-")[1]
    if record["db_id"] != "treqs":  # the published rule does not count its capitals and joins
        assert tables_of(sql, joins=False) == tables_of(sql)
    assert n_slots(record["q_tag"]) == len(record["value"])


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_paraphrases_have_all_slots_of_the_template(template):
    slots = Counter(SLOT.findall(template["ask"]))
    assert len(template["paraphrases"]) in (2, 3)
    assert len({template["ask"], *template["paraphrases"]}) == len(template["paraphrases"]) + 1
    assert all(Counter(SLOT.findall(text)) == slots for text in template["paraphrases"])
    assert set(SLOT.findall(template["sql"])) == set(slots)


def test_every_paraphrase_is_used():
    used = {(one["template_id"], one["question"]) for one in every_record().values() if not one["is_impossible"]}
    for name, template in TEMPLATES.items():
        for text in template["paraphrases"]:
            pattern = re.compile(SLOT.sub(".+", re.sub(r"[^\w\s{}]", ".", text)))
            assert any(name == of and pattern.fullmatch(question) for of, question in used), (name, text)


def test_questions_about_ongoing_stays_are_about_patients_in_hospital():
    here = {row["subject_id"] for row in tables("mimic_iii")["admissions"] if row["dischtime"] is None}
    here |= {row["uniquepid"] for row in tables("eicu")["patient"] if row["hospitaldischargetime"] is None}
    asked = [one for one in every_record().values() if one["template_id"] in ("M-II-4", "M-IV-3", "E-II-1")]
    assert asked and {one["value"].get("subject_id") or one["value"]["uniquepid"] for one in asked} <= here


def test_questions_include_hard_strings():
    values = {str(value) for one in every_record().values() for value in one["value"].values()}
    for sign in "<=%+/',()":
        assert any(sign in value for value in values), sign


def drawer(connection, pool, split="test", taken=None):
    deal = Deal([pool], [], "seed")
    return Drawer(Asker(connection, None), deal, split, "seed", set() if taken is None else taken)


@pytest.fixture
def numbers():
    schema = Schema.of("treqs")
    with opened(schema, dict.fromkeys(schema.tables, ())) as connection:
        yield connection
    connection.close()


def test_exhausted_template_is_skipped(numbers):
    pool = [{"n": n} for n in range(50)]
    short = Template("X-I-1", "value", "{n}?", (), "select 1 where {n} < 0", pool)
    long = Template("X-I-2", "value", "{n}?", (), "select {n}", pool)
    drawn = list(drawer(numbers, pool).level([short, long], 3))
    assert [one.template.name for one in drawn] == ["X-I-2"] * 3 and [one.turn for one in drawn] == [0, 1, 2]


def test_too_small_database_is_reported_with_its_template(numbers):
    pool = [{"n": n} for n in range(5)]
    template = Template("X-I-1", "value", "{n}?", (), "select {n}", pool)
    with pytest.raises(ValueError, match="X-I-1: the database gives 2 of 3 questions of the split test"):
        list(drawer(numbers, pool).level([template], 3))


def test_no_question_is_drawn_twice(numbers):
    pool, taken = [{"n": n} for n in range(5)], set()
    template = Template("X-I-1", "value", "{n}?", (), "select {n}", pool)
    assert len(list(drawer(numbers, pool, taken=taken).level([template], 2))) == 2
    with pytest.raises(ValueError, match="0 of 1"):
        list(drawer(numbers, pool, taken=taken).level([template], 1))


def test_an_empty_database_gives_no_questions():
    schema = Schema.of("treqs")
    with opened(schema, dict.fromkeys(schema.tables, ())) as connection, pytest.raises(ValueError, match="T-I-1"):
        questions(schema, connection, 1)
    connection.close()
