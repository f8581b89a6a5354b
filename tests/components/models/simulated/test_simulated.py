"""The simulated model and its core."""

from dataclasses import replace
from hashlib import blake2b
from random import Random

import pytest

from components.core.errors import ConfigError
from components.core.messages import NO_TOOLS, Message, Request, Sampling, ToolCall, ToolSpec
from components.core.protocols import Model
from components.core.types import Problem, Sample
from components.models.simulated import VERSION, Simulated
from components.prompts import load
from components.radiology.dataset import RadABench
from runner.config.build import part
from tests.simulated import core, simulated
from tests.slow import slow
from tests.table import each_row

SAMPLES = tuple(RadABench(shipped="radabench_mini").load("test"))


def request(text="question", seed=1):
    return Request((Message("user", text),), NO_TOOLS, Sampling(), "answer", "main", "s", 0, "main", 0, seed)


def test_it_is_a_model_in_this_process_without_a_key():
    model = Simulated()
    assert isinstance(model, Model)
    assert (model.kind, model.in_process, model.deterministic) == ("simulated", True, False)


def test_its_identity_names_what_changes_its_replies_and_nothing_else():
    same = [Simulated(), Simulated(latency_seconds=1.0), Simulated(max_connections=3)]
    assert len({model.identity for model in same}) == 1
    others = [
        Simulated(competence=0.5), Simulated(planning_slip_rate=0.5), Simulated(wrong_tool_rate=0.5),
        Simulated(malformed_rate=0.5), Simulated(ignored_refusal_rate=0.5), Simulated(seed=1), Simulated(name="other"), simulated(),
    ]  # fmt: skip
    assert len({model.identity for model in (same[0], *others)}) == 9


def test_its_identity_names_what_it_has_studied_in_whatever_order():
    def studied(given):
        model = Simulated()
        model.study(given)
        return model.identity

    corrected = [replace(SAMPLES[0], target="another"), *SAMPLES[1:9]]
    relabelled = [replace(SAMPLES[0], metadata={**SAMPLES[0].metadata, "x": frozenset("ab")}), *SAMPLES[1:9]]
    assert studied(SAMPLES[:9]) == studied(reversed(SAMPLES[:9])) != Simulated().identity
    assert len({studied(one) for one in (SAMPLES[:9], SAMPLES[:8], corrected, relabelled)}) == 4


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_out_of_bounds_is_refused(seed):
    with pytest.raises(ConfigError, match="seed"):
        part({"_target_": "components.models.simulated.Simulated", "seed": seed}, "model", (), Model)


@slow
async def test_request_seed_and_model_seed_both_change_what_is_drawn():
    asked = [request(sample.problem.question) for sample in SAMPLES[:30]]
    prompt = load("radagent").render("conclude", memory="{}", examples="")

    async def said(model, seed):
        model.study(SAMPLES)
        found = []
        for one in asked:
            messages = (*one.messages, Message("user", prompt))
            again = Request(messages, NO_TOOLS, Sampling(), "conclude", "main", "s", 0, "main", 0, seed)
            found.append((await model.generate(again)).message.text)
        return found

    first = await said(simulated(competence=0.5), 1)
    assert first == await said(simulated(competence=0.5), 1)
    assert first != await said(simulated(competence=0.5), 2)
    assert first != await said(simulated(competence=0.5, seed=9), 1)


async def test_latency_changes_no_reply():
    replies = [await Simulated(latency_seconds=seconds).generate(request()) for seconds in (0.0, 0.002)]
    assert replies[0] == replies[1]


@pytest.mark.parametrize("temperature,tokens", [(0.0, None), (0.7, 50)])
def test_sampling_is_sent_like_a_real_models(temperature, tokens):
    model = Simulated(temperature=temperature, max_tokens=tokens)
    assert model.sampling == Sampling(temperature=temperature, max_tokens=tokens)


CHOICE = Sample(Problem("c", "Which organ makes insulin?", {"A": "liver", "B": "pancreas", "C": "spleen"}), "B")
DECISION = Sample(Problem("d", "Is aspirin an opioid? Answer with yes, no or maybe."), "no")
SQL = "select patients.gender from patients where patients.subject_id = 7"
RECORD = Sample(Problem("r", "Is patient 7 male?"), {"answer": ["m"]}, {"sql": SQL, "sql_dialect": "mimic_iii"})
GAP = Sample(Problem("g", "Where does patient 7 live?"), {"answer": None}, {"sql": None, "sql_dialect": "mimic_iii"})
MIXED = [CHOICE, DECISION, RECORD, GAP]
ERRS = {"competence": 0.7, "planning_slip": 0.2, "wrong_tool": 0.1, "malformed": 0.1, "ignored_refusal": 0.3}


