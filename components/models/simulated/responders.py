"""Responders for any family: replies that a prompt alone decides, and the last one, which follows what any prompt asks
for, so that a new agent runs without its own responder.
"""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import orjson

from components.core.messages import Message
from components.core.types import Sample
from components.simulation.asked import Asked, Knowledge, Responder
from components.simulation.grammar import called, finished, said
from components.simulation.history import review
from components.text.structured import array_in, lessons

_TEXT = re.compile(r'^<text title="([^"]*)">\n(.*?)\n</text>$', re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^## (\w+): .*\nPick (.*):\n((?:- \w+: .*\n?)+)", re.MULTILINE)
_CATEGORY = re.compile(r"^- (\w+): (.*)$", re.MULTILINE)
_WORD = re.compile(r"[a-z]+|\d+(?:\.\d+)?")
_COMMON = frozenset("a an the of to in on and or is are was that this with it".split())  # noqa: SIM905
_GIVEN = ("Question", "Given", "Reference")
_INNER = ("Plan", "Think", "Finish", "Reflection")
_ACTION = re.compile(r"^Action: (\w+)\[(.*)$", re.MULTILINE)
_PARAMETER = re.compile(r'"(\w+)":')
_NAMED = re.compile(r"^Answer: (.+)$", re.MULTILINE)
_VOTE = re.compile(r"\bYES or NO\b[^\n]*\Z")
_FORM = re.compile(r"^(?!Answer\b)([A-Z][\w ]{0,40}): ?\S.*$")
_CLOSING = ("Finish", "Refuse", "refuse")


class PromptAlone(Responder):
    """Prompts of the judge, the optimizer, agents that reflect or reason first. Grades are crude, without a key."""

    def reply(self, asked: Asked) -> Message | None:
        """The reply to a prompt of one message."""
        if len(asked.messages) != 1:
            return None
        if asked.rendered_from("judged/grade"):
            return said(_grades(asked.last))
        if asked.rendered_from("optimize/reflect", "reflexion/reflect"):
            used = [name for name, _ in _ACTION.findall(asked.last) if name not in _INNER]
            if not used:
                advice = "Ask the tool that fits the task, with all the words of the question, before answering."
                return said(f"No tool was asked. {advice}")
            advice = "look at what comes back before answering, and give the answer in the form that was asked for."
            names = ", ".join(dict.fromkeys(used))
            return said(f"{names} should get the whole question, not a few words of it; {advice}")
        if asked.rendered_from("optimize/suggest"):
            learnt: dict[str, list[str]] = {}
            for name, parameters in _ACTION.findall(asked.last.rpartition("\nSecond attempt:\n")[2]):
                known = ", ".join(_PARAMETER.findall(parameters)) or "the parameters"
                learnt.setdefault(name, [f"Fill {known} with all that the task says, word for word."])
            return said(orjson.dumps(learnt).decode())
        if asked.rendered_from("optimize/merge"):
            parts = asked.last.partition("\n\nNew:\n")
            texts = parts[0].rpartition("Known so far:\n")[2], parts[2].partition("\n\n")[0]
            once = dict.fromkeys(lesson for text in texts for lesson in lessons(array_in(text)) or ())
            return said(orjson.dumps(list(once)).decode())
        reasoning, asks, rest = asked.last.rpartition("\nTherefore, ")
        named = _NAMED.findall(reasoning) if asks and rest.endswith("the answer is") else []
        return said(f"The answer is {named[-1]}") if named else None


def _grades(text: str) -> str:
    """A category for each field of the rubric: on a scale the one at the place that the share of the reference's words
    has, else the one that shares most of its own words with what was done, of equals the first."""
    head, _, rubric = text.rpartition("\nRubric: ")
    texts = dict(_TEXT.findall(head))
    wanted = _words(texts.get("Reference", ""))
    answer = texts.get("Answer", " ".join(text for title, text in texts.items() if title != "Reference"))
    share = len(wanted & _words(answer)) / len(wanted) if wanted else 0.0
    done = _words(" ".join(text for title, text in texts.items() if title not in _GIVEN))
    lines = ["I go by the words that the texts share."]
    for field, how, listed in _FIELD.findall(rubric):
        sentences = {name: _words(f"{name.replace('_', ' ')} {words}") for name, words in _CATEGORY.findall(listed)}
        names, often = list(sentences), Counter(word for words in sentences.values() for word in words)
        weights = {name: sum(1 / often[word] for word in words & done) for name, words in sentences.items()}
        place = round((1 - share) * (len(names) - 1))
        lines.append(f"{field}: {names[place] if 'from the best' in how else max(names, key=weights.__getitem__)}")
    return "\n".join(lines)


def _words(text: str) -> set[str]:
    """The words that carry meaning; all of them where none does, as in a letter."""
    words = set(_WORD.findall(text.casefold()))
    return words - _COMMON or words


class Generic(Responder):
    """Any prompt, any sample. It calls offered tools with plausible arguments and then answers, takes part in votes,
    chooses among options, and fills in the form that a prompt ends with."""

    def knowledge(self, sample: Sample) -> Knowledge:
        """Options, a decision, or an answer in words."""
        return Knowledge(sample)

    def reply(self, asked: Asked) -> Message:
        """A call, or what the last message asks for."""
        if (garbled := asked.garbled()) is not None:
            return garbled
        if asked.reviewed:
            return review(asked.history, bool, lambda: self._step(asked), asked.style or "native", asked.draws)
        return said(self._answer(asked)) if asked.style is None or asked.concludes else self._step(asked)

    def _step(self, asked: Asked) -> Message:
        """A call of the first offered tool that was not called, once; then the answer."""
        offered = {name: given for name, given in asked.history.offered.items() if name not in _CLOSING}
        style = asked.style or "native"
        if asked.history.done or not offered:
            return finished(style, asked.voice.worded(self._answer(asked), asked.draws))
        name = next(iter(offered))
        if len(offered) > 1 and asked.draws.happens("wrong tool", asked.rates.wrong_tool):
            name = asked.draws.pick("which tool", [*offered][1:])
        schema = next((tool.parameters for tool in asked.tools if tool.name == name), {})
        properties: Mapping[str, Any] = schema.get("properties", {})
        arguments = {one: _plausible(one, properties.get(one), asked) for one in offered[name]}
        return called(style, name, arguments, last=True)

    def _answer(self, asked: Asked) -> str:
        """A vote, a filled-in form, or the answer on the last line."""
        if _VOTE.search(asked.last.rstrip()):
            return "YES"
        head, _, form = asked.last.rstrip().rpartition(":\n")
        labels = [_FORM.match(line) for line in form.split("\n")] if head and asked.style is None else []
        if labels and all(labels):
            return "\n".join(f"{label[1]}: {_opinion(asked)}" for label in labels if label)
        if asked.knowledge is None:
            return "Answer: not known"
        if asked.voice.opines or isinstance(asked.knowledge.sample.target, Mapping):
            return asked.voice.worded(_opinion(asked), asked.draws)
        reasons = any("step by step" in one.text for one in asked.messages if one.role != "assistant")
        return asked.knowledge.marked(asked.rates, reasons, asked.draws)


def _opinion(asked: Asked) -> str:
    if asked.knowledge is None:
        return "not known"
    right = asked.draws.happens("competence", asked.knowledge.by_heart(asked.rates))
    return asked.knowledge.opinion(right, asked.draws)


def _plausible(name: str, schema: Any, asked: Asked) -> Any:
    """An argument by its schema: the name of an input, else the question."""
    kind = schema.get("type") if isinstance(schema, Mapping) else "string"
    if isinstance(schema, Mapping) and schema.get("enum"):
        return schema["enum"][0]
    if kind in ("number", "integer"):
        return schema.get("minimum", 1)
    if kind in ("boolean", "object"):
        return True if kind == "boolean" else {}
    problem = asked.sample.problem if asked.sample is not None else None
    text = asked.last if problem is None else problem.inputs.get(name, problem.question)
    return [text] if kind == "array" else text
