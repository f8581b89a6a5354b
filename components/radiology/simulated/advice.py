"""What instructions should say: found in failed attempts, written into templates, and followed where it is said.

As a critic the model reads the attempts that it is shown: a planned step that is missing, needless or out of order, a
tool that did not fit, a reply that could not be read, a task that should have been refused. For each it has a sentence.
As an agent it slips less often (``LEFT`` of the slips remain) where its instructions hold that sentence's words,
whoever wrote them there.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Literal

from components.radiology.tasks import PLANNING_NAMES
from components.simulation.asked import Asked
from components.simulation.draws import Draws, Rates

Slip = Literal["drop", "add", "swap", "tool", "form", "refuse"]
LEFT = 0.2  # of the slips that the instructions warn of
# What went wrong -> the words that an agent goes by, and the sentence around them.
ADVICE: Mapping[Slip, tuple[str, str]] = {
    "drop": ("no step is missing", "Before you write the chain, see that no step is missing that the answer rests on."),
    "add": ("no step is idle", "Before you write the chain, see that no step is idle: each must feed the answer."),
    "swap": ("after those that feed it", "Put each step after those that feed it, and organ before abnormality."),
    "tool": (
        "category in its card is that of the step",
        "See that the tool's category in its card is that of the step.",
    ),
    "refuse": (
        "refuse before the first call",
        "Where no tool that is offered can do one of the steps, refuse before the first call and name that category.",
    ),
    "form": ("every tag that you opened is closed", "See that every tag that you opened is closed before you reply."),
}
MARKS = tuple(mark for mark, _ in ADVICE.values())
_TEMPLATE = re.compile(r'<template name="(\w+)">\n(.*?)\n</template>', re.DOTALL)
_ATTEMPT = re.compile(r"<attempt>\n(.*?)\n</attempt>", re.DOTALL)
_RIGHT = re.compile(r"^The right steps: (.*)$", re.MULTILINE)
_PLANNED = re.compile("|".join(re.escape(name) for name in sorted(PLANNING_NAMES, key=len, reverse=True)))
_ENDED = re.compile(r"^It ended: failed \((\w+)\)", re.MULTILINE)
_REFUSABLE = re.compile(r"^The right end: a refusal", re.MULTILINE)
_NAMED = re.compile(r"This is the template (\w+):\n\n<template>\n(.*?)\n</template>", re.DOTALL)


def replied(asked: Asked) -> str | None:
    """The reply to a prompt that asks for a critique or a rewriting; None for any other."""
    if asked.rendered_from("refine_prompts/critique"):
        return _critique(asked.last)
    return _rewritten(asked.last) if asked.rendered_from("refine_prompts/rewrite") else None


def _critique(text: str) -> str:
    """A line for each kind of mistake that the attempts show, the most frequent first."""
    templates = dict(_TEMPLATE.findall(text))
    seen = Counter(kind for attempt in _ATTEMPT.findall(text) for kind in _mistakes(attempt))
    lines = []
    for kind, n in seen.most_common():
        mark, sentence = ADVICE[kind]
        wanted = "Tool Chain: [" if kind in ("drop", "add", "swap") else "{{ instructions }}"
        home = next((name for name, held in templates.items() if wanted in held), None)
        if home is not None and mark not in templates[home]:
            lines.append(f"- In {home}: {n} of these attempts went wrong so; it should say: {sentence}")
    return "\n".join(lines) or "The instructions say what is needed; these attempts have nothing in common."


def _mistakes(attempt: str) -> set[Slip]:
    """What went wrong in an attempt, by what stands there."""
    found: set[Slip] = set()
    right, at = _RIGHT.search(attempt), attempt.find("Tool Chain:")
    if right and at >= 0:
        chain = attempt[at:].partition("]")[0]
        steps = [PLANNING_NAMES[name] for name in _PLANNED.findall(chain)]
        planned = Counter(f"{kind or ''} {category}".strip() for category, kind in steps)
        needed = Counter(right[1].split(" -> "))
        order = [f"{kind or ''} {category}".strip() for category, kind in steps]
        kinds: dict[Slip, bool] = {
            "drop": bool(needed - planned),
            "add": bool(planned - needed),
            "swap": needed == planned and order != right[1].split(" -> "),
        }
        found |= {kind for kind, so in kinds.items() if so}
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
    name, held = named.groups()
    critique = text[named.end() :]
    wanted = re.findall(rf"^- In {re.escape(name)}: .*?it should say: (.*)$", critique, re.MULTILINE)
    fresh = [sentence for sentence in dict.fromkeys(wanted) if sentence not in held]
    return "<rewritten>\n" + "\n".join([held, *fresh]) + "\n</rewritten>"


def spared(kind: Slip, marks: Collection[str], draws: Draws) -> bool:
    """Whether a slip is not made, since the instructions warn of it."""
    return ADVICE[kind][0] in marks and draws.happens(f"spared {kind}", 1 - LEFT)


def eased(rates: Rates, marks: Collection[str]) -> Rates:
    """The rates of slips while acting, under these instructions."""
    slips: tuple[Slip, ...] = ("tool", "form", "refuse")
    tool, form, blind = (LEFT if ADVICE[kind][0] in marks else 1.0 for kind in slips)
    return replace(
        rates,
        wrong_tool=rates.wrong_tool * tool,
        malformed=rates.malformed * form,
        ignored_refusal=rates.ignored_refusal * blind,
    )
