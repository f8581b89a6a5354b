"""The whole report of runs, and the commands that write it."""

import csv
import json
from functools import partial

import pytest

from components.core.errors import ConfigError
from runner.report import main
from runner.results import processes
from runner.results.folders import folder_of
from runner.results.metrics import as_json, summarise
from runner.results.processes import map_folders
from runner.results.render.formats import comma
from runner.results.runs import Run
from runner.results.sections import page as book
from runner.results.sections import samples
from tests.runner.results.folders import write
from tests.runner.results.page.pages import HOSTILE, grid, made, parsed
from tests.slow import slow

VALUES = {(agent, condition): [1, 0, 1] for agent in ("react", "cot") for condition in ("intact", "withheld")}


@slow
def test_sweep_report_writes_page_markdown_and_tables_next_to_its_jobs(tmp_path):
    runs = grid(tmp_path / "sweep", VALUES, model_kind="simulated")
    written = book.write(runs, folder_of(runs))
    assert written[:2] == [tmp_path / "sweep/report.html", tmp_path / "sweep/report.md"]
    tree = parsed(written[0].read_text())
    assert [one.get("id") for one in tree.xpath("//section")] == [
        "leaderboard",
        "methods",
        "comparisons",
        "settings",
        "samples",
        "frontier",
        "cards",
        "episodes",
    ]
    assert "simulated model: these numbers say nothing about any real model" in tree.xpath("//main")[0].text_content()
    lines = list(csv.DictReader((tmp_path / "sweep/tables/leaderboard-scores.csv").read_text().splitlines()))
    for run, line in zip(runs, lines, strict=True):
        metric = json.loads((run.folder / "metrics.json").read_text())["metrics"]["score/x"]
        assert [float(line[f"score/x{end}"]) for end in ("", " low", " high")] == [
            metric[key] for key in ("value", "ci_low", "ci_high")
        ]
    assert (tmp_path / "sweep/tables/leaderboard-scores.tex").read_text().count("\\\\") == 5


def test_page_of_a_folder_named_by_its_time_is_titled_by_what_ran(tmp_path):
    time = "2026-01-31_10-00-00"
    runs = [made(tmp_path / time, {"one": ("k", [1])}, name="ours", choices={"agent": f"a{n}"}) for n in range(6)]
    for home, title in (
        (time, "ours: a0, a1, a2, a3 and 2 more on cab, model qwen/Qwen2-7B-Instruct"),
        ("mine", "mine"),
    ):
        tree = parsed(book.write(runs, tmp_path / home)[0].read_text())
        assert tree.xpath("//h1")[0].text_content() == tree.xpath("//title")[0].text == title
        assert tree.xpath("//p[@class='about']")[0].text.startswith(f"{time}; 6 runs" if home == time else "6 runs")


def test_unwritable_page_is_named_and_no_partial_file_is_left(tmp_path):
    run = made(tmp_path / "a", {"one": ("k", [1])})
    (run.folder / "report.html").mkdir()
    with pytest.raises(ConfigError, match=r"a/report\.html cannot be written: Is a directory"):
        book.write([run], run.folder)
    assert not list(run.folder.glob("*.tmp"))


def test_steps_are_read_with_the_table_or_after_it(tmp_path):
    folder = write(tmp_path / "a", {"one": ("k", [1.0] * 9)})
    together, apart = Run.read(folder, steps=True), Run.at(folder)
    assert len(apart.table) == sum(one.count for one in apart.steps.episodes) == 9
    assert together.table.keys == apart.table.keys and together.steps == apart.steps


def test_large_runs_are_read_in_processes_of_their_own(tmp_path, monkeypatch):
    folders = [write(tmp_path / name, {"one": ("k", [value, 0.5])}) for name, value in (("a", 1.0), ("b", 0.0))]
    read = partial(Run.read, steps=True)
    here = list(map_folders(read, folders))
    monkeypatch.setattr(processes, "_LARGE", 1)
    for one, other in zip(here, map_folders(read, folders), strict=True):
        assert (one.folder, one.manifest, one.cfg, one.steps) == (other.folder, other.manifest, other.cfg, other.steps)
        assert as_json(summarise(one.table)) == as_json(summarise(other.table))


def test_page_of_large_runs_is_the_same(tmp_path, monkeypatch):
    runs = [made(tmp_path / name, {"one": ("k", [value, 0.5])}) for name, value in (("a", 1.0), ("b", 0.0))]
    here = [path.read_bytes() for path in book.write(runs, tmp_path / "here", title="x")]
    monkeypatch.setattr(processes, "_LARGE", 1)
    assert here == [path.read_bytes() for path in book.write(runs, tmp_path / "there", title="x")]


def test_hostile_names_and_strata_are_escaped_in_every_format(tmp_path):
    names = {"agent": HOSTILE, "model": "m"}
    runs = [
        made(tmp_path / n, {HOSTILE: ("k", [1, 0]), "b": ("k", [1])}, choices=names | {"model": n}, notes=[HOSTILE])
        for n in "ab"
    ]
    tree = parsed(book.write(runs, tmp_path / "out", title=HOSTILE)[0].read_text())
    assert not tree.xpath("//img | //main//script[not(@type)]") and HOSTILE in tree.xpath("string(//h1)")
    assert r"\textbackslash{}input\{y\}" in (tmp_path / "out/tables/strata-score-x-by-task.tex").read_text()
    assert "<img" not in (tmp_path / "out/report.md").read_text().replace("\\<img", "")


def test_report_of_a_single_run_is_in_its_folder(tmp_path, capsys):
    run = made(tmp_path / "a", {"one": ("k", [1, 0])})
    assert main(["page", str(run.folder)]) == 0
    assert (run.folder / "report.md").read_text().startswith("# a\n\nStatus complete")
    assert capsys.readouterr().out.startswith(f"report: {run.folder / 'report.html'}, and ")


def test_runs_without_a_common_sweep_need_an_output_folder(tmp_path, capsys):
    runs = [made(tmp_path / "x" / "a", {"one": ("k", [1])}), made(tmp_path / "y" / "b", {"one": ("k", [0])})]
    words = [str(run.folder) for run in runs]
    assert main(["page", *words]) == 2 and "--out FOLDER" in capsys.readouterr().err


def test_report_names_its_runs_in_one_line(tmp_path):
    run = made(tmp_path / "a", {"one": ("k", [1])}, start="2024-01-02T03:04:05+00:00", git={"commit": "c" * 40})
    assert book.about([run]) == (
        "1 run; data: cab (test); models: qwen/Qwen2-7B-Instruct; commit: cccccccccc; from 2024-01-02 03:04 to 2024-01-02 03:04 UTC"
    )


def test_the_table_of_all_samples_has_all_of_them(tmp_path):
    runs = [made(tmp_path / name, {"one": ("k", [n % 2 for n in range(1_001)])}) for name in "ab"]
    (sheet,) = samples.section(runs).sheets
    assert len(sheet.rows) == 1_001 and comma(sheet).count("\n") == 1_002
