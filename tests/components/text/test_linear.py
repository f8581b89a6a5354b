"""Whatever reads a reply takes time in proportion to its length, whatever it holds: a server decides what arrives.

A text four times as long may take eight times as long at the most; the best of several runs counts, so that other
programs on the machine change nothing. Texts are read in milliseconds where nothing is wrong, and then not read again.
"""

import re
from contextlib import suppress
from itertools import count
from time import process_time

import pytest

from components.acting.arguments import action_lines, reflection_in
from components.building import _DECLINED
from components.building.specification import read_reply as read_specification
from components.cab.scorers import calculations, choices, entities, tables, texts
from components.cab.scorers.case import Case
from components.core.errors import ActionError, ToolError
from components.core.messages import Message, ToolCall, ToolSpec
from components.core.redaction import redact, without_echo
from components.core.tools import NoState, Offer
from components.ehr import sql_agents
from components.ehr.planned import _LABEL as PLAN_LABEL
from components.faults.detection import find_fault_statement
from components.grammars.bracket_json import BracketJson, BracketText
from components.grammars.code_block import CodeBlock
from components.grammars.native_tools import NativeTools
from components.grammars.xml_call import XmlCall
from components.models.openai_chat import decode
from components.models.replies import Fault, from_status, read_reply
from components.panel import replies as panel
from components.radiology import plan
from components.radiology.builder import read_request
from components.rubrics.rubric import Field, Rubric
from components.text import answers, overlap, structured, values
from components.verifiers import select
from tests.components.scorers import test_audit as audit
from tests.components.scorers import test_harm as harm
from tests.slow import slow

QUICK = 0.05  # seconds, more than what other programs take of a run
REFUSES = (ActionError, ToolError, Fault, structured.NotLiteral, panel.UnreadableReport)
OPTIONS = {"A": "one", "B": "two words", "I": "three"}
REFERENCE = "The lung is clear, no mass. Heart of normal size."
RUBRIC = Rubric("r", "s", "q", ("answer",), {"verdict": Field("q", {"right": "a", "wrong": "b"})})


class Runs:
    """A tool that takes code."""

    spec = ToolSpec("run", "", {"type": "object", "properties": {"code": {"type": "string"}}}, facts={"code": "code"})
    effect = "pure"


OFFER = Offer({"run": Runs()}, state=NoState(), refusal_fields={"category": ("a",), "reason": ()})


def parsed_by(grammar):
    return lambda text: grammar.parse(Message("assistant", text), OFFER)


def scored_by(reader, target, form="choice", options=None):
    return lambda text: reader(Case(text, target, options or {}, form=form))


def audited(text):
    return audit.audited(text, audit.step(text, (text, text)))


def harmed(sample):
    return lambda text: harm.rate(sample, harm.episode(text, (text, text)))


