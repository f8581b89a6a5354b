"""Every prompt renders with the variables of its callers, and no slot stays unfilled."""

from collections.abc import Iterator
from pathlib import Path

import jinja2
import jinja2.meta

from components.core.messages import Image, Message
from components.core.types import Action, Demonstration, Problem
from components.prompts import load
from components.radiology.tasks import PLANNING_NAMES, REFUSAL_FIELDS
from components.rubrics.rubric import Field, Rubric
from components.verifiers.select import Candidate
from tests.table import each_row

PROMPTS = Path(__file__).resolve().parent.parent / "components" / "prompts"
SOLVED = {
    "knowledge": "- One table.", "code": "answer = 1", "actions": "Finish[1]", "sql": "select 1", "plan": ["Finish[1]"],
    "steps": [("Finish[1]", "")],
}  # fmt: skip
LISTS = ("structures", "findings", "sites", "measures", "scores", "histories", "complaints", "steps")
VALUES = {
    "problem": Problem("p", "Which?", {"A": "one", "B": "two"}, "A man of 40."), "question": "Which?", "context": "A man.",
    "held": '{"$Image$":"x"}', "memory": '{"$Image$":"x"}', "plan": list(PLANNING_NAMES), "instructions": "Call tools.",
    "cards": ['{"Name":"TOOL1"}'], "tools": {"TOOL1": None}, "refusal_fields": REFUSAL_FIELDS,
    "task": "Instruction:\nWhich?", "draft": "B", "previous": [[("Think[{}]", "OK")]], "max_steps": 15,
    "demonstrations": [Demonstration("Instruction:\nWho?", "Action: Think[{}]", SOLVED)], "formats": ['Think[{"response":"..."}]'],
    "guide": {"Think": ["briefly"], "Plan": ()}, "versions": [("Think[{}]", "OK"), ("Plan[{}]", None)],
    "candidates": [Candidate(Action(Message("assistant", "x")), "Think[{}]", "OK")], "chain": "Action: Think[{}]",
    "gold": "B", "before": "Action: Think[{}]", "after": "Action: Plan[{}]", "name": "Plan", "old": [], "new": ["briefly"],
    "schema": "patients(id)", "now": "2100-12-31", "failed": "select", "error": "syntax", "manual": "m",
    "database": "mimic", "general": ["g"], "joins": ["a = b"], "others": ["c"], "tables": ["t"], "examples": [{"question": "q", "hints": "h"}],
    "passages": [], "analyses": [{"side": "question", "field": "Surgery", "text": "It grows."}], "asked": "Which?",
    "advice": [{"field": "Surgery", "text": "Say why."}], "field": "Surgery", "key_knowledge": "It grows.", "side": "option",
    "material": "Question:\nWhich?", "options": "A) one", "report": "Total Analysis: one.", "role": "You are a surgeon.",
    "total_analysis": "One.", "wanted": 2, "reason": True, "reasoning": "It grows.",
    "metadata": {"database": "mimic_iii", "overview": "A hospital.", "columns": "patients: ROW_ID", "clock": "2105-12-31",
                 "groups": True, "state": "cell"},
    "code": True, "knowledge": True, "columns": True, "known": "- patients", "cell": "answer = 1", "cause": "A slip.",
    "described": "Runs code.", "channel": "fence", "state": "cell", "status": "error",
    "actions": [{"name": "Plan", "argument": "name", "about": "plans"}], "done": [("Plan[x]", "OK")], "reflections": ["no"],
    "raised": {"type": "KeyError", "message": "'x'", "line_no": 1, "line": "d['x']"},
    "shots": [{"context": "", "question": "Who?", "choices": {"A": "one"}, "rationale": "So.", "answer": "A",
               "problem": "Who?", "solution": "answer = 1", "data": SOLVED}],
    "links": "- patients", "kinds": ["easy"], "parts": ["Who?"], "sql": "select 1", "told": "1", "module": "LoadDB",
    "query": "how many", "as_object": True, "reflects": True, "proposal": "Which?", "finding": "It needs $Image$.",
    "plans": [{"question": "Which?", "summary": "Say.", "reflection": "So.", "known": [], "chain": list(PLANNING_NAMES)}],
    "replies": [({"memory": "$Image$", "next": "the last", "tools": "TOOL1"}, "<Call>")],
    "answers": [{"question": "Which?", "memory": "$Image$", "answer": "B"}],
    "description": "kg/m2", "parameters": '{"type": "object"}', "cases": [('{"kg": 1}', "2")],
    "card": '{"name":"Bmi"}', "grounds": {"purpose": "a", "category": "none"},
    "templates": [("plan", "Plan.")], "failures": ["It failed."], "played": 9, "slots": ["instructions"],
    "text": "Plan.", "critique": "- In plan: say more", "needs": ["Chain"], "refused": "it is empty", "anatomy": "Chest",
    "modality": "CT", "disease": "gout", "patient": "Female, 45", "rejected": ["short"], "record": "{}",
    "person": "woman aged 45", "openers": ["Look."], "tasks": [{"id": "012", "name": "n", "asks": ["x"], "holds": ["y"]}],
    "lists": {key: ["x"] for key in LISTS},
    "transcript": "Doctor: Since when?", "request": "An ECG", "bias": "It is cancer.", "notes": "History: a cough",
    "texts": {"Answer": "B"}, "rubric": Rubric("r", "us", "Why?", ["answer"], {"why": Field("Why?", {"a": "x", "b": "y"})}),
}  # fmt: skip


def with_included(path: Path) -> Iterator[jinja2.nodes.Template]:
    tree = jinja2.Environment().parse(path.read_text())
    yield tree
    for name in jinja2.meta.find_referenced_templates(tree):
        yield from with_included(PROMPTS / name)


@each_row("folder", sorted({path.parent for path in PROMPTS.rglob("*.jinja")}))
def test_every_prompt_of_a_set_renders(folder):
    for path in sorted(folder.glob("*.jinja")):
        render(path)


def render(path: Path) -> None:
    """Render a prompt, and check what comes out."""
    trees = list(with_included(path))
    needed = set().union(*map(jinja2.meta.find_undeclared_variables, trees))
    assert needed <= set(VALUES), f"add to VALUES: {needed - set(VALUES)}"
    message = load(path.parent.name).user(path.stem, (Image("data:x"),), **{name: VALUES[name] for name in needed})
    assert message.text.strip() and "{{" not in message.text and "{%" not in message.text
    assert message.source == f"{path.parent.name}/{path.name}"
