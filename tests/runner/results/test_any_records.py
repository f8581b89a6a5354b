"""Any records have metrics: groups without a scored sample, missing strata, patients, epochs."""

import json
from contextlib import redirect_stdout
from io import StringIO

import orjson
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.core.types import CONTEXT_LENGTH
from runner.config.catalogue import CONF
from runner.results.metrics import as_json, summarise
from runner.results.publications.gains import show_gains
from runner.results.publications.paper import load
from runner.results.render.formats import comma, latex, markdown, sheets
from runner.results.runs import Run
from runner.results.sections import papers
from runner.results.sections.comparisons import show_methods
from runner.results.sections.means import show_means
from runner.results.sections.page import SECTIONS
from runner.results.sections.papers import paper_section
from runner.results.sections.report import report
from runner.results.terminal import show_section
from tests.runner.results.folders import write
from tests.slow import slow

KINDS = {"completion/rate": "proportion", "response/f1": "share", "planning/levenshtein": "count", "own/x": "number"}
LEVELS = {"response/f1": ["task", "complexity"], "planning/levenshtein": ["task"]}
BY = {"completion/rate": ["complexity", "task"], "own/x": ["complexity"]}
VALUES = {
    "completion/rate": st.sampled_from([0.0, 1.0]),
    "response/f1": st.sampled_from([0.0, 0.25, 0.76, 1.0]) | st.floats(0, 1),
    "planning/levenshtein": st.integers(0, 9).map(float),
    "own/x": st.floats(-1e6, 1e6),
}
STRATA = {"complexity": st.sampled_from(["simple", "complex"]), "task": st.sampled_from(["a", "b", "c"])}
SCORES = st.fixed_dictionaries({}, optional={name: st.none() | one for name, one in VALUES.items()})
USAGE = {"calls": 1, "input_tokens": 1, "output_tokens": 1, "cost_usd": None}
COMPARE = {
    "gains": "radabench", "baselines": ["react"], "per_record": "planning/levenshtein",
    "curves": ["agent.strategies", "agent._target_"],
}  # fmt: skip
ALWAYS = settings(deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def runs_records(draw):
    """Records of one run: of some samples, each with its strata and patient in all of its epochs."""
    found = []
    for n in range(draw(st.integers(0, 8))):
        place = draw(st.fixed_dictionaries({}, optional=STRATA))
        cluster = draw(st.sampled_from([None, "p0", "p1"]))
        for epoch in range(draw(st.integers(1, 2))):
            stop = draw(st.sampled_from(["answered", "error", "limit", "refused", "failed"]))
            scores = {} if stop == "error" and draw(st.booleans()) else draw(SCORES)
            scores = dict.fromkeys(scores) if stop == "error" else scores
            found.append({
                "sample_id": f"s{n}", "epoch": epoch, "cluster": cluster, "strata": place, "stop": stop,
                "failure": draw(st.sampled_from(["step_limit", CONTEXT_LENGTH])) if stop == "failed" else None, "scores": scores, "ceilings": dict.fromkeys(scores, 1.0), "usage": USAGE | {"purposes": {"act": USAGE}},
                "seconds": 0.1,
            })  # fmt: skip
    return found


def numbers(node):
    """Every metric of a summary."""
    if isinstance(node, dict) and "ci_low" in node:
        yield node
    elif isinstance(node, dict):
        for inner in node.values():
            yield from numbers(inner)


def is_sound(metric, tells_why=True):
    """Whether an interval contains its value and has a width, or has a reason for being absent."""
    value, low, high, why = (metric.get(key) for key in ("value", "ci_low", "ci_high", "no_interval"))
    if low is None:
        return high is None and (not tells_why or value is None) == (why is None) if tells_why else high is None
    return why is None and value is not None and low - 1e-9 <= value <= high + 1e-9 and low < high


@slow
@settings(ALWAYS, max_examples=15)
@given(runs_records())
def test_every_part_has_every_score_with_an_interval_or_a_reason(records):
    found = summarise(records, LEVELS, BY, KINDS)
    scores = {name for record in records for name in record["scores"]}
    for values in found["strata"].values():
        assert all(set(part) == scores for part in values.values())
    means = {
        name: one
        for name, one in found["metrics"].items()
        if name.partition("/")[0] not in ("cost", "tokens", "calls", "time")
    }
    assert all(map(is_sound, [*numbers(means), *numbers(found["strata"])]))
    assert json.loads(as_json(found))["metrics"].keys() == found["metrics"].keys()


@settings(ALWAYS, max_examples=5)
@given(runs_records(), st.randoms(use_true_random=False))
def test_same_samples_have_the_same_interval_everywhere(records, random):
    shuffled = random.sample(records, len(records))
    found, again = (summarise(of, LEVELS, BY, KINDS) for of in (records, shuffled))
    assert {name: one for name, one in again["metrics"].items()} == found["metrics"]
    for stratum, values in found["strata"].items():
        for value, part in values.items():
            alone = [one for one in records if one["strata"].get(stratum) == value]
            apart = summarise(alone, kinds=KINDS)["metrics"]
            for score, metric in part.items():
                assert apart.get(score, {"value": None})["value"] == metric["value"]
                if score in apart:
                    assert apart[score] == metric
                if (named := found["metrics"].get(f"{stratum}/{value}/{score}")) and "total/" + score not in found[
                    "metrics"
                ]:
                    assert named == metric


def folder(home, records, agent):
    """A run folder with these records and its metrics."""
    notes = {"kinds": KINDS, "levels": LEVELS, "by": BY, "units": {"planning/levenshtein": "steps"}, "lower": []}
    choices = {"agent": agent, "model": "openai", "dataset": "radabench_mini", "condition": "baseline"}
    path = write(
        home / agent,
        {},
        {"agent": {"_target_": agent, "strategies": ["a"]}, "compare": COMPARE},
        **notes,
        choices=choices,
        decides="completion/rate",
    )
    whole = [record | {"steps": [], "offered": None, "facts": {}, "explanations": {}} for record in records]
    (path / "records.jsonl").write_bytes(b"".join(orjson.dumps(one, option=orjson.OPT_APPEND_NEWLINE) for one in whole))
    (path / "metrics.json").write_text(as_json(summarise(records, LEVELS, BY, KINDS)))
    return Run.at(path)


@settings(ALWAYS, max_examples=15)
@given(runs_records(), runs_records())
@slow
def test_tables_pages_and_comparisons_can_be_written(tmp_path_factory, mine, theirs):
    home = tmp_path_factory.mktemp("runs")
    runs = [folder(home, mine, "radagent"), folder(home, theirs, "react")]
    with redirect_stdout(StringIO()):
        show_methods(runs, home=home)
        show_means(runs)
        show_gains(runs, home)
        show_section(paper_section(load(CONF / "papers", "radabench"), runs))
    texts = [report(run.manifest, summarise(run.records, LEVELS, BY, KINDS), None) for run in runs]
    parts = [
        found
        for name, section in SECTIONS.items()
        if name not in ("papers", "ledger", "episodes")  # they read every publication, or steps
        if (found := section(runs)) is not None
    ]
    papers.sheets_of(load(CONF / "papers", "radabench"), runs)
    texts.append(markdown("runs", "", [], parts))
    texts += [write(sheet) for _, sheet in sheets(parts) for write in (comma, latex)]
    assert all(texts) and not any("nan" in text for text in texts)
    comparison = json.loads((home / "compare.json").read_text()) if (home / "compare.json").exists() else {}
    assert all(is_sound(one, tells_why=False) for one in numbers(comparison))
