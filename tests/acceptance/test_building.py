"""A withheld calculator is specified, built, tested and used: the real command against a real, scripted endpoint."""

import json
import re

import pytest

from components.core.messages import Completion, Message, ToolCall, Usage
from components.models.simulated.serve import Server
from tests.acceptance.command import Served, endpoint, metric, read_manifest, read_records, run_in_process
from tests.acceptance.own import Voice
from tests.components.building.formulas import CLEARANCE, RIGHT, WRONG, fenced
from tests.slow import slow

pytestmark = slow

HOSTILE = fenced("import os, signal\nos.kill(0, signal.SIGKILL)\n")
ENDLESS = fenced("while True:\n    pass\n")
WORDS = (
    "dataset=cab_mini", "dataset.tasks=[medcalc]", "agent=react", "condition=withhold", "condition.tools=[calculator]",
    "agent.build_tools=code", "agent.building.seconds=1.0", "scorer=[cab,building]",
    "scorer.building.solved=${scorer.cab}", "tracking=off",
)  # fmt: skip


class Physician(Voice):
    """Knows the formula of Cockcroft and Gault and has it built, for every question about it; ``codes`` are what the
    builder answers, one after the other."""

    def reply(self, messages, tools, seed, logprobs=False):
        last = messages[-1]
        if messages[0].text.startswith("You write small tools in Python"):
            message = Message("assistant", self.says[len(messages) // 2 - 1])
        elif "Cockcroft-Gault" not in (asked := messages[1].text):
            message = Message("assistant", "I do not know it.")
        elif last.role != "tool":
            message = called("BuildTool", CLEARANCE)
        elif "can be called from now on" in last.text:
            message = called("CockcroftGault", patient(asked))
        else:
            message = Message("assistant", f"Answer: {last.text if last.text[0].isdigit() else 'unknown'}")
        return Completion(message, Usage(7, 3), "stop")


def called(name, arguments):
    return Message("assistant", "", (ToolCall(f"call_{name}", name, json.dumps(arguments)),))


def patient(text):
    """The values stated in the note."""
    age, weight, creatinine = re.search(r"of (\d+) years who weighs (\d+) kg.* is ([\d.]+) mg/dL", text).groups()
    sex = "female" if "is a woman" in text else "male"
    return {"age": int(age), "weight": int(weight), "creatinine": float(creatinine), "sex": sex}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Folders of a run whose builder repairs its mistake and of one whose code is hostile, endless and wrong; the
    first is also replayed from its journal."""
    cwd = tmp_path_factory.mktemp("building")
    done = {}
    for kind, codes in {"built": (fenced(WRONG), fenced(RIGHT)), "hostile": (HOSTILE, ENDLESS, fenced(WRONG))}.items():
        with Served(Server(Physician(says=codes))) as served:
            words = (*WORDS, f"run.journal={kind}", *endpoint(served.url), f"hydra.run.dir={kind}/run")
            done[kind] = run_in_process(cwd, *words, own=False)
            if kind == "built":
                done["again"] = run_in_process(
                    cwd, *words[:-1], "hydra.run.dir=again/run", "run.replay=true", own=False
                )
    for kind, one in done.items():
        assert one.code == 0, (kind, one.out, one.err)
    return {kind: cwd / one.folder for kind, one in done.items()}


def about_clearance(folder):
    records = read_records(folder)
    found = [one for one in records if any(step["purpose"] == "build" for step in one["steps"])]
    assert len(found) == 2 and len(records) == 16
    return found


def test_formula_is_built_repaired_and_used(runs):
    for record in about_clearance(runs["built"]):
        assert record["scores"]["score/strict"] == 1.0 == record["scores"]["building/recovered"]
        assert [step["purpose"] for step in record["steps"]] == ["act", "build", "build", "act", "act"]
        (asked,) = record["steps"][0]["observed"]
        assert asked["data"]["build"]["code"] == RIGHT.strip() and asked["data"]["build"]["attempts"] == 2
        assert record["steps"][3]["observed"][0]["data"]["built"] is True
    assert metric(runs["built"], "building/asked") == metric(runs["built"], "building/recovered") == 2 / 16
    assert metric(runs["built"], "building/built") == metric(runs["built"], "building/used") == 1.0


def test_hostile_endless_and_wrong_code_changes_only_its_verdict(runs):
    for record in about_clearance(runs["hostile"]):
        assert (record["stop"], record["scores"]["score/strict"]) == ("answered", 0.0)
        assert record["scores"]["building/built"] == 0.0 and record["scores"]["building/used"] is None
    others = [
        [one for one in read_records(runs[kind]) if one["scores"]["building/asked"] == 0.0]
        for kind in ("built", "hostile")
    ]
    assert others[0] == others[1]
    assert read_manifest(runs["hostile"])["status"] == "complete"


def test_manifest_records_the_sandbox_and_the_prompts(runs):
    manifest = read_manifest(runs["built"])
    assert manifest["sandbox"]["tier"] and manifest["sandbox"]["limits"]["wall_seconds"] == 1.0
    assert "building" in manifest["prompts"]


def test_replay_needs_no_endpoint(runs):
    assert read_records(runs["built"]) == read_records(runs["again"])


class Clerk(Voice):
    """Has the withheld calculation built for every question, works something out with it, and says that."""

    def reply(self, messages, tools, seed, logprobs=False):
        last = messages[-1]
        if messages[0].text.startswith("You write small tools in Python"):
            message = Message("assistant", fenced(RIGHT))
        elif last.role != "tool":
            message = called("BuildTool", CLEARANCE)
        elif "can be called from now on" in last.text:
            message = called("CockcroftGault", {"age": 60, "weight": 72, "creatinine": 1.0})
        else:
            message = Message("assistant", f"Answer: {last.text}")
        return Completion(message, Usage(7, 3), "stop")


def test_recovery_metrics_are_computed_on_health_records(tmp_path):
    with Served(Server(Clerk())) as served:
        words = ("experiment=building/ehr", "agent.build_tools=code", "limit=3", "tracking=off", *endpoint(served.url))
        done = run_in_process(tmp_path, *words, own=False)
    assert done.code == 0, done.err
    folder = tmp_path / done.folder
    assert metric(folder, "building/used") == 1.0 and metric(folder, "building/recovered") is not None
    for record in read_records(folder):
        assert "80.0" in record["answer"]
        names, *_ = record["offered"]
        assert "CockcroftGault" in str(names) and "LoadDB" in str(names) and "Calc" not in str(names), names
