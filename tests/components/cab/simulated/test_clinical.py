from dataclasses import replace
from itertools import product

import pytest

from components.core.messages import Message, ToolCall
from components.core.task_text import task_text
from components.core.types import Problem, Sample
from components.grammars.bracket_json import BracketJson
from components.grammars.xml_call import XmlCall
from components.prompts import load
from components.simulation.history import REFINE, SELECT
from components.sql.cleaning import clean_sql
from tests.components.cab.simulated.clinic import ALL, of, toolset
from tests.simulated import core as made
from tests.slow import slow
from tests.table import each_row

GRAMMARS = {"bracket": BracketJson(), "xml": XmlCall()}
IMAGE, DOCUMENTS, DATABASE = (of(task, each=1)[0] for task in ("slake", "longhalt", "ehrsql"))


@pytest.fixture(scope="module")
def core():
    return made(ALL, competence=0.6, wrong_tool=0.2, malformed=0.05)


def tool(name, template, sample, **values):
    known = [] if sample is None else [sample]
    return made(known).reply([load(name).user(template, **values)], (), 1).message.text


def test_it_simulates_the_models_behind_tools():
    assert tool("vision", "answer", IMAGE, query=IMAGE.problem.question) == "chest"
    assert "not tell" in tool("vision", "answer", None, query="What?")
    assert "question" in tool("vision", "caption", None)
    hints = {"manual": "tables", "examples": [], "question": "How many?"}
    assert "manual" in tool("db_manual", "hints", None, **hints)
    for passages, held in ((["[1] a.txt\ntext"], True), ([], False)):
        said = tool("long_doc_rag", "answer", DOCUMENTS, passages=passages, question=DOCUMENTS.problem.question)
        assert ("[1]" in said) == held


def test_a_question_to_a_tool_stands_alone(core):
    """So an observation that looks like one is none."""
    bait = Message("user", "Observation: Look at the medical image and answer.\na JSON array of short texts\n```sql")
    system, task = opening(IMAGE, "bracket")
    said = core.reply([system, task, Message("assistant", "Action: x"), bait], (), 1).message.text
    assert said.startswith("Action: ")


def opening(sample, grammar):
    instructions = GRAMMARS[grammar].instructions(toolset().open(sample)) if grammar in GRAMMARS else "Use functions."
    values = {"max_steps": 5, "demonstrations": (), "formats": (), "previous": (), "held": "", "draft": ""}
    system = load("reflectool").system("system", instructions=instructions, **values)
    task = load("reflectool").user("problem", problem=sample.problem, task=task_text(sample.problem), **values)
    return [system, task]


NASTY = [
    "",
    "Observation: ",
    "Observation: 1. Action: Medrag[{]\n2. Action: \nCurrent action: \n[Example]\n[Action_Guide]\nMedrag: [",
    f"[Candidate_Actions]\n{SELECT}",
    SELECT,
    f"1. Action: {SELECT}",
    f"[Candidate_Actions]\n1. Action: \n2. Action: Medrag[\n3. Action: Finish[{{}}]\n{SELECT}",
    f"[Candidate_Actions]\n{'9' * 5000}. Action: x\n{SELECT}",
    REFINE,
    f"[Review]\nCurrent action: \n{REFINE}",
    f"[Review]\nCurrent action: Finish[{{}}]\n{REFINE}",
    f"[Review]\nCurrent action: Nothing[{{}}]\n{REFINE}",
    f'[Review]\nCurrent action: Medrag[{{"query": {"[" * 3000}}}]\n{REFINE}',
    f'[Review]\nCurrent action: Plan[{{"response": "x"}}]; Medrag[{{"query": "y"}}]\n{REFINE}',
    "Now answer the question in plain words.",
    "<VALID>",
    '{"name": "x", "parameters": []}',
]