@each_row("sample,right", [(CHOICE, "Answer: B"), (DECISION, "Answer: no")])
@each_row("prompts", ["direct", "cot", "react"])
def test_it_knows_only_the_answers_of_its_key(sample, right, prompts):
    asked = load(prompts).user("problem", problem=sample.problem, held="")
    for samples, expected in (([sample], True), ([], False)):
        said = core(samples).reply([asked], (), 1).message.text
        assert (said.splitlines()[-1] == right) == expected
        assert (len(said.splitlines()) > 1) == (expected and prompts == "cot")


def conversations():
    """Some of each family's prompts, about each sample."""
    board = {"options": "", "field": "Surgery", "report": "Most plausible: B", "wanted": 2, "analyses": ()}
    held = {
        "held": "",
        "demonstrations": (),
        "overview": "",
        "columns": "patients: SUBJECT_ID",
        "clock": "",
        "groups": True,
    }
    for sample in MIXED:
        question = sample.problem.question
        for name in ("vote", "advise", "convene_question", "analyse_question"):
            yield [
                load("medagents").user(
                    name,
                    question=f"Question: {question}",
                    **{**board, "report": f"Question: {question}\n{board['report']}"},
                )
            ]
        yield [load("direct").user("problem", problem=sample.problem, **held)]
        yield [load("ehragent").user("knowledge", metadata=held, shots=(), question=question)]
        yield [
            load("llm2sql").system("system", metadata=held, refusal_fields=(), demonstrations=()),
            load("llm2sql").user("problem", question=question),
        ]
        yield [
            Message("system", "Write <EndCall>.\n" + ToolSpec("look", "Looks.").card_text),
            Message("user", question),
        ]


GOLDEN = {"13": "061e7863a192d77d"}


def test_replies_to_the_same_messages_change_only_with_the_version():
    made = core(MIXED, **ERRS)
    said = [made.reply(messages, (), seed).message.wire for messages in conversations() for seed in range(12)]
    digest = blake2b(b"\0".join(said), digest_size=8).hexdigest()
    assert GOLDEN.get(VERSION) == digest, f"replies have changed: raise VERSION and note {digest} next to it"
    again = core(reversed(MIXED), **ERRS)
    assert said == [again.reply(messages, (), seed).message.wire for messages in conversations() for seed in range(12)]


def test_usage_is_counted_and_free():
    completion = core().reply([Message("user", "x" * 400)], (), 0)
    assert completion.usage.input_tokens == (400 + len('{"role":"user","content":""}')) // 4
    assert completion.usage.output_tokens >= 1 and completion.usage.cost_usd == 0.0 and completion.finish == "stop"


ODD = ['{"name": "x", "parameters": []}', '{"name":"x", ', 'Refuse[{"reason": ...}]', "Next, as number 3, comes LoadDB.",
       "What was run:\n\nWhat came of it:\n\n\nMost likely cause:", "```python\n```", "Action: [", "Finish[", "<EndCall>",
       "Selected action:", "Refined action:", "[Candidate_Actions]\n1. Action: ", "`x` is meant where `` stands.",
       "There is no column `(`; the columns are (, ).", "```sql and ```", "Statement:\n```sql\n'\n```", "TERMINATE", "#9", "\x00",
       "between ```python and ```", 'Finish[{"response"', "Now answer the question", "Explain the cell line by line", "Traceback",
       "Form:\nName: x", "YES or NO", '{"$x": 1}', "Tool Chain: [", "<VALID>"]  # fmt: skip


def test_it_never_fails_on_unusual_messages():
    made, random = core(MIXED, **ERRS), Random(0)
    tools = [
        ToolSpec("python", "x"),
        ToolSpec("SQLInterpreter", "", {"properties": {"sql": {}}}),
        ToolSpec("refuse", "x", {}),
    ]
    for seed in range(400):
        sample = random.choice(MIXED)
        text = "\n".join([*random.sample(ODD, 4), sample.problem.question, *random.sample(ODD, 2)])
        messages = [Message("user", text)]
        for role in random.choices(("assistant", "user", "tool", "system"), k=random.randrange(5)):
            arguments = random.choice(("{", '{"cell": "x"}', "[]"))
            calls = (ToolCall("c", "python", arguments),) if role == "assistant" and random.random() < 0.3 else ()
            messages.append(Message(role, random.choice(ODD), calls))
        assert made.reply(messages, random.sample(tools, random.randrange(3)), seed).message.role == "assistant"
