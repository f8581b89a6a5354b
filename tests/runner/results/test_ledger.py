"""The reproduction ledger: its cells, their verdicts, and what prevents a verdict."""

import csv
import json
from dataclasses import replace

import pytest

from components.core.errors import ConfigError
from runner.config.catalogue import CONF
from runner.report import main
from runner.results.intervals import Metric
from runner.results.publications.gains import load_gains, numbers
from runner.results.publications.ledger import NO_RUN, _spans, entries_of, ledger, section, verdict, why_aside
from runner.results.publications.paper import load
from runner.results.runs import Run
from tests.runner.results.folders import CFG, CHOICES, write
from tests.runner.results.page.pages import HOSTILE, made, parsed
from tests.slow import slow
from tests.table import each_row

PAPERS = CONF / "papers"
MEDAGENTS = load(PAPERS, "medagents")
PLAINEST = MEDAGENTS.rows[0]  # one call without examples
PLAIN = {
    "agent": {"_target_": "mine.Agent"}, "model": {"_target_": "mine.Model", "temperature": 1.0, "top_p": 1.0},
    "verifier": {"_target_": "mine.Verifier"}, "profile": {"name": "paper"}, "toolset": {"_target_": "mine.None"},
    "dataset": {"_target_": "mine.MedQA", "options": 4},
}  # fmt: skip
CHOSEN = CHOICES | {"agent": PLAINEST.where["agent"], "dataset": "medqa", "toolset": "none", "profile": "paper"}
NOTES = {
    "dataset": {"name": "medqa", "split": "test", "samples": 10, "fingerprint": "0" * 16}, "choices": CHOSEN,
    "models": {"main": "gpt-4-0613"}, "levels": {}, "start": "2026-01-31T10:00:00+00:00", "limit": None,
}  # fmt: skip


def plain(home, values=(1, 1, 1, 0), cfg=None, **notes):
    """A run without deviations that prevent a verdict, except those given."""
    folder = write(home / "run", {"medqa": ("k", values)}, PLAIN | (cfg or {}), **(NOTES | notes))
    path = folder / "records.jsonl"
    path.write_text(path.read_text().replace("score/x", "score/strict"))
    return Run.at(folder)


