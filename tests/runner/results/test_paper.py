"""Published values, and runs next to them."""

import re

import pytest

from components.cab.tasks import DIMENSIONS, TASKS
from components.core.errors import ConfigError
from runner.config.catalogue import CONF
from runner.report import main
from runner.results.publications.comparison import counterparts
from runner.results.publications.paper import load
from runner.results.runs import Run
from runner.results.sections.papers import paper_section
from tests.runner.results.folders import CFG, CHOICES, write
from tests.runner.results.page.pages import cells
from tests.table import each_row

PAPERS = CONF / "papers"
REFLECTOOL = load(PAPERS, "reflectool")
TABLE_5 = [one for one in REFLECTOOL.published if one.table == "table5"]
LEVELS = {"score/x": ["task", "dimension"]}
CSV = """source,who,how,what,dim,task,score,remark
t,Big-7B,react,one,know,easy,50,
t,Big-7B,react,one,know,hard,30,half was run
t,Big-7B,react,one,data,notes,,not_capable
t,Big-7B,react,mean,know,,40,
t,Big-7B,react,whole,,,41,
t,Huge,react,one,know,easy,90,
t,Huge,react,one,know,hard,70,
t,Huge,react,one,data,notes,20,
"""
YAML = """# A paper.
title: Paper
citation: Someone 2024
file: mine.csv
columns: {table: source, backbone: who, method: how, scope: what, outer: dim, inner: task, value: score, note: remark}
scopes: {inner: one, outer: mean, total: whole}
silent: [not_capable]
scale: 100
metric: score/x
tables: {t: {sizes: {easy: 4, hard: 2, notes: 9}}}
datasets: [cab]
backbones: {Big-7B: big-7b, Huge: huge}
settings: {condition: intact}
rows:
  - {method: react, where: {agent: [react, act]}, settings: {verifier.n: [1, 2]}, notes: [read with care]}
"""


def test_published_totals_and_sizes_can_be_recomputed():
    assert len(TABLE_5) == 24 and all(len(one.values) == 18 for one in TABLE_5)
    sizes = REFLECTOOL.tables["table5"].sizes
    assert sizes == {name: task.size for name, task in TASKS.items()} and sum(sizes.values()) == 14_879
    slips = [slip for one in REFLECTOOL.published for slip in one.slips]
    assert sorted({re.match(r"\S+ \w+: \w+", slip)[0] for slip in slips}) == [
        "GPT-4o-mini zero_shot: multimodal", "GPT-4o-mini zero_shot: total", "HuatuoGPT-Vision-7B zero_shot: numerical",
        "HuatuoGPT-Vision-7B zero_shot: total", "Qwen2-7B react: total", "Qwen2-7B react: trust",
    ]  # fmt: skip
    assert "HuatuoGPT-Vision-7B zero_shot: numerical is 9.07 in table2, and 9.25 by its values in table5" in slips
    assert all(tuple(one.outer) == DIMENSIONS for one in TABLE_5)


def test_published_gains_use_the_dimensions_of_both_rows():
    rows = {one.label: one for one in TABLE_5}
    plain, agent = rows["Qwen2-72B-GPTQ4 zero_shot"], rows["Qwen2-72B-GPTQ4 reflectool_select_n2"]
    four = [name for name, part in plain.outer.items() if part.value is not None]
    assert agent.total().value - plain.total().value == pytest.approx(10.90, abs=0.02)
    assert agent.total(four).value - plain.total(four).value == pytest.approx(10.14, abs=0.02)


@each_row(
    "choices, cfg, method",
    [
        ({"agent": "direct"}, {}, "zero_shot"),
        ({"agent": "react"}, {}, "react"),
        ({"agent": "react_one_shot"}, {}, "react"),
        ({"agent": "critic_one_shot"}, {"agent": {"rounds": 1}}, "critic"),
        ({"agent": "cot_steps_one_shot"}, {}, "cot"),
        ({"agent": "react"}, {"toolset": {"use": "none"}}, "cot"),
        ({"agent": "reflectool_select", "verifier": "select"}, {}, "reflectool_select_n2"),
        ({"agent": "cot_steps"}, {"toolset": {"use": "none"}}, "cot"),
        ({"agent": "reflexion"}, {"agent": {"trials": 3}}, None),
        ({"agent": "reflectool", "verifier": "refine"}, {}, "reflectool_refine_n2"),
        ({"agent": "reflectool", "verifier": "select"}, {"dataset": {"split": "ablations"}}, "reflectool_select_row5"),
        (
            {"agent": "reflectool", "verifier": "refine"},
            {"memory": {"long_term": False, "experience": True}},
            "reflectool_refine_row1",
        ),
        ({"agent": "reflectool", "verifier": "refine"}, {"verifier": {"n": 4}}, None),
    ],
)
def test_settings_choose_the_published_row(tmp_path, choices, cfg, method):
    memory = {"long_term": True, "reflected": True, "experience": True}
    folder = write(
        tmp_path / "a", {"medqa": ("knowledge", [1])}, cfg={"memory": memory} | cfg, choices=CHOICES | choices
    )
    line = REFLECTOOL.line(Run.at(folder))
    assert (line and line.method) == method
    if line is not None:
        assert counterparts(REFLECTOOL, line, "another model")


