"""The chain of responders: what it replies hangs on messages, tools and seed alone, and no message makes it fail."""

from hashlib import blake2b
from random import Random

import pytest

from components.core.messages import Message, ToolCall, ToolSpec
from components.core.types import Problem, Sample
from components.models.simulated.core import VERSION
from components.prompts import load
from tests.simulated import core

CHOICE = Sample(Problem("c", "Which organ makes insulin?", {"A": "liver", "B": "pancreas", "C": "spleen"}), "B")
DECISION = Sample(Problem("d", "Is aspirin an opioid? Answer with yes, no or maybe."), "no")
SQL = "select patients.gender from patients where patients.subject_id = 7"
RECORD = Sample(Problem("r", "Is patient 7 male?"), {"answer": ["m"]}, {"sql": SQL, "sql_dialect": "mimic_iii"})
GAP = Sample(Problem("g", "Where does patient 7 live?"), {"answer": None}, {"sql": None, "sql_dialect": "mimic_iii"})
SAMPLES = [CHOICE, DECISION, RECORD, GAP]
ERRS = {"competence": 0.7, "planning_slip": 0.2, "wrong_tool": 0.1, "malformed": 0.1, "ignored_refusal": 0.3}


@pytest.mark.parametrize("sample,right", [(CHOICE, "Answer: B"), (DECISION, "Answer: no")])
@pytest.mark.parametrize("prompts", ["direct", "cot", "react"])
def test_it_knows_the_answers_of_its_key_only(sample, right, prompts):
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
    for sample in SAMPLES:
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


GOLDEN = {"12": "061e7863a192d77d"}


def test_what_it_replies_to_the_same_messages_changes_with_its_version_alone():
    made = core(SAMPLES, **ERRS)
    said = [made.reply(messages, (), seed).message.wire for messages in conversations() for seed in range(12)]
    digest = blake2b(b"\0".join(said), digest_size=8).hexdigest()
    assert GOLDEN.get(VERSION) == digest, f"replies have changed: raise VERSION and note {digest} beside it"
    again = core(reversed(SAMPLES), **ERRS)
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


def test_it_never_fails_on_odd_messages():
    made, random = core(SAMPLES, **ERRS), Random(0)
    tools = [
        ToolSpec("python", "x"),
        ToolSpec("SQLInterpreter", "", {"properties": {"sql": {}}}),
        ToolSpec("refuse", "x", {}),
    ]
    for seed in range(1500):
        sample = random.choice(SAMPLES)
        text = "\n".join([*random.sample(ODD, 4), sample.problem.question, *random.sample(ODD, 2)])
        messages = [Message("user", text)]
        for role in random.choices(("assistant", "user", "tool", "system"), k=random.randrange(5)):
            arguments = random.choice(("{", '{"cell": "x"}', "[]"))
            calls = (ToolCall("c", "python", arguments),) if role == "assistant" and random.random() < 0.3 else ()
            messages.append(Message(role, random.choice(ODD), calls))
        assert made.reply(messages, random.sample(tools, random.randrange(3)), seed).message.role == "assistant"