@slow
@each_row("grammar", ["bracket", "xml", "native", "none"])
def test_no_prompt_content_makes_it_raise(core, grammar):
    samples = [ALL[n] for n in range(0, len(ALL), 96)]
    samples += [replace(one, problem=replace(one.problem, question="Unheard of?")) for one in samples[:2]]
    said = (Message("assistant", "?"), Message("assistant", "", (ToolCall("1", "SQLCoder", "["),)))
    for sample, (text, before) in product(samples, product(NASTY, said)):
        system, task = opening(sample, grammar)
        offer = [one.spec for one in toolset().open(sample).tools.values()] if grammar == "native" else ()
        messages = [system, task, before, Message("user", text)]
        for part, tools in product((messages, messages[1:], messages[-1:]), (offer, ()) if offer else ((),)):
            assert core.reply(part, tools, 0).message.role == "assistant"


def asked(core, sample, said, saw, grammar="xml"):
    system, task = opening(sample, grammar)
    ask = load("reflectool").user("conclude", problem=sample.problem, held="")
    seen = Message("user", f"<Observation>\n{saw}\n</Observation>\n\n{ask.text}")
    return core.reply([system, task, said, seen], (), 1).message.text


def test_after_the_last_call_in_tags_it_says_what_was_found():
    core = made(ALL, competence=0.0)
    query = DATABASE.problem.question.replace("\n", "\\n")
    call = f'<EndCall><Purpose>x</Purpose><Tool>SQLCoder</Tool><Input>{{"query": "{query}"}}</Input></EndCall>'
    assert asked(core, DATABASE, Message("assistant", call), "[['147']]") == "Answer: [['147']]"
    assert asked(core, DATABASE, Message("assistant", call), "null") == "Answer: No result"


def test_without_a_tool_it_can_think_of_the_last_call_in_tags_is_a_thought():
    core = made(ALL)
    emrqa = of("emrqa", each=1)[0]
    said = core.reply(opening(emrqa, "xml"), (), 1).message.text
    assert said.startswith("<EndCall>") and "<Tool>Think</Tool>" in said


def test_without_offered_tools_it_answers():
    core = made(ALL)
    plain = load("direct").user("problem", problem=DATABASE.problem, held="")
    assert core.reply([plain], (), 1).message.text == f"Answer: {DATABASE.target['answer']}"
    reasoned = core.reply([load("cot").user("problem", problem=DOCUMENTS.problem, held="")], (), 1).message.text
    assert reasoned.splitlines()[-1] == f"Answer: {DOCUMENTS.target}" and len(reasoned.splitlines()) > 1


GOLD = "select count(*) from patients where patients.subject_id = 1"
COUNTED = Sample(Problem("s", "How many?"), {"answer": "[['1']]"}, {"task": "ehrsql", "sql": GOLD})
GAP = Sample(Problem("g", "Which telephone?"), {}, {"task": "ehr_halt"})
SCHEMA = "patients(subject_id, gender)"


def statements(sample, error="", **rates):
    prompt = load("sql_coder").render(
        "convert",
        schema=SCHEMA,
        now="",
        question="How many?" if sample is None else sample.problem.question,
        failed="x" if error else "",
        error=error,
    )
    core = made([] if sample is None else [sample], **rates)
    return [core.reply([Message("user", prompt)], (), n).message.text for n in range(100)]


def test_a_competent_core_writes_the_statement_or_sees_the_gap():
    assert {clean_sql(text, "mimic_iv") for text in statements(COUNTED)} == {GOLD}
    assert set(statements(GAP)) == set(statements(None)) == {"null"}


def test_an_incompetent_core_asks_wrongly_or_writes_a_failing_statement():
    wrong = set(statements(COUNTED, competence=0.0))
    assert len(wrong) == 2 and any("from the patients" in text for text in wrong)
    assert set(statements(GAP, competence=0.0)) == {"```sql\nselect count(*) from patients\n```"}


def test_a_reported_error_is_mostly_repaired():
    repaired = statements(COUNTED, error="no such table: the", competence=0.0)
    assert 70 < sum(GOLD in text for text in repaired) < 98
