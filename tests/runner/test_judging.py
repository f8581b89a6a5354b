"""Scorers that call a model: where calls are recorded, their cost, and that no model grades itself."""

import json

import pytest

from runner.report import main
from tests.runner.rating.cases import GRADED, WORDS, settle
from tests.slow import slow

JUDGED = ("scorer=[told,judged]",)
FAILURES = "rubrics@scorer.judged.rubric=medagents_errors"


def run_graded(home, *words):
    settle(home.path)
    return home.run(*WORDS, "hydra.run.dir=one", *words)


def records(home):
    return [json.loads(line) for line in (home.path / "one" / "records.jsonl").read_text().splitlines()]


@slow
def test_grades_and_their_cost_are_recorded_apart_from_the_agent(home):
    assert run_graded(home, *GRADED, "budget.sample.calls=1").code == 0
    found = {record["sample_id"]: record for record in records(home)}
    assert found["case 0"]["scores"]["judged/agreement/verdict/same"] == 1.0
    assert found["case 5"]["scores"]["judged/agreement/verdict/other"] == 1.0
    step = found["case 0"]["steps"][-1]
    assert (step["purpose"], step["role"], step["branch"]) == ("judge", "judge", "judge/agreement")
    assert found["case 0"]["usage"]["calls"] == 1 and found["case 0"]["usage"]["purposes"]["judge"]["calls"] == 1
    assert main(["rescore", str(home.path / "one")]) == 0
    assert {record["sample_id"]: record["scores"] for record in records(home)} == {
        name: record["scores"] for name, record in found.items()
    }


@slow
def test_only_samples_drawn_by_the_rubric_are_graded(home):
    assert run_graded(home, *GRADED, FAILURES).code == 0
    for record in records(home):
        wrong = record["scores"]["score/strict"] == 0.0
        graded = [value for name, value in record["scores"].items() if name.startswith("judged/")]
        assert len(record["steps"]) == 1 + wrong and ((sum(graded) == 1.0) if wrong else graded == [None] * 4)


def test_unreadable_grades_are_unscored(home):
    assert run_graded(home, *JUDGED, "+model@models.judge=echo", "models.judge.name=other").code == 0
    metrics = json.loads((home.path / "one" / "metrics.json").read_text())["metrics"]
    assert metrics["judged/agreement/verdict/same"]["value"] is None
    assert metrics["judged/agreement/verdict/same"]["unscored"] == 6


@slow
@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ((), "models.judge, which grades, is not named; name another, as in +model@models.judge=openai"),
        (("+model@models.judge=echo",), "models.judge, which grades, is echo, which is tested here (as main)"),
        (("+model@models.judge=echo", "models.judge.name=acme/Echo"), "is acme/Echo, which is tested here (as main)"),
        (
            (
                *(f"+model@models.{role}=echo" for role in ("judge", "verifier")),
                *(f"models.{role}.name=smith" for role in ("judge", "verifier")),
            ),
            "is smith, which is tested here (as verifier)",
        ),
    ],
)
def test_the_model_under_test_does_not_grade_itself(home, words, wrong):
    done = run_graded(home, *JUDGED, *words)
    assert done.code == 2 and wrong in done.complaint and "scorer.judged.allow_self=true" in done.complaint


@slow
def test_model_grades_itself_if_allowed(home):
    assert run_graded(home, *JUDGED, "scorer.judged.allow_self=true").code == 0


BROKEN = """
from dataclasses import dataclass
from pathlib import Path
from components.core.errors import ModelError
from components.core.messages import Completion, Message, Usage
from mine.parts import Echo

@dataclass
class Broken(Echo):
    async def generate(self, request):
        if not Path("repaired").exists():
            raise ModelError("gone", "server")
        return Completion(Message("assistant", "verdict: part"), Usage(1, 1, 0.0))
"""


@slow
def test_unavailable_judge_is_an_error_and_only_it_is_called_on_resume(home):
    settle(home.path)
    (home.path / "mine" / "broken.py").write_text(BROKEN)
    home.write("model/broken", "_target_: mine.broken.Broken\nname: broken")
    words = (*JUDGED, "+model@models.judge=broken", "run.journal=journal")
    assert run_graded(home, *words).code == 1
    assert {(record["error"], len(record["scores"])) for record in records(home)} == {("server: gone", 0)}
    (home.path / "repaired").touch()
    assert home.run(*WORDS, *words, "run.resume=one").code == 0
    assert {record["scores"]["judged/agreement/verdict/part"] for record in records(home)} == {1.0}
    last = home.manifest(home.path / "one")["sessions"][-1]
    assert (last["sent"], last["from_journal"]) == (6, 6)
