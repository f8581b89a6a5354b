"""Actions as a name and brackets: ``Name[{json}]`` of ReflecTool, and ``Name[argument]`` in plain lines of ReAct.

``BracketJson``: ``Thought: ...`` then ``Action: Name[{json}]``, ended by ``Finish[{"response": ...}]``. Source: Liao et
al. 2024, arXiv 2410.17657; reading rules of docs/papers/reflectool.md §1.4 with the repairs named there: a real JSON
decoder (text in parameters may hold brackets, line breaks and the word Action), Python literals, white space around the
bracket, one code fence, doubled markers, empty objects. Departures: a ``Thought:`` may stand before the action, which
then starts a line; ``Finish`` with wrong parameters is reported to the model and does not end the episode;
``Refuse[{...}]`` where a task may be refused.

``BracketText``: ``Thought: ...``, then ``Name[argument]``, ended by ``Finish[answer]``. Source: Yao et al. 2023
(ReAct), arXiv 2210.03629; reading rules of docs/papers/ehragent.md (``acting.action_lines``). Departures: ``Action:``,
bullets and numbers may stand before the name; ``Refuse[reason]`` where a task may be refused.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

from components.acting.arguments import FORM, action_lines, call_of, describe_tools
from components.core.errors import ActionError
from components.core.messages import Message, ToolCall, ToolSpec
from components.core.task_text import FINISH, REFUSE
from components.core.tools import Offer
from components.core.traits import PromptSetName
from components.core.types import Action, Observation, Refusal
from components.prompts import PromptSet, load
from components.text.confidence import split_bar

_FORM = 'Action: Name[{"parameter": value}]'

_LEAD = re.compile(r"\s*+(?:(?:Action:|```(?:\w*\n)?)\s*+)*+")
_HEAD = re.compile(r"(\w+)\s*(\[\s*)?(?=\{)")
_CLOSE = re.compile(r"\s*\]")
_PAIR_END = re.compile(r"\}\s*\]")
_TOKEN = re.compile(r"""\s+|'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|[{}\[\](),:]|[\w.+-]+""", re.DOTALL)
_QUOTED = re.compile(r"""\\.|["\n\r\t]""", re.DOTALL)
_WORDS = {"True": "true", "False": "false", "None": "null", "(": "[", ")": "]"}
_ESCAPES = {'"': '\\"', "\\'": "'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_DECODER = json.JSONDecoder(strict=False)
_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False)  # of what was decoded


class Call(NamedTuple):
    """A name and its parameters, as read from the text."""

    name: str
    params: dict[str, Any]


@lru_cache(maxsize=32)  # most samples of a run offer the same tools
def _instructions(prompts: PromptSet, cards: Sequence[str], fields: Sequence[tuple[str, Sequence[str]]]) -> str:
    return prompts.render("instructions", cards=cards, refusal_fields=dict(fields))


def with_confidence(instructions: str, form: str, asked: bool) -> str:
    """The instructions of a grammar, with how its ending states a confidence where that is asked for."""
    return f"{instructions}\n\n{load('confidence').render(form)}" if asked else instructions


class TextGrammar:
    """A grammar whose tools are listed in the text; an observation is the next user message, in the form ``observed``.
    The template ``instructions`` of a prompt set gets one JSON card per tool and the fields of a refusal.
    ``confidence``: an action that ends states how sure the agent is, in the ``form`` of a template."""

    prompts: PromptSetName
    confidence: bool
    form: ClassVar[str]
    observed: ClassVar[str] = "Observation: {}"

    def instructions(self, offer: Offer) -> str:
        """The form of an action, the tools as one line of JSON each, and the refusal where the task may be refused."""
        cards = tuple([tool.spec.card_text for tool in offer.tools.values()])
        fields = tuple([(name, tuple(allowed)) for name, allowed in offer.refusal_fields.items()])
        return with_confidence(_instructions(load(self.prompts), cards, fields), self.form, self.confidence)

    def specs(self, offer: Offer) -> tuple[ToolSpec, ...]:
        """Nothing: the tools are listed in the text."""
        return ()

    def render(self, call: ToolCall, observation: Observation) -> Message:
        """The observation as the next user message."""
        text = self.observed.format(observation.text)
        return Message("user", (text, *observation.images) if observation.images else text)


@dataclass(frozen=True)
class BracketJson(TextGrammar):
    """Actions in the text of the reply; one per reply, what follows the first is ignored."""

    prompts: PromptSetName = "bracket_json"
    confidence: bool = False
    form: ClassVar[str] = "bracket_json"

    def parse(self, message: Message, offer: Offer) -> Action:
        """Read the reply's first action. Raises ActionError when there is none that can be read."""
        text = message.text
        if text.startswith("Thought:", _after_lead(text)) and (start := find_marker(text)) is not None:
            text = text[start:]
        call = read_call(text)
        if call.name == FINISH:
            stated = call.params.pop("confidence", None) if self.confidence else None
            if list(call.params) != ["response"]:
                form = f'{FINISH}[{{"response": "your answer"}}]'
                raise ActionError(f"{FINISH} takes one parameter, as in {form}", "bad_arguments")
            answer = _text(call.params["response"])
            return Action(message, answer=answer, confidence=None if stated is None else _text(stated))
        if call.name == REFUSE and offer.may_refuse:
            return refusal_of(message, call, offer)
        purpose = call.params.get("purpose", "")
        calls = (ToolCall("call", call.name, _text(call.params)),)
        return Action(message, calls=calls, purpose=purpose if isinstance(purpose, str) else "")


