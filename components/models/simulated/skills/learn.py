"""Skill: reflecting on an attempt, drawing lessons from two, joining lists of lessons."""

from __future__ import annotations

import re

import orjson

from components.text.structured import array_in, lessons

REFLECT = ("advice for a second attempt", "advice to yourself for a second attempt")
SUGGEST, MERGE = "name of each action -> a list", "a JSON array of short texts"
_KNOWN, _NEW = "Known so far:\n", "\n\nNew:\n"
_ACTION = re.compile(r"^Action: (\w+)\[(.*)$", re.MULTILINE)
_PARAMETER = re.compile(r'"(\w+)":')


def learnt(text: str) -> str | None:
    """The reply to a prompt that asks to learn; None for any other."""
    if text.endswith("state no answer.") or any(words in text for words in REFLECT):
        return reflect(text)
    if SUGGEST in text:
        return suggest(text)
    return merge(text) if MERGE in text else None


def reflect(text: str) -> str:
    """Advice on the actions of an attempt."""
    used = [name for name, _ in _ACTION.findall(text) if name not in ("Plan", "Think", "Finish", "Reflection")]
    if not used:
        return (
            "No tool was asked. Ask the tool that fits the task, with all the words of the question, before answering."
        )
    return (
        f"{', '.join(dict.fromkeys(used))} should get the whole question, not a few words of it; look at what comes "
        "back before answering, and give the answer in the form that was asked for."
    )


def suggest(text: str) -> str:
    """A lesson on each action of the second attempt."""
    second = text.rpartition("\nSecond attempt:\n")[2]
    learnt: dict[str, list[str]] = {}
    for name, parameters in _ACTION.findall(second):
        known = ", ".join(_PARAMETER.findall(parameters)) or "the parameters"
        learnt.setdefault(name, [f"Fill {known} with all that the task says, word for word."])
    return orjson.dumps(learnt).decode()


def merge(text: str) -> str:
    """Both lists, what is said twice once."""
    old, _, new = text.partition(_NEW)
    lists = [lessons(array_in(part)) or [] for part in (old.rpartition(_KNOWN)[2], new.partition("\n\n")[0])]
    return orjson.dumps(list(dict.fromkeys([*lists[0], *lists[1]]))).decode()
