"""Few-shot examples of RadABench's agent: solved parts of questions, as data next to the prompts.

Source: Zheng et al. 2024, arXiv 2412.09529: examples for what is known, for building a chain, for a regular call and
for the three kinds of refusal. Ours: two plans, four replies (four calls; where a task may be refused one call and the
three refusals) and one answer, on records of the split that is trained on, and replies in the grammar in use.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from components.core.errors import ConfigError
from components.core.messages import Message
from components.core.protocols import Episode
from components.prompts import load
from components.radiology.tasks import REFUSAL_FIELDS

_PLANS, _REPLIES = 2, 4
_LISTS, _GROUNDS = ("known", "chain", "input"), "grounds"  # every other value is a text
_ASKED, _CALLED = ("patient", "question"), ("patient", "memory", "next", "tools", "purpose", "tool", "input")
_REFLECTION = ("candidates", "reasoning", "constraints")
_NEEDED: Mapping[str, Sequence[str]] = {
    "planning": (*_ASKED, "summary", "reflection", "known", "chain"),
    "calls": (*_CALLED, *_REFLECTION),
    "refusals": ("patient", "memory", "next", "tools", _GROUNDS, *_REFLECTION),
    "conclusion": (*_ASKED, "memory", "answer"),
}
_TYPED = re.compile(r"^(?:Organ|Anomaly) (?=.*Biomarker)")
Shot = Mapping[str, Any]


@dataclass(frozen=True)
class Shots:
    """The examples of a prompt set: its ``examples.yaml``, and templates for plans, replies and answers."""

    prompts: str
    planning: Sequence[Shot]
    calls: Sequence[Shot]
    refusals: Sequence[Shot]
    conclusion: Sequence[Shot]

    @property
    def patients(self) -> Sequence[str]:
        """The texts by which the examples describe their patients."""
        every = (*self.planning, *self.calls, *self.refusals, *self.conclusion)
        return tuple(dict.fromkeys(one["patient"].strip() for one in every))

    def plans(self, as_object: bool, reflects: bool, one_quantifier: bool) -> str:
        """Two plans; ``one_quantifier``: both measurements have one planning name."""
        shots = self.planning[:_PLANS]
        if one_quantifier:
            shots = [{**one, "chain": [_TYPED.sub("", name) for name in one["chain"]]} for one in shots]
        return self._rendered("planning", plans=shots, as_object=as_object, reflects=reflects)

    def replies(self, episode: Episode, reflects: bool) -> str:
        """Four replies as the grammar of the episode reads them."""
        refuses = episode.offer.may_refuse
        among = (*self.calls[:1], *self.refusals) if refuses else self.calls
        return self._rendered("execution", replies=[(one, reply(one, episode, reflects)) for one in among[:_REPLIES]])

    def answers(self, support: Sequence[str]) -> str:
        """An answer from the memory, followed by those parts of its ``support`` that the example has."""
        texts = [(one, [one["answer"], *(one[part] for part in support if part in one)]) for one in self.conclusion[:1]]
        return self._rendered("conclusion", answers=[{**one, "answer": " ".join(parts)} for one, parts in texts])

    def _rendered(self, template: str, **values: Any) -> str:
        return load(self.prompts).render(template, **values) if self.prompts else ""


NO_SHOTS = Shots("", (), (), (), ())


@lru_cache(maxsize=16)
def shots_of(prompts: str) -> Shots:
    """The examples of a prompt set. Raises ConfigError, naming what is missing."""
    data = load(prompts).data("examples")
    data = data if isinstance(data, Mapping) else {}
    execution = data.get("execution")
    given = {**data, **(execution if isinstance(execution, Mapping) else {})}
    for name, needed in _NEEDED.items():
        rows = given.get(name)
        if not isinstance(rows, list) or not rows:
            raise ConfigError(f"{prompts}/examples.yaml: it has no list {name!r}; it needs {', '.join(_NEEDED)}")
        for number, row in enumerate(rows, 1):
            for key in needed:
                if flaw := _flaw(key, row):
                    raise ConfigError(f"{prompts}/examples.yaml: {name} {number}{flaw}")
    return Shots(prompts, **{name: given[name] for name in _NEEDED})


def _flaw(key: str, row: object) -> str:
    """What is wrong with a value of a row; empty: nothing."""
    if not isinstance(row, Mapping) or key not in row:
        return f" has no {key!r}"
    value = row[key]
    if key in _LISTS:
        fits, wanted = isinstance(value, list) and all(isinstance(one, str) for one in value), "a list of names"
    elif key == _GROUNDS:
        fits, wanted = isinstance(value, Mapping) and {*value} == {*REFUSAL_FIELDS}, ", ".join(REFUSAL_FIELDS)
    else:
        fits, wanted = isinstance(value, str) and bool(value.strip()), "a text"
    return "" if fits else f": {key} is {value!r}, should be {wanted}"


def reply(one: Shot, episode: Episode, reflects: bool) -> str:
    """An example as a reply in the grammar in use: the first form that the grammar reads (the tags of RadABench, or a
    thought and a name with an object in brackets), else a native call."""
    parts = [f"<{name.capitalize()}>{one[name]}</{name.capitalize()}>" for name in _REFLECTION if reflects]
    block = "\n".join(["<Reflection>", *parts, "</Reflection>"]) if parts else ""
    above = f"{block}\n" if block else ""
    if grounds := one.get(_GROUNDS):
        tag, name, arguments = "NoCall", "Refuse", grounds
        fields = {field.capitalize(): value for field, value in grounds.items()}
    else:
        tag, name = "EndCall" if one.get("last") else "Call", one["tool"]
        arguments = {"purpose": one["purpose"], "input": one["input"]}
        fields = {"Purpose": one["purpose"], "Tool": name, "Input": f"[{', '.join(one['input'])}]"}
    values = orjson.dumps(arguments).decode()
    inside = [f"<{field}>{value}</{field}>" for field, value in fields.items()]
    tags = "\n".join([f"{above}<{tag}>", *inside, f"</{tag}>"])
    brackets = f"Thought: {block or arguments['purpose']}\nAction: {name}[{values}]"
    for text in (tags, brackets):
        action = episode.parse(Message("assistant", text))
        if action.error is None and (action.refusal is not None or action.calls):
            return text
    return f"{above}{'refuse' if grounds else name}({values})"