def test_model_selects_the_published_backbone_of_its_name():
    line = REFLECTOOL.rows[2]
    line = type(line)("react", {}, "table5")
    assert [one.backbone for one in counterparts(REFLECTOOL, line, "qwen/Qwen2-7B-Instruct")] == ["Qwen2-7B"]
    both = ["Qwen2-7B", "Qwen2-72B-GPTQ4"]
    assert [one.backbone for one in counterparts(REFLECTOOL, line, "Qwen2-72B-Instruct")] == both
    assert [one.backbone for one in counterparts(REFLECTOOL, line, "Qwen2-72B-Instruct-GPTQ-Int4")] == both[1:]


@pytest.fixture
def custom_papers(tmp_path):
    """A folder with a custom paper."""
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "mine.yaml").write_text(YAML)
    (tmp_path / "papers" / "mine.csv").write_text(CSV)
    return tmp_path


def paper(folder):
    return str(folder / "papers" / "mine.yaml")


def compared(paper, *folders):
    """The last table of a publication next to runs, by part, its notes, and all of the section."""
    section = paper_section(load(PAPERS, paper), [Run.at(folder) for folder in folders])
    sheet = section.sheets[-1]
    return {row["part"]: row for row in cells(sheet)}, "\n".join(sheet.notes), section


def shown_row(row, *backbones):
    """The measured value, samples, and the published value."""
    ours = row["this run"]
    value = None if ours is None else round(ours.value, 2)
    return [value, row["samples"], *(row[f"{name}, published"] for name in backbones)]


def test_run_is_shown_next_to_published_values(custom_papers):
    scored = {"easy": ("know", [1, 1, 0]), "notes": ("data", [1, None])}
    found, notes, _ = compared(paper(custom_papers), write(custom_papers / "run", scored, models={"main": "x/big-7b"}))
    assert (
        shown_row(found["know/easy"], "Big-7B") == [66.67, "3 of 4", 50.0]
        and "Huge, published" not in found["know/easy"]
    )
    assert shown_row(found["know/hard"], "Big-7B") == [None, "0 of 2", 30.0]
    assert shown_row(found["know, mean"], "Big-7B") == [66.67, "1 of 2 tasks", 40.0]
    assert shown_row(found["data/notes"], "Big-7B") == [100.0, "1 of 9", None]
    assert shown_row(found["total"], "Big-7B") == [83.33, "2 of 2 parts", 40.0]
    assert shown_row(found["total of what all columns share"], "Big-7B") == [66.67, "1 of 2 parts", 40.0]
    assert "Fewer parts than there are: Big-7B react: data mean 0 of 1, total 1 of 2" in notes
    assert "Big-7B react: total is 41.00 in t, and 40.00 by its values in t" in notes
    assert "Big-7B react, hard: half was run" not in notes, "the run has no such task"
    for line in (
        "size: 4 of 15 samples; easy 3 of 4, notes 1 of 9", "tasks that were not run: hard", "read with care",
        "unscored: 1 episodes, which are left out of every mean", "Shared by all columns: know",
    ):  # fmt: skip
        assert line in notes
    assert "model:" not in notes and "split:" not in notes and "dataset:" not in notes and "verifier.n:" not in notes


