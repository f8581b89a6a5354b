"""EHRAgent's published numbers: what can be recomputed from them, and runs next to them."""

from dataclasses import replace
from itertools import product

import pytest

from runner.config.catalogue import CONF
from runner.results.publications.comparison import counterparts
from runner.results.publications.paper import load
from runner.results.runs import Run
from runner.results.sections.papers import paper_section
from tests.runner.results.folders import CHOICES, write
from tests.runner.results.page.pages import cells
from tests.table import each_row

PAPERS = {name: load(CONF / "papers", name) for name in ("ehragent", "ehragent_levels", "ehragent_completion")}
RATES = PAPERS["ehragent"]
DATABASES = ("mimic_iii", "eicu", "treqs")
METHODS = (
    "cot_plan", "cot_plan_self_consistency", "chameleon", "ehr_react", "ehr_reflexion", "llm2sql", "din_sql",
    "self_debugging", "autogen", "ehragent",
)  # fmt: skip
PARTS = ("ehragent_no_knowledge", "ehragent_no_memory", "ehragent_no_code", "ehragent_no_debugging")
STRAY = {
    ("ehragent", "din_sql", "mimic_iii"): 38.45, ("ehragent", "self_debugging", "mimic_iii"): 39.05,
    ("ehragent_levels", "ehr_reflexion", "II"): 29.91, ("ehragent_levels", "llm2sql", "II"): 25.13,
    ("ehragent_levels", "llm2sql", "III"): 12.50, ("ehragent_levels", "ehragent_no_memory", "III"): 37.13,
    ("ehragent_completion", "cot_plan", "eicu"): 65.65, ("ehragent_completion", "self_debugging", "mimic_iii"): 71.24,
}  # fmt: skip


def rows(paper, table):
    return {one.method: one for one in PAPERS[paper].published if one.table == table}


def test_every_method_and_part_is_published():
    for name, leaves in (("", 3), ("_levels", 10), ("_completion", 3)):
        main_results, parts = rows(f"ehragent{name}", f"table1{name}"), rows(f"ehragent{name}", f"table2{name}")
        assert tuple(main_results) == METHODS and tuple(parts) == ("ehragent", *PARTS)
        assert all(len(one.values) == leaves for one in main_results.values())
        assert tuple(main_results["ehragent"].outer) == DATABASES and tuple(parts["ehragent"].outer) == DATABASES[:1]
        whole = main_results["ehragent"].values
        assert {path: whole[path] for path in parts["ehragent"].values} == parts["ehragent"].values


@each_row(
    "method, digits, average",
    [
        ("questions", 1, 718.7), ("tables", 1, 10.7), ("thousand_rows_per_table", 1, 243.7),
        ("tables_per_question", 2, 1.91),
    ],
)  # fmt: skip
def test_averages_can_be_recomputed(method, digits, average):
    published = rows("ehragent", "table3")[method]
    assert published.printed == [("table3", "total", average)] and not published.slips
    assert round(published.total().value, digits) == average


@each_row(
    "database, gain, best",
    [("mimic_iii", 19.92, "self_debugging"), ("eicu", 12.41, "autogen"), ("treqs", 29.60, "self_debugging")],
)
def test_gains_over_the_best_baseline_can_be_recomputed(database, gain, best):
    rates = {method: one.outer[database].value for method, one in rows("ehragent", "table1").items()}
    own = rates.pop("ehragent")
    assert max(rates, key=rates.get) == best
    assert own - rates[best] == pytest.approx(gain, abs=0.005)


def test_cells_that_had_a_stray_digit_are_marked():
    marked = {}
    for name, paper in PAPERS.items():
        for one in paper.published:
            for task in one.notes:
                (value,) = {found for path, found in one.values.items() if path[-1] == task and found in STRAY.values()}
                marked[name, one.method, task] = value
    assert marked == STRAY
    confirmed = {38.45: (223, 580), 29.91: (134, 448), 25.13: (50, 199), 12.50: (6, 48)}
    assert all(round(100 * part / whole, 2) == value for value, (part, whole) in confirmed.items())


def test_each_agent_is_compared_with_its_own_row(tmp_path):
    run = Run.at(write(tmp_path / "a", {"mimic_iii": ("I", [1])}))
    for agent, paper in product((*METHODS, *PARTS), PAPERS.values()):
        line = paper.line(replace(run, manifest={**run.manifest, "choices": CHOICES | {"agent": agent}}))
        assert [one.method for one in counterparts(paper, line, "gpt-4")] == [agent]
        assert line.table.startswith("table2" if agent in PARTS else "table1")


@each_row("model, known", [("gpt-4-0613", True), ("gpt-4o", False), ("gpt-4-turbo", False)])
def test_published_backbone(model, known):
    assert RATES.is_backbone("GPT-4", model) is known


@pytest.mark.parametrize(
    ("name", "levels", "expected"),
    [
        ("ehragent", ["dimension", "dimension"], {
            "mimic_iii": (50.0, "4 of 580", 58.97), "eicu": (100.0, "1 of 580", 53.10), "treqs": (None, "0 of 996", 69.70),
        }),
        ("ehragent_levels", ["task", "dimension"], {
            "mimic_iii/I": (66.67, "3", 71.58), "mimic_iii/II": (0.0, "1", 66.34), "eicu/III": (100.0, "1", 25.0),
            "eicu/I": (None, "-", 54.82),
        }),
    ],
)  # fmt: skip
def test_run_is_next_to_the_paper_by_database_and_level(tmp_path, name, levels, expected):
    folder = write(
        tmp_path, {"I": ("mimic_iii", [1, 1, 0]), "II": ("mimic_iii", [0]), "III": ("eicu", [1])}, levels={},
        choices=CHOICES | {"agent": "ehragent"},
    )  # fmt: skip
    (sheet,) = paper_section(replace(PAPERS[name], metric="score/x", levels=levels), [Run.at(folder)]).sheets
    found = {row["part"]: row for row in cells(sheet)}
    for task, (value, samples, published) in expected.items():
        ours = found[task]["this run"]
        assert (None if ours is None else round(ours.value, 2)) == value
        assert (found[task]["samples"], found[task]["GPT-4, published"]) == (samples, published)
    notes = "\n".join(sheet.notes)
    assert "has no score/x" not in notes and "profile: not set; published: code" in notes


def test_a_run_without_the_papers_score_is_reported(tmp_path):
    folder = write(tmp_path, {"I": ("mimic_iii", [1])}, choices=CHOICES | {"agent": "ehragent"})
    (sheet,) = paper_section(RATES, [Run.at(folder)]).sheets
    assert "has no score/official (scorer: x)" in "\n".join(sheet.notes)
