"""Few-shot examples of RadABench's agent: solved parts of questions, as data next to the prompts.

Source: Zheng et al. 2024, arXiv 2412.09529: examples for what is known, for building a chain, for a regular call and
for the three kinds of refusal. Ours: two plans, four replies (four calls; where a task may be refused one call and the
three refusals) and one answer, on records of the split that is trained on, and replies in the grammar in use.
"""

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
_NEEDED: Mapping[str, Sequence[str]] = {
    "planning": (*_ASKED, "summary", "reflection", "known", "chain"),
    "calls": (*_CALLED, "candidates", "reasoning", "constraints"),
    "refusals": ("patient", "memory", "next", "tools", "grounds", "candidates", "reasoning", "constraints"),
    "conclusion": (*_ASKED, "memory", "answer"),
}
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
            shots = [{**one, "chain": [_untyped(name) for name in one["chain"]]} for one in shots]
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
    lists = {name: given.get(name) for name in _NEEDED}
    for name, rows in lists.items():
        if not isinstance(rows, list) or not rows:
            raise ConfigError(f"{prompts}/examples.yaml: it has no list {name!r}; it needs {', '.join(_NEEDED)}")
        for number, row in enumerate(rows, 1):
            _check(row if isinstance(row, Mapping) else {}, _NEEDED[name], f"{prompts}/examples.yaml: {name} {number}")
    return Shots(prompts, **lists)  # type: ignore[arg-type]


def _check(row: Shot, needed: Sequence[str], where: str) -> None:
    """Raises ConfigError for a row without a key, or with a value of another type."""
    if missing := [key for key in needed if key not in row]:
        raise ConfigError(f"{where} has no {missing[0]!r}")
    for key in needed:
        value = row[key]
        if key in _LISTS:
            fits, wanted = isinstance(value, list) and all(isinstance(one, str) for one in value), "a list of names"
        elif key == _GROUNDS:
            fits, wanted = isinstance(value, Mapping) and {*value} == {*REFUSAL_FIELDS}, ", ".join(REFUSAL_FIELDS)
        else:
            fits, wanted = isinstance(value, str) and bool(value.strip()), "a text"
        if not fits:
            raise ConfigError(f"{where}: {key} is {value!r}, should be {wanted}")


def reply(one: Shot, episode: Episode, reflects: bool) -> str:
    """An example as a reply in the grammar in use: the first form that the grammar reads, else a native call."""
    block = _block(one) if reflects else ""
    above = f"{block}\n" if block else ""
    for text in (above + _tags(one), _brackets(one, block)):
        action = episode.parse(Message("assistant", text))
        if action.error is None and (action.refusal is not None or action.calls):
            return text
    name, arguments = ("refuse", one["grounds"]) if "grounds" in one else (one["tool"], _arguments(one))
    return f"{above}{name}({_json(arguments)})"


def _tags(one: Shot) -> str:
    """In the tags of RadABench."""
    if grounds := one.get("grounds"):
        tag, fields = "NoCall", {name.capitalize(): value for name, value in grounds.items()}
    else:
        tag = "EndCall" if one.get("last") else "Call"
        fields = {"Purpose": one["purpose"], "Tool": one["tool"], "Input": f"[{', '.join(one['input'])}]"}
    inside = [f"<{name}>{value}</{name}>" for name, value in fields.items()]
    return "\n".join([f"<{tag}>", *inside, f"</{tag}>"])


def _brackets(one: Shot, block: str) -> str:
    """As a thought and a name with an object in brackets."""
    grounds = one.get("grounds")
    name, values = ("Refuse", grounds) if grounds else (one["tool"], _arguments(one))
    thought = block or (grounds or one)["purpose"]
    return f"Thought: {thought}\nAction: {name}[{_json(values)}]"


def _arguments(one: Shot) -> dict[str, Any]:
    return {"purpose": one["purpose"], "input": one["input"]}


def _block(one: Shot) -> str:
    """The reflection of an example."""
    names = ("candidates", "reasoning", "constraints")
    parts = (f"<{name.capitalize()}>{one[name]}</{name.capitalize()}>" for name in names)
    return "\n".join(["<Reflection>", *parts, "</Reflection>"])


def _untyped(name: str) -> str:
    return name.removeprefix("Organ ").removeprefix("Anomaly ") if "Biomarker" in name else name


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
