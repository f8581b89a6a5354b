"""The requests that the methods of EHRAgent's tables send to the model, with the shipped configs."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import pytest
from hydra import compose
from omegaconf import OmegaConf

from components.acting.solved import Entry, own_seeds, steps_of
from components.core.types import Sample
from components.ehr.metadata import metadata
from components.models.scripted import Scripted
from runner.episode.door import Door
from runner.episode.episode import run_episode
from runner.episode.shared import Parts
from runner.experiment.parts import below, build_parts, named_parts
from runner.job.execute import Execution, Outcome
from runner.storage.records import RecordWriter
from tests.components.ehr.simulated.chartroom import questions, toolset
from tests.composing import composing
from tests.slow import slow
from tests.table import each_row

CODE = ("self_debugging", "autogen", "ehragent")
SQL = ("llm2sql", "din_sql")
STEPS = ("ehr_react", "ehr_reflexion")
PLANS = ("cot_plan", "cot_plan_self_consistency", "chameleon")
ALL = (*PLANS, *STEPS, *SQL, *CODE)
SEEDS = own_seeds("ehr_demonstrations")
FIRST = {sample.metadata["sql_dialect"]: sample for sample in reversed(questions())}


@pytest.fixture(scope="module")
def parts_of():
    """The parts of a config, composed once."""
    with composing():
        yield cache(parts)


def parts(*words: str) -> Parts:
    """The parts of a config with its memory as it begins, over the tools of the tests."""
    cfg: Any = OmegaConf.to_container(compose("config", list(words)), resolve=True)
    findings: list[Any] = []
    groups = ("agent", "grammars", "memory", "verifier", "condition", "scorer")
    made = build_parts({k: v for k, v in named_parts(cfg, findings).items() if k.startswith(groups)}, cfg, findings)
    assert findings == []
    (grammar,), memory = below(made, "grammars").values(), made["memory"].open(None, "")
    pieces = {"agent": made["agent"], "verifier": made["verifier"], "condition": made["condition"]}
    return Parts(**pieces, grammar=grammar, toolset=toolset(), scorers=below(made, "scorer"), memory=memory)


async def sent_requests(given: Parts, sample: Sample) -> Mapping[str, Sequence[str]]:
    """The requests on a sample by purpose, each as one text; every reply ends its step immediately."""
    reply = "Finish[1]" if getattr(given.agent, "prompts", "") in STEPS else "```sql\nselect 1\n```\nTERMINATE"
    model = Scripted(lambda request: reply)
    trajectory, _ = await run_episode(given, Door({"main": model}, None, run_seed=0), sample, 0)
    assert trajectory.stop != "error", trajectory.error
    found: dict[str, list[str]] = {}
    for request in model.requests:
        found.setdefault(request.purpose, []).append("\n".join(message.text for message in request.messages))
    return found


def shown_entries(text: str, database: str) -> list[Entry]:
    """The demonstrations whose question is in a text, in its order."""
    found = [(text.index(one.question), one) for one in SEEDS if one.database == database and one.question in text]
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def in_format(agent: str, one: Entry, text: str) -> bool:
    """Whether a text contains a demonstration's solution in the format of an agent."""
    plain = " ".join(text.split())
    if agent in CODE:
        return one.code in text
    if agent in SQL:
        return " ".join(one.sql.split()) in plain
    if agent in STEPS:
        return all(did in text and saw in text for did, saw in steps_of(one.actions))
    lines = [line for line in one.actions.splitlines() if not line.startswith("Observation:")]
    names = ", ".join(line.partition("[")[0] for line in lines)
    return names in text if agent == "chameleon" else all(line in text for line in lines)


@slow
@pytest.mark.parametrize("database", ["eicu", *(pytest.param(name, marks=slow) for name in ("mimic_iii", "treqs"))])
@pytest.mark.parametrize("agent", ALL)
async def test_each_method_of_table_1_is_sent_the_same_four_demonstrations_in_its_format(agent, database, parts_of):
    found = await sent_requests(parts_of("experiment=ehragent/table1", f"agent={agent}"), FIRST[database])
    first = next(iter(found["act" if agent in (*CODE, *STEPS, "llm2sql") else "plan"]))
    four = shown_entries(first, database)
    assert {one.id for one in four} == {f"{database}-{n}" for n in (1, 2, 3, 4)}
    assert agent == "ehragent" or [one.id for one in four] == [f"{database}-{n}" for n in (1, 2, 3, 4)]
    every = [one for texts in found.values() for one in texts]
    text = "\n".join(every) if agent == "din_sql" else first
    assert all(in_format(agent, one, text) for one in four)
    assert found.keys() & {"knowledge"} == ({"knowledge"} if agent == "ehragent" else set())
    for knowledge in found.get("knowledge", ()):
        assert [one.id for one in shown_entries(knowledge, database)] == [f"{database}-{n}" for n in (1, 2, 3, 4)]