def read_call(raw: str) -> Call:
    """Read ``Name[{...}]`` or ``Name{...}`` at the start of a text. The object is decoded as JSON, else as a Python
    literal, else as one pair split at the first colon and space. Raises ActionError when none of them fits or the
    bracket is not closed."""
    text = raw[_after_lead(raw) :]
    text = text[: find_marker(text)]
    head = _HEAD.match(text)
    if not head:
        raise ActionError(f"it does not hold an action of the form {_FORM}; check the list of actions")
    bracketed = head[2] is not None
    payload = _json(text, head.end()) or _literal(text, head.end())
    if payload is None:
        return Call(head[1], _pair(text, head.end(), bracketed))
    params, end = payload
    if bracketed and not _CLOSE.match(text, end):
        raise ActionError(f"the bracket after {head[1]!r} is not closed; the form is {_FORM}")
    return Call(head[1], params)


def _after_lead(text: str) -> int:
    lead = _LEAD.match(text)
    assert lead is not None, "it matches nothing as well"
    return lead.end()


def find_marker(text: str) -> int | None:
    """Where the first line that begins with ``Action:`` starts, where there is one."""
    at = text.find("Action:")
    while at >= 0:
        start = text.rfind("\n", 0, at) + 1
        if not text[start:at].strip(" \t"):
            return start
        end = text.find("\n", at)
        at = text.find("Action:", end) if end >= 0 else -1
    return None


def _json(text: str, start: int) -> tuple[dict[str, Any], int] | None:
    """Decode a JSON object, with where it ends in the text; raw line breaks inside its strings are kept."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None


def _literal(text: str, start: int) -> tuple[dict[str, Any], int] | None:
    """Read a Python literal by writing it as JSON, token by token; nothing is evaluated."""
    written: list[str] = []
    depth, position = 0, start
    while match := _TOKEN.match(text, position):
        token, position = match[0], match.end()
        if token.isspace():
            continue
        depth += (token in "{[(") - (token in "}])")
        if token in "}])" and written and written[-1] == ",":
            written.pop()
        if token[0] in "'\"":
            inside = _QUOTED.sub(lambda found: _ESCAPES.get(found[0], found[0]), token[1:-1])
            written.append(f'"{inside}"')
        else:
            written.append(_WORDS.get(token, token))
        if depth == 0:
            payload = _json(" ".join(written), 0)
            return payload and (payload[0], position)
    return None


def _pair(text: str, start: int, bracketed: bool) -> dict[str, Any]:
    """The single pair of an object that is neither JSON nor a literal. Raises ActionError."""
    match = _PAIR_END.search(text, start)
    end = (match.start() if match else -1) if bracketed else text.find("}", start)
    key, colon, value = text[start + 1 : end].partition(": ") if end >= 0 else ("", "", "")
    key, value = (half.strip().strip("\"'") for half in (key, value))
    if not colon or not key:
        raise ActionError(f"its parameters are not a JSON object; the form is {_FORM}")
    return {key: value}


def _text(value: object) -> str:
    """A value as text: strings as they are, all else as JSON. Raises ActionError for lone surrogates."""
    try:
        text = value if isinstance(value, str) else _ENCODER.encode(value)
        text.encode()
    except (UnicodeEncodeError, RecursionError):
        raise ActionError("its parameters hold what cannot be written as text") from None
    return text


def refusal_of(message: Message, call: Call, offer: Offer, call_id: str | None = None) -> Action:
    """The refusal that a call stands for. Raises ActionError when one of its grounds is missing."""
    if missing := [name for name in offer.refusal_fields if name not in call.params]:
        needs = ", ".join(offer.refusal_fields)
        raise ActionError(f"{call.name} needs {needs}; {missing[0]!r} is missing", "bad_arguments", call_id)
    grounds = {name: _text(call.params[name]) for name in offer.refusal_fields}
    return Action(message, refusal=Refusal(grounds), purpose=grounds.get("purpose", ""))


@dataclass(frozen=True)
class BracketText(TextGrammar):
    """One action per reply, for tools with one text parameter. The first action counts. What follows it is cut off,
    since models write observations of their own there."""

    prompts: PromptSetName = "bracket_text"
    confidence: bool = False
    form: ClassVar[str] = "bracket_text"

    def instructions(self, offer: Offer) -> str:
        """The form of an action, the tools, and how to end. Raises ConfigError for a tool with other parameters."""
        actions = describe_tools(offer.tools)
        text = load(self.prompts).render("instructions", actions=actions, refusal_fields=offer.refusal_fields)
        return with_confidence(text, self.form, self.confidence)

    def parse(self, message: Message, offer: Offer) -> Action:
        """Read the reply's first action. Raises ActionError when there is none that can be read."""
        line = next(action_lines(message.text), None)
        if line is None:
            raise ActionError(f"it holds no line of the form {FORM}; write one action, as in the list of actions")
        kept = replace(message, content=message.text[: line.end])
        call = call_of(line.name, line.argument, offer.tools)
        if line.name == FINISH:
            split = self.confidence and line.argument is not None
            answer, stated = split_bar(str(line.argument)) if split else (line.argument, None)
            return Action(kept, answer=answer, confidence=stated)
        if line.name == REFUSE and offer.may_refuse:
            # an object with the fields, or the bare text where there is one field
            bare = len(offer.refusal_fields) == 1 and not (line.argument or "").startswith("{")
            grounds = Call(REFUSE, dict.fromkeys(offer.refusal_fields, line.argument)) if bare else read_call(line.text)
            return refusal_of(kept, grounds, offer)
        return Action(kept, calls=(call,))
