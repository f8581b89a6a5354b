"""The grammar of an action that prompts ask for, and actions written in it."""

from collections.abc import Mapping
from typing import Any, Literal

import orjson

from components.core.messages import Message, ToolCall

Style = Literal["native", "xml", "bracket", "line", "fence"]  # line: Name[plain text]; fence: a cell of code
CODE_TOOL = "python"
CALLS = "[Examples of calls]"
STYLE_MARKS: Mapping[str, Style] = {  # what a prompt says -> the grammar that it asks for; the first one counts
    "between ```python and ```": "fence",
    "<EndCall>": "xml",
    "Action: Finish[answer]": "line",  # its instructions; examples of earlier work may have brackets
    'Finish[{"response"': "bracket",
    "Finish[": "line",
}


def said(text: str) -> Message:
    """A reply in words."""
    return Message("assistant", text)


def called(
    style: Style, name: str, arguments: Mapping[str, Any], purpose: str = "", last: bool = False, listed: str = ""
) -> Message:  # fmt: skip
    """A call. ``purpose`` is written as a thought, in tags always; ``last``: the task is done after it (tags only);
    ``listed``: the input in tags where it is not the arguments."""
    shown = orjson.dumps(dict(arguments)).decode()
    if style == "native":
        return Message("assistant", "", tool_calls=(ToolCall(f"call_{name}", name, shown),))
    if style == "xml":
        tag, given = "EndCall" if last else "Call", listed or shown.replace("<", "\\u003c")
        why = f"<Purpose>{purpose or f'Ask {name}.'}</Purpose>"
        return said(f"<{tag}>\n{why}\n<Tool>{name}</Tool>\n<Input>{given}</Input>\n</{tag}>")
    if style == "bracket":
        return said(f"{f'Thought: {purpose}{chr(10)}' if purpose else ''}Action: {name}[{shown}]")
    argument = str(next(iter(arguments.values()), ""))
    if style == "fence":
        return said(f"```python\n{argument}\n```")
    return said(f"Thought: {name} comes next.\nAction: {name}[{argument}]")


def finished(style: Style | None, answer: str, thought: str = "") -> Message:
    """The final answer."""
    if style == "bracket":
        return called("bracket", "Finish", {"response": answer}, thought)
    return said(f"Thought: This is the answer.\nAction: Finish[{answer}]" if style == "line" else answer)


def refused(style: Style, grounds: Mapping[str, str], thought: str = "", as_object: bool = True) -> Message:
    """A refusal; ``as_object``: its grounds are written as JSON where the grammar knows brackets."""
    if style == "native":
        return called("native", "refuse", grounds)
    if style == "xml":
        inner = "\n".join(f"<{name.capitalize()}>{why}</{name.capitalize()}>" for name, why in grounds.items())
        return said(f"<NoCall>\n{inner}\n</NoCall>")
    shown = orjson.dumps(dict(grounds)).decode() if as_object else next(iter(grounds.values()), "")
    lead = f"Thought: {thought}\nAction: " if thought else "" if style == "fence" else "Action: "
    return said(f"{lead}Refuse[{shown}]")
