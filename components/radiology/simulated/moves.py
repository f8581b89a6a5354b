"""The next step of a radiology task, from the cards and the memory that the messages show, and how it is written."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from components.core.messages import Message
from components.core.types import Sample
from components.radiology.simulated.reading import Card, Situation, Step
from components.radiology.tasks import AD, BQ, CATEGORIES, DD, DI, IE, OS, TASKS, lookup
from components.simulation.draws import Draws, Rates
from components.simulation.grammar import Style, called, finished, refused

_POINT = re.compile(r"^(\w+): ", re.MULTILINE)
_REFUSED = re.compile(r"^- category: (.+)$", re.MULTILINE)
_ENTITY = {OS: "OrganObject", AD: "AnomalyObject", DD: "Disease", DI: "Disease", IE: "IndicatorName"}


@dataclass(frozen=True)
class Move:
    """A call (``last`` when the task is done after it), or grounds of a refusal, or nothing left to do."""

    card: Card | None = None
    inputs: tuple[str, ...] = ()
    last: bool = False
    grounds: dict[str, str] | None = None

    @property
    def acts(self) -> bool:
        """Whether anything is left to do."""
        return self.card is not None or self.grounds is not None


def decide(situation: Situation, sample: Sample | None, may_refuse: bool, rates: Rates, draws: Draws) -> Move:
    """The next move: the first step of the plan that no finished call covers."""
    owed = _owed(situation, sample)
    notices = may_refuse and not draws.happens("ignored refusal", rates.ignored_refusal, whole=True)
    if notices and (gap := _gap(owed, situation, sample)) is not None:
        return Move(grounds=gap)
    for position, step in enumerate(owed):
        fitting = [card for card in _fitting(step, situation) if card.name not in situation.down]
        suited = [c for c in fitting if _suits(c, situation, sample)] or fitting
        card = _best(suited, situation)
        if card is None:
            continue  # this step is left out
        worse = [c for c in suited if c.upper < card.upper and _ready(c, situation)]
        if worse and draws.happens("second choice", rates.second_choice):
            card = draws.pick("which choice", worse)
        others = [c for c in situation.cards.values() if c not in fitting]
        if others and draws.happens("wrong tool", rates.wrong_tool):
            card = draws.pick("which tool", others)
        optional = [v for v in card.optional if v in situation.memory and v not in card.compulsory]
        return Move(card, (*card.compulsory, *optional), last=position == len(owed) - 1)
    return Move()


def _fitting(step: Step, situation: Situation) -> list[Card]:
    """The offered tools of a step's category and type."""
    category, kind = step
    return [c for c in situation.cards.values() if c.category == category and kind in (None, c.type)]


def _gap(owed: Sequence[Step], situation: Situation, sample: Sample | None) -> dict[str, str] | None:
    """The grounds for which the first owed step that no tool can do should be refused; None without one."""
    for step in owed:
        fitting = _fitting(step, situation)
        if not any(_suits(c, situation, sample) for c in fitting):
            return _grounds(step[0], fitting, sample)
    return None


def _owed(situation: Situation, sample: Sample | None) -> list[Step]:
    """Planned steps that are not done; without a plan those that the question needs."""
    truth = TASKS[sample.target["chain"]].chain if sample is not None else ()
    steps = _typed(situation.plan, truth) if situation.plan else list(truth)
    for card in situation.called:
        for step in steps:
            if step[0] == card.category and step[1] in (None, card.type):
                steps.remove(step)
                break
    return steps


def _typed(plan: Sequence[Step], truth: Sequence[Step]) -> list[Step]:
    """Planned steps; of measurements that a plan leaves open, those that the question wants, in their order."""
    wanted = [step for step in truth if step[0] == BQ and step not in plan]
    return [wanted.pop(0) if step == (BQ, None) and wanted else step for step in plan]


def _entity(card: Card, sample: Sample) -> str | None:
    """What the tool would have to support on this record."""
    name = f"{card.type}Dim" if card.category == BQ else _ENTITY.get(card.category)
    value = lookup(sample.metadata["record"], name) if name else None
    return value.strip().lower() if isinstance(value, str) else None


def _suits(card: Card, situation: Situation, sample: Sample | None) -> bool:
    """Whether a tool fits the images and its list, where it has one, covers what they show."""
    record = sample.metadata["record"] if sample is not None else {}
    seen = (
        situation.memory.get("$Anatomy$") or record.get("Anatomy"),
        situation.memory.get("$Modality$") or record.get("Modality"),
    )
    if card.pair is not None and None not in seen and card.pair != seen:
        return False
    return sample is None or suits_list(card, sample)


def suits_list(card: Card, sample: Sample) -> bool:
    """Whether a tool's list, where it has one, covers what the record shows."""
    return card.listed is None or _entity(card, sample) in {entry.lower() for entry in card.listed}


def _ready(card: Card, situation: Situation) -> bool:
    """Whether a tool's inputs are at hand."""
    return all(v in situation.memory for v in card.compulsory)


def _best(cards: Sequence[Card], situation: Situation) -> Card | None:
    """The best expected performance among those whose inputs are at hand, else among all; of equals the last."""
    ready = [c for c in cards if _ready(c, situation)]
    return max(reversed(ready or list(cards)), key=lambda c: c.upper, default=None)


def _grounds(category: str, fitting: Sequence[Card], sample: Sample | None) -> dict[str, str]:
    """The five fields of a refusal, by which of the three checks fails."""
    record = sample.metadata["record"] if sample is not None else {}
    anatomy, modality = record.get("Anatomy", "Universal"), record.get("Modality", "Universal")
    purpose = f"No {category} that this task needs can be used."
    if not fitting:
        anatomy = modality = "Universal"
        ability = "CategoryMissing"
    elif any(c.listed is not None and c.pair in (None, (anatomy, modality)) for c in fitting):
        ability = "InsufficientCapability"
    else:
        ability = "SpecificToolMissing"
    named = {"category": category, "anatomy": anatomy, "modality": modality, "ability": ability}
    return {"purpose": purpose, **named}


def written(move: Move, style: Style, answer: str) -> Message:
    """The move in a grammar; ``answer`` where nothing is left to do."""
    if move.grounds is not None:
        return refused(style, move.grounds, move.grounds["purpose"])
    if move.card is None:
        return finished(style, answer, "The task is done.")
    purpose, inputs = f"Run the {move.card.category.lower()}.", ", ".join(move.inputs)
    arguments = {"purpose": purpose, "input": list(move.inputs)}
    return called(style, move.card.name, arguments, purpose, move.last, f"[{inputs}]")


def missing_tool(text: str, situation: Situation, sample: Sample, rates: Rates, draws: Draws) -> str:
    """The refused category in the points that the prompt names; a slip names another one."""
    found = _REFUSED.search(text)
    if found is None:
        return "Some tool is missing."
    category = found[1]
    kind = next((step[1] for step in _owed(situation, sample) if step[0] == category), None)
    if draws.happens("wrong category", rates.planning_slip):
        category, kind = draws.pick("which category", [one for one in CATEGORIES if one != category]), None
    record = sample.metadata["record"]
    entity = lookup(record, f"{kind}Dim" if category == BQ else _ENTITY.get(category, ""))
    points = {
        "Category": f"{kind} {category}" if kind else category,
        "Modality": record["Modality"],
        "Anatomy": record["Anatomy"],
        "Labels": entity or "none",
        "Range": "all of the image",
    }
    return "\n".join(f"{point}: {points[point]}" for point in _POINT.findall(text) if point in points)
