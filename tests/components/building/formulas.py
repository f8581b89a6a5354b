"""A formula that is specified, its code, and a substitute for an episode in which tools are built."""

from types import SimpleNamespace

from components.core.errors import ToolError
from components.core.messages import Message

CLEARANCE = {
    "name": "CockcroftGault",
    "description": "Creatinine clearance in mL/min: (140 - age) * weight / (72 * creatinine), times 0.85 for women.",
    "parameters": {
        "type": "object",
        "properties": {
            "age": {"type": "integer", "minimum": 18, "maximum": 110},
            "weight": {"type": "number", "exclusiveMinimum": 0, "maximum": 300, "description": "kg"},
            "creatinine": {"type": "number", "exclusiveMinimum": 0, "description": "mg/dL"},
            "sex": {"type": "string", "enum": ["male", "female"]},
        },
        "required": ["age", "weight", "creatinine"],
    },
    "examples": [
        {"input": {"age": 60, "weight": 72, "creatinine": 1.0, "sex": "male"}, "output": 80.0},
        {"input": {"age": 60, "weight": 72, "creatinine": 1.0, "sex": "female"}, "output": 68.0},
        {"input": {"age": 40, "weight": 80, "creatinine": 2.0}, "output": 55.56},
    ],
}
RIGHT = """def CockcroftGault(age, weight, creatinine, sex="male"):
    clearance = (140 - age) * weight / (72 * creatinine)
    return clearance * (0.85 if sex == "female" else 1)
"""
WRONG = RIGHT.replace("0.85", "0.58")


def fenced(code):
    return f"Here it is.\n```python\n{code}```\nIt follows the formula."


class Shop:
    """A context with a scripted model, and whose offer takes tools."""

    def __init__(self, *replies, offered=()):
        self.replies, self.asked, self.tools = list(replies), [], {}
        self.names, self.state, self.problem = list(offered), None, SimpleNamespace(id="q")

    @property
    def offered(self):
        return [*self.names, *self.tools]

    def add(self, tool):
        if tool.spec.name in self.offered:
            raise ToolError("taken", "name_taken")
        self.tools[tool.spec.name] = tool

    async def ask(self, messages, purpose="tool", sampling=None, role="tool"):
        self.asked.append((list(messages), purpose, role))
        return Message("assistant", self.replies.pop(0))
