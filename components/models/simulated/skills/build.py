"""Skill: asking for a tool that is missing, specifying one, and writing its code when it plays the builder."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from components.core.messages import Message
from components.core.types import Sample
from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates
from components.models.simulated.reading import Situation
from components.models.simulated.skills.act import owed
from components.radiology.tasks import AD, BQ, CATEGORIES, DD, DI, IE, OS, lookup

REQUEST, SPECIFY, BUILDER = "Ask for the missing tool", "Write its specification", "You write small tools in Python"
BUILD, BUILT = "BuildTool", "Arithmetic"
_POINT = re.compile(r"^(\w+): ", re.MULTILINE)
_REFUSED = re.compile(r"^- category: (.+)$", re.MULTILINE)
_NAME = re.compile(r"^Name: (\w+)$", re.MULTILINE)
_ENTITY = {OS: "OrganObject", AD: "AnomalyObject", DD: "Disease", DI: "Disease", IE: "IndicatorName"}
_SPECIFICATION: Mapping[str, Any] = {
    "name": BUILT,
    "description": (
        "Evaluates an arithmetic expression of numbers, + - * / and parentheses, with the usual precedence,"
        " and gives its value as a number."
    ),
    "parameters": {
        "type": "object",
        "properties": {"expression": {"type": "string", "description": "such as (140 - 60) * 70 / 72"}},
        "required": ["expression"],
    },
    "examples": [
        {"input": {"expression": "2 + 3 * 4"}, "output": 14},
        {"input": {"expression": "(140 - 60) * 70 / 80"}, "output": 70},
        {"input": {"expression": "7 * 39 + 2"}, "output": 275},
    ],
}
_CODE = """```python
import ast
import operator

OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def value(node):
    if isinstance(node, ast.BinOp):
        return OPERATIONS[type(node.op)](value(node.left), value(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -value(node.operand)
    return node.value


def NAME(expression):
    return value(ast.parse(expression.strip(), mode="eval").body)
```"""
_SLIP = ("ast.Mult: operator.mul", "ast.Mult: operator.add")


def request(text: str, situation: Situation, sample: Sample | None, rates: Rates, draws: Draws) -> str:
    """The refused category in the points that the prompt names; a slip names another one."""
    refused = _REFUSED.search(text)
    if refused is None or sample is None:
        return "Some tool is missing."
    category, kind = owed(refused[1], situation, sample)
    if draws.happens("wrong category", rates.planning_slip):
        category, kind = draws.pick("which category", [one for one in CATEGORIES if one != category]), None
    record = sample.metadata["record"]
    entity = lookup(record, f"{kind}Dim" if category == BQ else _ENTITY.get(category, ""))
    said = {
        "Category": f"{kind} {category}" if kind else category,
        "Modality": record["Modality"],
        "Anatomy": record["Anatomy"],
        "Labels": entity or "none",
        "Range": "all of the image",
    }
    return "\n".join(f"{point}: {said[point]}" for point in _POINT.findall(text) if point in said)


def specification() -> Mapping[str, Any]:
    """What the core asks for where it misses a calculator."""
    return _SPECIFICATION


def code(messages: Sequence[Message], rates: Rates, draws: Draws) -> str:
    """The code of the one tool that the core can write; a slip is mended when it is told what came of it."""
    named = _NAME.findall(messages[1].text) if len(messages) > 1 else []
    if named != [BUILT]:
        return "I cannot write this."
    told = len(messages) > 2 and "is not right yet" in messages[-1].text
    right = _CODE.replace("NAME", BUILT)
    knows = rates.competence ** (0.5 if told else 1.0)
    return right if draws.happens("writes it right", knows) else right.replace(*_SLIP)