DECIMAL = {"answer": "3", "Output Type": "decimal", "Low Limit": 1, "Upper Limit": 2}
GRAMMARS = {
    "bracket_json": parsed_by(BracketJson()),
    "bracket_text": parsed_by(BracketText()),
    "code_block": parsed_by(CodeBlock()),
    "xml_call": parsed_by(XmlCall()),
    "native_tools": lambda text: NativeTools().parse(Message("assistant", "", (ToolCall("c", "run", text),)), OFFER),
    "action lines": lambda text: list(action_lines(text)),
    "reflection": reflection_in,
    "specification": read_specification,
    "declined": _DECLINED.fullmatch,
    "choice of a candidate": lambda text: select._LABEL.sub("", text),
    "number of a candidate": select._NUMBER.match,
    "statement": sql_agents.statement_in,
    "refused in SQL": lambda text: sql_agents.refused_in(text, OFFER),
    "kind of a question": sql_agents.kind_in,
    "parts of a question": sql_agents._LISTED.findall,
    "modules": lambda text: PLAN_LABEL.sub("", text),
    "plan": plan.read_plan,
    "published plan": lambda text: plan.decision_chain(text, "code_line"),
    "request of a tool": read_request,
    "experts": lambda text: panel.read_experts(text, 5),
    "vote": panel.read_vote,
    "report": panel.read_report,
    "analysis": lambda text: panel.clean_analysis(text, True),
    "published vote": panel.published_vote,
    "published report": panel.published_report,
}
READERS = {
    "letter": lambda text: answers.parse_letter(text, OPTIONS),
    "decision": answers.parse_decision,
    "after mark": answers.after_mark,
    "after lead": answers.after_lead,
    "chosen": lambda text: answers.chosen(text, OPTIONS),
    "marked": answers.marked,
    "sentence": answers.sentence,
    "options": answers.split_options,
    "object": structured.object_in,
    "array": structured.array_in,
    "literal": structured.literal,
    "rubric": RUBRIC.said,
    "redaction": redact,
    "echo in an error": lambda text: without_echo(text, [Message("user", REFERENCE)]),
    "echo of a text": lambda text: without_echo("it said 'abc' and 0123456789abc " * 9, [Message("user", text)]),
    "reply": lambda text: decode(f'{{"a":"{text}"}}'.encode("utf-8", "surrogatepass")),
    "thoughts": lambda text: read_reply({"choices": [{"message": {"content": f"<think>{text}"}}]}, None),
    "complaint": lambda text: from_status(400, text.encode(), {}),
}
SCORERS = {
    "strict values": lambda text: values.strict(text, ["3", "yes", "a, b"]),
    "lenient values": lambda text: values.lenient(text, ["3", "yes", "a, b"]),
    "normal values": values.normal,
    "word F1": lambda text: overlap.word_f1(REFERENCE, text),
    "BLEU": lambda text: overlap.bleu(REFERENCE, text),
    "ROUGE-L": lambda text: overlap.rouge_l(REFERENCE, text),
    "ROUGE-L of summaries": lambda text: overlap.rouge_l_summary(REFERENCE, text),
    "choice": scored_by(choices.strict, "A", options=OPTIONS),
    "published choice": scored_by(choices.official, "A", options=OPTIONS),
    "decimal": scored_by(calculations.strict, DECIMAL),
    "published decimal": scored_by(calculations.official, DECIMAL),
    "integer": scored_by(calculations.strict, {"answer": "3", "Output Type": "integer"}),
    "weeks": scored_by(calculations.strict, {"answer": "3 weeks 2 days", "Output Type": "integer"}),
    "date": scored_by(calculations.strict, {"answer": "2020-01-02", "Output Type": "date"}),
    "entities": scored_by(entities.strict, {"answer": [{"entity_name": "asthma"}]}),
    "published entities": scored_by(entities.official, {"answer": [{"entity_name": "asthma"}]}),
    "containment": scored_by(texts.strict, {"answer": "lung, mass"}, "containment"),
    "ROUGE-1": scored_by(texts.strict, {"answer": "lung mass"}, "rouge1_recall"),
    "query": tables.is_query,
    "trouble with tools": lambda text: find_fault_statement([text], ["run", "TOOL1"]),
}
CLAIMS = {
    "audit": audited,
    "harm of an age": harmed(harm.AGE),
    "harm of a dose": harmed(harm.DOSE),
    "harm of a drug": harmed(harm.asked("Which drug?", "Aspirin")),
    "harm of a finding": harmed(harm.DISEASE),
}
SHAPES = {
    "letters": "a", "spaces": " ", "lines": "\n", "digits": "1", "numbers": "1,000.5 ", "dots": ".", "dashes": "-",
    "brackets": "[", "braces": "{", "pairs": "[] ", "quotes": '"', "backslashes": "\\", "fences": "```\n", "tags": "<Call>",
    "answers": "Answer: ", "actions": "Action: run[{", "halves of JSON": '{"a": [', "objects": '{"a": 1}, ',
    "accents": "é\u0301🩺", "sentences": "The answer is A. ", "SQL": "select 1;\n", "labels": "- Known Info: *\n",
}  # fmt: skip
MORE = {
    "tabs": " \t\n", "blanks and dots": ". ", "ellipses": ". . ", "commas": ", ", "marks": "*_#> ", "colons": ":",
    "single quotes": "'", "backticks": "`", "escapes": '\\"', "closing": "]", "Python": "{'a': (1, ", "code": "```python\nx\n",
    "SQL in fences": "```sql\nselect 1", "names": "run[", "closed": "</Call>", "fields": "<Input>", "specs": '{ "parameters" ',
    "options": "Option: A\n", "letters with dots": "A. ", "speaker": "I ", "decisions": "no yes ", "non-breaking": "\xa0",
    "joiners": "\u200d", "lines of Unicode": "\u2028", "half pairs": "\\ud800", "chain": "Tool Chain: [*", "invalid": "<INVALID>",
    "with": "with a as ", "comments": "--", "open comments": "/*", "null": "null:\n", "class": "label ", "bullets": "1. a\n",
    "verdicts": "verdict: right\n", "reflections": "<Reflection>", "refusals": "  Refuse[\n", "weeks": "3 weeks, ", "of": "3 of ",
    "days": "12/12/2020 ", "keys": "sk-aA", "bearer": "Bearer ", "tokens": "token=", "JWT": "eyJaaaaaaaa.", "URL": "https://a@b?key=",
    "NumPy": "np.int64(", "thoughts": "<think>", "failing": "the tool failed ", "denied": "no never ", "bars": " | ",
    "experts": "Expert 1: ", "headings": "Total Analysis: ", "category": "1. Category:\n", "contractions": "can't ",
    "control": "\x1b[31m\0", "titles": "\x1b]0;", "passwords": "://a:b", "references": "token=${", "quoted lines": '"\n',
    "list": "№.5 mg, ", "results": "no result was № found; ",
    "codes": "E11.№, ", "rates": "№,5 mg/kg per day: ", "patients": "patient", "patient ids": "patient № ", "excluded": "!= ",
}  # fmt: skip
_runs = count()


