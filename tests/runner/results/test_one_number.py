"""A value has the same interval in metrics.json, by stratum, in sweep tables, on the page and in CSV."""

import csv
import json
from dataclasses import replace

import pytest

from components.cab import scorers as cab_scorers
from components.ehr import scorer as ehr
from components.ehr.scorer import Ehr
from components.radiology.scorers import planning, refusal, response
from components.scorers import building, choice, faults
from runner.config.catalogue import CONF
from runner.experiment.experiment import declared_scores
from runner.results.formulas import wilson
from runner.results.kinds import Scale, kinds_of
from runner.results.publications.paper import load
from runner.results.render.formats import comma, latex, page, sheets
from runner.results.render.formats import markdown as written
from runner.results.sections import papers
from runner.results.sections.comparisons import show_methods
from runner.results.sections.means import show_means
from runner.results.sections.papers import paper_section
from runner.results.sections.report import report
from runner.results.sections.scores import strata
from runner.results.sheets import Column, Sheet, Value
from runner.results.terminal import show_section
from tests.runner.results.page.pages import cells
from tests.runner.results.test_any_records import KINDS, USAGE, folder
from tests.table import each_row

PAPER = CONF / "papers"


def samples(values, complexity, **scores):
    """Records of a complexity, a score of 0 or 1 each."""
    return [
        {
            "sample_id": f"{complexity}{n}", "epoch": 0, "cluster": None, "strata": {"complexity": complexity},
            "stop": "answered", "scores": {"completion/rate": value, **scores}, "ceilings": {}, "seconds": 0.1,
            "usage": USAGE | {"purposes": {}},
        }
        for n, value in enumerate(values)
    ]  # fmt: skip


@pytest.fixture
def runs(tmp_path):
    mine = [*samples([1.0, 1.0, 0.0, 1.0, 1.0, 1.0], "simple"), *samples([1.0, 0.0, 0.0], "complex")]
    theirs = [*samples([1.0, 0.0, 0.0, 1.0, 1.0, 1.0], "simple"), *samples([0.0, 0.0, 1.0], "complex")]
    return [folder(tmp_path, mine, "radagent"), folder(tmp_path, theirs, "react")]


def test_every_place_has_the_interval_of_metrics_json(runs, tmp_path, capsys):
    saved = json.loads((runs[0].folder / "metrics.json").read_text())
    low, high = wilson(5, 6)  # 0.4365 to 0.9699
    simple = saved["strata"]["complexity"]["simple"]["completion/rate"]
    assert saved["metrics"]["complexity/simple/completion/rate"] == simple
    assert (simple["ci_low"], simple["ci_high"]) == pytest.approx((low, high))

    means = show_means(runs)["completion/rate"]
    assert means["radagent"]["simple"]["ci_low"] == simple["ci_low"]
    (ours, *_), *_ = ([row for row in cells(sheet) if row["part"] == "simple"] for sheet in papers_of(runs))
    assert (ours["this run"].low, ours["this run"].high) == pytest.approx((100 * low, 100 * high))
    lines = [row for sheet in papers_of(runs) for row in csv.DictReader(comma(sheet).splitlines())]
    (line,) = [row for row in lines if row["run"] == "radagent" and row["part"] == "simple"]
    ends = [float(value) for name, value in line.items() if name.endswith((" low", " high")) and "this run" in name]
    assert ends == pytest.approx([100 * low, 100 * high])
    capsys.readouterr()
    show_section(paper_section(load(PAPER, "radabench"), runs))
    assert "43.6 to 97.0" in capsys.readouterr().out

    show_methods(runs, home=tmp_path)
    compared = json.loads((tmp_path / "compare.json").read_text())
    whole = compared["rows"]["radagent"]["radabench_mini"]
    assert whole == saved["metrics"]["completion/rate"]
    assert "0.436 to 0.970" in report(runs[0].manifest, saved, None)


def papers_of(runs):
    return [sheet for sheet in papers.section(runs).parts if isinstance(sheet, Sheet) and "part by part" in sheet.title]


def test_numbers_of_clusters_are_next_to_those_of_pairs(runs, tmp_path):
    show_methods(runs, ["react"], home=tmp_path)
    assert "| pairs | clusters | won:tied:lost |" in (tmp_path / "compare.md").read_text()
    (one,) = json.loads((tmp_path / "compare.json").read_text())["differences"]["radabench_mini"].values()
    assert (one["pairs"], one["clusters"], one["wins"] + one["ties"] + one["losses"]) == (9, 9, 9)


