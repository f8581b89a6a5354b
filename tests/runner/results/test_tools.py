"""Shares of tools, counted by hand from records."""

import csv
from dataclasses import replace

import pytest
from orjson import dumps

from runner.report import main
from runner.results.rows import rows_of
from runner.results.runs import Run
from runner.results.sections.tools import Used, shares_of
from runner.results.steps import Steps
from runner.storage.stored import Packer, Unpacker
from runner.storage.texts import TextReader, TextWriter
from tests.runner.results.folders import step, write
from tests.runner.results.records import record

STEPS = [
    step("Think"), step("Books", committed=False), step("Books", "Query"), step("Query"), step("Gone"),
    step(error="unreadable"), step(answer="A"),
]  # fmt: skip


def shares(folder):
    (row,) = rows_of([Run.at(folder)])
    return {(share.part, share.tool): share for share in shares_of(row)}


def test_committed_actions_are_counted_per_dimension_and_tool(tmp_path):
    found = shares(write(tmp_path / "a", {"one": ("knowledge", [1, 0]), "two": ("numerical", [1])}, steps=STEPS))
    whole = found["knowledge", ""]
    assert (whole.actions, whole.of_actions, whole.malformed) == (10, pytest.approx(6 / 10), pytest.approx(4 / 14))
    assert (whole.matching, whole.misuse) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    books, query = found["knowledge", "Books"], found["knowledge", "Query"]
    assert (books.actions, books.of_actions, books.of_tool_actions) == (2, 0.2, pytest.approx(1 / 3))
    assert (books.dimension, books.matching, books.misuse) == ("knowledge", 1.0, 0.0)
    assert (query.matching, query.misuse) == (0.0, 1.0)
    assert found["numerical", ""].matching == pytest.approx(2 / 3)


def test_available_input_is_not_misuse(tmp_path):
    found = shares(write(tmp_path / "a", {"one": ("numerical", [1])}, steps=STEPS, inputs=["sql_database"]))
    assert found["numerical", ""].misuse == found["numerical", "Query"].misuse == 0.0


def test_trust_has_no_matching_tools_and_parts_without_actions_no_shares(tmp_path):
    found = shares(write(tmp_path / "a", {"one": ("trust", [1])}, steps=STEPS))
    assert found["trust", ""].matching is None and found["trust", "Books"].matching is None
    idle = shares(write(tmp_path / "b", {"one": ("trust", [1])}, steps=[step(answer="A", committed=False)]))
    (only,) = idle.values()
    assert (only.actions, only.of_actions, only.of_tool_actions, only.malformed) == (0, None, None, None)


def test_records_without_inputs_leave_misuse_undefined(tmp_path):
    folder = write(tmp_path / "a", {"one": ("numerical", [1])}, steps=STEPS)
    path = folder / "records.jsonl"
    path.write_text(path.read_text().replace('"inputs":[],', ""))
    assert shares(folder)["numerical", ""].misuse is None


def test_without_levels_all_episodes_form_one_part(tmp_path):
    found = shares(write(tmp_path / "a", {"one": ("numerical", [1])}, steps=STEPS, levels={}))
    assert found["all", ""].actions == 5 and found["all", ""].matching is None


def test_tools_with_names_drawn_per_episode_are_counted_by_category(tmp_path):
    texts, stored = TextWriter(tmp_path), []
    for names, categories in (
        (["TOOL1", "TOOL2", "Finish"], ["Rulers", "Segmentor"]),
        (["TOOL1", "TOOL3"], ["Segmentor", "Rulers"]),
        (["TOOL1", "TOOL3"], ["Segmentor", "Rulers"]),
    ):
        specs = [dumps({"facts": {"category": name}}).decode() for name in categories]
        offered = texts.add_lines([dumps(["TOOL1", "TOOL2"]).decode(), *specs])
        stored.append(
            record("a", 1.0) | {"offered": offered, "inputs": [], "steps": [Packer(texts).step(step(*names))]}
        )
    texts.flush()
    found, used = Steps(), Used()
    assert list(found.add(stored, Unpacker(TextReader(tmp_path)))) == stored
    first, second = found.episodes
    assert (first.count, second.count) == (1, 2), "those that are alike are one"
    used.add(first)
    used.add(replace(second, count=1))
    whole, *by_tool = used.shares("mine", "all")
    assert [(one.tool, one.actions) for one in by_tool] == [("Segmentor", 2), ("Rulers", 1)]
    assert whole.malformed == pytest.approx(1 / 5) and used.kinds == {"Segmentor": 2, "Rulers": 1}


def test_table_is_written_to_the_run_folder(tmp_path, capsys):
    folder = write(tmp_path / "a", {"one": ("knowledge", [1])}, steps=STEPS)
    assert main(["tools", str(folder)]) == 0
    out = capsys.readouterr().out
    assert f"written to {folder / 'tools.csv'}" in out and "Books" in out
    with (folder / "tools.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["tool"] for row in rows] == ["", "Books", "Query"] and rows[0]["of_actions"] == "0.6"


def test_sweep_tables_are_in_its_folder_and_others_in_the_current_one(tmp_path, capsys, monkeypatch):
    here, home = tmp_path / "here", tmp_path / "sweep"
    here.mkdir()
    monkeypatch.chdir(here)
    jobs = [
        write(home / name, {"one": ("k", [1])}, steps=STEPS, sweep="sweep", cfg={"seed": n})
        for n, name in enumerate("ab")
    ]
    assert main(["tools", *map(str, jobs)]) == 0 and (home / "tools.csv").is_file()
    alone = write(tmp_path / "alone", {"one": ("k", [1])}, steps=STEPS)
    assert main(["tools", str(jobs[0]), str(alone)]) == 0 and (here / "tools.csv").is_file()
    assert "written to tools.csv" in capsys.readouterr().out
