"""The text tasks of cab_mini: made by the script, of the stated form, right, and answerable with the tools' data."""

import json
import re
from collections import Counter
from datetime import date, datetime
from functools import cache

import pytest

from components.cab.tasks import TASKS
from components.text.bm25 import Bm25
from data_builders.cab_mini import __main__ as builder
from data_builders.cab_mini import text_calculations as calculations
from data_builders.cab_mini.cab_records import SHIPPED, SIZES, table_of
from data_builders.cab_mini.text_choices import UNKNOWN
from data_builders.facts import inline, load_facts
from data_builders.shipped import COMPONENTS

NAMES = [f"{phase}/{task}.json" for phase in SIZES for task in builder.TEXT_TASKS]
CHOICES = ["medqa", "mmlu", "bioasq", "pubmedqa", "medhalt_rht"]
EACH_TASK = pytest.mark.parametrize("task", builder.TEXT_TASKS)
EACH_CHOICE = pytest.mark.parametrize("task", CHOICES)


@cache
def built():
    return {name: json.loads(raw) for name, raw in builder.build_texts().items()}


def records(task, *phases):
    return [row for phase in phases or SIZES for row in built()[f"{phase}/{task}.json"]]


def json_rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def first_line(row):
    return row["instruction"].split("\n")[0]


def options(row):
    return dict(line.split(". ", 1) for line in row["instruction"].split("\n")[1:])


# --- the files ---


@EACH_TASK
def test_records_have_the_benchmark_s_layout(task):
    assert task in TASKS
    assert [len(records(task, phase)) for phase in ("test", "train")] == [16, 12]
    assert [row["id"] for row in records(task)] == list(range(1, 29))
    for row in records(task):
        assert list(row) == ["id", "instruction", "inputs", "eval"]
        assert (row["inputs"] is not None) == (task in ("medcalc", "medmentions", "emrqa"))


def test_first_line_is_unique_to_each_record_of_a_folder():
    found = [first_line(row) for path in SHIPPED.glob("t*/*.json") for row in json.loads(path.read_text("utf-8"))]
    assert len(found) >= 8 * 28
    assert [line for line, count in Counter(found).items() if count > 1] == []


@EACH_TASK
def test_no_record_of_the_test_phase_is_in_training(task):
    parts = [{(first_line(row), row["inputs"]) for row in records(task, phase)} for phase in SIZES]
    assert not parts[0] & parts[1]


def test_phases_ask_about_different_diseases_drugs_and_patients():
    table = table_of("text_choices.yaml")
    subjects = {
        "medqa": lambda rows: [row["about"] for row in rows],
        "mmlu": lambda rows: [name for names in rows.values() for name in names],
        "bioasq": lambda rows: [row[1] for row in rows],
    }
    for task, read in subjects.items():
        test, train = read(table[task]["test"]), read(table[task]["train"])
        assert len(set(test + train)) == len(test + train), task
    abstracts = table_of("text_abstracts.yaml")
    assert not set(abstracts["test"]) & set(abstracts["train"])
    formulas = list(table_of("text_calculations.yaml").values())
    patients = [one["name"] for formula in formulas for phase in SIZES for one in formula[phase]]
    patients += [one["name"] for phase in SIZES for one in table_of("text_notes.yaml")[phase]]
    assert len(set(patients)) == len(patients)


@EACH_TASK
def test_texts_have_no_placeholders_or_doubled_words(task):
    for row in records(task):
        text = f"{row['instruction']} {row['inputs'] or ''}"
        assert not re.search(r"[{}]|\.\.|  |\bNone\b(?! known)(?!\.)|\b(\w+) \1\b", text), text


# --- choices ---


@EACH_CHOICE
def test_letter_matches_the_correct_option(task):
    for row in records(task):
        assert options(row)[row["eval"]["answer_idx"]] == row["eval"]["answer"]
        assert len(set(options(row).values())) == len(options(row))
        assert list(options(row)) == list("ABCD")[: len(options(row))]


@EACH_CHOICE
def test_no_wrong_option_contains_the_right_one(task):
    """The benchmark counts an answer in which the right text occurs."""
    for row in records(task):
        wrong = [text for letter, text in options(row).items() if letter != row["eval"]["answer_idx"]]
        assert not [text for text in wrong if row["eval"]["answer"].lower() in text.lower()], row["instruction"]


@EACH_CHOICE
def test_no_letter_is_almost_always_correct(task):
    letters = Counter(row["eval"]["answer_idx"] for row in records(task))
    assert max(letters.values()) <= (16 if task == "bioasq" else 12)


