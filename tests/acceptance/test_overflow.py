"""Context overflow: failed episodes are scored, counted, rated and replayed, and are not run again."""

import json

import pytest

from runner.rating.command import draw
from runner.rating.sheets import load
from runner.report import main as report
from runner.results.runs import Run
from runner.serve import from_arguments
from tests.acceptance.command import ROOT, Served, endpoint, read_records, run_in_process
from tests.slow import slow
from tests.table import each_row

pytestmark = slow

WORDS = ("experiment=hello", "tracking=off", "limit=4", "hydra.run.dir=run")
RECORDS = ("dataset=ehr_mini", "toolset=ehr", "scorer=ehr", "condition=intact")
CASES = {
    "ehragent": (*RECORDS, "agent=ehragent"),
    "self_consistency": (*RECORDS, "agent=self_consistency"),
    "radagent": ("dataset=radabench_mini", "agent=radagent"),
    "reflectool": ("dataset=cab_mini", "toolset=clinical", "scorer=cab", "condition=intact", "agent=reflectool"),
}
ZERO = {
    "ehragent": ("score/strict", "ehr/completed", "ehr/success_within_22", "reliability/rs_10"),
    "self_consistency": ("score/strict",),
    "radagent": ("completion/rate", "execution/ecr", "execution/thr", "execution/mhr", "response/f1", "planning/tma"),
    "reflectool": ("score/strict", "score/official"),
}


@pytest.fixture(scope="module")
def served():
    server, _, _ = from_arguments(["dataset=ehr_mini", "--context-tokens", "20"])
    with Served(server) as served:
        yield served


@pytest.fixture(scope="module")
def homes(served, tmp_path_factory):
    folders = {}

    def home(case):
        if case not in folders:
            folder = tmp_path_factory.mktemp(case)
            folders[case] = folder, run_in_process(folder, *WORDS, *CASES[case], *endpoint(served.url), own=False)
        return folders[case]

    return home


@each_row("case", CASES)
def test_run_in_which_all_samples_overflow_has_metrics(homes, case):
    home, done = homes(case)
    assert done.code == 0, done.err
    metrics = json.loads((home / "run" / "metrics.json").read_text())["metrics"]
    assert {name: (metrics[name]["value"], metrics[name]["n"]) for name in ZERO[case]} == dict.fromkeys(
        ZERO[case], (0.0, 4)
    )
    assert (metrics["errors/context_length"]["value"], metrics["errors/context_length"]["n"]) == (1.0, 4)
    assert (metrics["errors/rate"]["value"], metrics["stop/failed"]["value"]) == (0.0, 1.0)
    assert "| errors/context_length ↓ | 1.0000 |" in (home / "run" / "report.md").read_text()
    assert "4 of 4 episodes failed: longer than the model's context window" in done.out
    for record in read_records(home / "run"):
        assert (record["stop"], record["failure"]) == ("failed", "context_length")
        assert "maximum context length is 20 tokens" in record["error"]


def test_overflowed_run_is_complete_and_replays_without_calls(homes, served):
    home, _ = homes("ehragent")
    before = served.seen["requests"]
    words = (*WORDS[:-1], *CASES["ehragent"], *endpoint(served.url))
    assert run_in_process(home, *words, "run.resume=run", own=False).code == 0
    again = run_in_process(home, *words, "run.replay=true", "hydra.run.dir=again", own=False)
    assert again.code == 0, again.err
    assert read_records(home / "again") == read_records(home / "run") and served.seen["requests"] == before


def test_overflowed_episodes_are_drawn_for_error_analysis(homes):
    home, _ = homes("ehragent")
    rubric = load(ROOT / "conf" / "rubrics", "ehragent_errors")
    assert "context_length" in rubric.fields["cause"].categories
    items = draw([Run.at(home / "run")], rubric, 50, 0)
    assert len(items) == 4
    assert all(item.texts["Answer"] == "No answer was given (context_length)." for item in items)


def test_overflowed_run_is_packed_and_replayed_from_a_bundle(homes, monkeypatch):
    home, _ = homes("ehragent")
    monkeypatch.chdir(home)
    assert report(["bundle", "mine.zip", "run"]) == 0
    done = run_in_process(home, "run.replay=mine.zip", own=False)
    assert (done.code, "the same: 4 records of 1 run(s)" in done.out) == (0, True), done.out
