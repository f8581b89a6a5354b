"""The tool that the simulated model has built where it misses a calculator: its specification, and its code."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from components.core.messages import Message
from components.prompts.recognition import rendered_from
from components.simulation.draws import Draws, Rates

BUILD, BUILT = "BuildTool", "Arithmetic"
_NAME = re.compile(r"^Name: (\w+)$", re.MULTILINE)
SPECIFICATION: Mapping[str, Any] = {
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


def code(messages: Sequence[Message], rates: Rates, draws: Draws) -> str:
    """The code of the one tool that the model can write; a slip is mostly fixed when the reason is given."""
    named = _NAME.findall(messages[1].text) if len(messages) > 1 else []
    if named != [BUILT]:
        return "I cannot write this."
    tried = rendered_from(messages[-1].text, "building/repair")
    right = _CODE.replace("NAME", BUILT)
    knows = rates.competence ** (0.5 if tried else 1.0)
    return right if draws.happens("writes it right", knows) else right.replace(*_SLIP)
