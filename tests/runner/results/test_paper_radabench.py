"""RadABench's published numbers, and runs next to them."""

import pytest

from runner.config.catalogue import CONF
from runner.report import main
from runner.results.publications.paper import load
from runner.results.runs import Run
from runner.results.sections.papers import sheets_of
from tests.runner.results.folders import CHOICES, write
from tests.runner.results.page.pages import cells

NAMES = ("radabench", *(f"radabench_{name}" for name in ("building", "ecr", "thr", "ots", "mhr", "uar")))
BUILDS = {"agent": {"_target_": "mine.Agent", "build_tools": "simulated"}}
PAPERS = {name: load(CONF / "papers", name) for name in NAMES}


def run(home, condition, metric, agent="radagent", **notes):
    """A run of the published agent."""
    notes = {"choices": CHOICES | {"agent": agent, "condition": condition}} | notes
    folder = write(home / agent / condition, {"simple": ("k", [1, 0])}, **notes)
    text = (folder / "records.jsonl").read_text().replace("score/x", metric).replace('"task"', '"complexity"')
    (folder / "records.jsonl").write_text(text)
    return Run.at(folder)


def test_every_published_number_is_present_once():
    values = {
        (name, one.backbone, path[-1]): value
        for name, paper in PAPERS.items()
        for one in paper.published
        for path, value in one.values.items()
    }
    assert len(values) == 22
    assert values["radabench", "Claude-3.7-Sonnet", "simple"] == 67.1
    assert values["radabench_building", "Claude-3.7-Sonnet", "complex"] == 26.2
    assert values["radabench_thr", "Claude-3.5-Sonnet", "redundant_high"] == 23.1
    assert values["radabench_ots", "Gemini-1.5-Pro", "differentiated"] == 72.0


@pytest.mark.parametrize(
    ("name", "condition", "printed"),
    [
        ("radabench_ecr", "redundant_medium", {"Claude-3.5-Sonnet": 73.7}),
        ("radabench_thr", "redundant_high", {"Claude-3.5-Sonnet": 23.1}),
        ("radabench_ots", "differentiated", {"Gemini-1.5-Pro": 72.0, "Qwen-2.5-72B": 70.1}),
        ("radabench_mhr", "differentiated", {"GPT-4o": 80.0, "Claude-3.5-Sonnet": 80.0, "Qwen-2.5-72B": 80.0}),
        ("radabench_uar", "insufficient_config3", {"GPT-4o": 60.0, "Claude-3.5-Sonnet": 60.0}),
    ],
)
def test_condition_is_compared_with_its_own_published_number(tmp_path, name, condition, printed):
    paper = PAPERS[name]
    runs = [run(tmp_path, condition, paper.metric), run(tmp_path, "baseline", paper.metric)]
    (sheet,) = sheets_of(paper, runs)
    (row,) = cells(sheet)
    assert (row["part"], row["this run"].value) == (condition, 50.0)
    assert {name: row[f"{name}, published"] for name in printed} == printed


def test_command_prints_the_row_without_totals(tmp_path, capsys):
    folders = [run(tmp_path, name, "execution/ecr").folder for name in ("redundant_regular", "baseline")]
    assert main(["paper", "radabench_ecr", *map(str, folders)]) == 0
    out = capsys.readouterr().out
    assert "79.50" in out and "\n  total" not in out and "counterpart" not in out


def test_completion_is_shown_by_complexity_under_any_condition(tmp_path):
    (sheet,) = sheets_of(PAPERS["radabench"], [run(tmp_path, "redundant_high", "completion/rate")])
    row, *_ = cells(sheet)
    assert (row["part"], row["this run"].value, row["Claude-3.7-Sonnet, published"]) == ("simple", 50.0, 67.1)
    assert not any("27.4" in line for line in sheet.notes), "a note on a part that this run lacks"


def test_completion_with_built_tools_is_compared_only_with_its_own_numbers(tmp_path):
    built = run(tmp_path, "insufficient_config1", "completion/rate", cfg={"agent": {"build_tools": "simulated"}})
    (sheet,) = sheets_of(PAPERS["radabench_building"], [built])
    row, *_ = cells(sheet)
    assert (row["part"], row["Claude-3.7-Sonnet, published"]) == ("simple", 65.4)
    assert not sheets_of(PAPERS["radabench"], [built])
    four = "refined_prompts, self_reflection, few_shot, multi_agent"
    assert "agent.strategies: not set; published: " + four in "\n".join(sheet.notes)
    cfg = {"agent": {"build_tools": "simulated", "strategies": four.split(", ")}}
    integrated = run(tmp_path, "insufficient_config1", "completion/rate", "radagent_integrated", cfg=cfg)
    (sheet,) = sheets_of(PAPERS["radabench_building"], [integrated])
    assert cells(sheet)[0]["Claude-3.7-Sonnet, published"] == 65.4
    assert not any("agent.strategies:" in line for line in sheet.notes)


def test_published_bounds_are_below_the_numbers(tmp_path):
    (sheet,) = sheets_of(PAPERS["radabench_ecr"], [run(tmp_path, "redundant_medium", "execution/ecr")])
    assert "below 1.4 for closed-source models" in str(sheet.notes) and "above 0.5" in str(sheet.notes)