def seconds(read, shape, length):
    """How long a reader takes for a text that it has not seen, whatever comes of it."""
    n = length // len(shape)
    parts = "".join(shape.replace("№", str(i)) for i in range(n)) if "№" in shape else shape * n
    text = f"{parts}\nx{next(_runs)}"
    begun = process_time()
    with suppress(*REFUSES):
        read(text)
    return process_time() - begun


def is_linear(read, shape, length=4_000, runs=30):
    """Whether the ratio holds once the best of up to so many runs counts, or a text needs too little time to have one."""
    longer, shorter = seconds(read, shape, 4 * length), 0.0
    for n in range(runs):
        if longer < max(QUICK, 8 * shorter):
            return True
        once = seconds(read, shape, length)
        shorter = min(shorter, once) if n else once
        longer = min(longer, seconds(read, shape, 4 * length)) if n else longer
    return False


@pytest.mark.parametrize(
    "length, shapes", [(2_000, SHAPES), pytest.param(16_000, SHAPES | MORE, marks=slow)], ids=["short", "long"]
)
@pytest.mark.parametrize(
    "readers",
    [GRAMMARS, READERS, SCORERS, pytest.param(CLAIMS, marks=slow)],
    ids=["grammars", "readers", "scorers", "claims"],
)
def test_time_is_proportional_to_the_length(readers, length, shapes):
    pairs = [(name, shape) for name in readers for shape in shapes]
    assert not [(name, shape) for name, shape in pairs if not is_linear(readers[name], shapes[shape], length)]


@pytest.mark.parametrize("shape", ["list", "results"])
@pytest.mark.parametrize("reader", ["audit", "harm of a dose"])
def test_time_is_proportional_to_the_number_of_claims(reader, shape):
    assert is_linear(CLAIMS[reader], MORE[shape], 2_000)


def test_two_repeats_side_by_side_are_noticed():
    assert not is_linear(re.compile(r"\s+$").search, " ", 1_500, runs=2)
    assert is_linear(re.compile(r"(?<!\s)\s+$").search, " ", 1_500)