def test_single_sample_is_marked_too_few_everywhere(tmp_path):
    mine = [*samples([1.0], "simple", **{"response/f1": 1.0}), *samples([1.0, 0.0], "complex", **{"response/f1": 0.76})]
    run = folder(tmp_path, mine, "radagent")
    saved = json.loads((run.folder / "metrics.json").read_text())
    for score in ("completion/rate", "response/f1"):
        metric = saved["strata"]["complexity"]["simple"][score]
        assert (metric["value"], metric["ci_low"], metric["no_interval"]) == (1.0, None, "n too small")
    section = strata([run])
    assert "1.0000 (n too small)" in written("", "", [], [section])
    table = "".join(comma(sheet) for _, sheet in sheets([section]))
    assert "1.0,n too small,n too small,1" in table
    assert "n too small" in report(run.manifest, saved, None)
    tables = replace(section, parts=[one for one in section.parts if isinstance(one, Sheet)])
    assert "<small>n too small</small>" in page("", "", [], [tables])
    sheet = Sheet("x", [Column("score")], [[Value(0.5, n=1, no_interval="n too small")]])
    assert r"$0.5000_{\,\mbox{\scriptsize n too small}}$" in latex(sheet), "without a package for texts in formulas"


@pytest.mark.parametrize("value", [0.0, 0.76, 1.0])
def test_existence_of_an_interval_does_not_depend_on_the_value(tmp_path, value):
    one, five = (samples([1.0] * n, "simple", **{"response/f1": value}) for n in (1, 5))
    single, several = (folder(tmp_path / str(len(of)), of, "radagent") for of in (one, five))
    metrics = [
        json.loads((run.folder / "metrics.json").read_text())["metrics"]["response/f1"] for run in (single, several)
    ]
    assert metrics[0]["no_interval"] == "n too small" and metrics[0]["ci_low"] is None
    assert 0 <= metrics[1]["ci_low"] <= value <= metrics[1]["ci_high"] <= 1
    assert metrics[1]["ci_high"] - metrics[1]["ci_low"] == pytest.approx(wilson(0, 5)[1]), "five samples prove little"


def test_five_zero_distances_give_an_interval_above_zero(tmp_path):
    run = folder(tmp_path, samples([1.0] * 5, "simple", **{"planning/levenshtein": 0.0}), "radagent")
    metric = json.loads((run.folder / "metrics.json").read_text())["metrics"]["planning/levenshtein"]
    assert (metric["ci_low"], metric["ci_high"]) == pytest.approx((0.0, 3.6889 / 5), abs=1e-4), (
        "Garwood 1936: zero events"
    )


def test_older_run_has_one_kind_per_score(tmp_path):
    mine = [*samples([1.0, 1.0], "simple", graded=1.0, n=1.0), *samples([0.0, 1.0], "complex", graded=0.5, n=2.0)]
    assert kinds_of({"units": {"n": "steps"}}, mine) == {
        "completion/rate": "proportion",
        "graded": "share",
        "n": "count",
    }
    assert kinds_of({"count_scores": ["n"]}, mine)["n"] == "count", "the oldest runs name counts only"
    assert kinds_of({"kinds": {}}, mine) == {}, "a score that no scorer declares is a number, and not guessed"
    run = folder(tmp_path, mine, "radagent")
    old = {name: value for name, value in run.manifest.items() if name != "kinds"}
    assert "declares no kinds of scores" in report(old, {"metrics": {}, "strata": {}}, None)
    assert "declares no kinds of scores" not in report(run.manifest, {"metrics": {}, "strata": {}}, None)


def test_scorers_declare_the_kinds_of_their_scores():
    found = declared_scores({"own": object(), "ehr": Ehr(questions=580)})["kinds"]
    assert (found["score/strict"], found["ehr/calls"], found["reliability/rs_n"]) == ("proportion", "count", "number")
    assert Scale("share").bounds == (0, 1) and Scale("share", difference=True, reach=2.0).bounds == (-2, 2)
    assert KINDS["own/x"] == "number"


@each_row(
    "scorer, names",
    [
        (scorer, module.NAMES) for module, scorer in (
            (building, building.Building()), (choice, choice.Choice), (ehr, Ehr()), (faults, faults.Faults),
            (planning, planning.Chain), (refusal, refusal.Refusals), (response, response.Response),
            (cab_scorers, cab_scorers.ToolUse),
        )
    ],
)  # fmt: skip
def test_every_score_of_this_project_is_declared(scorer, names):
    assert set(declared_scores({"one": scorer})["kinds"]) == set(names)
