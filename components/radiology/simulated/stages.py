"""Replies to stages on radiology: critiques and rewritings of instructions, and patient records with their exercises.

As a critic the model has a sentence for each kind of mistake in the attempts that it is shown, and as an agent it
slips less often (``LEFT`` of the slips remain) where its instructions hold that sentence's words. As an author it fills
plain sentences from the prompt's lists, at random, and gets one thing wrong with ``1 - competence``.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import orjson

from components.radiology.tasks import PLANNING_NAMES
from components.simulation.asked import Asked
from components.simulation.draws import Draws, Rates
from components.text.structured import read_yaml

Slip = Literal["drop", "add", "swap", "tool", "form", "refuse"]
LEFT = 0.2  # of the slips that the instructions warn of
_TEXTS: Mapping[str, Any] = read_yaml(Path(__file__).with_name("sentences.yaml"))
ADVICE: Mapping[Slip, tuple[str, str]] = {kind: (mark, sentence) for kind, (mark, sentence) in _TEXTS["advice"].items()}
MARKS = tuple(mark for mark, _ in ADVICE.values())
_FIELDS: Mapping[Slip, str] = {"tool": "wrong_tool", "form": "malformed", "refuse": "ignored_refusal"}
_EASED = tuple((ADVICE[kind][0], name) for kind, name in _FIELDS.items())
_TEMPLATE = re.compile(r'<template name="(\w+)">\n(.*?)\n</template>', re.DOTALL)
_ATTEMPT = re.compile(r"<attempt>\n(.*?)\n</attempt>", re.DOTALL)
_RIGHT = re.compile(r"^The right steps: (.*)$", re.MULTILINE)
_PLANNED = re.compile("|".join(re.escape(name) for name in sorted(PLANNING_NAMES, key=len, reverse=True)))
_ENDED = re.compile(r"^It ended: failed \((\w+)\)", re.MULTILINE)
_REFUSABLE = re.compile(r"^The right end: a refusal", re.MULTILINE)
_NAMED = re.compile(r"This is the template (\w+):\n\n<template>\n(.*?)\n</template>", re.DOTALL)
_TASK = re.compile(
    r"^### (\d+): .*\nWays to ask:\n((?:- .*\n)+)The answer holds, word for word:\n((?:- .*\n)+)", re.MULTILINE
)
_LABELLED = re.compile(r"^(Patient|Region|Technique|Disease): (.*)$", re.MULTILINE)
_PERSON = re.compile(r"^The patient is a (.*?)\. ", re.MULTILINE)


def replied(asked: Asked) -> str | None:
    """The reply to a prompt that asks for a critique, a rewriting, a record or its exercises; None for any other."""
    if asked.rendered_from("refine_prompts/critique"):
        return _critique(asked.last)
    if asked.rendered_from("refine_prompts/rewrite"):
        return _rewritten(asked.last)
    record = asked.rendered_from("synthesize/record")
    if not record and not asked.rendered_from("synthesize/questions"):
        return None
    if asked.draws.happens("malformed", asked.rates.malformed):
        return "I would begin with the patient's history, and then think of the picture."
    slips = asked.draws.happens("slip of an author", 1 - asked.rates.competence)
    return (_record if record else _exercises)(asked.last, slips, asked.draws)


def _critique(text: str) -> str:
    """A line for each kind of mistake that the attempts show, the most frequent first."""
    templates = dict(_TEMPLATE.findall(text))
    seen = Counter(kind for attempt in _ATTEMPT.findall(text) for kind in _mistakes(attempt))
    lines = []
    for kind, n in seen.most_common():
        mark, sentence = ADVICE[kind]
        wanted = "Tool Chain: [" if kind in ("drop", "add", "swap") else "{{ instructions }}"
        home = next((name for name, text in templates.items() if wanted in text), None)
        if home is not None and mark not in templates[home]:
            lines.append(f"- In {home}: {n} of these attempts went wrong so; it should say: {sentence}")
    return "\n".join(lines) or "The instructions say what is needed; these attempts have nothing in common."


def _mistakes(attempt: str) -> set[Slip]:
    found: set[Slip] = set()
    right, at = _RIGHT.search(attempt), attempt.find("Tool Chain:")
    if right and at >= 0:
        steps = [PLANNING_NAMES[name] for name in _PLANNED.findall(attempt[at:].partition("]")[0])]
        order, wanted = [f"{kind or ''} {category}".strip() for category, kind in steps], right[1].split(" -> ")
        planned, needed = Counter(order), Counter(wanted)
        if needed - planned:
            found.add("drop")
        if planned - needed:
            found.add("add")
        if needed == planned and order != wanted:
            found.add("swap")
    if _REFUSABLE.search(attempt) and "\nIt ended: refused" not in attempt:
        found.add("refuse")
    ended = _ENDED.search(attempt)
    if ended and ended[1] == "unparsable_reply":
        found.add("form")
    elif ended and not found:
        found.add("tool")
    return found


def _rewritten(text: str) -> str:
    """The template with the sentences that the critique wants in it, at its end."""
    if (named := _NAMED.search(text)) is None:
        return "There is no template here."
    name, template = named.groups()
    critique = text[named.end() :]
    wanted = re.findall(rf"^- In {re.escape(name)}: .*?it should say: (.*)$", critique, re.MULTILINE)
    fresh = [sentence for sentence in dict.fromkeys(wanted) if sentence not in template]
    return "<rewritten>\n" + "\n".join([template, *fresh]) + "\n</rewritten>"


def spared(kind: Slip, marks: Collection[str], draws: Draws) -> bool:
    """Whether a slip is not made, since the instructions warn of it."""
    return ADVICE[kind][0] in marks and draws.happens(f"spared {kind}", 1 - LEFT)


def eased(rates: Rates, marks: Collection[str]) -> Rates:
    """The rates of slips while acting, under these instructions."""
    warned = [name for mark, name in _EASED if mark in marks]
    return replace(rates, **{name: getattr(rates, name) * LEFT for name in warned}) if warned else rates


def _listed(text: str, head: str) -> list[str]:
    """The lines of the list whose head begins so."""
    found = re.search(rf"^{head}.*:\n((?:- .*\n)+)", text, re.MULTILINE)
    return _lines(found[1]) if found else []


def _between(text: str, what: str, draws: Draws) -> int:
    """A whole number of a range such as ``6 to 38``."""
    low, _, high = text.partition(" to ")
    return int(low) + int(draws.share(what) * (int(high) - int(low) + 1))


def _record(text: str, slips: bool, draws: Draws) -> str:
    """A record in JSON; without the lists it has nothing to fill in."""
    wanted = ("Structures", "Abnormal findings", "Sites", "Measures of", "Scores", "Histories", "Complaints")
    lists = {head: _listed(text, head) for head in wanted}
    steps = _listed(text, "Steps of a treatment")
    if not all(lists.values()) or len(steps) < 3:
        return "{}"
    picked = {head: draws.pick(head, among) for head, among in lists.items()}
    organ, organ_dim, organ_unit, organ_range = picked["Structures"].split("; ")
    dim, unit, reach = picked["Measures of"].split("; ")
    score, _, levels = picked["Scores"].partition("; ")
    first = draws.pick("first step", range(len(steps)))
    labels = {name: "" for name in ("Region", "Technique", "Disease")} | dict(reversed(_LABELLED.findall(text)))
    sexes, _, ages = labels.pop("Patient", "").removesuffix(" years").partition(", ")
    sex = draws.pick("sex", sexes.split(" or "))
    height, weight = ("156 to 174", "52 to 78") if sex == "Female" else ("168 to 188", "66 to 94")
    names = {"organ": organ, "disease": labels["Disease"], "symptom": picked["Abnormal findings"]}
    values = {
        **{key: _between(reach, key, draws) for key, reach in (("age", ages), ("height", height), ("weight", weight))},
        **{_capital(key): _capital(name) for key, name in (*names.items(), ("site", picked["Sites"]))},
        "organ_size": f"{_between(organ_range, 'organ size', draws)} {organ_unit}",
        "size": f"{_between(reach, 'size', draws)} {unit}",
        "level": draws.pick("level", levels.split(" / ")),
        "steps": " ".join((steps + steps)[first : first + 3]),
    }
    fixed = {"sex": sex, "organ_dim": organ_dim, "dim": dim, "score": score}
    record = _filled(_TEXTS["record"], {**picked, **labels, **names, **values, **fixed})
    match draws.pick("record slip", ("age", "finding", "impression", "unit", "treatment")) if slips else "":
        case "age":
            record["Information"]["Age"] += " years"
        case "finding":
            record["Report"]["Finding"] = record["Report"]["Finding"].partition(". ")[2]
        case "impression":
            record["Report"]["Impression"] = "Findings as described."
        case "unit":
            record["OrganBiomarker"]["OrganQuant"] = "about normal"
        case "treatment":
            record["Treatment"] = record["Treatment"].partition(". ")[0] + "."
    return orjson.dumps(record).decode()


def _filled(form: Any, values: Mapping[str, Any]) -> Any:
    """A form, which may be nested, with the values in its texts."""
    return form.format(**values) if isinstance(form, str) else {key: _filled(one, values) for key, one in form.items()}


def _exercises(text: str, slips: bool, draws: Draws) -> str:
    """The exercises in JSON: a way to begin, a way to ask, and what the answer has to hold."""
    openers = _listed(text, "Ways to begin") or [""]
    person = found[1] if (found := _PERSON.search(text)) else "patient"
    written: dict[str, Mapping[str, str]] = {}
    for chain, asks, holds in _TASK.findall(text):
        opener = draws.pick(f"begin {chain}"[-16:], openers).replace("PERSON", person)
        ask = draws.pick(f"ask {chain}"[-16:], _lines(asks))
        answer = _capital("; ".join(_lines(holds)).replace(".; ", ". "))
        written[chain] = {"Q": f"{opener} {ask}".strip(), "A": answer if answer.endswith(".") else f"{answer}."}
    if slips and written:
        chain = draws.pick("exercise slip", list(written))
        record = next((line for line in text.splitlines() if line.startswith('{"Information"')), "{}")
        where = str(orjson.loads(record).get("Modality"))
        written[chain] = {**written[chain], "Q": f"{written[chain]['Q']} It is {where}, by the way."}
    return orjson.dumps(written).decode()


def _lines(text: str) -> list[str]:
    return [line.removeprefix("- ") for line in text.splitlines()]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
