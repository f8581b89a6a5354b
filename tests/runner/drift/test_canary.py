"""Which samples a canary set takes, and what it refuses."""

import json
from collections import Counter

import pytest
from hydra import compose

from components.core.errors import ConfigError
from runner.config.composed import resolve
from runner.drift.canary import Canary, begin, changes_of, choose
from runner.drift.timeline import drift_reasons
from runner.learning.folders import digest_of
from runner.results.runs import Run
from tests.composing import composing
from tests.runner.results.sweeps import job
from tests.table import each_row


def records(means, repeats=4, strata=lambda n: {}):
    """Records of samples that are right in this share of their repeats."""
    return [
        {"sample_id": f"s{n:03}", "epoch": k, "stop": "answered", "scores": {"x": float(k < share * repeats)},
         "strata": strata(n)}
        for n, share in enumerate(means) for k in range(repeats)
    ]  # fmt: skip


def test_samples_that_are_right_now_and_then_come_first():
    chosen = choose(records([0.0, 1.0] * 30 + [0.5] * 40), "x", 40, seed=0)
    assert chosen == [f"s{n:03}" for n in range(60, 100)]


def test_of_samples_that_are_always_alike_half_are_right():
    chosen = choose(records([1.0] * 80 + [0.0] * 40, repeats=1), "x", 40, seed=0)
    assert sum(name < "s080" for name in chosen) == 20