def test_deviations_from_the_paper_are_named(custom_papers):
    data = {"name": "cab_mini", "split": "train", "samples": 1, "fingerprint": "0" * 16}
    given = {"dataset": data, "model_kind": "simulated", "notes": ["a note"], "status": "budget", "epochs": 2}
    folder = write(
        custom_papers / "run", {"easy": ("know", [1])}, cfg={"verifier": CFG["verifier"] | {"n": 4}}, **given
    )
    _, notes, _ = compared(paper(custom_papers), folder)
    for line in (
        "prompts: the project's own", "model: simulated, its numbers say nothing of a real one",
        "data: cab_mini is not the published data", "split: train; published: test", "easy 1 of 4",
        "verifier.n: 4; published: 1 or 2", "a note", "status: run is budget", "epochs: 2; published: 1",
    ):  # fmt: skip
        assert line in notes, line


def test_rows_are_shown_together_and_unmatched_ones_are_marked(custom_papers):
    one = write(custom_papers / "a", {"easy": ("know", [1]), "notes": ("data", [1])})
    two = write(custom_papers / "b", {"easy": ("know", [1])}, choices=CHOICES | {"agent": "other"})
    _, notes, section = compared(paper(custom_papers), one, two)
    assert "no published counterpart" in notes and "no published row has these settings" in notes
    overview = section.sheets[0]
    assert [(row["row"], row["whose"]) for row in cells(overview)][-1] == ("Huge react", "published")
    assert overview.columns[-1].name == "total, shared" and "shared by all rows: know" in overview.notes


def test_run_without_the_metric_has_an_empty_cell_and_a_reason(custom_papers):
    found, notes, _ = compared(paper(custom_papers), write(custom_papers / "run", {"easy": ("know", [1])}, levels={}))
    assert "metric: run has no score/x (scorer: x)" in notes
    assert shown_row(found["know/easy"], "Big-7B", "Huge") == [None, "0 of 4", 50.0, 90.0]