def test_options_match_the_task():
    sizes = {task: {len(options(row)) for row in records(task)} for task in CHOICES}
    assert sizes == {"medqa": {4}, "mmlu": {4}, "bioasq": {2}, "pubmedqa": {3}, "medhalt_rht": {4}}
    assert all(list(options(row).values()) == ["yes", "no"] for row in records("bioasq"))
    assert all(list(options(row).values()) == ["yes", "no", "maybe"] for row in records("pubmedqa"))
    assert all(row["eval"]["answer"] == UNKNOWN for row in records("medhalt_rht"))


def test_vignettes_follow_the_facts_without_naming_the_disease():
    table = table_of("text_choices.yaml")["medqa"]
    for row in (row for phase in SIZES for row in table[phase]):
        disease = load_facts().diseases[row["about"]]
        wrong = {"diagnosis": load_facts().diseases, "treatment": load_facts().drugs, "test": load_facts().terms}[
            row["asks"]
        ]
        right = {"diagnosis": [disease.name], "treatment": disease.drugs, "test": [disease.test]}[row["asks"]]
        assert set(row["others"]) <= set(wrong) and not set(row["others"]) & set(right), row["about"]
        if row["asks"] == "treatment":
            assert row["answer"] in disease.drugs
        for name in (disease.name, *disease.also, *right):
            assert not re.search(rf"\b{re.escape(name)}\b", row["text"], re.IGNORECASE), name


def test_yes_and_no_follow_from_the_facts():
    table = table_of("text_choices.yaml")["bioasq"]
    for kind, subject, other, answer in (row for phase in SIZES for row in table[phase]):
        true = {
            "treats": lambda s, o: s in load_facts().diseases[o].drugs,
            "group": lambda s, o: load_facts().drugs[s].group == o,
            "finding": lambda s, o: o in load_facts().diseases[s].findings,
        }[kind](subject, other)
        assert (answer == "yes") == true, (subject, other)
        assert other in {**load_facts().diseases, **load_facts().terms} or other in {d.group for d in load_facts().drugs.values()} | {
            "loop diuretic", "bisphosphonate", "macrolide antibiotic", "atypical antipsychotic",
        }  # fmt: skip
    assert Counter(row["eval"]["answer"] for row in records("bioasq")) == {"yes": 14, "no": 14}


def test_every_verdict_is_asked_for_in_both_phases():
    for phase, least in (("test", 5), ("train", 3)):
        counts = Counter(row["eval"]["answer"] for row in records("pubmedqa", phase))
        assert set(counts) == {"yes", "no", "maybe"} and min(counts.values()) >= least


# --- answers can be found with the tools' data ---


@pytest.fixture(scope="module")
def passages():
    return [
        row for path in sorted((COMPONENTS / "tools" / "data" / "corpus").glob("*.jsonl")) for row in json_rows(path)
    ]


def test_a_search_with_the_question_finds_the_passage_that_answers_it(passages):
    index = Bm25.over((row["id"], f"{row['title']} {row['content']}") for row in passages)
    content = {row["id"]: f"{row['title']} {row['content']}".lower() for row in passages}
    lost = []
    for task in ("medqa", "mmlu"):
        for row in records(task):
            found = [content[hit.id] for hit in index.search(first_line(row), 5)]
            if not any(row["eval"]["answer"].lower() in text for text in found):
                lost.append(first_line(row))
    assert len(lost) <= 3, lost


def test_search_finds_the_passage_that_decides_yes_no_or_maybe(passages):
    index = Bm25.over((row["id"], f"{row['title']} {row['content']}") for row in passages)
    titles = {row["id"]: row["title"] for row in passages}
    for summary in load_facts().summaries.values():
        assert titles[index.search(summary.question, 1)[0].id] == summary.about
    table = table_of("text_choices.yaml")["bioasq"]
    asked = [(row[1], first_line(made)) for phase in SIZES for row, made in zip(table[phase], records("bioasq", phase), strict=True)]  # fmt: skip
    for subject, question in asked:
        assert subject in [titles[hit.id] for hit in index.search(question, 5)], question


def test_every_correct_disease_drug_and_test_is_a_concept():
    concepts = {row["name"] for row in json_rows(COMPONENTS / "tools" / "data" / "vocabulary.jsonl")}
    assert {row["eval"]["answer"] for row in records("medqa")} <= concepts


def test_fictitious_names_are_not_in_the_tool_data(passages):
    whole = " ".join(row["content"] for row in passages).lower()
    for name in ("lunarmycin", "brackenfield", "wanderin", "murmurazepam", "pellworth", "farrow-nightingale"):
        assert name not in whole


