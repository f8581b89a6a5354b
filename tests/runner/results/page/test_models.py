"""Models compared: a line per model, and the plots that the config asks for."""

from runner.results.sections.models import models as section
from runner.results.sheets import Plot, Value
from runner.results.terminal import show_section
from tests.runner.results.folders import CHOICES
from tests.runner.results.page.pages import cells, made, tips, written_on

SCORES = ("score/x", "calls/per_sample")
FIGURES = [
    {"title": "Figure A", "scores": [SCORES[0]], "where": {"condition": ["intact"]}},
    {"title": "Figure B", "scores": SCORES, "where": {"condition": ["intact", "withheld"]}},
]


def swept(home, values, figures=(), **model):
    """Runs of a sweep over models and conditions. ``values``: (model, condition) -> values of the task one."""
    runs = []
    for (name, condition), value in values.items():
        cfg = {
            "condition": {"_target_": "mine.C", "kind": condition}, "compare": {"figures": list(figures)},
            "model": {"_target_": "mine.M", "name": f"the-{name}"} | {key: of[name] for key, of in model.items()},
        }  # fmt: skip
        notes = {
            "choices": CHOICES | {"model": f"lab/{name}", "condition": condition}, "models": {"main": f"the-{name}"},
            "sweep": home.name, "swept": ["model", "condition"],
            "varied": {"model": f"lab/{name}", "condition": condition},
        }  # fmt: skip
        runs.append(made(home / f"{name}+{condition}", {"one": ("k", value)}, cfg, **notes))
    return runs


VALUES = {
    ("big", "intact"): [1, 1], ("small", "intact"): [1, 0],
    ("big", "withheld"): [0, 0], ("small", "withheld"): [1, 1],
}  # fmt: skip


def test_one_table_has_a_row_per_model_by_its_choice(tmp_path):
    sheet = section(swept(tmp_path, VALUES, FIGURES)).parts[0]
    big, small = cells(sheet)
    assert (big["model"], small["model"]) == ("lab/big", "lab/small")
    assert small["score/x intact"].value == 0.5 and small["score/x withheld"].value == 1.0
    assert big["calls"] == 4 and isinstance(big["cost/usd"], float)
    assert isinstance(small["score/x intact"], Value) and small["score/x intact"].low is not None


def test_every_configured_figure_is_one_plot_with_a_group_per_model(tmp_path):
    _, one, two = section(swept(tmp_path, VALUES, FIGURES)).parts
    assert [one.title, two.title] == ["Figure A", "Figure B"]
    assert [tip.partition(" (")[0] for tip in tips(one)] == [
        "lab/big, score/x intact: 1", "lab/small, score/x intact: 0.5",
    ]  # fmt: skip
    assert one.svg.count("spread") == 0, "two samples have no interval"
    assert list(dict.fromkeys(tip.split(": ")[0].split(", ")[1] for tip in tips(two))) == [
        f"{score} {condition}" for score in SCORES for condition in ("intact", "withheld")
    ]
    assert "score" in written_on(two), "the legend has the names"


def test_without_figures_the_first_score_is_drawn(tmp_path):
    (plot,) = (part for part in section(swept(tmp_path, VALUES)).parts if isinstance(part, Plot))
    assert len(tips(plot)) == 4


def test_a_model_without_a_run_under_a_setting_has_an_empty_cell(tmp_path):
    fewer = {place: value for place, value in VALUES.items() if place != ("small", "withheld")}
    _, small = cells(section(swept(tmp_path, fewer, FIGURES)).parts[0])
    assert small["score/x withheld"] is None and small["score/x intact"].value == 0.5


def test_models_of_the_same_choice_are_named_by_differing_settings(tmp_path):
    runs = swept(tmp_path, VALUES, competence={"big": 0.9, "small": 0.1})
    for run in runs:
        run.manifest["choices"]["model"], run.manifest["models"]["main"] = "simulated", "simulated"
        run.cfg["model"]["name"] = "simulated"
    assert [row["model"] for row in cells(section(runs).parts[0])] == ["competence=0.9", "competence=0.1"]


def test_single_model_or_duplicate_runs_give_no_table(tmp_path):
    one = {place: value for place, value in VALUES.items() if place[0] == "big"}
    assert section(swept(tmp_path / "one", one)) is None
    twice = [*swept(tmp_path / "a", VALUES), *swept(tmp_path / "b", VALUES)]
    assert section(twice) is None


def test_printed_section_names_scores_without_values(tmp_path, capsys):
    asked = [*FIGURES, {"title": "Figure C", "scores": ["execution/no_such"]}]
    show_section(section(swept(tmp_path, VALUES, asked)))
    out = capsys.readouterr().out
    assert "By model" in out and "lab/small" in out
    assert "compare.figures: no job has a value of execution/no_such" in " ".join(out.split())


def test_simulated_models_are_named_as_such(tmp_path):
    runs = swept(tmp_path, VALUES)
    runs[0].manifest["model_kind"] = "simulated"
    assert section(runs).parts[0].notes == ["simulated, says nothing about a real model: lab/big"]