def rows(path):
    """The lines of a CSV."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def the_cell(runs):
    """The cell that such a run is about: GPT-4 without examples on MedQA, 73.0."""
    wanted = ("table2", "GPT-4", PLAINEST.method, "medqa")
    (found,) = [one for one in entries_of(MEDAGENTS, runs) if (one.source, one.model, one.method, one.part) == wanted]
    return found


@each_row(
    "published, relation, ours, bars, word, why",
    [
        (50.0, "=", Metric(52.0, 45.0, 60.0, 90), [], "within", ""),
        (45.0, "=", Metric(52.0, 45.0, 60.0, 90), [], "within", ""),
        (44.9, "=", Metric(52.0, 45.0, 60.0, 90), [], "outside", ""),
        (50.0, "=", Metric(50.0, None, None, 3, no_interval="n too small"), [], "untestable", "no interval: n too small (n = 3)"),
        (50.0, "=", Metric(None, unscored=4), [], "untestable", "no sample was scored"),
        (50.0, "=", Metric(None), [NO_RUN], "untestable", "no run given"),
        (None, "=", Metric(52.0, 45.0, 60.0, 90), [], "untestable", "no number published"),
        (50.0, "<", Metric(52.0, 45.0, 60.0, 90), [], "untestable", "published as a bound only"),
        (50.0, ">", Metric(52.0, 45.0, 60.0, 90), [], "untestable", "published as a bound only"),
        (50.0, "about", Metric(52.0, 45.0, 60.0, 90), [], "untestable", "published approximately only"),
        (50.0, "=", Metric(52.0, 45.0, 60.0, 90), ["simulated model", "other data"], "untestable",
         "simulated model, other data"),
    ],
)  # fmt: skip
def test_verdict_of_a_cell(published, relation, ours, bars, word, why):
    found = verdict(published, relation, ours, bars)
    assert (found.word, found.why) == (word, why)


def test_every_published_number_is_in_the_ledger_once():
    entries = ledger([])
    for path in PAPERS.glob("*.csv"):
        lines = rows(path)
        if path.stem != "statements":
            sources = {line.get("table") or line["source_table"] for line in lines}
            mine = [one for one in entries if one.article == path.stem and one.source in sources]
            assert len(mine) == len(lines), path.stem
    statements = rows(PAPERS / "statements.csv")
    of = load_gains("radabench", PAPERS)
    gains = sum(len(numbers(one)) for one in of.gains)
    cells = sum(len(rows(path)) for path in PAPERS.glob("*.csv")) + gains
    assert len(entries) == cells and {line["article"] for line in statements} == {one.article for one in entries}
    assert {one.verdict.word for one in entries} == {"untestable"} and all(one.verdict.why for one in entries)
    assert not any(one.run or one.ours.value is not None for one in entries)


def test_misprints_bounds_and_cells_without_a_number_are_marked():
    entries = {(one.source, one.model, one.method, one.part): one for one in ledger([])}
    assert "stray digit" in entries["table1", "GPT-4", "din_sql", "mimic_iii"].remark
    assert (
        entries["table2", "HuatuoGPT-Vision-7B", "zero_shot", "numerical/mean"].remark
        == "differs from table5 value 9.25"
    )
    none = entries["table5", "MedLlama3-8B", "zero_shot", "trust/longhalt"]
    assert (none.published, none.verdict.why, none.remark) == (None, "no number published", "not capable")
    illegible = entries["table3", "Qwen2-72B-GPTQ4", "reflectool_refine_row2", "knowledge/pubmedqa"]
    assert "cannot be read" in illegible.verdict.why and illegible.published == 69.5
    assert entries["mhr", "GPT-4o", "radagent", "differentiated"].verdict.why == "published approximately only"


def test_every_article_has_settings_and_matching_patterns():
    papers = [load(PAPERS, str(path)) for path in PAPERS.glob("*.yaml")]
    assert papers and all(paper.states is not None for paper in papers)
    for states in {paper.file: paper.states for paper in papers}.values():
        cells = [cell for paper in papers if paper.states == states for cell in paper.cells]
        for pattern in states.aside:
            assert any(why_aside(replace(states, aside={pattern: "x"}), cell) for cell in cells), pattern
        for pattern in states.methods:
            methods = {cell.method for cell in cells}
            assert any(replace(states, methods={pattern: {"x": 1}}).settings(name).get("x") for name in methods), (
                pattern
            )
        assert set(states.models) <= {cell.backbone for cell in cells} | {"not named"}


def test_real_run_of_the_published_model_and_data_gets_a_verdict(tmp_path):
    inside, outside = plain(tmp_path / "a", [1, 1, 1, 0] * 5), plain(tmp_path / "b", [0] * 20)
    one, other = the_cell([inside]), the_cell([outside])
    assert (one.verdict.word, one.published, one.ours.value, one.samples) == ("within", 73.0, 75.0, "20 of 300 samples")
    assert other.verdict.word == "outside"
    assert one.deviations[0] == "prompts: the project's own, never the published texts"
    assert "dates: run 2026-01-31; published: November 2023 (arXiv), third version February 2024" in one.deviations
    assert "model: gpt-4-0613; published: GPT-4 on Azure, no snapshot stated" in one.deviations
    assert (
        "size: not the published number of samples" in one.deviations
        and "seed: 0; published: not stated" in one.deviations
    )
    (total,) = [
        e
        for e in entries_of(MEDAGENTS, [inside])
        if (e.model, e.method, e.part, e.source) == ("GPT-4", PLAINEST.method, "total", "table2")
    ]
    assert (total.verdict.why, total.ours.value, total.samples) == (
        "not all of its tasks were run",
        None,
        "1 of 9 tasks",
    )


def test_interval_equals_metrics_json(tmp_path):
    run = made(tmp_path / "x", {"medqa": ("k", [1, 1, 0, 1, 0])}, PLAIN, **NOTES)
    stored = json.loads((run.folder / "metrics.json").read_text())["metrics"]["score/x"]
    ours = the_cell([plain(tmp_path, [1, 1, 0, 1, 0])]).ours
    assert (ours.ci_low, ours.ci_high) == pytest.approx((stored["ci_low"] * 100, stored["ci_high"] * 100))


@each_row(
    "given, why, message",
    [
        ({"model_kind": "simulated"}, "simulated model", "model: simulated"),
        ({"sessions": [{"answered_by": {"main": ["simulated:gpt-4-0613"]}}], "model_kind": "live"},
         "simulated model", "model: simulated"),
        ({"cfg": {"model": {"_target_": "components.models.simulated.Simulated"}}, "model_kind": "replayed"},
         "simulated model", "model: simulated"),
        ({"models": {"main": "gpt-4o"}}, "another model", "model: gpt-4o; published: "),
        ({"dataset": {"name": "medqa_mini", "split": "test"}}, "other data", "data: medqa_mini is not the published data"),
        ({"cfg": {"dataset": {"options": 4, "shipped": "mini", "path": None}}}, "other data",
         "data: medqa (shipped, made by the project) is not the published data"),
        ({"dataset": {"name": "medqa", "split": "pool"}}, "another split", "split: pool; published: test"),
        ({"choices": CHOSEN | {"condition": "withheld"}}, "another condition", "condition: withheld; published: intact"),
        ({"cfg": {"dataset": {"options": 5}}}, "another dataset.options", "dataset.options: 5; published: 4 or not set"),
        ({"status": "budget"}, "run not complete", "status: run is budget"),
        ({"epochs": 3}, "", "epochs: 3; published: 1"),
        ({"limit": 20}, "", "data: limit=20 of medqa; published: 300 questions sampled from each set"),
        ({"cfg": {"model": {"temperature": 0.0}}}, "", "model.temperature: 0.0; published: 1.0"),
        ({"cfg": {"model": {"temperature": 1.0}}}, "", "model.top_p: not set; published: 1.0"),
        ({"cfg": {"memory": {"samples": 40, "stage": {}}}}, "", "memory.samples: 40; published: 0"),
        ({"cfg": {"memory": {"samples": None, "learn": True}}}, "", "memory.samples: all; published: 0"),
        ({"cfg": {"agent": {"shots": 2}}}, "", "agent.shots: 2; published: 0"),
        ({"choices": CHOSEN | {"profile": "code"}}, "", "profile: code; published: paper"),
    ],
)  # fmt: skip
def test_deviations_that_prevent_a_verdict_and_those_only_listed(tmp_path, given, why, message):
    found = entries_of(MEDAGENTS, [plain(tmp_path, [1, 1, 1, 0] * 5, **given)])
    compared = [one for one in found if one.run and one.part == "medqa" and one.model == "GPT-4"]
    assert len(compared) == 1
    for one in compared:
        assert (one.verdict.word, one.verdict.why) == (("untestable", why) if why else ("within", ""))
        assert any(text.startswith(message) for text in one.deviations), one.deviations


def test_run_without_training_data_has_no_memory_deviation(tmp_path):
    for memory in ({"learn": False, "samples": 40}, {"samples": None, "stage": {"n": 5}}, None):
        assert not any("memory" in text for text in the_cell([plain(tmp_path, cfg={"memory": memory})]).deviations)


def settings_of(paper, line):
    """A config and choices that satisfy a published row."""
    cfg, choices = json.loads(json.dumps(CFG)), dict(CHOICES)
    for key, wanted in {**paper.settings, **line.settings, **line.where}.items():
        group, _, name = key.partition(".")
        value = wanted[0] if isinstance(wanted, list) else wanted
        node = cfg[group] = dict(cfg.get(group) or {})
        if name:
            node[name] = value
        else:
            choices[group] = value
    return cfg, choices


def runs_of_every_row(home, **notes):
    """A run for every published row that satisfies its settings; ``model_kind`` and the like as given."""
    for path in sorted(PAPERS.glob("*.yaml")):
        paper = load(PAPERS, str(path))
        cell = next(one for one in paper.cells if len(one.path) == 2 and one.value is not None)
        levels = {} if paper.by or paper.levels else {paper.metric: ["task", "dimension"]}
        manifest = {"levels": levels, "models": {"main": "gpt-4-0613 claude-3-7-sonnet-20250219"}, **notes}
        for number, line in enumerate(paper.rows):
            cfg, choices = settings_of(paper, line)
            choices |= {"dataset": cell.path[-1]} if paper.by == "dataset" else {}
            data = {"name": paper.datasets[0], "split": paper.tables[cell.table].split}
            folder = home / f"{path.stem}-{number}"
            write(folder, {cell.path[-1]: (cell.path[0], [1, 0, 1])}, cfg, choices=choices, dataset=data, **manifest)
            text = (folder / "records.jsonl").read_text().replace("score/x", paper.metric)
            for level, stratum in zip(paper.levels, ("task", "dimension"), strict=False):
                text = text.replace(f'"{stratum}"', f'"{level}"')
            (folder / "records.jsonl").write_text(text)
            yield Run.at(folder)


@slow
def test_simulated_runs_never_get_a_verdict(tmp_path):
    real = ledger(list(runs_of_every_row(tmp_path / "real")))
    assert {one.verdict.word for one in real} == {"within", "outside", "untestable"}, "the runs can be tested"
    simulated = ledger(list(runs_of_every_row(tmp_path / "simulated", model_kind="simulated")))
    compared = [one for one in simulated if one.run]
    assert len(compared) == len([one for one in real if one.run]) > 20
    assert {one.verdict.word for one in simulated} == {"untestable"}
    inherent = ("published", "names", "named", "cannot be read", "no number")
    assert all(
        "simulated model" in one.verdict.why or any(word in one.verdict.why for word in inherent) for one in compared
    )


def test_report_lists_every_kind_of_deviation_of_a_real_run(tmp_path, capsys):
    cfg = {"model": {"temperature": 0.0}, "agent": {"shots": 1}, "memory": {"samples": 40}}
    folder = plain(tmp_path, cfg=cfg, epochs=2, choices=CHOSEN | {"profile": "code"}).folder
    assert main(["paper", "medagents", str(folder)]) == 0
    listed = capsys.readouterr().out.splitlines()
    kinds = {line.split(": ")[1] for line in listed if line.startswith("Deviation: ")}
    assert kinds >= {
        "prompts", "model", "dates", "model.temperature", "model.top_p", "seed", "epochs", "agent.shots",
        "memory.samples", "profile", "size", "tasks that were not run",
    }  # fmt: skip


@slow
def test_the_command_prints_counts_first_and_writes_a_csv_and_a_page(tmp_path, capsys):
    folder = plain(tmp_path, [1, 1, 1, 0] * 5, notes=[HOSTILE]).folder
    assert main(["ledger", str(folder), "--out", str(tmp_path / "out"), "--all"]) == 0
    out = capsys.readouterr().out
    head, table = out.split("medagents: table2", 1)
    assert out.index("within") < out.index("ehragent: table1") and "Verdicts" in head
    assert "75.00" in table and "prompts: the project's own" in table
    lines = rows(tmp_path / "out" / "ledger.csv")
    (line,) = [one for one in lines if one["run"] and one["verdict"] == "within"]
    assert (line["model"], line["part"], line["published"], line["this run n"]) == ("GPT-4", "medqa", "73.0", "20")
    assert len(lines) == len(ledger([]))
    assert main(["page", str(folder), "--out", str(tmp_path / "out")]) == 0
    read = (tmp_path / "out" / "report.md").read_text()
    assert "cells: report.html" in read and read.count("no run given") == 1
    page = parsed((tmp_path / "out" / "report.html").read_text())
    (section,) = page.xpath("//section[@id='ledger']")
    assert "Reproduction ledger" in section.text_content() and "alert(2)" in section.text_content()
    assert not section.xpath(".//img") and not section.xpath(".//script")
    of_the_run = [one for one in lines if one["article"] == "medagents"]
    assert len(lines) > len(section.xpath(".//tbody/tr")) > len(of_the_run), "the cells of its article, and verdicts"


def test_page_of_runs_without_a_publication_has_no_ledger(tmp_path):
    main(["page", str(write(tmp_path / "a", {"one": ("k", [1])}, choices={"agent": "none"}))])
    assert "Reproduction ledger" not in (tmp_path / "a" / "report.html").read_text()


@slow
def test_without_a_folder_every_cell_is_listed(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["ledger"]) == 0
    out = capsys.readouterr().out
    assert "no run given" in out and len(out.splitlines()) < 100 and (tmp_path / "ledger.csv").is_file()


def test_bad_statements_of_a_setting_are_refused(tmp_path):
    (tmp_path / "articles").mkdir()
    (tmp_path / "p.csv").write_text("table,backbone,method,scope,a,value,note\n")
    (tmp_path / "p.yaml").write_text(
        "title: t\ncitation: c\nfile: p.csv\ncolumns: {outer: a, inner: a}\nscopes: {inner: one, outer: x, total: y}\n"
        "metric: score/x\ntables: {t: {sizes: {}}}\nrows: []\n"
    )
    assert load(tmp_path, "p").states is None
    load.cache_clear()
    (tmp_path / "articles" / "p.yaml").write_text("published: 2024\ndata: d\ntemperature: warm\n")
    with pytest.raises(ConfigError, match="temperature"):
        load(tmp_path, "p")
    (tmp_path / "articles" / "p.yaml").unlink()
    (tmp_path / "p.csv").write_text("table,backbone,method,scope,a,value,note,relation\nt,B,m,one,x,1,,nearly\n")
    with pytest.raises(ConfigError, match=r"p.csv:2: relation is one of = < > about, found 'nearly'"):
        load(tmp_path, "p")


def test_a_mean_is_over_the_tasks_of_the_published_mean(tmp_path):
    """Text-only rows have four dimensions, so their total is compared with ours over the same four."""
    paper = load(PAPERS, "reflectool")
    row = next(one for one in paper.published if one.label == "GPT-3.5-turbo zero_shot")
    scored: dict = {}
    for dimension, task in (path for path, value in row.values.items() if value is not None):
        scored[task] = (dimension, [1, 0])
    levels = {"score/official": ["task", "dimension"]}
    notes = {"choices": CHOICES | {"agent": "direct"}, "levels": levels, "models": {"main": "gpt-3.5-turbo"}}
    cells = {}
    for name, more in (
        ("same", {}),
        ("more", {"slake": ("multimodal", [1, 1])}),
        ("other", {"longhalt": ("trust", [1])}),
    ):
        folder = write(tmp_path / name, scored | more, **notes)
        path = folder / "records.jsonl"
        path.write_text(path.read_text().replace("score/x", "score/official"))
        found = [one for one in entries_of(paper, [Run.at(folder)]) if one.run and one.source == "table2"]
        cells[name] = {one.part: one for one in found}
    same, more, other = (cells[name]["total"] for name in ("same", "more", "other"))
    assert same.verdict.word in ("within", "outside") and same.ours.value == 50.0 and "of" in same.samples
    assert (more.ours.value, more.verdict.word) == (50.0, same.verdict.word), "the dimension in excess is left out"
    assert (other.ours.value, other.verdict.why) == (None, "more than its tasks were run")


def test_the_page_has_tables_of_those_articles_only_that_a_run_is_about(tmp_path):
    shown = section([plain(tmp_path)])
    assert {sheet.title.partition(":")[0] for sheet in shown.sheets[1:]} == {"medagents"}
    assert section([]) is None
    (table,) = [sheet for sheet in shown.sheets if sheet.title == "medagents: table2"]
    assert [head.name for head in table.columns] == ["model", "method", "part", "published", "this run", "verdict",
                                                     "why", "samples", "run", "deviations"], "none is empty"  # fmt: skip
    assert _spans([12, 2, 3, 4, 7, 8]) == "2-4 7-8 12" and _spans([]) == ""