# --- reading ---


def test_entities_occur_in_the_abstract_and_are_concepts():
    concepts = {name.lower() for name in (*load_facts().diseases, *load_facts().drugs, *load_facts().terms)}
    for row in records("medmentions"):
        names = [one["entity_name"] for one in row["eval"]["answer"]]
        assert len({name.lower() for name in names}) == len(names) == 6
        for name in names:
            assert re.search(rf"\b{re.escape(name)}\b", row["inputs"]), name
            assert name.lower() in concepts


def test_abstracts_mark_every_disease_drug_and_test_they_name():
    names = [inline(name).lower() for name in (*load_facts().diseases, *load_facts().drugs, *load_facts().terms)]
    for row in records("medmentions"):
        marked = {one["entity_name"].lower() for one in row["eval"]["answer"]}
        rest = row["inputs"].lower()
        for name in sorted(marked, key=len, reverse=True):
            rest = rest.replace(name, "_")
        assert [name for name in names if re.search(rf"\b{re.escape(name)}\b", rest)] == [], row["inputs"]


def test_extracts_occur_in_a_note_that_names_the_patient():
    for row in records("emrqa"):
        assert row["eval"]["answer"] in row["inputs"], row["eval"]
        assert row["eval"]["answer"] not in row["instruction"]
        patient = re.search(r"Patient: (M[rs] \w+),", row["inputs"]).group(1)
        assert patient in first_line(row)
        assert 90 <= len(row["inputs"].split()) <= 160


# --- calculations ---


def test_limits_contain_the_answer():
    for row in records("medcalc"):
        gold = row["eval"]
        assert list(gold) == ["answer", "Output Type", "Low Limit", "Upper Limit"]
        if gold["Output Type"] == "decimal":
            answer, low, high = (float(gold[key]) for key in ("answer", "Low Limit", "Upper Limit"))
            assert low < answer < high
            assert (low / answer, high / answer) == pytest.approx((0.95, 1.05), abs=1e-4)
        else:
            assert gold["Low Limit"] == gold["answer"] == gold["Upper Limit"]
    assert Counter(row["eval"]["Output Type"] for row in records("medcalc")) == {"decimal": 22, "integer": 3, "date": 3}


def test_note_has_all_numbers_that_the_formula_needs():
    table = table_of("text_calculations.yaml")
    patients = [(one, formula) for phase in SIZES for formula in table.values() for one in formula[phase]]
    for (patient, formula), row in zip(patients, records("medcalc"), strict=True):
        shown = {key: value for key, value in patient.items() if key != "has"}
        assert all(str(value) in row["inputs"] for value in shown.values()), patient
        assert set(re.findall(r"\{(\w+)\}", formula["note"])) == set(shown)


@pytest.mark.parametrize(
    ("name", "patient", "right"),
    [
        ("bmi", {"weight": 82.5, "height": 164}, 30.674),
        ("cockcroft_gault", {"sex": "woman", "age": 78, "weight": 61, "creatinine": 1.3}, 34.345),
        ("cockcroft_gault", {"sex": "man", "age": 66, "weight": 84, "creatinine": 1.8}, 47.963),
        ("mean_arterial_pressure", {"systolic": 148, "diastolic": 86}, 106.667),
        ("anion_gap", {"sodium": 136, "chloride": 98, "bicarbonate": 9}, 29),
        ("corrected_calcium", {"calcium": 8.1, "albumin": 2.4}, 9.38),
        ("qtc_bazett", {"rate": 60, "qt": 400}, 400),
        ("qtc_bazett", {"rate": 88, "qt": 396}, 479.58),
        ("cha2ds2_vasc", {"sex": "woman", "age": 76, "has": ["hypertension", "diabetes"]}, 5),
        ("cha2ds2_vasc", {"sex": "man", "age": 64, "has": []}, 0),
    ],
)
def test_formulas_give_hand_worked_values(name, patient, right):
    assert calculations.FORMULAS[name](patient) == pytest.approx(right, abs=0.001)


def test_due_dates_agree_with_naegele_s_rule():
    """The rule adds a year and seven days and takes three months off."""
    for phase in SIZES:
        for patient in table_of("text_calculations.yaml")["due_date"][phase]:
            last = datetime.strptime(patient["last_period"], calculations.DATE).date()
            month = (last.month + 8) % 12 + 1
            by_rule = date(last.year + (last.month > 3), month, last.day).toordinal() + 7
            assert calculations.due_date(patient) == date.fromordinal(by_rule).strftime(calculations.DATE)