def test_bad_papers_are_refused_in_one_line(custom_papers, capsys):
    folder = str(write(custom_papers / "run", {"easy": ("know", [1])}))
    assert main(["paper", "medagent", folder]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: paper medagent: there is no such publication; did you mean medagents")
    assert "valid: ehragent, " in error and error.count("\n") == 1
    for old, new, message in (
        (CSV, CSV.replace("90,", "many,"), r"mine\.csv:7: score must be a number or empty, found 'many'"),
        (CSV, CSV.replace("remark", "note"), r"mine\.csv:2: no column 'remark'"),
        (YAML, YAML.replace("metric:", "measure:"), "no such key"),
        (
            YAML,
            YAML.replace("{method: react,", "{method: react, table: u,"),
            r"rows name the tables \['u'\]; there are t",
        ),
    ):
        path = custom_papers / "papers" / ("mine.csv" if old is CSV else "mine.yaml")
        path.write_text(new)
        with pytest.raises(ConfigError, match=message):
            load(custom_papers / "papers", "mine")
        path.write_text(old)
    (custom_papers / "papers" / "mine.csv").unlink()
    with pytest.raises(ConfigError, match="is missing"):
        load(custom_papers / "papers", "mine")


def test_many_published_rows_are_uncut_columns_on_a_terminal(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    scored = {task.id: (task.dimension, [1, 0]) for task in TASKS.values() if task.dimension != "multimodal"}
    levels = {"score/official": ["task", "dimension"]}
    folder = write(tmp_path / "a", scored, choices=CHOICES | {"agent": "direct"}, levels=levels, models={"main": "new"})
    path = folder / "records.jsonl"
    path.write_text(path.read_text().replace("score/x", "score/official"))
    assert main(["paper", "reflectool", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "\u2026" not in out and out.count("knowledge/medqa") == out.count("total of what all columns share") > 1
    assert "and 10 more tasks" in out and "tasks that were not run: vqarad, slake, omnimedqa" in out


MEDAGENTS = load(PAPERS, "medagents")
NINE = ["medqa", "medmcqa", "pubmedqa", *(f"mmlu/{subject}" for subject in (
    "anatomy", "clinical_knowledge", "college_medicine", "medical_genetics", "professional_medicine", "college_biology"
))]  # fmt: skip


def test_averages_of_all_sixteen_rows_match_their_nine_columns():
    rows = [one for one in MEDAGENTS.published if one.table == "table2"]
    assert len(rows) == 16 and all([path[-1] for path in one.values] == NINE for one in rows)
    for one in rows:
        ((_, _, printed),) = one.printed
        assert round(one.total().value, 1) == pytest.approx(printed, abs=0.051) and not one.slips, one.label
    assert MEDAGENTS.tables["table2"].sizes.keys() == set(NINE) == set(MEDAGENTS.datasets)
    assert {one.method: one.total().value for one in MEDAGENTS.published if one.table == "table3"} == {
        "zero_shot": 49.0, "zero_shot_cot": 55.0, "analysis": 62.0, "summary": 65.0, "consultation": 67.0,
    }  # fmt: skip


@each_row(
    "choices, agent, method",
    [
        ({"agent": "zero_shot"}, {}, "zero_shot"),
        ({"agent": "zero_shot_cot"}, {}, "zero_shot_cot"),
        ({"agent": "direct"}, {}, None),
        ({"agent": "cot"}, {}, None),
        ({"agent": "self_consistency", "agent.inner": "cot"}, {"draws": 5, "inner": {}}, None),
        ({"agent": "self_consistency", "agent.inner": "zero_shot_cot"}, {"draws": 5, "inner": {}}, "zero_shot_cot_sc"),
        ({"agent": "zero_shot_self_consistency", "agent.inner": "zero_shot_cot"}, {"inner": {}}, "zero_shot_cot_sc"),
        ({"agent": "few_shot_self_consistency"}, {"draws": 5}, "few_shot_cot_sc"),
        ({"agent": "medagents"}, {"level": "consultation"}, "medagents"),
        ({"agent": "medagents_analysis"}, {"level": "analysis"}, "analysis"),
        ({"agent": "react"}, {}, None),
    ],
)
def test_agents_select_their_row_of_the_panel_article(tmp_path, choices, agent, method):
    folder = write(tmp_path / "a", {"medqa": ("k", [1])}, cfg={"agent": agent}, choices=CHOICES | choices)
    line = MEDAGENTS.line(Run.at(folder))
    assert (line and line.method) == method
    assert line is None or counterparts(MEDAGENTS, line, "gpt-4-0613")


def test_runs_of_single_datasets_are_one_row_of_their_names(tmp_path, capsys):
    for n, name in enumerate(NINE):
        data = {"name": name, "split": "test", "samples": 2, "fingerprint": "0" * 16}
        folder = write(
            tmp_path / str(n), {"mmlu": ("k", [1, n % 2])}, cfg={"agent": {"level": "consultation"},
            "dataset": {"of": name}}, choices=CHOICES | {"agent": "medagents", "dataset": name}, dataset=data,
            levels={"score/strict": ["task"]}, models={"main": "gpt-4-0613"},
        )  # fmt: skip
        path = folder / "records.jsonl"
        path.write_text(path.read_text().replace("score/x", "score/strict"))
    found, notes, _ = compared("medagents", *(tmp_path / str(n) for n in range(len(NINE))))
    assert shown_row(found["medqa"], "GPT-4") == [50.0, "2 of 300", 83.7] and found["medqa"][
        "this run"
    ].high == pytest.approx(90.5, abs=0.1)
    assert shown_row(found["mmlu/college_biology"], "GPT-4")[1:] == ["2 of 144", 94.3] and "mean" not in "".join(found)
    assert shown_row(found["total"], "GPT-4")[:2] == [round((5 * 50 + 4 * 100) / 9, 2), "9 of 9 parts"]
    assert found["total"]["GPT-4, published"] == pytest.approx(86.74, abs=0.01)
    assert "1.41 USD" in notes and "GPT-3.5" not in notes


def test_number_on_unnamed_data_is_next_to_its_own_row_only(tmp_path, capsys):
    for name, agent in (("a", "medagents_analysis"), ("b", "zero_shot")):
        level = {"agent": {"level": "analysis"}, "dataset": {"of": "medqa"}}
        folder = write(tmp_path / name, {"medqa": ("k", [1, 0])}, cfg=level if name == "a" else level | {"agent": {}},
                       choices=CHOICES | {"agent": agent, "dataset": "medqa"})  # fmt: skip
        path = folder / "records.jsonl"
        path.write_text(path.read_text().replace("score/x", "score/strict"))
    section = paper_section(MEDAGENTS, [Run.at(tmp_path / name) for name in "ab"])
    together, parts = section.sheets
    notes = "\n".join(parts.notes)
    assert 62.0 in [cell for row in parts.rows for cell in row] and "neither data nor model nor sample" in notes
    assert "of 0 samples" not in notes
    assert together.columns[-1].name == "total, shared" and "GPT-4 zero_shot" in [row[0] for row in together.rows]
    assert not any("not named" in str(row[0]) for row in together.rows)
