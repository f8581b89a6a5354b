"""Runs next to published values."""

import pytest

from runner.results.publications.paper import load
from runner.results.sections import papers
from tests.runner.results.page.pages import cells, made

YAML = """
title: A benchmark
citation: Somebody 2024
file: paper.csv
scale: 100
columns: {outer: dimension, inner: task}
scopes: {inner: task, outer: dimension, total: total}
metric: score/x
tables: {t1: {sizes: {one: 4, two: 2}}}
rows: [{method: ReAct, where: {agent: react}, settings: {model.temperature: 1}}]
"""
CSV = """table,backbone,method,scope,dimension,task,value,note
t1,Big,ReAct,task,k,one,50,
t1,Big,ReAct,task,k,two,30,
t1,Small,ReAct,task,k,one,20,
"""


@pytest.fixture
def paper(tmp_path):
    (tmp_path / "p.yaml").write_text(YAML)
    (tmp_path / "paper.csv").write_text(CSV)
    return load(tmp_path, "p")


def test_parts_means_and_totals_are_next_to_the_published_ones(tmp_path, paper):
    run = made(tmp_path / "a", {"one": ("k", [1, 0, 0, 0]), "two": ("k", [1, 1])})
    (sheet,) = papers.sheets_of(paper, [run])
    rows = {row["part"]: row for row in cells(sheet)}
    assert list(rows) == ["k/one", "k/two", "k, mean", "total"]
    assert (rows["k/one"]["this run"].value, rows["k/one"]["samples"]) == (25.0, "4 of 4")
    assert (rows["k/one"]["Big, published"], rows["k/two"]["Small, published"]) == (50.0, None)
    assert (rows["k, mean"]["this run"].value, rows["k, mean"]["Big, published"]) == (62.5, 40.0)
    assert all(column.unit == "%" for column in sheet.columns if column.better)
    assert "Deviation: model.temperature: 0; published: 1" in sheet.notes
    assert "Somebody 2024" in sheet.notes[0]


def test_several_rows_have_a_common_table(tmp_path, paper):
    cfg = {"model": {"_target_": "mine.Model", "temperature": 1}}
    runs = [made(tmp_path / "a", {"one": ("k", [1])}), made(tmp_path / "b", {"one": ("k", [0])}, cfg)]
    whole, parts = papers.sheets_of(paper, runs)
    assert [row[1] for row in whole.rows] == ["ours", "ours", "published", "published"]
    assert any(line.startswith("Deviation (") for line in parts.notes), "of one of the two rows"


def test_runs_of_other_methods_scores_or_tasks_are_not_compared(tmp_path, paper):
    other = made(tmp_path / "a", {"one": ("k", [1])}, choices={"agent": "cot"})
    elsewhere = made(tmp_path / "b", {"three": ("k", [1])})
    assert papers.sheets_of(paper, [other, elsewhere]) == []


def test_runs_without_a_publication_have_no_section(tmp_path):
    assert papers.section([made(tmp_path / "a", {"one": ("k", [1])}, choices={"agent": "none of them"})]) is None
