"""Plans, calls, refusals and answers of radiology tasks, from the cards, memory and plan that the messages show."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from components.core.types import Sample
from components.radiology.plan import plan_text
from components.radiology.simulated import reading
from components.radiology.simulated.reading import QUANTIFICATION, Card, Situation
from components.radiology.simulated.stages import Slip, spared
from components.radiology.tasks import BQ, CATEGORIES, PLANNING_NAMES, TASKS, Step, lookup, supported_entity, supports
from components.simulation.draws import Draws, Rates
from components.text.words import replaced

_POINT = re.compile(r"^(\w+): ", re.MULTILINE)
_REFUSED = re.compile(r"^- category: (.+)$", re.MULTILINE)
NOTED_SLIPS = 0.4  # of the slips are left where the prompt says of each kind of tool when to use it
_NAMES = {step: name for name, step in PLANNING_NAMES.items()}
_SHORT = ("Anatomy Classification Tool", "Modality Classification Tool", "Disease Diagnosis Tool")
_OBJECT = """```json
{{
  "Task Summary": "Answer the question about the study.",
  "Known Info": [{known}],
  "Self-Reflection": "{thought}",
  "Tool Chain": [{chain}]
}}
```"""
_THOUGHT = "Every step serves the question, and none is missing."

_LONG = ("$Information$", "$Report$", "$Treatment$")  # too long to be quoted as evidence
_TWO_SAY = re.compile(r"(.+?) \(\w+\); .+ \(.+\)")  # values of two tools that disagree, as a memory shows them


class Move(NamedTuple):
    """A call (``last`` when the task is done after it), or grounds of a refusal, or nothing left to do."""

    card: Card | None = None
    inputs: tuple[str, ...] = ()
    last: bool = False
    grounds: dict[str, str] | None = None


def decide(situation: Situation, sample: Sample | None, may_refuse: bool, rates: Rates, draws: Draws) -> Move:
    """The next move: the first step of the plan that no finished call covers."""
    remaining = _remaining(situation, sample)

    def fitting(category: str, kind: str | None) -> list[Card]:
        return [c for c in situation.cards.values() if c.category == category and kind in (None, c.type)]

    if may_refuse and not draws.happens("ignored refusal", rates.ignored_refusal, whole=True):
        for category, kind in remaining:
            cards = fitting(category, kind)
            if not any(_suits(c, situation, sample) for c in cards):
                return Move(grounds=_grounds(category, cards, sample))
    for position, step in enumerate(remaining):
        cards = fitting(*step)
        up = [c for c in cards if c.name not in situation.down]
        suited = [c for c in up if _suits(c, situation, sample)] or up
        if not suited:
            continue  # this step is left out
        ready = [c for c in suited if all(v in situation.memory for v in c.compulsory)]
        card = max(reversed(ready or suited), key=lambda c: c.upper)  # of equals the last
        worse = [c for c in ready if c.upper < card.upper]
        if worse and draws.happens("second choice", rates.second_choice):
            card = draws.pick("which choice", worse)
        if len(up) < len(situation.cards) and draws.happens("wrong tool", rates.wrong_tool):
            card = draws.pick("which tool", [c for c in situation.cards.values() if c not in up])
        optional = [v for v in card.optional if v in situation.memory and v not in card.compulsory]
        return Move(card, (*card.compulsory, *optional), last=position == len(remaining) - 1)
    return Move()


def _remaining(situation: Situation, sample: Sample | None) -> list[Step]:
    """Planned steps that are not done; without a plan those that the question needs. Of measurements that a plan leaves
    open, those that the question wants, in their order."""
    truth = TASKS[sample.target["chain"]].chain if sample is not None else ()
    wanted = [step for step in truth if step[0] == BQ and step not in situation.plan]
    steps = [wanted.pop(0) if step == (BQ, None) and wanted else step for step in situation.plan] or list(truth)
    for card in situation.called:
        done = next((step for step in steps if step[0] == card.category and step[1] in (None, card.type)), None)
        if done is not None:
            steps.remove(done)
    return steps


def _suits(card: Card, situation: Situation, sample: Sample | None) -> bool:
    """Whether a tool fits the images and its list, where it has one, covers what they show."""
    if card.pair is None and card.listed is None:
        return True
    record = sample.metadata["record"] if sample is not None else {}
    pair = tuple(situation.memory.get(f"${name}$") or record.get(name) for name in ("Anatomy", "Modality"))
    if card.pair is not None and None not in pair and card.pair != pair:
        return False
    return sample is None or supports(card.listed, record, card.category, card.type)


def _grounds(category: str, fitting: Sequence[Card], sample: Sample | None) -> dict[str, str]:
    """The five fields of a refusal, by which of the three checks fails."""
    record = sample.metadata["record"] if sample is not None else {}
    anatomy, modality = record.get("Anatomy", "Universal"), record.get("Modality", "Universal")
    if not fitting:
        anatomy, modality, ability = "Universal", "Universal", "CategoryMissing"
    elif any(c.listed is not None and c.pair in (None, (anatomy, modality)) for c in fitting):
        ability = "InsufficientCapability"
    else:
        ability = "SpecificToolMissing"
    purpose = f"No {category} that this task needs can be used."
    return {"purpose": purpose, "category": category, "anatomy": anatomy, "modality": modality, "ability": ability}


def missing_tool(text: str, situation: Situation, sample: Sample, rates: Rates, draws: Draws) -> str:
    """The refused category in the points that the prompt names; a slip names another one."""
    if (found := _REFUSED.search(text)) is None:
        return "Some tool is missing."
    category = found[1]
    kind = next((step[1] for step in _remaining(situation, sample) if step[0] == category), None)
    if draws.happens("wrong category", rates.planning_slip):
        category, kind = draws.pick("which category", [one for one in CATEGORIES if one != category]), None
    record = sample.metadata["record"]
    points = {
        "Category": f"{kind} {category}" if kind else category,
        "Modality": record["Modality"],
        "Anatomy": record["Anatomy"],
        "Labels": supported_entity(record, category, kind) or "none",
        "Range": "all of the image",
    }
    return "\n".join(f"{point}: {points[point]}" for point in _POINT.findall(text) if point in points)


def planned(sample: Sample | None, rates: Rates, draws: Draws, marks: Collection[str]) -> str:
    """A plan in the form that ``marks`` of the prompt show; a slip leaves out, adds or swaps one step, more rarely
    where they warn of it."""
    chain = TASKS[sample.target["chain"]].chain if sample is not None else ()
    names = [_NAMES[step] for step in chain] or list(_SHORT)
    if draws.happens("planning slip", rates.planning_slip * (NOTED_SLIPS if reading.NOTES in marks else 1.0)):
        kinds: tuple[Slip, ...] = ("drop", "add", "swap")
        kind, at = draws.pick("slip kind", kinds), int(draws.share("slip at") * (len(names) - 1))
        if not spared(kind, marks, draws):
            if kind == "add":
                names.insert(at + 1, draws.pick("slip name", tuple(PLANNING_NAMES)))
            elif kind == "drop":
                del names[at]
            else:
                names[at : at + 2] = reversed(names[at : at + 2])
    known = ["$IndicatorName$"] if "Indicator Evaluation Tool" in names else []
    if QUANTIFICATION in marks and f"Organ {QUANTIFICATION}" not in marks:  # the prompt has one name for both kinds
        names = [QUANTIFICATION if name.endswith(QUANTIFICATION) else name for name in names]
    if reading.AS_OBJECT in marks:
        arrows = " -> ".join(f"*{name}*" for name in names)
        return _OBJECT.format(known=", ".join(known), thought=_THOUGHT, chain=arrows)
    return (f"Self-Reflection: {_THOUGHT}\n" if reading.THINKS in marks else "") + plan_text(known, names)


def concluded(situation: Situation, sample: Sample | None, rates: Rates, draws: Draws) -> str:
    """The answer, followed by evidence and plan in a paragraph each where the prompts ask for them. That is the
    reference answer where the core is competent, else what it half remembers of it; either with the values that the
    memory shows in place of the record's."""
    memory = situation.memory
    if sample is None or not isinstance(sample.target, Mapping) or "answer" not in sample.target:
        known = _known(memory)
        parts = [". ".join(known) + "." if known else "The memory holds no result."]
    else:
        answer = _as_shown(str(sample.target["answer"]), memory, sample.metadata.get("record", {}))
        words = answer.split()
        half = " ".join(words[: max(1, len(words) * 2 // 3)]) + "."
        parts = [answer if draws.happens("competence", rates.competence) else half]
    found = _known({name: value for name, value in memory.items() if name not in _LONG})
    if reading.EVIDENCE in situation.marks and found:
        parts.append(f"Evidence in the memory: {', '.join(found)}.")
    if reading.ALIGNS in situation.marks and situation.plan:
        parts.append(f"The findings align with the plan ({len(situation.plan)} steps).")
    return "\n\n".join(parts)


def _as_shown(answer: str, memory: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    """An answer with what the memory shows where that is not what the record holds; of two values the first."""
    swaps = {}
    for name, shown in memory.items():
        right = None if "PLACEHOLDER" in str(shown) else lookup(record, name.strip("$"))
        if isinstance(right, str) and isinstance(shown, str) and shown != right:
            two = _TWO_SAY.fullmatch(shown)
            swaps[right] = two[1] if two else shown
    return replaced(answer, swaps) if swaps else answer


def validated(situation: Situation, sample: Sample | None) -> str:
    """Whether every called tool's list covers what the record shows."""
    for card in situation.called:
        if sample is not None and not supports(card.listed, sample.metadata["record"], card.category, card.type):
            return f"<INVALID>{card.category}: its capability does not cover this patient's findings</INVALID>"
    return "<VALID>every tool that was called covers what the images show</VALID>"


def _known(memory: Mapping[str, Any]) -> list[str]:
    return [f"{name.strip('$')}: {value}" for name, value in memory.items() if "PLACEHOLDER" not in str(value)]