def test_samples_are_spread_over_strata():
    chosen = choose(records([0.5] * 90, strata=lambda n: {"task": "abc"[n // 60 + n // 80]}), "x", 30, seed=0)
    assert set(Counter("abc"[int(one[1:]) // 60 + int(one[1:]) // 80] for one in chosen).values()) == {10}


def test_errored_and_unscored_samples_are_not_taken():
    given = records([0.5] * 32, repeats=2)
    given[0]["stop"] = given[1]["stop"] = "error"
    given[2]["scores"] = given[3]["scores"] = {"x": None}
    assert choose(given, "x", 60, seed=0) == [f"s{n:03}" for n in range(2, 32)]


@pytest.fixture
def runs(tmp_path):
    cfg = {"name": "k", "seed": 0, "run": {"memory": "m"}, "memory": None}
    found = [job(tmp_path, [1, 0] * 20, agent, varied={}) for agent in ("react", "direct")]
    return [Run(one.folder, one.manifest, {**one.cfg, **cfg}) for one in found]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"samples": 29}, "--samples 29 --repeats 5 --alpha 0.01: expected 30 to 100 samples, two repeats or more"),
        ({"samples": 101}, "expected 30 to 100"),
        ({"repeats": 1}, "two repeats or more"),
        ({"alpha": 0.0}, "an alpha between 0 and 1"),
        ({"runs": slice(None)}, "a canary set watches one method on one dataset, and these runs are of several"),
    ],
)
def test_invalid_canary_is_refused(runs, tmp_path, change, message):
    given = {"samples": 60, "repeats": 5, "alpha": 0.01, "runs": slice(1)} | change
    with pytest.raises(ConfigError, match=message):
        begin(runs[given.pop("runs")], tmp_path / "c", **given)


def test_runs_that_differ_in_their_seed_are_repeats(runs, tmp_path):
    first, _ = runs
    second = Run(first.folder, first.manifest, {**first.cfg, "seed": 7, "epochs": 3})
    canary = begin([first, second], tmp_path / "c", 30, 2, 0.05)
    assert len(canary.samples) == 30 and canary.cfg["epochs"] == 1 and canary.cfg["limit"] is None


def test_a_learnt_memory_is_that_of_the_run_and_one_of_demonstrations_has_no_path(runs, tmp_path):
    (tmp_path / "m/learnt").mkdir(parents=True)
    (tmp_path / "m/learnt/provenance.json").write_text("{}")
    digest = digest_of(tmp_path / "m/learnt")
    learnt = (tmp_path / "m/learnt").rename(tmp_path / "m" / digest)
    for noted, path in ((digest, str(learnt)), ("0123456789abcdef", None)):
        run = Run(runs[0].folder, {**runs[0].manifest, "memory": noted}, {**runs[0].cfg, "memory": {"path": None}})
        assert begin([run], tmp_path / "c", 30, 2, 0.05).cfg["memory"] == {"path": path}


def test_too_few_samples_are_refused():
    with pytest.raises(ConfigError, match="12 samples have a x, and a canary set needs 30: name more runs"):
        choose(records([0.5] * 12), "x", 60, seed=0)


def test_a_check_changes_settings_of_the_model_only():
    assert dict(changes_of(["model.competence=0.5", "models.judge.name=x"])) == {
        "model.competence": 0.5, "models.judge.name": "x",
    }  # fmt: skip
    for word in ("seed=1", "model=openai", "agent.strategies=[]", "model.name"):
        with pytest.raises(ConfigError, match="a check can only change settings of the model"):
            list(changes_of([word]))


def test_files_are_read_as_they_were_written_and_damage_is_named(runs, tmp_path):
    canary = begin(runs[:1], tmp_path / "c", 30, 2, 0.05)
    canary.write()
    assert vars(Canary.read(tmp_path / "c")) == vars(canary)
    (tmp_path / "c/askings.json").write_text(json.dumps([])[:1])
    with pytest.raises(ConfigError, match=r"askings\.json is damaged"):
        Canary.read(tmp_path / "c")
    with pytest.raises(ConfigError, match=r"is not a canary set: it has no canary\.json; runner\.drift init makes one"):
        Canary.read(tmp_path)


def test_an_agent_whose_memory_grows_is_refused_by_name(tmp_path):
    with composing():
        cfg = resolve(compose("config", ["agent=ehragent", "limit=30"]))
    canary = Canary(tmp_path, "run", cfg, {"memory": "solved"}, [], "x", 2, 0.01)
    with pytest.raises(ConfigError, match="memory=solved grows from sample to sample"):
        canary.experiment(0, {})


ASKED = {"time": "2026-01-01", "folder": "askings/0000", "changed": {}, "answered_by": ["m"], "answers": {}}
ANSWER = {"score": 1.0, "answer": "a", "length": 1.5, "calls": 1, "tools": "x", "ending": "answered", "text": "A"}


@each_row(
    "facts, askings, message",
    [
        ([], [], "canary.json is damaged"),
        ({"samples": 3}, [], r"canary.json is damaged \(samples: found 3, should be a list"),
        ({"alpha": 0}, [], r"canary.json is damaged \(alpha: found 0"),
        ({"repeats": "two"}, [], r"canary.json is damaged \(repeats: found 'two'"),
        ({"cfg": None}, [], r"canary.json is damaged \(cfg: "),
        ({}, {}, "askings.json is damaged"),
        ({}, 3, "askings.json is damaged"),
        ({}, [3], "askings.json is damaged"),
        ({}, [ASKED, ASKED, ASKED], r"askings.json is damaged \(\[2\]\.p: is missing"),
        ({}, [ASKED | {"answers": {"q": ANSWER | {"score": "good"}}}], r"\[0\]\.answers\.q\.score: found 'good'"),
        ({}, [ASKED | {"answers": {"q": ANSWER | {"score": float("nan")}}}], r"\[0\]\.answers\.q\.score: found nan"),
        ({}, [ASKED | {"answers": {"q": ANSWER | {"score": 1e308}}}], r"\[0\]\.answers\.q\.score: found 1e\+308"),
        ({}, [ASKED], r"askings.json is damaged \(\[0\]\.answers: 0 of 30 samples have answers to compare, and half"),
        ({}, [ASKED] * 2 + [ASKED | {"p": 0.5, "signals": {"mood": 0.5}}], r"askings.json is damaged \(\[2\]\.signals"),
    ],
)
def test_files_of_wrong_types_are_refused_in_one_line(runs, tmp_path, facts, askings, message):
    begin(runs[:1], tmp_path / "c", 30, 2, 0.05).write()
    path = tmp_path / "c/canary.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | facts if isinstance(facts, dict) else facts))
    (tmp_path / "c/askings.json").write_text(json.dumps(askings))
    with pytest.raises(ConfigError, match=message) as found:
        Canary.read(tmp_path / "c")
    assert "\n" not in str(found.value)


def test_half_of_the_samples_must_be_compared_with_the_baseline(tmp_path):
    names = [f"s{n}" for n in range(30)]
    askings = [{"answers": dict.fromkeys(names[:20], ANSWER)}, {"answers": dict.fromkeys(names[:16], ANSWER)}]
    canary = Canary(tmp_path, "run", {}, {}, names, "x", 2, 0.01, askings)
    newest = [{"answers": dict.fromkeys(names[begin:], ANSWER)} for begin in (5, 6)]
    assert [canary.compared(one) for one in newest] == [15, 14]
    assert [canary.lack(one) for one in newest] == [
        "", "14 of 30 samples have answers to compare, and half of them are needed",
    ]  # fmt: skip


def test_another_name_of_the_model_is_drift(tmp_path):
    names = (["m-01 fp_1", "m-02"], ["m-01 fp_1"], ["m-02"], ["m-01 fp_2", "m-01 fp_1", "m-03"])
    askings = [{"answered_by": of, "p": 1.0} for of in names]
    canary = Canary(tmp_path, "run", {}, {}, [], "x", 2, 0.01, askings)
    assert drift_reasons(canary) == ["another model or fingerprint answers: m-01 fp_2, m-03"]
    assert drift_reasons(Canary(tmp_path, "run", {}, {}, [], "x", 2, 0.01, askings[:3])) == []