@slow
@each_row("profile", ["paper", "code"])
@each_row("agent", ALL)
async def test_each_method_of_table_1_is_sent_the_same_metadata(agent, profile, parts_of):
    given = parts_of("experiment=ehragent/table1", f"agent={agent}", f"profile={profile}")
    sent = "\n".join(text for texts in (await sent_requests(given, FIRST["eicu"])).values() for text in texts)
    known = metadata("eicu")
    assert known.columns in sent and known.overview in sent and str(known.clock) in sent


@slow
@each_row("shots", [1, 5, 8])
@each_row("agent", CODE)
async def test_figure_5_sends_the_stated_number_of_demonstrations(agent, shots, parts_of):
    given = parts_of("experiment=ehragent/demonstrations", f"agent={agent}", f"agent.shots={shots}")
    found = await sent_requests(given, FIRST["eicu"])
    (request, *_) = found["act"]
    assert {one.id for one in shown_entries(request, "eicu")} == {f"eicu-{n + 1}" for n in range(shots)}
    assert len(re.findall(r"^### Solved \d+$", request, re.MULTILINE)) == shots
    assert all(len(shown_entries(text, "eicu")) == shots for text in found.get("knowledge", ()))


async def test_without_memory_every_question_gets_the_four_demonstrations_in_order(parts_of):
    given = parts_of("experiment=ehragent/table2", "agent=ehragent_no_memory")
    for sample in questions()[:2]:
        (request, *_) = (await sent_requests(given, sample))["act"]
        assert [one.id for one in shown_entries(request, "mimic_iii")] == [f"mimic_iii-{n}" for n in (1, 2, 3, 4)]
    assert given.memory is not None and given.memory.update == "none"


@slow
async def test_memory_grows_by_completed_episodes_without_gold(tmp_path, parts_of):
    alike = [one for one in questions() if one.problem.question.startswith("How many patients came in as")][:3]
    cell = "```python\nanswer = 'wrong'\n```\nTERMINATE"
    model = Scripted(lambda request: "- a" if request.purpose == "knowledge" else cell)
    writer, door = RecordWriter(tmp_path), Door({"main": model}, None, run_seed=0)
    await Execution(parts_of("experiment=ehragent/table1", "agent=ehragent"), door, writer, Outcome()).run(alike, 1)
    writer.close()
    requests = [request for request in model.requests if request.purpose == "act"]
    texts = [request.messages[1].text.partition("### The solved questions end here")[0] for request in requests]
    assert [text.count("### Solved ") for text in texts] == [4, 4, 4]
    assert [len(shown_entries(text, "treqs")) for text in texts] == [4, 3, 2]
    asked_in = {one.problem.id: one.problem.question for one in alike}
    order = [asked_in[request.sample_id] for request in requests]
    assert [[question in text for question in order] for text in texts] == [
        [False, False, False], [True, False, False], [True, True, False],
    ]  # fmt: skip


@pytest.mark.parametrize(("profile", "update"), [("paper", "executed"), ("code", "gold")])
def test_profile_decides_if_memory_grows_by_the_run_or_by_gold(profile, update, parts_of):
    memory = parts_of("agent=ehragent", f"profile={profile}").memory
    assert memory.update == update and all(one.seed for one in memory.entries)
    trained = compose("config", ["agent=ehragent", "memory=solved_training", f"profile={profile}"]).memory
    assert (trained["learn"], trained["samples"], trained["update"]) == (True, 40, "none")


@each_row("agent", ["autogen", "ehragent", "llm2sql", "cot_plan_self_consistency"])
def test_more_demonstrations_than_available_are_refused_in_one_line(agent, parts_of):
    key = "agent.inner.shots" if agent == "cot_plan_self_consistency" else "agent.shots"
    cfg: Any = OmegaConf.to_container(compose("config", [f"agent={agent}", f"{key}=9"]), resolve=True)
    findings: list[Any] = []
    build_parts({"memory": named_parts(cfg, findings)["memory"]}, cfg, findings)
    assert [str(finding) for finding in findings] == [
        "memory: agent.shots=9: more than the demonstrations of 'mimic_iii' in the prompt set 'ehr_demonstrations'; "
        "ask for at most 8"
    ]
