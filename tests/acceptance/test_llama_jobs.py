"""Whole jobs on llama.cpp's own server: an agent with native tools, an answer by a schema, prompts that are too long.

The weights are random, so no answer is right; all else is as with any model. Needs ``make .venv-llama/.installed``; runs
with ``WARDROUND_TEST_SLOW=1 python -m pytest tests/acceptance/test_llama_jobs.py``.
"""

import json

import pytest

from tests.acceptance.command import endpoint, metric, read_manifest, read_records, run_in_process
from tests.llama_server import needs_llama, serving
from tests.slow import slow

pytestmark = [slow, needs_llama, pytest.mark.filterwarnings("ignore")]  # of pydantic, about litellm's own classes
WORDS = ("tracking=off", "hydra.run.dir=run", "model.temperature=1", "model.max_tokens=80")
TOOLS = ("dataset=ehr_mini", "toolset=ehr", "scorer=ehr", "condition=intact", "agent=react", "agent.grammar=native_tools", "limit=8",
         "budget.sample.steps=3")  # fmt: skip
SCHEMA = "{type: object, properties: {answer: {enum: [A, B, C, D]}}, required: [answer]}"
JSON = (
    f"+model.extra.response_format={{type: json_schema, json_schema: {{name: answer, strict: true, schema: {SCHEMA}}}}}"
)


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("llama"), "-c", "131072", "--parallel", "4") as url:
        yield url


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("small"), "-c", "256", "--parallel", "1") as url:
        yield url


@pytest.mark.parametrize("transport", ["direct", "litellm"])
def test_agent_calls_native_tools_and_its_run_replays(url, tmp_path, transport):
    words = (*WORDS, *TOOLS, *endpoint(url, f"model.transport={transport}", name="random"))
    done = run_in_process(tmp_path, *words, own=False)
    assert done.code == 0, done.err
    records = read_records(tmp_path / "run")
    assert len(records) == 8 and metric(tmp_path / "run", "errors/rate") == 0.0
    actions = [step["action"] for record in records for step in record["steps"] if "action" in step]
    called = [name for action in actions for _, name, _ in action.get("calls", ())]
    assert len(called) > 1
    again = run_in_process(tmp_path, *words, "run.replay=true", "hydra.run.dir=again", own=False)
    assert again.code == 0, again.err
    assert read_records(tmp_path / "again") == records


def test_answers_have_the_form_that_the_schema_asks_for(url, tmp_path):
    lines = [{"question": f"Which one, {n}?", "options": ["w", "x", "y", "z"], "answer": "B"} for n in range(12)]
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, lines)))
    table = ("dataset=table", "dataset.path=own.jsonl", "dataset.columns.options=options", "dataset.privacy=open")
    done = run_in_process(tmp_path, *WORDS, *table, "agent=zero_shot", *endpoint(url, JSON, name="random"), own=False)
    assert done.code == 0, done.err
    answers = [json.loads(record["answer"])["answer"] for record in read_records(tmp_path / "run")]
    assert len(answers) == 12 and len(set(answers)) > 1
    assert metric(tmp_path / "run", "score/strict") == pytest.approx(answers.count("B") / 12)


def test_prompts_that_are_too_long_are_failures_and_no_errors(small, tmp_path):
    done = run_in_process(tmp_path, *WORDS, *TOOLS, *endpoint(small, name="random"), own=False)
    assert done.code == 0, done.err
    assert (metric(tmp_path / "run", "errors/context_length"), metric(tmp_path / "run", "errors/rate")) == (1.0, 0.0)
    assert "8 of 8 episodes failed: longer than the model's context window" in done.out
    assert {record["failure"] for record in read_records(tmp_path / "run")} == {"context_length"}
    assert read_manifest(tmp_path / "run")["status"] == "complete"
